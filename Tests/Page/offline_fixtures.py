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
    """Starts browsers, each with a new profile, or with `lasting` with one that stays when the browser ends."""
    begun = []

    def start(lasting=False):
        begun.append(OfflineBrowser(service.url, tmp_path / "profile" if lasting else None))
        return begun[-1]

    yield start
    for browser in begun:
        browser.close()
