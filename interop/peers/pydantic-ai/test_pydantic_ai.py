"""Our clients with Pydantic AI."""

import pytest

from every_peer import *  # noqa: F403
from programs import broken, check, play


def test_the_state_is_sent_whole_then_changed_and_given_back_in_the_next_turn(peer):
    bread, milk, hello = play(peer, "leave", "bread", "milk", "hello")
    assert (bread["saw"]["snapshots"], bread["saw"]["deltas"]) == (1, 0)
    assert bread["state"] == {"items": ["bread"]}
    # The server keeps nothing: that it counts two is what the client has sent.
    assert milk["saw"]["results"] == ["2 on the list"]
    assert (milk["saw"]["snapshots"], milk["saw"]["deltas"]) == (0, 1)
    assert milk["state"] == hello["state"] == {"items": ["bread", "milk"]}


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        ("approve", "notes.txt is gone"),
        ('edit:{"path": "old.txt"}', "old.txt is gone"),
        ("decline:", "The tool call was denied."),
        ("decline:not that one", "not that one"),
        ("cancel", "Cancelled by user."),
    ],
)
def test_every_answer_to_an_approval_is_understood(peer, answer, result):
    turn, after = play(peer, answer, "delete", "hello")
    [question] = turn["saw"]["questions"]
    assert question["editable"]
    assert turn["saw"]["results"] == [result]
    assert turn["text"] == f"I was told: {result}"
    assert (turn["ended"], turn["saw"]["runs"]) == ("done", 2)
    assert after["ended"] == "done"
    assert after["roles"] == ["user", "assistant", "tool", "assistant", "user", "assistant"]


@pytest.mark.parametrize("say", ["Hello", "weather", "bread", "delete"])
def test_check_finds_two_weaknesses_and_no_fault(peer, say):
    code, findings = check(peer, say)
    assert code == 0
    assert broken(findings, "must") == set()
    # The streams may be cached by what is between, and refusals are JSON arrays.
    assert broken(findings, "should") == {"no-cache", "error-json"}
    unseen = {rule for rule, finding in findings.items() if finding["verdict"] == "unseen"}
    # It offers no protobuf. A turn that ends in a question has no second one without its answer.
    asks = say == "delete"
    assert unseen == {"negotiation-proto", "second-turn" if asks else "uncovered-interrupt"}
