"""Sessions of Couchbase Lite that end at any frame, because the connection breaks or the server is killed: nothing is lost, and
nothing is stored or sent twice."""
import functools

import pytest

from attachments import some, used
from blip_client import Closed, CutWebSocket
from couch import Account, Database
from phone import Phone
from test_lite import account  # noqa: F401
from waiting import wait_until

WHOLE = 1_000_000
"""More frames than a session has."""
BLOB = 100_000


class Device(Phone):
    """A phone with a short list of documents, which remembers what the server has confirmed."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, compress=False, **options)
        self.confirmed = set()

    def fill(self):
        for number in range(3):
            self.edit(f"d{number}", {"n": number})
        self.edit("d0", {"n": "edited"})
        self.edit("gone", {})
        self.edit("gone", {}, deleted=True)
        self.edit("blobs", {"pic": self.blob(some(BLOB)), "thumb": self.blob(some(20))})
        return self

    def _confirm(self, name, number, errors):
        super()._confirm(name, number, errors)
        if name not in errors:
            self.confirmed.add(name)

    def session(self, work, frames=WHOLE, **cut):
        """Does some work in a session of at most so many frames. Returns how many it had."""
        self.transport = functools.partial(CutWebSocket, frames=frames, **cut)
        self.connect()
        socket = self.blip.websocket
        try:
            work(self)
            count = socket.count
            self.close()
            return count
        except Closed:
            return socket.count


def push(device):
    known = device.blip.call("getCheckpoint", client="cp")
    assert device.push(*device.documents) == {}
    revision = known.properties.get("rev", "")
    assert device.blip.call("setCheckpoint", b'{"local":9}', client="cp", rev=revision).error is None


def check(database, device):
    """The store has each document of the device once, with its history and its bytes."""
    rows = database.call("GET", "/_changes?style=all_docs").json()["results"]
    assert {row["id"]: [change["rev"] for change in row["changes"]] for row in rows} == {
        name: [history[0]] for name, (history, _, _) in device.documents.items()}
    for name, (history, body, deleted) in device.documents.items():
        if not deleted:
            found = database.call("GET", f"/{name}?revs=true").json()
            assert found["_revisions"]["ids"] == [revision.split("-")[1] for revision in history]
            assert {key: found[key] for key in body} == body
    assert database.raw("GET", "/blobs/blob_%2Fpic").content == some(BLOB)
    assert database.raw("GET", "/blobs/blob_%2Fthumb").content == some(20)


@pytest.fixture(scope="module")
def whole(shared):
    """The frames of a push and of a pull that nothing breaks, and the bytes that the store has then."""
    account = Account(shared)
    pushed = Device(shared, token=account.token).fill().session(push)
    pulled = Device(shared, token=account.token).session(Phone.pull)
    return pushed, pulled, used(Database(shared, account.token))


@pytest.mark.parametrize("within", [False, True], ids=["between", "within"])
def test_a_push_that_breaks_at_any_frame_is_finished_by_the_next(shared, whole, within):
    for frames in range(whole[0] + 1):
        database = Database(shared)
        device = Device(shared, token=database.token).fill()
        device.session(push, frames, within=within)
        confirmed = set(device.confirmed)
        stored = {row["id"] for row in database.call("GET", "/_changes").json()["results"]}
        assert confirmed <= stored, frames
        device.session(push)
        check(database, device)
        wait_until(lambda: used(database) < whole[2] + BLOB / 2, "bytes of the broken session are kept")


@pytest.mark.parametrize("within", [False, True], ids=["between", "within"])
def test_a_pull_that_breaks_at_any_frame_is_finished_by_the_next(shared, whole, within):
    database = Database(shared)
    source = Device(shared, token=database.token).fill()
    source.session(push)
    for frames in range(whole[1] + 1):
        device = Device(shared, token=database.token)
        device.session(Phone.pull, frames, within=within)
        device.session(Phone.pull)
        assert device.documents == source.documents and device.blobs == source.blobs, frames
        assert not device.refused and not device.lacking


def test_a_server_that_is_killed_at_any_frame_of_a_push_keeps_what_it_confirmed(start, whole):
    server = start()
    for frames in range(2, whole[0], 2):
        database = Database(server)
        device = Device(server, token=database.token).fill()
        device.session(push, frames, end=server.kill)
        server = device.server = start()
        database = Database(server, database.token)
        stored = {row["id"] for row in database.call("GET", "/_changes").json()["results"]}
        assert device.confirmed <= stored, frames
        device.session(push)
        check(database, device)
        other = Device(server, token=database.token)
        other.session(Phone.pull, whole[1] // 2, end=server.kill)
        server = other.server = start()
        other.session(Phone.pull)
        assert other.documents == device.documents and other.blobs == device.blobs
