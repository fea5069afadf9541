"""The peer's server, and our programs against it."""

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent
# Longer than anything takes on a slow machine: what hangs has failed.
PATIENCE = 120


class Server:
    """The server of a folder, on a free port."""

    def __init__(self, folder):
        # It listens before the program runs, so the port is nobody else's.
        with socket.create_server(("127.0.0.1", 0)) as listener:
            address = listener.getsockname()
            self.url = f"http://127.0.0.1:{address[1]}/"
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "serve.py"), str(listener.fileno())],
                cwd=folder,
                pass_fds=[listener.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self.ready(address)

    @staticmethod
    def ready(address):
        """Waits until it answers, whatever it says."""
        connection = http.client.HTTPConnection(*address, timeout=PATIENCE)
        connection.request("GET", "/")
        connection.getresponse().read()
        connection.close()

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)


def start(program, *arguments):
    """One of our programs, with its three streams as text."""
    pipe = subprocess.PIPE
    return subprocess.Popen([program, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def start_play(url, answer, *words):
    return start(os.environ["ANTIPHON_PEER"], url, answer, *words)


def start_chat(url, words):
    """`antiphon chat --json`, with the message already said."""
    chat = start(os.environ["ANTIPHON_BIN"], "chat", "--json", url)
    chat.stdin.write(words)
    chat.stdin.close()
    chat.stdin = None
    return chat


def finished(process):
    """Its exit code, and what it printed on standard output and standard error."""
    try:
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    return process.returncode, out, err


def ended(process):
    """The same of a program that prints JSON line by line."""
    code, out, err = finished(process)
    return code, [json.loads(line) for line in out.splitlines()], err


def play(url, answer, *words):
    """What the client library saw in these turns of one thread, of which none failed."""
    code, turns, err = ended(start_play(url, answer, *words))
    assert code == 0, (turns, err)
    assert [turn["said"] for turn in turns] == list(words)
    return turns


def play_failing(url, answer, *words):
    """What it saw where the last turn fails."""
    code, turns, err = ended(start_play(url, answer, *words))
    assert code == 1, (turns, err)
    assert turns[-1]["ended"] == "failed"
    return turns


def chat(url, words):
    return ended(start_chat(url, words))


def check(url, say="Hello"):
    """The exit code of `antiphon check`, and its findings by rule."""
    process = start(os.environ["ANTIPHON_BIN"], "check", url, "--format", "json", "--say", say)
    code, out, err = finished(process)
    assert err == ""
    return code, {finding["rule"]: finding for finding in json.loads(out)["findings"]}


def broken(findings, level):
    """The rules of this level that are broken."""
    return {
        rule
        for rule, finding in findings.items()
        if (finding["verdict"], finding["level"]) == ("broken", level)
    }
