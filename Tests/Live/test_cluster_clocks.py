"""Nodes whose clocks are stepped while writers run change nothing: what is stored and compared is the database's time.

Held as in test_cluster_nodes.py."""
import email.utils
import os
import shutil
import time
import uuid

import pytest
import requests

from clocks import HOUR, Clock
from cluster import Cluster
from server import BINARY
from test_cluster_nodes import NEEDED, at_work, outage, sign_up
from waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason="Scripts/setup --cluster installs what this needs")]


@pytest.fixture(scope="module")
def clocks(tmp_path_factory):
    """Those of the first two nodes. The third one's is right."""
    return [Clock(tmp_path_factory.mktemp("clock")) for _ in range(2)]


@pytest.fixture(scope="module")
def cluster(clocks):
    cluster = Cluster(f"/tmp/hotel-bookmarks-clocks-{os.getpid()}", binary=shutil.which(BINARY) or BINARY)
    for node, clock in zip(cluster.nodes, clocks):
        node.under, node.variables = ["env"], clock.environment
    with cluster:
        yield cluster


def ahead(node):
    """How many seconds a node's clock is ahead of the true time."""
    answer = requests.get(node.url + "/healthz", timeout=PATIENCE)
    return email.utils.parsedate_to_datetime(answer.headers["Date"]).timestamp() - time.time()


def is_served_alike(nodes):
    """A new person of each node is a person at every node, and one key is applied once whichever node gets it."""
    for node in nodes:
        _, token = sign_up(node.url)
        headers = {"Authorization": "Bearer " + token, "Idempotency-Key": f'"{uuid.uuid4()}"'}
        answers = [requests.post(each.url + "/v1/lists", json={"title": "Trip"}, headers=headers, timeout=PATIENCE)
                   for each in (node, *nodes)]
        assert {answer.status_code for answer in answers} <= {200, 201}, [answer.text for answer in answers]
        assert len({answer.json()["id"] for answer in answers}) == 1


def test_clocks_that_are_stepped_lose_nothing(cluster, clocks):
    with at_work(cluster) as writers:
        for step in (HOUR, 0, -HOUR, 0):
            def steps(step=step):
                for clock, node, wanted in zip(clocks, cluster.nodes, (step, -step)):
                    clock.step(wanted)
                    wait_until(lambda node=node, wanted=wanted: abs(ahead(node) - wanted) < 60,
                               f"the clock of {node.name} is not stepped")

            outage(writers, steps, 3, at_most=3)
            print([f"{node.name} {ahead(node):+.0f} s" for node in cluster.nodes])
            is_served_alike(cluster.nodes)
        assert not any(writer.refused for writer in writers)
