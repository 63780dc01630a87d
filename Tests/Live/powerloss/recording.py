"""A server under strace, and the requests of its clients at the same time."""
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess

import pytest

import server
from faults import skip_refused
from waiting import PATIENCE

from . import trace, workload


class TracedServer(server.Server):
    """A server whose system calls are written to `trace`."""

    def __init__(self, data, trace_file, *arguments):
        if not shutil.which("strace"):
            pytest.skip("strace is not installed: Scripts/setup --tests")
        tried = subprocess.run([*trace.COMMAND, "true"], capture_output=True, text=True, check=False)
        if tried.returncode:
            skip_refused(tried.stderr, "a process be traced")
        self.trace_file = trace_file
        super().__init__(data, *arguments, under=[*trace.COMMAND, "-o", str(trace_file)])

    def password(self):
        """The administrator's password, which the first start prints."""
        while line := self.process.stdout.readline():
            if found := re.search("password: (\\S+)", line):
                return found.group(1)
        raise AssertionError("no password was printed")

    def stop(self):
        """Ends the server. strace ends with it."""
        if self.process.poll() is None:
            tasks = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
            for child in tasks.read_text().split():
                os.kill(int(child), signal.SIGTERM)
            self.process.wait(timeout=PATIENCE)
        return self.process.returncode


def within(data):
    """Returns a function that tells whether a path is part of the data. The log's index and reserved space are
    not."""
    root = str(data)
    return lambda path: (path == root or path.startswith(root + "/")) and not path.endswith(
        ("-shm", "/reserve"))


class Return:
    """A server that starts after a power cut and is also recorded. It completes or reads what it finds, and all people
    send requests."""

    def __init__(self, data, check, seed):
        """Runs over `data`, which a first cut left. `check(server)` returns the problems."""
        self.data, self.seed = data, seed
        self.initial = contents(data)
        trace_file = data.parent / (data.name + ".trace")
        traced = TracedServer(data, trace_file)
        try:
            self.problems = check(traced)
        finally:
            traced.stop()
        self.steps = list(trace.steps(trace_file, within(data)))
        trace_file.unlink()


def contents(directory):
    """{relative path: bytes, or None for a directory}, as in `survival.tree`."""
    found = {}
    for path in sorted(directory.rglob("*")):
        found[str(path.relative_to(directory))] = None if path.is_dir() else path.read_bytes()
    return found


class Recording:
    """One run: the `steps` in order, and the `people` with what they wrote and when it was answered."""

    initial = {}
    """The disk's content at the beginning."""

    def __init__(self, directory, seed):
        """Runs the workload of `seed` over `directory`/data."""
        self.seed, self.data = seed, directory / "data"
        traced = TracedServer(
            self.data, directory / "trace", "--open-stores", "12", "--guests-per-hour", "100000")
        try:
            self.people = workload.run(traced.url, traced.password(), random.Random(seed))
        finally:
            status = traced.stop()
        assert status == 0, "".join(traced.log[-20:])
        self.steps = list(trace.steps(directory / "trace", within(self.data)))
        (directory / "trace").unlink()
        self.answered = self._answered()

    def _answered(self):
        """The step of each response: {(port, number of the response): step}."""
        indexes, counts = {}, {}
        for index, step in enumerate(self.steps):
            if step[0] == "answer":
                counts[step[1]] = counts.get(step[1], 0) + 1
                indexes[step[1], counts[step[1]]] = index
        return indexes

    def is_due(self, index):
        """Returns a function that tells whether an attempt, or another object with `due`, was answered by a step."""
        return lambda attempt: self.answered[attempt.due] <= index

    def commits(self):
        """The syncs of logs at commits: all syncs of logs except those of a log's new header and those before the log
        is copied into its file (<https://sqlite.org/pragma.html#pragma_synchronous>)."""
        paths, before, commits = {}, {}, set()
        for index, (kind, *rest) in enumerate(self.steps):
            if kind == "open":
                paths[rest[0]] = rest[1]
            if kind not in ("write", "size", "sync"):
                continue
            path = paths[rest[0]]
            database = path.removesuffix("-wal")
            waiting, header = before.pop(database, (None, False))
            if waiting is not None and not header and (kind == "sync" or path != database):
                commits.add(waiting)
            is_log = path != database
            if kind == "sync" and is_log:
                before[database] = (index, header)
            elif kind == "write" and is_log:
                before[database] = (None, rest[1] == 0 and len(rest[2]) == 32)
        return commits

    def namings(self):
        """The syncs of directories."""
        opened, files = {}, set()
        for kind, *rest in self.steps:
            if kind == "open":
                opened[rest[0]] = rest[1]
            elif kind in ("write", "size"):
                files.add(rest[0])
        names = {os.path.dirname(path) for path in opened.values()} | {str(self.data)}
        return {index for index, (kind, *rest) in enumerate(self.steps)
                if kind == "sync" and opened[rest[0]] in names and rest[0] not in files}
