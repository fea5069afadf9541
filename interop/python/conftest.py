"""The server under test: the demo of the binary in ANTIPHON_BIN, or one that runs already (ANTIPHON_URL)."""

import os
import subprocess

import pytest

PROVIDER_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OLLAMA_HOST")


@pytest.fixture(scope="session")
def demo():
    """The demo's base URL. It plays its script, whatever keys the person who runs the tests has."""
    if url := os.environ.get("ANTIPHON_URL"):
        yield url.rstrip("/")
        return
    server = subprocess.Popen(
        [os.environ["ANTIPHON_BIN"], "demo", "--listen", "127.0.0.1:0", "--store", "memory"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env={name: value for name, value in os.environ.items() if name not in PROVIDER_KEYS},
    )
    try:
        line = server.stdout.readline()
        assert line.startswith("listening on http://"), f"the demo said {line!r}"
        yield line.removeprefix("listening on ").strip()
    finally:
        server.terminate()
        server.wait(15)
