"""Two servers become equal, byte for byte, whatever faults the network between them and the servers have."""
import concurrent.futures
import random
import threading
import time

import pytest

from document_trees import DocumentTrees
from faulty_proxy import NO_FAULTS, FaultRates
from leaves import Replica, counts, listed
from waiting import PATIENCE, wait_until
from peer import Refused
from replicator import Replicator, until_done
from sites import NIGHTLY, site_pair
from slices import first

FREQUENT_FAULTS = FaultRates(cut=0.55, reset=0.3, refuse=0.1, swallow=0.05, reach=(500, 400_000))
"""Each connection has a fault, most of them after some hundred thousand bytes."""


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    with site_pair(tmp_path_factory) as pair:
        yield pair


@pytest.fixture(autouse=True)
def no_faults(sites):
    """Each test begins and ends without network faults."""
    yield
    for site in sites:
        site.proxy.rates = NO_FAULTS


def read(*stores):
    """The contents of the stores, read at the same time."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(lambda store: Replica(store.near()), stores))


def replicate(source, target, identity="there", **options):
    return Replicator(source.near(), target.near(), identity, **options).run()


@pytest.mark.parametrize("seed", range(3) if NIGHTLY else [1])
def test_every_leaf_arrives_through_cuts_and_kills(sites, seed):
    chance = random.Random(seed)
    source, target = (site.user() for site in sites)
    trees = DocumentTrees(seed, 40_000 if NIGHTLY else 4_000)
    source.load(trees.documents())
    cuts = 40 if NIGHTLY else 5
    for site in sites:
        site.proxy.rates = FaultRates(**{**vars(FREQUENT_FAULTS), "most": site.proxy.faults + cuts})
    before = sum(site.proxy.faults for site in sites)
    kills = [site.proxy.after(chance.randint(50_000, 5_000_000 if NIGHTLY else 1_500_000), site.restart)
             for site in sites for _ in range(2)]

    def session():
        return Replicator(source.far(), target.far(), "there", batch=300 if NIGHTLY else 100, ahead=3,
                          shuffle=chance.random(), repeat=0.1)

    last, interrupted = until_done(session, patience=900 if NIGHTLY else PATIENCE)
    for kill in kills:
        kill.join(timeout=PATIENCE)
    assert sum(site.proxy.faults for site in sites) - before == 2 * cuts and interrupted >= cuts
    assert last["start_last_seq"] != 0, "the last session began at the checkpoint of an earlier one"
    ours, theirs = read(source, target)
    ours.assert_holds(trees)
    theirs.assert_equals(ours)
    assert replicate(source, target, "another")["missing_found"] == 0


@pytest.mark.parametrize("way, feed", first(3, [
    ("bulk_get", "normal"), ("json", "longpoll"), ("multipart", "continuous"), ("bulk_get", "longpoll"),
    ("bulk_get", "continuous"), ("json", "normal"), ("json", "continuous"), ("multipart", "normal"), ("multipart", "longpoll")]))
def test_each_way_of_reading_brings_the_same(sites, way, feed):
    source, target = (site.guest() for site in sites)
    trees = DocumentTrees(way + feed, 150)
    source.load(trees.documents())
    replicate(source, target, way=way, feed=feed, batch=40)
    ours, theirs = read(source, target)
    ours.assert_holds(trees)
    theirs.assert_equals(ours)


def test_edits_and_deletions_of_the_servers_own_arrive(sites):
    """Tombstones with and without members, and a document that was deleted and created again, twice."""
    source, target = (site.guest() for site in sites)
    for name in ("kept", "gone", "again", "told"):
        source.edit(name, n=1)
        source.edit(name, n=2)
    replicate(source, target)
    for name in ("gone", "again"):
        source.remove(name)
    source.edit("told", _deleted=True, why="closed")
    replicate(source, target)
    for number in range(2):
        source.edit("again", n=3 + number)
        replicate(source, target)
        source.remove("again")
    source.edit("again", n=5)
    replicate(source, target)
    ours, theirs = read(source, target)
    theirs.assert_equals(ours)
    again = target.near().get("/again?revs=true")
    assert (again["n"], again["_revisions"]["start"]) == (5, 8)
    rev = ours.listed["told"][0][0]
    assert target.near().get(f"/told?rev={rev}")["why"] == "closed"


def test_replay_of_everything_changes_nothing(sites):
    source, target = (site.guest() for site in sites)
    source.load(DocumentTrees("replay", 200).documents())
    replicate(source, target)
    [before] = read(target)
    settled = counts(target.near())
    for number in range(3):
        sent = replicate(source, target, f"again-{number}", compare=False, shuffle=number, repeat=0.5)
        assert sent["docs_written"] > 200 and sent["doc_write_failures"] == 0
    assert replicate(target, source, "back", compare=False)["docs_written"] > 200
    assert counts(target.near()) == settled
    read(target)[0].assert_equals(before)


class Writer(threading.Thread):
    """Edits, deletes and recreates a few documents that others edit, too, until it is told to stop."""

    def __init__(self, store, seed, stop):
        super().__init__(daemon=True)
        self.store, self.chance, self.stop, self.written = store, random.Random(seed), stop, 0
        self.start()

    def run(self):
        while not self.stop.is_set():
            name = f"shared-{self.chance.randrange(30)}"
            try:
                if self.chance.random() < 0.25:
                    self.store.remove(name)
                else:
                    self.store.edit(name, by=self.chance.getrandbits(30))
                self.written += 1
            except Refused as refusal:
                # Another writer was first, or the document is deleted.
                assert refusal.status in (404, 409), refusal
            time.sleep(self.chance.uniform(0, 0.05))


def settle(left, right):
    """Waits until both list the same leaves."""
    wait_until(lambda: listed(left.near()) == listed(right.near()), "the two don't become equal")


@pytest.mark.parametrize("seed", range(10) if NIGHTLY else [0])
def test_both_directions_under_writers_become_equal(sites, seed):
    """Some connections are cut while both sides are written to. Then there are no more faults."""
    left, right = (site.guest() for site in sites)
    for site in sites:
        site.proxy.rates = FaultRates(cut=0.5, reset=0.2, drip=0.1, delay=0.1, reach=(1_000, 60_000))
    feeds = random.Random(seed).choice([("longpoll", "continuous"), ("continuous", "longpoll")])
    stop = threading.Event()
    there = Replicator(left.far(), right.far(), "there", feed=feeds[0], batch=10)
    back = Replicator(right.far(), left.far(), "back", feed=feeds[1], batch=10)
    with there.following(), back.following():
        writers = [Writer(store, f"{seed} {number} {store.name}", stop)
                   for store in (left, right) for number in range(3)]
        time.sleep(10 if NIGHTLY else 3)
        wait_until(lambda: all(writer.written > 5 for writer in writers) and any(
            len(revs) > 1 for revs, _ in listed(left.near()).values()), "no conflict came about")
        stop.set()
        for writer in writers:
            writer.join(timeout=PATIENCE)
            assert not writer.is_alive()
        settle(left, right)
    ours, theirs = read(left, right)
    theirs.assert_equals(ours)
    assert any(len(revs) > 1 for revs, _ in ours.listed.values()), "no conflict came about"
    settled = counts(left.near()), counts(right.near())
    for one, other, identity in ((left, right, "there again"), (right, left, "back again")):
        assert replicate(one, other, identity)["missing_found"] == 0
    assert (counts(left.near()), counts(right.near())) == settled


@pytest.mark.parametrize("feed", ["longpoll", "continuous"])
def test_continuous_replication_outlives_restarts_and_outages(sites, feed):
    source, target = (site.guest() for site in sites)
    replicator = Replicator(source.far(), target.far(), feed, feed=feed)

    def outage():
        for site in sites:
            site.proxy.unplug()
        source.edit("written-meanwhile", n=1)
        time.sleep(0.3)
        for site in sites:
            site.proxy.listen()

    with replicator.following():
        for number, event in enumerate([lambda: None, *(site.restart for site in sites), outage]):
            event()
            for part in range(5):
                source.edit(f"live-{number}-{part}", n=part)
            source.edit("live-0-0", n=number)
            settle(source, target)
        source.remove("live-0-0")
        settle(source, target)
    ours, theirs = read(source, target)
    theirs.assert_equals(ours)
