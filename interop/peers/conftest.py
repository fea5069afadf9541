import pathlib

import pytest

pytest.register_assert_rewrite("every_peer", "programs")

from programs import Server  # noqa: E402


@pytest.fixture(scope="module")
def peer(request):
    """The URL of the server beside the test."""
    server = Server(pathlib.Path(request.path).parent)
    try:
        yield server.url
    finally:
        server.kill()


@pytest.fixture
def mortal(request):
    """A server of the test's own, to be killed."""
    server = Server(pathlib.Path(request.path).parent)
    try:
        yield server
    finally:
        server.kill()
