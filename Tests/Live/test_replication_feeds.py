"""Y08: a feed has no gap after a crash, and readers of a store that was created again start at the beginning."""
import base64
import itertools
import json
import random
import threading
import time

import pytest

from couch import Administrator
from waiting import PATIENCE, wait_until
from peer import Peer, Refused, Unreachable
from replicator import Replicator, until_done
from sites import NIGHTLY, Site


@pytest.fixture
def site(tmp_path):
    site = Site(tmp_path / "site")
    yield site
    site.close()


class Reader(threading.Thread):
    """Reads a continuous feed again and again, each time from the last row that it has seen."""

    def __init__(self, store):
        super().__init__(daemon=True)
        self.store, self.rows, self.stop, self.began = store, [], threading.Event(), 0
        self.start()

    def run(self):
        since = "0"
        while not self.stop.is_set():
            try:
                path = f"/_changes?feed=continuous&heartbeat=200&since={since}"
                for line in self.store.far().lines(path):
                    row = json.loads(line) if line else {}
                    if "id" in row:
                        self.rows.append(row)
                        since = row["seq"]
                    if self.stop.is_set():
                        return
            except Unreachable:
                time.sleep(0.02)
            self.began += 1

    def end(self, sequence):
        """Waits until the reader has reached a sequence. Returns what it has read."""
        wait_until(lambda: self.rows and number(self.rows[-1]["seq"]) >= sequence, f"no row {sequence}")
        self.stop.set()
        self.join(timeout=PATIENCE)
        return self.rows


def number(sequence):
    return int(sequence.split("-")[0])


def test_feed_over_crashes_is_contiguous(site):
    """Each write creates a new document, so each sequence number of the feed has one row for ever."""
    store, chance = site.user(), random.Random(8)
    reader, acknowledged, unsure = Reader(store), {}, set()
    names = itertools.count()
    for _ in range(30 if NIGHTLY else 6):
        kill = threading.Timer(chance.uniform(0.1, 0.3), site.restart)
        kill.start()
        for name in map(str, names):
            try:
                acknowledged[name] = store.far().put(f"/{name}", {"n": 1})["rev"]
            except Unreachable:
                unsure.add(name)
                break
        kill.join()
    last = number(store.near().get()["update_seq"])
    rows = reader.end(last)
    assert [number(row["seq"]) for row in rows] == list(range(1, last + 1))
    seen = {row["id"]: row["changes"][0]["rev"] for row in rows}
    assert acknowledged.items() <= seen.items() and set(seen) - set(acknowledged) <= unsure
    assert reader.began >= 6 and len(unsure) >= 6, "the crashes met nobody"


def test_erased_and_made_again_store_starts_its_readers_over(tmp_path):
    administrator = Administrator(tmp_path)
    try:
        database = administrator.create("again")
        for name in "abc":
            database.put(name)
        before = database.changes()["last_seq"]
        assert database.call("DELETE").status_code == 200
        database = administrator.create("again")
        for name in "defgh":
            database.put(name)
        for since in (before, before.replace("3-", "2-")):
            rows = database.changes(f"&since={since}")["results"]
            assert [row["id"] for row in rows] == list("defgh"), since
    finally:
        assert administrator.server.stop() == 0


def test_replication_from_a_store_made_again_starts_over(tmp_path, site):
    """The store's log is gone with the store, and the sequence that the target recorded has no meaning now."""
    administrator = Administrator(tmp_path)
    target = site.guest()
    secret = base64.b64encode(f"{administrator.name}:{administrator.password}".encode()).decode()
    try:
        for names in ("abc", "defg"):
            database = administrator.create("again")
            for name in names:
                database.put(name)
            source = Peer(f"{administrator.server.url}/couch/again", "Basic " + secret)
            session, _ = until_done(lambda: Replicator(source, target.near(), "log"))
            assert (session["start_last_seq"], session["docs_written"]) == (0, len(names))
            assert database.call("DELETE").status_code == 200
    finally:
        assert administrator.server.stop() == 0
    rows = target.near().get("/_changes")["results"]
    assert [row["id"] for row in rows] == list("abcdefg")


def test_number_of_a_lost_future_starts_over(site):
    """A sequence number that the store has not reached belongs to changes that it has lost."""
    store = site.guest()
    for name in "abc":
        store.edit(name, n=1)
    end = store.near().get("/_changes")["last_seq"]
    future = end.replace("3-", "4-")
    rows = store.near().get(f"/_changes?since={future}")["results"]
    assert [row["id"] for row in rows] == list("abc")


def test_number_that_the_store_never_gave_is_the_beginning(site):
    store, other = site.guest(), site.guest()
    for each in (store, other):
        each.edit("mine", n=1)
    end = store.near().get("/_changes")["last_seq"]
    others = other.near().get("/_changes")["last_seq"]
    for strange in ("3", end + "0", "3-" + "0" * 15, "9" * 40 + "-" + "0" * 16, others):
        rows = store.near().get(f"/_changes?since={strange}")["results"]
        assert [row["id"] for row in rows] == ["mine"], strange
    for wrong in ("x", "-1"):
        with pytest.raises(Refused) as refusal:
            store.near().get(f"/_changes?since={wrong}")
        assert refusal.value.status == 400, wrong
