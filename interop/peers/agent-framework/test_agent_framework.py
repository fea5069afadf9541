"""Our clients with Microsoft's Agent Framework.

It is of AG-UI 0.x: it names no protocol version and no pending calls.
"""

import pytest

from every_peer import *  # noqa: F403
from programs import broken, check, play, play_failing


def test_the_state_is_sent_whole_and_given_back_in_the_next_turn(peer):
    bread, hello = play(peer, "leave", "bread", "hello")
    # The second one is the tool's.
    assert (bread["saw"]["snapshots"], bread["saw"]["deltas"]) == (2, 0)
    assert bread["state"]["item"] == "bread"
    # The server keeps nothing, and begins each run with the state that it was sent.
    assert hello["saw"]["snapshots"] == 1
    assert hello["state"] == bread["state"]


def test_arguments_show_in_the_state_while_they_stream(peer):
    note, paint = play(peer, "leave", "note", "paint")
    assert note["saw"]["deltas"] == 2
    assert note["state"]["note"] == "Buy bread."
    assert paint["saw"]["deltas"] == 2
    assert (paint["state"]["note"], paint["state"]["background"]) == ("Buy bread.", "teal")


@pytest.mark.parametrize("path", ["", "confirming"])
@pytest.mark.parametrize(
    ("answer", "results", "text"),
    [
        ("approve", ["notes.txt is gone"], "I was told: notes.txt is gone"),
        ('edit:{"path": "old.txt"}', ["old.txt is gone"], "I was told: old.txt is gone"),
        # A declined call has its result in the snapshot alone; a reason is not taken.
        ("decline:", [], "I was told: Error: Tool call invocation was rejected by user."),
        ("decline:not that one", [], "I was told: Error: Tool call invocation was rejected by user."),
    ],
)
def test_every_answer_to_an_approval_is_understood(peer, path, answer, results, text):
    turn, after = play(peer + path, answer, "delete", "hello")
    [question] = turn["saw"]["questions"]
    assert question["editable"]
    assert turn["saw"]["results"] == results
    assert turn["text"] == text
    assert (turn["ended"], turn["saw"]["runs"]) == ("done", 2)
    # The snapshot names the result anew, and so displaces it. The next request has it behind its call again: the
    # framework would drop it, and the model refuse the call without it.
    assert after["ended"] == "done"
    assert after["roles"] == ["user", "assistant", "tool", "assistant", "user", "assistant"]


def test_a_cancelled_approval_ends_the_run_without_a_word(peer):
    turn, after = play(peer, "cancel", "delete", "hello")
    assert (turn["ended"], turn["text"]) == ("done", "")
    assert after["text"] == "Hello, all is well."


def test_a_prediction_to_be_confirmed_is_asked_but_no_answer_to_it_is_known(peer):
    """The framework stores no such question, so whatever its schema allows is refused."""
    [turn] = play(peer + "confirming", "leave", "paint")
    [question] = turn["saw"]["questions"]
    assert question["message"] == "Approve the proposed changes from change_background?"
    assert (turn["ended"], turn["saw"]["painted"]) == ("asked", [])
    for answer in ("approve", "decline:", "cancel"):
        [turn] = play_failing(peer + "confirming", answer, "paint")
        assert 'Some("APPROVAL_RESUME_NOT_FOUND")' in turn["error"]["kind"]


@pytest.mark.parametrize("path", ["", "confirming"])
@pytest.mark.parametrize("say", ["Hello", "weather", "bread", "delete"])
def test_check_finds_the_faults(peer, path, say):
    code, findings = check(peer + path, say)
    assert code == 1
    assert broken(findings, "must") == {
        # RUN_STARTED says none.
        "protocol-version",
        # Its snapshots repeat what the request held, as far as 1.0 does not know it too.
        "known-members",
        # It streams an answer to a request without ids.
        "refuses-fields",
    }
    assert broken(findings, "should") == set()
    unseen = {rule for rule, finding in findings.items() if finding["verdict"] == "unseen"}
    # It offers no protobuf. A turn that ends in a question has no second one without its answer.
    asks = say == "delete"
    assert unseen == {"negotiation-proto", "second-turn" if asks else "uncovered-interrupt"}
