"""A real server and real browsers. If a browser logs an error of a script or a report of the content security policy,
the test that opened it fails."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Live"))

from browsing import Browser  # noqa: E402
from chromium import Context  # noqa: E402
from server import Server  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "nightly: one more width, language or kind of what each run tests, so it runs at night")


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("nightly") and not os.environ.get("BOOKMARKS_NIGHTLY"):
            item.add_marker(pytest.mark.skip(reason="runs at night"))


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """One server, shared by the tests that need no server of their own."""
    server = Server(tmp_path_factory.mktemp("shared") / "data", "--guests-per-hour", "10000")
    yield server
    server.stop()


@pytest.fixture
def server(shared):
    """The server that a test's browsers visit."""
    return shared


@pytest.fixture
def own_server(tmp_path):
    """A server that a test may kill."""
    servers = [Server(tmp_path / "data")]
    yield servers[0]
    servers[0].stop()


@pytest.fixture(scope="session", autouse=True)
def chromium():
    """The processes of Chromium end with the last test."""
    yield
    Context.end()


@pytest.fixture
def browser(server):
    """Opens browsers with separate profiles: `browser()`, or `browser(at=server)` for another server."""
    opened = []

    def open(at=server, **options):
        opened.append(Browser(at.url, **options))
        return opened[-1]

    yield open
    complaints = [line for one in opened for line in one.close()]
    assert not complaints, complaints
