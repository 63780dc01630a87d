"""The database of a cluster keeps what it acknowledged, whatever dies: PostgreSQL with a synchronous standby under
Patroni, with the settings of Scripts/cluster, under writers that are no nodes. It costs no build of the service.

Held each time: every acknowledged change is stored as it was acknowledged, none twice, and each store is numbered
from 1 without a gap."""
import os
import shutil
import time

import pytest

from cluster import Cluster, Namespaces
from cluster.cluster import part_names
from cluster.parts import wait_until
from cluster.writers import Session, Writers
from waiting import PATIENCE

NEEDED = ("patroni", "etcd", "haproxy", "psql", "ip")
# In each run, test_cluster_nodes.py crashes a primary under nodes.
pytestmark = [pytest.mark.nightly, pytest.mark.skipif(
    not all(map(shutil.which, NEEDED)), reason="Scripts/setup --cluster installs what this needs")]
REJOINING = PATIENCE
"""Seconds within which a member takes part again on a busy machine."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """On loopback; outside of pytest's directories, where PostgreSQL's user has no way."""
    with Cluster(f"/tmp/hotel-bookmarks-test-{os.getpid()}", nodes=0) as cluster:
        yield cluster


@pytest.fixture
def writers(cluster):
    """Twelve of them, once primary and standby are there; they stop at the test's end, and nothing is wrong then."""
    with at_work(cluster) as writers:
        yield writers


class at_work:
    """Writers over a whole cluster, that are held against what is stored."""

    def __init__(self, cluster):
        self.cluster = cluster

    def __enter__(self):
        whole(self.cluster)
        self.cluster.sql("DROP TABLE IF EXISTS stores, changes")
        self.writers = Writers(self.cluster)
        time.sleep(3)
        return self.writers

    def __exit__(self, kind, *_):
        if kind is None:
            wait_until(lambda: sum(len(writer.acknowledged) for writer in self.writers.writers) > 100,
                       "few writes are acknowledged", PATIENCE)
        self.writers.stop()
        print(self.writers.counts())
        if kind is None:
            assert self.writers.wrong() == []


def whole(cluster):
    """Waits until there are a primary and a synchronous standby."""
    wait_until(lambda: sorted(member.role() for member in cluster.members) == ["primary", "standby"],
               "no primary and standby", REJOINING)


def outage(writers, fault, seconds, at_most=None):
    """Causes a fault and says how long no write was acknowledged after it. Only at night that is held to a limit, because
    a busy machine may be slow."""
    begun = time.time()
    fault()
    time.sleep(seconds)
    end, longest = writers.pause_after(begun)
    print(f"no write for {longest:.2f} s, until {end:.2f} s after the fault")
    if at_most and os.environ.get("BOOKMARKS_NIGHTLY"):
        assert longest < at_most


def test_a_crashed_primary_loses_nothing(cluster, writers):
    outage(writers, lambda: cluster.crash("primary"), 10, at_most=10)


def test_a_killed_machine_loses_nothing_and_its_member_comes_back(cluster, writers):
    primary = cluster.part("primary").name
    outage(writers, lambda: cluster.kill("primary"), 16, at_most=12)
    cluster.restart(primary)
    whole(cluster)
    assert cluster.parts[primary].role() == "standby"


def test_a_primary_that_stood_still_acknowledges_nothing_and_takes_no_lock_back(cluster, writers):
    old, new = cluster.part("primary"), cluster.part("standby")
    outage(writers, lambda: cluster.pause("primary"), 18, at_most=16)
    cluster.resume(old.name)
    url = f"postgres://hotel@{old.host}:{old.port()}/hotel?connect_timeout=2&passfile={cluster.directory}/hotel.pgpass"
    deadline, said = time.monotonic() + 10, []
    while time.monotonic() < deadline:
        session = Session(url)
        said.append(session.ask("INSERT INTO changes VALUES (0, -1, -1, -1) RETURNING 'stored';", 3))
        session.close()
    assert not [answer for answer in said if answer and "stored" in answer]
    whole(cluster)
    assert (old.role(), new.role()) == ("standby", "primary")


def test_a_switchover_loses_nothing(cluster, writers):
    outage(writers, cluster.switchover, 10, at_most=8)


@pytest.mark.parametrize("deed", ["kill", "pause"])
def test_writes_go_on_without_the_standby(cluster, writers, deed):
    standby = cluster.part("standby").name
    outage(writers, lambda: getattr(cluster, deed)("standby"), 20, at_most=12)
    (cluster.restart if deed == "kill" else cluster.resume)(standby)
    whole(cluster)


@pytest.mark.parametrize("deed", ["kill", "pause"])
def test_writes_go_on_without_etcd(cluster, writers, deed):
    outage(writers, lambda: getattr(cluster, deed)("etcd"), 20, at_most=3)
    (cluster.restart if deed == "kill" else cluster.resume)("etcd")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces")
def test_cut_links_lose_nothing():
    """Each link of the primary both ways, one way, and all of them: it stands alone."""
    with Cluster(f"/tmp/hotel-bookmarks-test-{os.getpid()}-cut", nodes=0,
                 network=Namespaces(part_names(0))) as cluster, at_work(cluster) as writers:
        alone = [("primary", other) for other in ("standby", "etcd", "tester")]
        for links, one_way in (
                (alone[:1], False), (alone[:1], True), ([("standby", "primary")], True), (alone[1:2], False),
                (alone, False)):
            whole(cluster)
            # By name: once the links are cut nobody can say who is primary.
            named = {role: cluster.part(role).name for role in ("primary", "standby")}
            links = [[named.get(end, end) for end in link] for link in links]
            print(links, "one way" if one_way else "both ways")
            outage(writers, lambda: [cluster.partition(*link, one_way) for link in links], 20)
            cluster.heal()
            time.sleep(5)
