import os

import pytest

from server import Server

NIGHTLY = bool(os.environ.get("BOOKMARKS_NIGHTLY"))


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """One server for the tests that need nothing of their own."""
    server = Server(tmp_path_factory.mktemp("shared") / "data")
    yield server
    assert server.stop() == 0, "".join(server.log[-20:])


@pytest.fixture
def start(tmp_path):
    """Starts servers over this test's own directory."""
    servers = []

    def start(*arguments, data=tmp_path / "data", **options):
        servers.append(Server(data, *arguments, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture(scope="session")
def rounds():
    """How often a random thing is tried: more at night."""
    return 200 if NIGHTLY else 8
