"""F16 to F18: many stores, few file descriptors, little memory."""
import concurrent.futures
import os
import pathlib
import random
import resource
import socket
import subprocess
import time

import pytest
import requests

from conftest import NIGHTLY
from couch import Account
from faults import Injected, file_of, listed, put, refused, store_file
from waiting import PATIENCE, wait_until
from server import Server
from wire import receive


def descriptors(count):
    """Limits the number of a server's open descriptors."""
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def make(server, count):
    """Makes `count` guests with a bookmark each."""
    session = requests.Session()
    tokens = []
    for _ in range(count):
        tokens.append(server.call("POST", "/v1/guests", session=session).json()["token"])
        answer = put(server, tokens[-1], "one", session=session)
        assert answer.status_code == 201, answer.text
    return tokens


@pytest.mark.fault("F16")
def test_many_stores_under_200_descriptors_without_an_error(start):
    server = start("--guests-per-hour", "1000000", limits=descriptors(200))
    tokens = make(server, 5_000 if NIGHTLY else 150)
    order = random.Random(16)

    def use(tokens):
        session = requests.Session()
        for token in tokens:
            answer = server.call("GET", "/v1/bookmarks/one", token, session=session)
            assert answer.status_code == 200, answer.text

    parts = [order.sample(tokens, len(tokens)) for _ in range(4)]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(use, part) for part in parts]:
            done.result()
    assert len(os.listdir(f"/proc/{server.process.pid}/fd")) <= 200


@pytest.mark.fault("F16")
def test_exhausted_descriptors_are_survived_by_who_accepts_connections(start):
    server = start(limits=descriptors(200))
    [token] = make(server, 1)
    host, port = server.url.removeprefix("http://").split(":")
    held, taken = [], 0
    for _ in range(300):
        # Of the connections beyond the limit, a few get an error response, and the others are closed.
        connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        held.append(connection)
        taken = max(taken, len(os.listdir(f"/proc/{server.process.pid}/fd")))
    # A refused connection takes no descriptor for long. Without any free descriptor the process would end.
    assert taken <= 190
    assert receive(held[0]).statuses == [200]
    # A store may fail to open because no descriptor is free, but the server never gives a wrong answer.
    on_held = held[1]
    assert receive(on_held).statuses == [200]
    on_held.sendall((f"GET /v1/bookmarks/one HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                     "\r\n").encode())
    assert receive(on_held).statuses[0] in (200, 503)
    for connection in held:
        connection.close()

    def recovered():
        try:
            return listed(server, token) == {"one"}
        except (requests.RequestException, AssertionError):
            return False

    wait_until(recovered)
    # Ten requests at the same time succeed as before.
    with concurrent.futures.ThreadPoolExecutor(10) as pool:
        assert set(pool.map(lambda _: tuple(listed(server, token)), range(30))) == {("one",)}


@pytest.mark.fault("F16")
def test_store_that_no_descriptor_is_left_for_is_503_with_a_time_to_come_again(start):
    """Injects the failure, because libdispatch sometimes ends the process when really all descriptors are taken
    (`_dispatch_workq_monitor_pools`)."""
    first = start()
    [token, other] = make(first, 2)
    file = store_file(first, token)
    first.stop()
    server = start()
    with Injected(server, "openat:error=EMFILE", paths=[file]) as injected:
        answer = server.call("GET", "/v1/bookmarks/one", token)
        assert refused(answer) == (503, "unavailable") and int(answer.headers["retry-after"]) > 0
        assert listed(server, other) == {"one"}
        assert injected.count > 0
    assert server.logged("errno 24", "status=503")
    assert listed(server, token) == {"one"}


@pytest.mark.fault("F17")
def test_start_with_many_stores_looks_at_none_of_them(start, tmp_path):
    """The number of reads at the start, counted by the kernel, does not grow with the number of stores."""
    few, many = (20, 100_000) if NIGHTLY else (20, 2_000)
    reads = []
    for number, count in enumerate((few, many)):
        data = tmp_path / f"data-{number}"
        server = Server(data, "--guests-per-hour", "1000000")
        token, *_ = make(server, 3)
        assert server.stop() == 0
        copies(data, count, server)
        server = start(data=data)
        reads.append(syscalls(server))
        assert listed(server, token) == {"one"}
        server.stop()
    # A scan would need thousands of reads. The registry's own pages need a few.
    assert reads[1] - reads[0] < many / 10, reads


def copies(data, count, server):
    """Adds files of other stores to the directory. A start must not read them."""
    [template, *_] = (pathlib.Path(data) / "stores").rglob("*.sqlite")
    content = template.read_bytes()
    for number in range(count):
        file = file_of(data, f"guest/{number:032x}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content[:4_096])


def syscalls(server):
    """The number of read calls of the server so far."""
    try:
        lines = pathlib.Path(f"/proc/{server.process.pid}/io").read_text().splitlines()
    except OSError as error:
        pytest.skip(f"this machine does not count a process' reads: {error}")
    return {name: int(value) for name, value in (line.split(": ") for line in lines)}["syscr"]


class MemoryGroup:
    """A control group (cgroup v1 or v2) whose processes the kernel ends when they take more memory."""

    def __init__(self, mebibytes):
        v2 = pathlib.Path("/sys/fs/cgroup/cgroup.controllers").exists()
        parent = pathlib.Path("/sys/fs/cgroup" if v2 else "/sys/fs/cgroup/memory")
        self.path = parent / f"hotel-bookmarks-{os.getpid()}"
        try:
            self.path.mkdir()
            limit = "memory.max" if v2 else "memory.limit_in_bytes"
            (self.path / limit).write_text(str(mebibytes << 20))
            subprocess.run(["true"], preexec_fn=self.join, check=True)
        except (OSError, subprocess.SubprocessError) as error:
            self.close()
            pytest.skip(f"this machine does not let memory be limited: {error}")

    def join(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def kills(self):
        for name in ("memory.events", "memory.oom_control"):
            file = self.path / name
            if file.exists():
                found = [line.split() for line in file.read_text().splitlines()]
                return sum(int(value) for key, value in found if key == "oom_kill")
        return 0

    def peak(self):
        """The most memory taken at the same time, in MiB, including the page cache."""
        for name in ("memory.peak", "memory.max_usage_in_bytes"):
            file = self.path / name
            if file.exists():
                return int(file.read_text()) >> 20
        return None

    def close(self):
        for _ in range(100):
            try:
                return self.path.rmdir()
            except FileNotFoundError:
                return None
            except OSError:
                time.sleep(0.1)


BIG = 400_000
"""Bytes of a document in a bulk request."""


def write_bulks(server, account, writer, turns, mebibytes):
    """Sends bulk requests until the server has ended. Returns the ids of the acknowledged documents."""
    session, kept = requests.Session(), set()
    for turn in range(turns):
        names = [f"w{writer}-{turn}-{n}" for n in range((mebibytes << 20) // (BIG + 100))]
        documents = [{"_id": name, "text": "x" * BIG} for name in names]
        try:
            answer = server.call("POST", f"/couch/{account.store}/_bulk_docs", account.token, session,
                                 json={"docs": documents})
        except requests.RequestException:
            return kept
        if answer.status_code == 201:
            kept |= {row["id"] for row in answer.json() if row.get("ok")}
        else:
            assert answer.status_code in (429, 503), answer.text
            assert int(answer.headers["Retry-After"]) > 0
    return kept


def follow(server, account):
    """Reads all changes with documents, or waits for the first change."""
    try:
        server.call("GET", f"/couch/{account.store}/_changes?feed=longpoll&include_docs=true&timeout=2000",
                    account.token)
    except requests.RequestException:
        pass


@pytest.mark.fault("F18")
@pytest.mark.parametrize("connections, mebibytes, stays", [(24, 2, True), (32, 15, False)])
def test_bulk_writes_and_feeds_stay_within_little_memory_or_lose_nothing(
        start, connections, mebibytes, stays):
    """256 MiB for a server with bulk writes and feeds. Bodies alone may need as much: then the server refuses some,
    or the kernel ends the server, and the test treats this as a crash."""
    group = MemoryGroup(256)
    try:
        server = start(limits=group.join)
        accounts = [Account(server) for _ in range(8)]
        kept = [write_bulks(server, account, "first", turns=1, mebibytes=1) for account in accounts]
        turns = 8 if NIGHTLY and stays else 2
        with concurrent.futures.ThreadPoolExecutor(connections + 32) as pool:
            feeds = [pool.submit(follow, server, accounts[n % 8]) for n in range(32)]
            bulks = [pool.submit(write_bulks, server, accounts[n % 8], n, turns, mebibytes)
                     for n in range(connections)]
            for done in feeds + bulks:
                done.result()
        for number, done in enumerate(bulks):
            kept[number % 8] |= done.result()
        print(f"{sum(map(len, kept)) * BIG >> 20} MiB acknowledged, at most {group.peak()} MiB of memory, "
              f"ended {group.kills()} times")
        assert all(kept) and not (stays and group.kills())
        if group.kills():
            server.process.wait(timeout=PATIENCE)
            server = start(limits=group.join)
        for account, names in zip(accounts, kept):
            rows = server.call("GET", f"/couch/{account.store}/_all_docs", account.token).json()["rows"]
            assert names <= {row["id"] for row in rows}
            for name in sorted(names)[-2:]:
                document = server.call("GET", f"/couch/{account.store}/{name}", account.token).json()
                assert document["text"] == "x" * BIG
        server.kill()
    finally:
        group.close()
