"""PouchDB's batches of 100 documents, at its default size, in both directions."""
import uuid

import pytest

from couch import Account, Administrator
from pouch import BATCH, Pouch
from slices import first


class Device(Pouch):
    """A device that syncs with a user's name and password, or with a token."""

    def __init__(self, server, token, name, auth=None):
        super().__init__(server, token, name)
        self.auth = auth

    def _session(self):
        session = super()._session()
        if self.auth:
            session.auth = self.auth
        return session


def fill(device, count, size):
    """Documents whose bodies are all different. A string of a user's document has at most 512 KiB."""
    for number in range(count):
        lines = [uuid.uuid4().hex * (100_000 // 32) for _ in range(size // 100_000)]
        device.put(f"d{number}", type="note", lines=lines)


def sync_over(device, other):
    """Pushes all of a device's documents in one batch, and pulls them in one to another device."""
    device.begin()
    device.push()
    assert device.denied == []
    other.begin()
    assert other.pull() == len(device.leaves) <= BATCH
    for name in device.leaves:
        assert other.winner(name) == device.winner(name), name


@pytest.mark.parametrize("count,size", first(1, [(BATCH, 200_000), (76, 900_000)]))
def test_a_default_batch_syncs_in_both_directions(shared, count, size):
    """Regression: 100 documents of 200 KB were 413 when they were pushed, and of 900 KB when they were pulled, for ever."""
    account = Account(shared)
    device, other = (Device(shared, account.token, account.store) for _ in range(2))
    fill(device, count, size)
    sync_over(device, other)
    # What comes after them syncs, too.
    device.put("last", type="note")
    device.push()
    assert other.pull() == 1 and other.winner("last")


def test_long_documents_of_an_administrators_database_sync(tmp_path):
    """Regression: three documents of 6 MB were 413."""
    administrator = Administrator(tmp_path)
    try:
        database = administrator.create()
        device, other = (Device(administrator.server, "", database.name, administrator.auth) for _ in range(2))
        fill(device, 9, 7_900_000)
        sync_over(device, other)
    finally:
        administrator.server.stop()
