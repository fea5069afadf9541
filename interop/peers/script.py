"""What the models of both peers do on a word. They need no network and say the same in every run."""

import json

HELLO = ("Hello, ", "all is ", "well.")

CALLS = {
    "weather": ("weather", {"city": "Oslo"}),
    "paint": ("change_background", {"background": "teal"}),
    "bread": ("add_item", {"item": "bread"}),
    "milk": ("add_item", {"item": "milk"}),
    "note": ("write_note", {"text": "Buy bread."}),
    "delete": ("delete_file", {"path": "notes.txt"}),
}


def call(words):
    """The tool to call, and its arguments in pieces; nothing for words that are only talk."""
    if words not in CALLS:
        return None
    name, arguments = CALLS[words]
    text = json.dumps(arguments)
    return name, [text[at : at + 8] for at in range(0, len(text), 8)]


def refuse(turns):
    """Refuses, as providers do, a history in which a call is not answered directly behind it.

    `turns` has the ids of the calls and of the results of each message, in order.
    """
    open_calls = set()
    for calls, results in turns:
        open_calls -= set(results)
        if open_calls and not results:
            raise ValueError(f"calls without a result: {sorted(open_calls)}")
        open_calls |= set(calls)
