"""A primary whose Patroni has died or hangs lives on after the standby was promoted. Nodes leave it, also those that only
read. And reads go on while no node can acknowledge a write.

Read values are held against what the new primary has acknowledged. The times are printed; only the order of events is
held to something."""
import collections
import contextlib
import os
import shutil
import signal
import threading
import time

import pytest
import requests

from cluster import Cluster
from cluster.parts import get
from server import BINARY
from test_cluster_nodes import NEEDED, REJOINING, Writer, sign_up
from waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.fault("P15"),
    pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason="Scripts/setup --cluster installs what this needs")]
READS = 200
"""How many reads of each reader are compared after its node has found the new primary."""


@pytest.fixture(scope="module")
def cluster():
    """On loopback; outside of pytest's directories, where PostgreSQL's user has no way."""
    with Cluster(f"/tmp/hotel-bookmarks-former-{os.getpid()}", binary=shutil.which(BINARY) or BINARY,
                 nodes=2) as cluster:
        yield cluster


class Reader(threading.Thread):
    """Reads a writer's document at one address, and notes each value that is older than what was acknowledged before the
    read began."""

    def __init__(self, url, writer):
        super().__init__(daemon=True)
        self.document = writer.document.replace(writer.document.split("/couch/")[0], url)
        self.headers, self.writer = dict(writer.session.headers), writer
        self.ends = threading.Event()
        self.reads, self.stale, self.newest = 0, [], 0
        """The number of answers; when stale ones came, and by how much; the highest value that was read."""

    def run(self):
        with requests.Session() as session:
            session.headers.update(self.headers)
            while not self.ends.is_set():
                acknowledged = self.writer.acknowledged[-1][0]
                try:
                    answer = session.get(self.document, timeout=PATIENCE)
                except requests.RequestException:
                    continue
                if answer.status_code == 200:
                    count = answer.json()["n"]
                    if count < acknowledged:
                        self.stale.append((time.time(), acknowledged - count))
                    self.newest = max(self.newest, count)
                    self.reads += 1


def whole(cluster):
    """Waits until there are a primary and a synchronous standby, and the nodes are ready."""
    wait_until(lambda: sorted(member.role() for member in cluster.members) == ["primary", "standby"],
               "no primary and standby", REJOINING)
    for node in cluster.nodes:
        wait_until(node.ready, f"{node.name} is not ready", REJOINING)


def manager_loss(cluster, deed):
    """Kills or stops Patroni on the primary. Returns the member that it was, and the one that is promoted."""
    old, new = cluster.part("primary"), cluster.part("standby")
    (cluster.kill_manager if deed == "kill" else cluster.pause_manager)(old.name)
    return old, new


def is_promoted(cluster, member):
    return cluster.sql("SELECT pg_is_in_recovery()", member=member) == "f"


def bring_back(cluster, member, deed):
    """Starts or continues the lost Patroni, which makes its member a standby."""
    if deed == "kill":
        cluster.restart(member.name)
    else:
        member.process.signal(signal.SIGCONT)


@contextlib.contextmanager
def at_work(cluster, *urls):
    """A writer at the first node, and a reader at each address, until the end of the block."""
    store, token = sign_up(cluster.nodes[0].url)
    writer = Writer(cluster.nodes[0].url, store, token, "counted")
    writer.start()
    wait_until(lambda: writer.acknowledged, "nothing is acknowledged")
    readers = [Reader(url, writer) for url in urls]
    for reader in readers:
        reader.start()
    try:
        yield writer, readers
    finally:
        writer.stop.set()
        for reader in readers:
            reader.ends.set()
        for thread in (writer, *readers):
            thread.join(timeout=PATIENCE)


def is_valid(node, token):
    return requests.get(f"{node.url}/v1/bookmarks", headers={"Authorization": "Bearer " + token},
                        timeout=PATIENCE).status_code


@pytest.mark.nightly
@pytest.mark.parametrize("deed", ["kill", "pause"])
def test_nodes_leave_a_primary_whose_manager_is_lost(cluster, deed):
    whole(cluster)
    first, second = cluster.nodes
    with at_work(cluster, first.url, second.url, cluster.url) as (writer, readers):
        _, token = sign_up(first.url)
        old, new = manager_loss(cluster, deed)
        wait_until(lambda: is_promoted(cluster, new), "the standby is not promoted")
        promoted, before = time.time(), writer.acknowledged[-1][0]
        wait_until(lambda: writer.acknowledged[-1][0] > before, "the new primary acknowledges nothing")
        acknowledged = writer.acknowledged[-1]
        # The second node only reads, and finds the new primary all the same.
        for reader in readers:
            wait_until(lambda reader=reader: reader.newest >= acknowledged[0], "a node still reads the former primary")
        found = time.time()
        ended = requests.delete(f"{first.url}/v1/sessions", headers={"Authorization": "Bearer " + token},
                                timeout=PATIENCE)
        assert ended.status_code == 204, ended.text
        logged_out = time.time()
        wait_until(lambda: is_valid(second, token) == 401, "a token that was logged out is valid")
        refused = time.time()
        done = [reader.reads for reader in readers]
        for number in range(READS):
            assert [is_valid(node, token) for node in (first, second)] == [401, 401], number
        for reader, before in zip(readers, done):
            wait_until(lambda reader=reader, before=before: reader.reads >= before + READS, "nothing can be read")
        # Otherwise nothing was shown.
        assert cluster.sql("SELECT pg_is_in_recovery()", member=old) == "f", "the former primary has not lived on"
        stale = [one for reader in readers for one in reader.stale]
        print(f"{deed}: {sum(reader.reads for reader in readers)} reads, {len(stale)} of them stale, the last "
              f"{max((when for when, _ in stale), default=promoted) - promoted:.2f} s after the promotion; acknowledged "
              f"after {acknowledged[2] - promoted:.2f} s, read by all after {found - promoted:.2f} s; a token logged out "
              f"refused after {refused - logged_out:.2f} s")
        assert [one for one in stale if one[0] > found] == []
    bring_back(cluster, old, deed)
    whole(cluster)
    assert (old.role(), new.role()) == ("standby", "primary")


def readiness(node):
    """The status and the body of `/readyz`."""
    answer = requests.get(f"http://{node.host}:{node.port('operations')}/readyz", timeout=PATIENCE)
    return answer.status_code, answer.json()


@pytest.mark.nightly
@pytest.mark.fault("P02")
def test_reads_go_on_while_no_node_can_acknowledge(cluster):
    """The standby is gone, and a primary alone acknowledges nothing: `synchronous_mode_strict`. More stores are written to
    than a node has connections for writes, so that some writes find none."""
    whole(cluster)
    cluster.configure(synchronous_mode_strict=True)
    standby, people = cluster.part("standby").name, [sign_up(cluster.url) for _ in range(12)]
    many = [Writer(node.url, store, token, node.name) for store, token in people for node in cluster.nodes]
    try:
        with at_work(cluster, *(node.url for node in cluster.nodes)) as (writer, readers):
            for one in many:
                one.start()
            for one in many:
                wait_until(lambda one=one: one.acknowledged, "nothing is acknowledged")
            cluster.kill(standby)
            for node in cluster.nodes:
                wait_until(lambda node=node: not readiness(node)[1]["writes"], "writes are said to be acknowledged")
                status, body = readiness(node)
                assert (status, body["status"], body["writes"]) == (200, "degraded", False), body
            for code in ("outcome_unknown", "unavailable"):
                wait_until(lambda code=code: any(one.refused[503, code] for one in many), f"no write is {code}")
            done, begun = [reader.reads for reader in readers], time.time()
            for reader, before in zip(readers, done):
                wait_until(lambda reader=reader, before=before: reader.reads >= before + READS, "reads stand still")
            print(f"{sum(reader.reads for reader in readers) - sum(done)} reads in {time.time() - begun:.2f} s")
            assert get(cluster.nodes[0].host, cluster.nodes[0].port("operations"), "/couch/_up")[0] == 200
            assert [reader.stale for reader in readers] == [[], []]
            sessions = int(cluster.sql("SELECT count(*) FROM pg_stat_activity WHERE usename = 'hotel'", user="postgres"))
            print(f"{sessions} sessions, {dict(sum((one.refused for one in many), collections.Counter()))}")
            # 16 for each node, its notices, its readiness, its question at each host.
            assert sessions <= len(cluster.nodes) * 20
            cluster.restart(standby)
            whole(cluster)
            counts = [len(one.acknowledged) for one in many]
            for one, count in zip(many, counts):
                wait_until(lambda one=one, count=count: len(one.acknowledged) > count, "a write is not acknowledged again")
    finally:
        for one in many:
            one.stop.set()
        cluster.configure(synchronous_mode_strict=False)
    for one in many:
        one.join(timeout=PATIENCE)
        count, revision, _ = one.acknowledged[-1]
        stored = one.session.get(one.document, params={"revs": "true"}, timeout=PATIENCE).json()
        ids = stored["_revisions"]["ids"]
        assert stored["n"] >= count and f"{count}-{ids[stored['n'] - count]}" == revision


@pytest.mark.nightly
@pytest.mark.fault("P16")
def test_writes_on_one_disk_are_told(cluster):
    """Without a standby the primary acknowledges alone, as long as it is not `synchronous_mode_strict`."""
    whole(cluster)
    node, gauge = cluster.nodes[0], "database_writes_on_one_disk "

    def measured():
        metrics = get(node.host, node.port("operations"), "/metrics")[1].decode()
        return next(line[len(gauge):] for line in metrics.splitlines() if line.startswith(gauge))

    def told():
        return readiness(node)[1].get("writesOnOneDisk", False)

    wait_until(lambda: not told() and measured() == "0", "two disks are said to be one")
    standby, log = cluster.part("standby").name, node.directory / "log"
    warnings = log.read_text().count("on one disk only")
    cluster.kill(standby)
    wait_until(lambda: told() and measured() == "1", "one disk is said to be two")
    assert readiness(node)[1]["status"] == "ready"
    assert log.read_text().count("on one disk only") == warnings + 1
    cluster.restart(standby)
    whole(cluster)
    wait_until(lambda: not told() and measured() == "0", "two disks are said to be one")
