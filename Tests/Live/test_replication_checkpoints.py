"""Y03: checkpoints that are lost, old or from another replication. No change is missed, and none is copied twice."""
import random
import shutil

import pytest

from document_trees import DocumentTrees
from leaves import Replica, assert_same, counts, listed
from replication_log import ReplicationLog
from replicator import Crash, Replicator, until_done
from sites import NIGHTLY, site_pair


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    with site_pair(tmp_path_factory) as pair:
        yield pair


def replicate(source, target, identity="log", **options):
    return Replicator(source.near(), target.near(), identity, **options).run()


def log_of(store, identity="log"):
    log = ReplicationLog(store.near(), identity)
    log.load()
    return log


def put_back(store, document, identity="log"):
    """Overwrites a log with an earlier state of it."""
    log_of(store, identity).save(document["history"])


class CrashAt:
    """Ends a replicator before its step with this number."""

    def __init__(self, number):
        self.left = number

    def __call__(self, name):
        self.left -= 1
        if self.left < 0:
            raise Crash(name)


def lose(loss, source, target, foreign):
    """Changes the logs of a source and a target in one way."""
    if loss in ("lost on the source", "lost on both"):
        log_of(source).forget()
    if loss in ("lost on the target", "lost on both"):
        log_of(target).forget()
    if loss == "another device's":
        put_back(target, foreign)


LOSSES = ["kept", "lost on the source", "lost on the target", "lost on both", "another device's"]


@pytest.mark.fault("Y03")
@pytest.mark.parametrize("turn", range(len(LOSSES)) if NIGHTLY else [0])
def test_crash_between_any_two_steps_loses_nothing(sites, turn):
    """A replicator ends before each of its steps in turn. The next one starts with logs that were lost or changed, each
    way in turn, too."""
    source, other = sites[0].guest(), sites[1].guest()
    source.load(DocumentTrees("steps", 40, long=False).documents())
    steps = []
    replicate(source, other, batch=15, ahead=2, step=steps.append)
    wanted, foreign = listed(source.near()), log_of(other).document
    assert {"changes", "compare", "fetch", "write", "commit", "write log"} <= set(steps)
    for number in range(len(steps)):
        log_of(source).forget()
        target = sites[1].guest()
        with pytest.raises(Crash):
            replicate(source, target, batch=15, ahead=2, step=CrashAt(number))
        lose(LOSSES[(number + turn) % len(LOSSES)], source, target, foreign)
        replicate(source, target, batch=15, ahead=2)
        assert_same(listed(target.near()), wanted)
        settled = counts(target.near())
        replicate(source, target, "from the start")
        assert counts(target.near()) == settled


def three_sessions(sites):
    """A source and a target after three sessions, and the three log entries."""
    source, target = (site.guest() for site in sites)
    entries = []
    for number in range(3):
        source.load(DocumentTrees(number, 20, first=20 * number, long=False).documents())
        source.edit("edited", n=number)
        entries.append(dict(replicate(source, target, batch=9)))
    return source, target, entries


@pytest.mark.fault("Y03")
@pytest.mark.parametrize("side", [0, 1])
def test_log_that_is_behind_leads_to_the_latest_common_session(sites, side):
    source, target, entries = three_sessions(sites)
    behind = (source, target)[side]
    assert [entry["session_id"] for entry in log_of(behind).document["history"]] == [
        entry["session_id"] for entry in reversed(entries)]
    put_back(behind, {"history": entries[1::-1]})
    settled = counts(target.near())
    last = replicate(source, target)
    assert last["start_last_seq"] == entries[1]["recorded_seq"]
    assert 0 < last["missing_checked"] and last["missing_found"] == 0
    assert counts(target.near()) == settled


@pytest.mark.fault("Y03")
@pytest.mark.parametrize("loss", LOSSES[1:])
def test_lost_log_means_all_of_it_again_and_no_effect(sites, loss):
    source, target, _ = three_sessions(sites)
    foreign = three_sessions(sites)[1] if loss == LOSSES[-1] else target
    settled, held = counts(target.near()), Replica(target.near())
    lose(loss, source, target, log_of(foreign).document)
    last = replicate(source, target)
    assert last["start_last_seq"] == 0 and last["missing_found"] == 0
    assert counts(target.near()) == settled
    Replica(target.near()).assert_equals(held)
    assert replicate(source, target)["start_last_seq"] == last["recorded_seq"]


@pytest.mark.fault("Y03")
def test_two_devices_under_one_log_bring_everything(sites):
    """Each continues from the other's checkpoint, in turn, and both crash at random."""
    source, target = (site.guest() for site in sites)
    chance = random.Random(3)
    for round in range(10):
        source.load(DocumentTrees(round, 14, first=14 * round, long=False).documents())
        for _ in range(2):
            try:
                replicate(source, target, batch=chance.choice([5, 9]), shuffle=round,
                          step=CrashAt(chance.randrange(40)))
            except Crash:
                pass
    replicate(source, target)
    ours, theirs = Replica(source.near()), Replica(target.near())
    theirs.assert_equals(ours)


@pytest.mark.files
@pytest.mark.fault("Y03")
@pytest.mark.parametrize("side", [0, 1])
def test_side_that_was_set_back_to_a_copy_catches_up(sites, side, tmp_path):
    """The directory of one side is replaced by an older copy, with its logs."""
    source, target = (site.guest() for site in sites)
    site, copy = sites[side], tmp_path / "copy"
    source.load(DocumentTrees("before", 30, long=False).documents())
    replicate(source, target)
    sockets = shutil.ignore_patterns("control", "replications")
    site.restart(lambda: shutil.copytree(site.directory, copy, ignore=sockets))
    source.load(DocumentTrees("after", 40, first=20, long=False).documents())
    source.edit("later", n=1)
    replicate(source, target)
    everything = listed(source.near())

    def set_back():
        shutil.rmtree(site.directory)
        shutil.copytree(copy, site.directory)

    site.restart(set_back)
    assert len(listed((source, target)[side].near())) < len(everything)
    for _ in range(2):
        until_done(lambda: Replicator(target.near(), source.near(), "back"))
        until_done(lambda: Replicator(source.near(), target.near(), "log"))
    assert listed(source.near()) == everything
    Replica(target.near()).assert_equals(Replica(source.near()))
