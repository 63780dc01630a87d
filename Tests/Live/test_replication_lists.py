"""The list of bookmarks, edited on two servers without a connection, becomes one merged list on both."""
import itertools
import random
import uuid

import pytest

from leaves import Replica, counts
from replicator import Replicator
from sites import NIGHTLY, site_pair
from waiting import wait_until

LIST = "bookmarkedhotels"


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    with site_pair(tmp_path_factory) as pair:
        yield pair


class Device:
    """A phone's own copy of the list, edited offline and pushed with its own revisions, as PouchDB does."""

    def __init__(self, store):
        self.store = store

    def pull(self):
        found = self.store.near().get(f"/{LIST}?revs=true")
        self.hotels, self.revisions = list(found["hotels"]), found["_revisions"]
        return self

    def start(self, *hotels):
        """Makes a first list offline."""
        self.hotels, self.revisions = [], {"start": 0, "ids": []}
        return self.edit(add=hotels)

    def edit(self, add=(), remove=()):
        self.hotels = [hotel for hotel in self.hotels if hotel not in remove] + list(add)
        start, ids = self.revisions["start"] + 1, [uuid.uuid4().hex, *self.revisions["ids"]]
        self.revisions = {"start": start, "ids": ids}
        return self

    def push(self):
        revisions = self.revisions
        document = {
            "_id": LIST, "_rev": f"{revisions['start']}-{revisions['ids'][0]}", "_revisions": revisions,
            "type": LIST, "hotels": self.hotels}
        hotels = [{"_id": hotel, "_rev": "1-a", "type": "hotel", "id": hotel, "name": hotel}
                  for hotel in self.hotels]
        body = {"docs": [*hotels, document], "new_edits": False}
        assert self.store.near().post("/_bulk_docs", body) == []
        return self


def is_merged(store):
    """Whether the list has no conflict."""
    return "_conflicts" not in store.near().get(f"/{LIST}?conflicts=true")


def exchange(left, right, rounds=8):
    """Replicates both ways until no side gets new revisions. Returns the number of rounds.

    A merge happens shortly after a write, so two quiet rounds in a row are needed.
    """
    quiet = 0
    for number in range(rounds):
        carried = sum(
            Replicator(one.near(), other.near(), identity).run()["missing_found"]
            for one, other, identity in ((left, right, "there"), (right, left, "back")))
        wait_until(lambda: is_merged(left) and is_merged(right), "the list is not merged")
        quiet = quiet + 1 if not carried else 0
        if quiet == 2:
            return number + 1
    raise AssertionError(f"still exchanging revisions after {rounds} rounds")


def hotels(store):
    """The hotels of the list, which must have no conflict."""
    document = store.near().get(f"/{LIST}?conflicts=true")
    assert "_conflicts" not in document, document
    assert document["type"] == LIST
    return document["hotels"]


def assert_settled(left, right):
    """Asserts that both sides are equal, and that more replication changes neither."""
    Replica(left.near()).assert_equals(Replica(right.near()))
    settled = counts(left.near()), counts(right.near())
    for attempt in range(2):
        exchange(left, right)
    assert (counts(left.near()), counts(right.near())) == settled


def test_edits_on_both_sides_survive_in_one_list(sites):
    left, right = (site.guest() for site in sites)
    Device(left).start("h1", "h2", "h3").push()
    exchange(left, right)
    Device(left).pull().edit(add=["h4"], remove=["h1"]).push()
    Device(right).pull().edit(add=["h5"]).edit(remove=["h2"]).push()
    exchange(left, right)
    assert sorted(hotels(left)) == sorted(hotels(right)) == ["h3", "h4", "h5"]
    assert_settled(left, right)


def test_lists_without_a_common_past_become_one(sites):
    left, right = (site.guest() for site in sites)
    Device(left).start("a1", "a2").push()
    Device(right).start("b1").edit(add=["b2"]).push()
    exchange(left, right)
    assert sorted(hotels(left)) == sorted(hotels(right)) == ["a1", "a2", "b1", "b2"]
    assert_settled(left, right)


def test_bookmarks_of_the_servers_own_meet_a_devices(sites):
    """One side bookmarks through /v1, the other one on a device's copy."""
    left, right = (site.guest() for site in sites)
    bookmarks, one = left.site.server, {"name": "One"}
    for hotel in ("h1", "h2"):
        answer = bookmarks.call("PUT", f"/v1/bookmarks/{hotel}", left.token, json=one)
        assert answer.status_code == 201
    exchange(left, right)
    Device(right).pull().edit(add=["h3"]).push()
    assert bookmarks.call("DELETE", "/v1/bookmarks/h1", left.token).status_code == 204
    exchange(left, right)
    assert sorted(hotels(left)) == sorted(hotels(right)) == ["h2", "h3"]
    assert_settled(left, right)
    answer = right.site.server.call("GET", "/v1/bookmarks", right.token).json()
    assert {bookmark["id"] for bookmark in answer["bookmarks"]} == {"h2", "h3"}


@pytest.mark.fault("Y01")
@pytest.mark.parametrize("seed", range(30) if NIGHTLY else range(2))
def test_rounds_of_offline_edits_converge(sites, seed):
    """Each side has several devices, one of which pushes late. Every added hotel stays unless a device removed it."""
    chance = random.Random(seed)
    left, right = (site.guest() for site in sites)
    Device(left).start("h0").push()
    exchange(left, right)
    numbers = itertools.count(1)
    added, removed, sleeping = {"h0"}, set(), None
    for _ in range(5):
        devices = [Device(store).pull() for store in (left, left, right, right)]
        for device in devices:
            for _ in range(chance.randint(1, 3)):
                add = [f"h{next(numbers)}" for _ in range(chance.randint(0, 2))]
                remove = chance.sample(device.hotels, chance.randint(0, min(1, len(device.hotels))))
                device.edit(add, remove)
                added.update(add)
                removed.update(remove)
        late, *early = chance.sample(devices, len(devices))
        for device in filter(None, [*early, sleeping]):
            device.push()
        sleeping = late
        exchange(left, right)
    sleeping.push()
    exchange(left, right)
    assert hotels(left) == hotels(right)
    assert added - removed <= set(hotels(left)) <= added
    assert_settled(left, right)
