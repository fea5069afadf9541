"""A real model behind a running server: llama.cpp with SmolLM2, and the binary in ANTIPHON_BIN in front of it."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent


def started(command, prefix, **environment):
    """Starts a server and waits for the line that names its address; yields it with the process running."""
    process = subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | environment,
    )
    try:
        line = process.stdout.readline().strip()
        assert line.startswith(prefix + "http://"), f"{command[0]} said {line!r}"
        yield line.removeprefix(prefix)
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def model():
    """The base URL of the model's own server."""
    yield from started([sys.executable, HERE / "serve.py"], "")


@pytest.fixture(scope="session")
def antiphon(model):
    """The base URL of the server under test."""
    command = [os.environ["ANTIPHON_BIN"], "serve", HERE / "agents.yaml", "--listen", "127.0.0.1:0"]
    yield from started(command, "listening on ", SMOLLM_URL=f"{model}/v1")
