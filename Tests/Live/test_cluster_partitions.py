"""Nodes keep what they acknowledged when links between them, the database and each other's readers are cut.

Each part of the cluster has its own network namespace. Held as in test_cluster_nodes.py, with two connections for
writes for each node, so that the pool is exhausted all the time."""
import os
import shutil
import time

import pytest
import requests

from cluster import Cluster, Namespaces
from cluster.cluster import part_names
from server import BINARY
from test_cluster_former import at_work as counting
from test_cluster_former import bring_back, is_promoted, manager_loss, readiness, whole
from test_cluster_nodes import NEEDED, at_work, outage
from waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.nightly, pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces"),
    pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason="Scripts/setup --cluster installs what this needs")]

CUTS = {
    "none: only the pool is exhausted": ([], False),
    "a node and the primary": ([("node1", "primary")], False),
    "a node to the primary": ([("node1", "primary")], True),
    "the primary to a node": ([("primary", "node1")], True),
    "a node and the whole database": ([("node1", "primary"), ("node1", "standby"), ("node1", "etcd")], False),
    "the primary and all nodes": ([("primary", f"node{number}") for number in (1, 2, 3)], False),
    "the primary and everything": (
        [("primary", other) for other in ("standby", "etcd", "proxy", "node1", "node2", "node3", "tester")], False),
}
"""The links that are cut, and whether only the first part's packets are lost."""


@pytest.fixture(scope="module")
def cluster():
    with Cluster(f"/tmp/hotel-bookmarks-cuts-{os.getpid()}", binary=shutil.which(BINARY) or BINARY,
                 arguments=["--database-connections", "4"], network=Namespaces(part_names(3))) as cluster:
        yield cluster


@pytest.mark.parametrize("cut", CUTS)
def test_cut_links_lose_nothing(cluster, cut):
    links, one_way = CUTS[cut]
    with at_work(cluster) as writers:
        # By name: once the links are cut nobody can say who is primary.
        named = {role: cluster.part(role).name for role in ("primary", "standby")}
        outage(writers, lambda: [
            cluster.partition(*[named.get(end, end) for end in link], one_way) for link in links], 25)
        cluster.heal()
        time.sleep(5)


@pytest.mark.fault("P15")
def test_node_that_loses_the_newest_primary_reads_no_former_one(cluster):
    """The node still reaches the former one, which answers everything that it is asked."""
    whole(cluster)
    second = cluster.nodes[1]
    with counting(cluster, second.url) as (writer, [reader]):
        old, new = manager_loss(cluster, "kill")
        wait_until(lambda: is_promoted(cluster, new), "the standby is not promoted")
        before = writer.acknowledged[-1][0]
        wait_until(lambda: writer.acknowledged[-1][0] > before, "the new primary acknowledges nothing")
        wait_until(lambda: reader.newest > before, "a node still reads the former primary")
        stale = len(reader.stale)
        cluster.partition(second.name, new.name)
        cut = time.time()
        wait_until(lambda: readiness(second)[0] == 503, "a node that lost the primary is ready")
        said, reads = time.time() - cut, reader.reads
        for _ in range(3):
            begun = time.time()
            answer = requests.get(reader.document, headers=reader.headers, timeout=PATIENCE)
            print(f"/readyz 503 after {said:.2f} s; a read {answer.status_code} after {time.time() - begun:.2f} s")
            assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        assert reader.reads == reads
        assert cluster.sql("SELECT pg_is_in_recovery()", member=old) == "f", "the former primary has not lived on"
        cluster.heal()
        wait_until(lambda: reader.reads > reads, "nothing can be read after the repair")
        assert len(reader.stale) == stale
    bring_back(cluster, old, "kill")
    whole(cluster)


@pytest.mark.fault("P15")
def test_node_that_is_cut_off_says_so_and_others_go_on(cluster):
    whole(cluster)
    first, second, _ = cluster.nodes
    with counting(cluster, first.url, second.url) as (writer, readers):
        for other in ("primary", "standby", "etcd"):
            cluster.partition(second.name, other)
        cut = time.time()
        wait_until(lambda: readiness(second)[0] == 503, "a node that is cut off is ready")
        said = time.time() - cut
        assert readiness(second)[1]["writes"] is False
        for method in ("GET", "PUT", "GET"):
            begun = time.time()
            answer = requests.request(method, readers[1].document, headers=readers[1].headers, timeout=PATIENCE,
                                      json={"n": 0} if method == "PUT" else None)
            print(f"/readyz 503 after {said:.2f} s; {method} {answer.status_code} after {time.time() - begun:.2f} s")
            assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        count = writer.acknowledged[-1][0]
        wait_until(lambda: writer.acknowledged[-1][0] > count and readers[0].newest > count, "the others stand still")
        cluster.heal()
        wait_until(second.ready, "a node is not ready after the repair")
        wait_until(lambda: readers[1].newest > count, "nothing can be read after the repair")
        assert [reader.stale for reader in readers] == [[], []]
