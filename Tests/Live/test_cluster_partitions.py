"""Nodes keep what they acknowledged when links between them, the database and each other's readers are cut.

Each part of the cluster has its own network namespace. Held as in test_cluster_nodes.py, with two connections to the
database for each node, so that the pool is exhausted all the time."""
import os
import shutil
import time

import pytest

from cluster import Cluster, Namespaces
from cluster.cluster import part_names
from server import BINARY
from test_cluster_nodes import NEEDED, at_work, outage

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
                 arguments=["--database-connections", "2"], network=Namespaces(part_names(3))) as cluster:
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
