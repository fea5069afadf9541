"""What holds with every peer."""

from programs import chat, ended, play, play_failing, start_chat, start_play


def test_text_arrives_in_pieces(peer):
    [turn] = play(peer, "leave", "hello")
    assert turn["ended"] == "done"
    assert turn["saw"]["text"] == ["Hello, ", "all is ", "well."]
    assert turn["text"] == "Hello, all is well."
    assert turn["roles"] == ["user", "assistant"]


def test_a_tool_of_the_server_runs_within_the_turn(peer):
    _, turn = play(peer, "leave", "hello", "weather")
    [call] = turn["saw"]["calls"]
    assert call["name"] == "weather"
    assert len(call["arguments"]) > 1, "they stream"
    assert "".join(call["arguments"]) == '{"city": "Oslo"}'
    assert turn["saw"]["results"] == ["sunny in Oslo"]
    assert turn["text"] == "I was told: sunny in Oslo"
    assert turn["roles"] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    assert (turn["ended"], turn["saw"]["runs"]) == ("done", 1)


def test_a_tool_of_the_client_is_run_here_and_the_next_run_has_its_result(peer):
    turn, after = play(peer, "leave", "paint", "hello")
    assert turn["saw"]["painted"] == ["teal"]
    [call] = turn["saw"]["calls"]
    assert "".join(call["arguments"]) == '{"background": "teal"}'
    assert turn["saw"]["results"] == [], "nobody but the client answers it"
    assert turn["text"] == "I was told: it is teal now"
    assert turn["roles"] == ["user", "assistant", "tool", "assistant"]
    assert (turn["ended"], turn["saw"]["runs"]) == ("done", 2)
    assert after["ended"] == "done"


def test_an_approval_that_is_left_open_has_to_be_answered_first(peer):
    asked, refused = play_failing(peer, "leave", "delete", "hello")
    [question] = asked["saw"]["questions"]
    assert question["reason"] == "tool_call"
    assert question["tool"] == "delete_file"
    assert question["arguments"] == '{"path": "notes.txt"}'
    assert question["message"]
    assert (asked["ended"], asked["text"]) == ("asked", "")
    assert refused["error"]["kind"] == "Unanswered"


def test_a_run_that_fails_is_a_failure(peer):
    _, turn = play_failing(peer, "leave", "hello", "fail")
    assert turn["error"]["kind"].startswith("RunFailed")
    assert turn["roles"][:2] == ["user", "assistant"], "what was before is kept"


def test_chat_prints_the_events_of_a_pipe(peer):
    code, events, err = chat(peer, "weather")
    assert (code, err) == (0, "")
    kinds = [event["type"] for event in events]
    assert (kinds[0], kinds[-1]) == ("RUN_STARTED", "RUN_FINISHED")
    deltas = [event["delta"] for event in events if event["type"] == "TEXT_MESSAGE_CONTENT"]
    assert "".join(deltas) == "I was told: sunny in Oslo"
    results = [event["content"] for event in events if event["type"] == "TOOL_CALL_RESULT"]
    assert results == ["sunny in Oslo"]


def test_chat_says_that_a_person_is_asked(peer):
    code, events, err = chat(peer, "delete")
    assert code == 3
    assert events[-1]["outcome"]["type"] == "interrupt"
    assert "the run waits for a person: Approve" in err


def test_chat_says_that_a_run_failed(peer):
    code, events, err = chat(peer, "fail")
    assert code == 1
    assert events[-1]["type"] == "RUN_ERROR"
    assert "the run failed" in err


def test_a_server_that_dies_within_a_run_is_a_failure_and_what_came_is_kept(mortal):
    program = start_play(mortal.url, "leave", "hello", "endless")
    # Its second turn: two messages have begun, and of the second something has come.
    kinds = iter(program.stderr.readline, "")
    runs = 0
    for kind in map(str.strip, kinds):
        runs += kind == "RUN_STARTED"
        if runs == 2 and kind == "TEXT_MESSAGE_CONTENT":
            break
    mortal.kill()
    code, [_, turn], _ = ended(program)
    assert code == 1
    assert turn["ended"] == "failed"
    assert turn["error"]["kind"] == "Truncated"
    assert turn["saw"]["text"] == ["It was a dark "]
    assert turn["text"] == "It was a dark "
    assert turn["roles"] == ["user", "assistant", "user", "assistant"]


def test_chat_says_that_a_server_died_and_has_printed_what_came(mortal):
    program = start_chat(mortal.url, "endless")
    lines = []
    for line in iter(program.stdout.readline, ""):
        lines.append(line)
        if "TEXT_MESSAGE_CONTENT" in line:
            break
    assert "It was a dark " in lines[-1]
    mortal.kill()
    code, rest, err = ended(program)
    assert (code, rest) == (1, [])
    assert "before the run ended" in err
