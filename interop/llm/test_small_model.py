"""Text and a forced tool call from a real model, as they come out of the server as AG-UI events."""

import json
import urllib.request
import uuid

# What was said before: one finished call, after which the model knows what is wanted.
SOUP = {"title": "Soup", "ingredients": ["water", "salt"]}
BEFORE = [
    {"id": "u1", "role": "user", "content": "Make a soup recipe."},
    {
        "id": "a1",
        "role": "assistant",
        "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "update_recipe", "arguments": json.dumps(SOUP)}}],
    },
    {"id": "t1", "role": "tool", "toolCallId": "c1", "content": "Recipe updated."},
    {"id": "a2", "role": "assistant", "content": "Done."},
]


def run(antiphon, agent, messages, state=None):
    """One run's events."""
    body = {
        "threadId": f"thread-{uuid.uuid4().hex}",
        "runId": f"run-{uuid.uuid4().hex}",
        "messages": messages,
        "state": state or {},
        "protocolVersion": "1.0",
    }
    request = urllib.request.Request(
        f"{antiphon}/agents/{agent}",
        json.dumps(body).encode(),
        {"content-type": "application/json", "accept": "text/event-stream"},
    )
    with urllib.request.urlopen(request, timeout=120) as response:
        lines = (line.decode() for line in response)
        return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def of(events, kind):
    return [event for event in events if event["type"] == kind]


def text(events):
    return "".join(event["delta"] for event in of(events, "TEXT_MESSAGE_CONTENT"))


def user(content):
    return {"id": uuid.uuid4().hex, "role": "user", "content": content}


def states(events, state):
    """Every state that a page shows on the way: snapshots and top-level patches, applied in order."""
    for event in events:
        if event["type"] == "STATE_SNAPSHOT":
            state = event["snapshot"]
        elif event["type"] == "STATE_DELTA":
            state = json.loads(json.dumps(state))
            for operation in event["delta"]:
                apply(state, operation)
        else:
            continue
        yield state


def apply(document, operation):
    """One `add` or `replace` of RFC 6902, which is all that a prediction needs."""
    assert operation["op"] in ("add", "replace"), operation
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
    for part in path:
        document = document[int(part) if isinstance(document, list) else part]
    if isinstance(document, dict):
        assert operation["op"] == "add" or last in document, operation
        document[last] = operation["value"]
    elif operation["op"] == "add":
        document.insert(len(document) if last == "-" else int(last), operation["value"])
    else:
        document[int(last)] = operation["value"]


def test_text_of_a_real_model_streams(antiphon):
    events = run(antiphon, "talker", [user("What is the capital of France?")])
    assert [events[0]["type"], events[-1]["type"]] == ["RUN_STARTED", "RUN_FINISHED"]
    assert len(of(events, "TEXT_MESSAGE_CONTENT")) > 3
    assert "Paris" in text(events)
    usage = events[-1]["usage"][0]
    assert usage["inputTokens"] > 0 and usage["outputTokens"] > 0


def test_streamed_arguments_of_a_real_model_become_state(antiphon):
    events = run(antiphon, "cook", [*BEFORE, user("Make a pizza recipe with cheese.")])

    [start] = of(events, "TOOL_CALL_START")
    arguments = [event["delta"] for event in of(events, "TOOL_CALL_ARGS")]
    recipe = json.loads("".join(arguments))
    assert start["toolCallName"] == "update_recipe"
    assert len(arguments) > 5, "the arguments did not stream"
    assert recipe["title"] and recipe["ingredients"]

    [announced] = [event["value"] for event in of(events, "CUSTOM") if event["name"] == "PredictState"]
    assert announced[0]["state_key"] == "recipe"
    shown = [state.get("recipe") or {} for state in states(events, {})]
    growing = [len(json.dumps(state, ensure_ascii=False)) for state in shown]
    assert len(set(growing)) > 3, f"the state did not grow while the model wrote: {shown}"
    assert growing == sorted(growing)
    assert shown[-1] == recipe

    [result] = of(events, "TOOL_CALL_RESULT")
    assert result["toolCallId"] == start["toolCallId"]
    assert result["content"] == "Recipe updated."
    # The model must call whenever it is asked, so the agent's limit of one model call ends the run.
    assert events[-1]["type"] == "RUN_ERROR"
    assert events[-1]["code"] == "turn_limit"


def test_the_next_turn_answers_in_text_after_the_call(antiphon):
    messages = [*BEFORE[:3], user("What did you do?")]
    events = run(antiphon, "waiter", messages, {"recipe": SOUP})
    assert events[-1]["type"] == "RUN_FINISHED"
    assert text(events)
    assert not of(events, "TOOL_CALL_START")
