"""Fixtures for the tests of `/offline.js`."""
import pytest

from offline_browser import OfflineBrowser
from server import Server


@pytest.fixture
def service(tmp_path):
    """A server for this test only."""
    server = Server(tmp_path / "data")
    yield server
    server.resume()
    server.stop()


@pytest.fixture
def browsers(service, tmp_path):
    """Starts browsers. Browsers with the same name use the same profile."""
    begun = []

    def start(name="first"):
        begun.append(OfflineBrowser(tmp_path / name, service.url))
        return begun[-1]

    yield start
    for browser in begun:
        browser.close()
