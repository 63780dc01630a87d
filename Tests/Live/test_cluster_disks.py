"""Nothing that was acknowledged is lost when a disk of the database is full, and reads go on.

Each member's data is on a small disk of its own. Held as in test_cluster_nodes.py."""
import collections
import contextlib
import os
import shutil
import threading
import time

import pytest
import requests

from cluster import Cluster
from cluster.parts import ClusterError
from faults import SmallDisk
from server import BINARY
from test_cluster_nodes import NEEDED, REJOINING, at_work, outage
from waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.nightly, pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts disks"),
    pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason="Scripts/setup --cluster installs what this needs")]

@pytest.fixture(scope="module")
def disks():
    """A disk of each member, by its name; outside of pytest's directories, where PostgreSQL's user has no way."""
    made = {}
    try:
        for name in ("postgres1", "postgres2"):
            made[name] = SmallDisk(f"/tmp/hotel-bookmarks-disk-{os.getpid()}-{name}", "1g")
        yield made
    finally:
        for disk in made.values():
            disk.close()
            disk.path.rmdir()


@pytest.fixture(scope="module")
def cluster(disks):
    cluster = Cluster(f"/tmp/hotel-bookmarks-disks-{os.getpid()}", binary=shutil.which(BINARY) or BINARY)
    for member in cluster.members:
        disk = disks[member.name]
        if member.user:
            shutil.chown(disk.path, member.user, member.user)
        member.data = disk.path / "data"
    with cluster:
        yield cluster


class Reader(threading.Thread):
    """Reads a writer's document at one node after the other."""

    def __init__(self, nodes, writer):
        super().__init__(daemon=True)
        self.urls = [writer.document.replace(writer.document.split("/couch/")[0], node.url) for node in nodes]
        self.headers = dict(writer.session.headers)
        self.stop = threading.Event()
        self.answers, self.slowest = collections.Counter(), 0

    def run(self):
        number = 0
        while not self.stop.wait(0.02):
            number += 1
            begun = time.monotonic()
            answer = requests.get(self.urls[number % len(self.urls)], headers=self.headers, timeout=PATIENCE)
            self.answers[answer.status_code, answer.json().get("error")] += 1
            self.slowest = max(self.slowest, time.monotonic() - begun)


def roles(cluster):
    return {member.name: member.role() for member in cluster.members}


def end_log(cluster):
    """Has the primary begin new files of its log until there is no space for one. PostgreSQL then ends itself."""
    with contextlib.suppress(ClusterError):
        for _ in range(60):
            cluster.sql("SELECT pg_switch_wal()", user="postgres")


@pytest.mark.parametrize("full, deed", [
    ("primary", None), ("primary", end_log), ("standby", None), ("primary and standby", None)])
def test_a_full_disk_loses_nothing(cluster, disks, full, deed):
    with at_work(cluster) as writers:
        before = cluster.part("primary").name
        chosen = [disks[cluster.part(role).name] for role in full.split(" and ")]
        reader = Reader(cluster.nodes, writers[0])

        def fill(seconds):
            # PostgreSQL frees space too, which is filled again.
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                for disk in chosen:
                    disk.fill()
                time.sleep(0.2)

        reader.start()
        try:
            outage(writers, lambda: fill(5), 0)
            if deed:
                outage(writers, lambda: deed(cluster), 0)
            outage(writers, lambda: fill(20), 0, at_most=10 if deed or full == "standby" else None)
            during = roles(cluster)
            health = [requests.get(f"{node.url}/readyz", timeout=10).json() for node in cluster.nodes]
            print(during, health)
        finally:
            reader.stop.set()
            reader.join()
            for disk in chosen:
                disk.free()
        freed = time.time()
        print(f"read: {dict(reader.answers)}, the slowest in {reader.slowest:.1f} s")
        for what, holds in (
                ("all writers go on", lambda: all(writer.acknowledged[-1][2] > freed for writer in writers)),
                ("both members are there", lambda: sorted(roles(cluster).values()) == ["primary", "standby"])):
            wait_until(holds, f"not within {REJOINING} s: {what}", REJOINING)
            print(f"{what} {time.time() - freed:.1f} s after there is space again")
        refusals = sum((writer.refused for writer in writers), collections.Counter())
        full_disk, unknown = (507, "insufficient_storage"), (503, "outcome_unknown")
        away = {(503, "unavailable"), unknown}
        # Who writes again after an unknown outcome finds what was written.
        assert set(refusals) <= away | {full_disk} | ({(409, "conflict")} if refusals[unknown] else set())
        ended = during[before] != "primary"
        if refusals[full_disk] and not ended:
            assert ("degraded", False) in {(answer["status"], answer["writes"]) for answer in health}
        assert ended or not deed, "a primary that could not write its log was not replaced"
        # Tables or the log: chance decides what needs space first.
        assert bool(refusals[full_disk] or ended) == ("primary" in full)
        # If both logs can't grow either, there is no database until there is space.
        assert set(reader.answers) <= {(200, None), *(away if "and" in full else [])}
