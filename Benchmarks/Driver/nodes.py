"""Compares one node and two nodes of one database, where the nodes and not the database are the limit.

Each node has a quarter of a processor. The database and the load driver take as much as they need.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess

import lines
from processes import BookmarkServer
from sites import Bookmarks

HERE = pathlib.Path(__file__).parent
PART = 0.25
"""The part of a processor that each node has."""


class Share:
    """A control group (cgroup v1 or v2) whose processes together use at most this part of one processor. Needs root."""

    PERIOD = 10_000
    """Microseconds after which the kernel gives the part anew."""

    def __init__(self, name, part):
        v2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
        parent = pathlib.Path("/sys/fs/cgroup" if v2 else "/sys/fs/cgroup/cpu")
        self.path = parent / f"hotel-bookmarks-{os.getpid()}-{name}"
        quota = int(part * self.PERIOD)
        files = {"cpu.max": f"{quota} {self.PERIOD}"} if v2 else {
            "cpu.cfs_period_us": self.PERIOD, "cpu.cfs_quota_us": quota}
        try:
            self.path.mkdir()
            for file, value in files.items():
                (self.path / file).write_text(str(value))
        except OSError as error:
            self.close()
            raise SystemExit(f"this machine does not let processor time be limited: {error}") from None

    def take(self, pid):
        (self.path / "cgroup.procs").write_text(str(pid))

    def close(self):
        """Removes the group. Its processes must have ended."""
        if self.path.exists():
            self.path.rmdir()


class Pair:
    """Two nodes with a share each."""

    def __init__(self, options, url):
        self.seconds, self.directory = options.seconds, pathlib.Path(options.directory)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.nodes, self.shares = [], []
        try:
            for name in ("node1", "node2"):
                (self.directory / name).mkdir(parents=True)
                self.nodes.append(BookmarkServer(
                    options.binary, self.directory / name / "data", "--database", url))
                self.shares.append(Share(name, PART))
                self.shares[-1].take(self.nodes[-1].pid)
        except BaseException:
            self.close()
            raise

    def close(self):
        for node in self.nodes:
            node.stop()
        for share in self.shares:
            share.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def rate(self, plan, connections, urls):
        """The requests a second of two drivers, which share the connections, at a node of their own or the same."""
        drivers = []
        for number, url in enumerate(urls):
            path = self.directory / f"plan{number}.lua"
            path.write_text("return " + lines.lua({**lines.renamed(plan), "threads": 1}))
            drivers.append(subprocess.Popen(
                ["wrk", "-t", "1", "-c", str(connections // len(urls)), "-d", f"{self.seconds}s", "--timeout", "30s",
                 "-s", str(HERE / "load.lua"), url, "--", str(path)], stdout=subprocess.PIPE, text=True))
        found = [json.loads(driver.communicate()[0].strip().splitlines()[-1]) for driver in drivers]
        refused = sum(one["refused"] for one in found)
        if refused:
            raise SystemExit(f"{refused} requests were refused")
        return sum(one["requests"] * 1e6 / one["microseconds"] for one in found)


def compare(options, url):
    """Prints a table: the medians of one node and of two nodes, which take turns."""
    pair = Pair(options, url)
    print("| line | one node | two nodes | two / one |\n| --- | --- | --- | --- |")
    try:
        one, two = (node.url for node in pair.nodes)
        site = Bookmarks(one)
        for line in lines.LINES:
            if line.name not in (options.only or ["get 32", "put 32"]):
                continue
            rates = {1: [], 2: []}
            for number in range(options.rounds):
                plan = lines.prepared(line, site, lambda count: count, number)
                for count, urls in ((1, [one, one]), (2, [one, two])):
                    rates[count].append(pair.rate(plan, line.connections, urls))
            first, second = (statistics.median(rates[count]) for count in (1, 2))
            print(f"| {line.name} | {first:,.0f} | {second:,.0f} | {second / first:.2f} |", flush=True)
    finally:
        pair.close()
