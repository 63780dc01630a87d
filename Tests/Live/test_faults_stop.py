"""F23, F24: a stop of the server during all kinds of requests, and a log that no process reads."""
import concurrent.futures
import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import pytest
import requests

from couch import Account, Database
from faults import Injected, listed, metric, put, store_file
from waiting import PATIENCE, wait_until
from server import BINARY, Server
from test_feeds import many

def connect(server):
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def half_sent(server, token):
    """Connections whose request is sent up to a different stage and no further."""
    head = f"Host: x\r\nAuthorization: Bearer {token}\r\n"
    body = json.dumps({"name": "Late"})
    stages = [
        "", "GET /v1/bookm", f"GET /v1/bookmarks HTTP/1.1\r\n{head}",
        f"PUT /v1/bookmarks/late HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body[:5]}",
        f"PUT /v1/bookmarks/late HTTP/1.1\r\n{head}Content-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\n" + body[:5] + "\r\n",
    ]
    connections = []
    for stage in stages:
        connections.append(connect(server))
        connections[-1].sendall(stage.encode())
    return connections


def feeds(server, database):
    """The connections of waiting feeds by kind. The first bytes of each were read."""
    connections = {}
    for feed in ("continuous", "eventsource", "longpoll"):
        connection = connect(server)
        connection.sendall(
            (f"GET /couch/{database.name}/_changes?feed={feed}&since=now&heartbeat=1000 HTTP/1.1\r\nHost: x\r\n"
             f"Authorization: Bearer {database.token}\r\n\r\n").encode())
        assert b"200 OK" in connection.recv(65_536)
        connections[feed] = connection
    return connections


@pytest.mark.fault("F23")
def test_stop_amid_feeds_uploads_and_half_sent_requests_loses_no_acknowledged_write(start, rounds):
    server = start()
    token = server.guest()
    acknowledged, number = set(), 0
    for _ in range(max(1, rounds // 40)):
        database = Database(server)
        waiting = feeds(server, database)
        held = half_sent(server, token)
        stopping = threading.Event()

        def write(writer):
            session, count = requests.Session(), 0
            while True:
                count += 1
                name = f"{number}-{writer}-{count}"
                body = {"name": "N"}
                try:
                    answer = session.put(
                        f"{server.url}/v1/bookmarks/{name}", json=body, timeout=PATIENCE,
                        headers={"Authorization": "Bearer " + token})
                except requests.RequestException:
                    assert stopping.is_set()
                    return
                if answer.status_code == 201:
                    acknowledged.add(name)
                else:
                    assert answer.status_code in (503, 507), answer.text
                if count == 12:
                    return

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            work = [pool.submit(write, writer) for writer in range(4)]
            time.sleep(0.2)
            stopping.set()
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(timeout=PATIENCE) == 0, "".join(server.log[-20:])
            for done in work:
                done.result()
        for kind, connection in waiting.items():
            rest = b""
            while piece := connection.recv(65_536):
                rest += piece
            # Each feed has a regular end and is not cut off.
            assert rest.endswith(b"0\r\n\r\n"), (kind, rest[-300:])
            assert kind == "eventsource" or b'"last_seq":' in rest, (kind, rest[-300:])
        for connection in held:
            connection.close()
        number += 1
        server = start()
        # A guest can have two hundred bookmarks at most.
        assert acknowledged <= all_listed(server, token)
        assert not list((server.data / "stores").rglob("*.new"))


def all_listed(server, token):
    found, after = set(), ""
    while True:
        answer = server.call("GET", f"/v1/bookmarks?limit=100{after}", token).json()
        found |= {bookmark["id"] for bookmark in answer["bookmarks"]}
        if not answer.get("next"):
            return found
        after = "&after=" + answer["next"]


def dawdle(connection):
    """Reads a long answer just above the minimum rate. Its end would take longer than a test waits."""
    def go_on():
        with contextlib.suppress(OSError):
            while connection.recv(4_096):
                time.sleep(0.25)

    threading.Thread(target=go_on, daemon=True).start()
    return connection


def slow_reader(server, database, path, fields="", count=1):
    """A connection that sends requests and reads only the first bytes of the response."""
    address = urllib.parse.urlsplit(server.url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    connection.settimeout(PATIENCE)
    connection.connect((address.hostname, address.port))
    request = (f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {database.token}\r\n{fields}\r\n")
    connection.sendall(request.encode() * count)
    assert connection.recv(9, socket.MSG_PEEK).startswith(b"HTTP/1.1")
    return connection


def trickle(server, token):
    """A connection with an endless request body, sent just above the minimum rate."""
    connection = connect(server)
    connection.sendall((f"PUT /v1/bookmarks/late HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                        "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n").encode())

    def go_on():
        try:
            while True:
                connection.sendall(b"400\r\n" + b" " * 1_024 + b"\r\n")
                time.sleep(0.5)
        except OSError:
            pass

    threading.Thread(target=go_on, daemon=True).start()
    return connection


@pytest.fixture
def full(start):
    """A server, and a store of some megabytes."""
    server = start()
    database = Database(server, Account(server).token)
    many(database, 200, 50_000)
    return server, database, f"/couch/{database.name}/_all_docs?include_docs=true&limit=150"


@pytest.mark.fault("F23")
def test_answers_that_nobody_takes_and_bodies_without_end_hold_the_end_up_for_a_while_only(full):
    """Regression: each of them delayed the stop by a minute or more. Those that go on would do so for hours."""
    server, database, path = full
    held = [slow_reader(server, database, path), slow_reader(server, database, path, "Connection: close\r\n"),
            slow_reader(server, database, "/v1/limits", count=2_000), trickle(server, database.token),
            dawdle(slow_reader(server, database, path)),
            dawdle(slow_reader(server, database, "/v1/limits", count=2_000))]
    # The responses have filled the buffers.
    time.sleep(2)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=PATIENCE) == 0, "".join(server.log[-20:])
    for connection in held:
        connection.close()


@pytest.mark.fault("F23")
@pytest.mark.parametrize("fields", ["", "Connection: close\r\n"])
def test_answer_on_its_way_comes_whole(full, fields):
    """Regression: the part of a written response that the client had not read yet was cut off."""
    server, database, path = full
    connection = slow_reader(server, database, path, fields)
    server.process.send_signal(signal.SIGTERM)
    # By now the server has closed all idle connections.
    time.sleep(1)
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    assert len(json.loads(answer.read())["rows"]) == 150
    connection.close()
    assert server.stop() == 0


class Unread:
    """A server that writes one of its output streams to a full pipe which no process reads. The other stream gives
    the server's address."""

    def __init__(self, data, unread, *arguments):
        self.read, self.write = os.pipe()
        fcntl.fcntl(self.write, fcntl.F_SETFL, os.O_NONBLOCK)
        try:
            while os.write(self.write, b"x" * 4_096):
                pass
        except BlockingIOError:
            pass
        fcntl.fcntl(self.write, fcntl.F_SETFL, 0)
        [other] = {"stdout", "stderr"} - {unread}
        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", "--data", str(data), *arguments], text=True,
            **{unread: self.write, other: subprocess.PIPE})
        lines = getattr(self.process, other)
        found = (re.search(r"127\.0\.0\.1:\d+", line) for line in lines)
        address = next((match for match in found if match), None)
        assert address, "did not start"
        self.url = "http://" + address.group()
        threading.Thread(target=lines.read, daemon=True).start()

    call, guest, metrics = Server.call, Server.guest, Server.metrics
    contract = Server.contract

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=PATIENCE)
        finally:
            self.process.kill()
            os.close(self.read)
            os.close(self.write)


@pytest.mark.nightly
@pytest.mark.fault("F24")
def test_log_that_nobody_reads_blocks_no_request_and_drops_are_counted(start, tmp_path):
    first = start()
    token, other = first.guest(), first.guest()
    for person in (token, other):
        assert put(first, person, "one").status_code == 201
    file = store_file(first, token)
    first.stop()
    # Each request to a damaged store writes a line to the log.
    file.write_bytes(b"")
    server = Unread(first.data, "stderr", "--log-level", "trace")
    try:
        session = requests.Session()
        for _ in range(400):
            # About three megabytes of lines: more than may wait.
            answer = session.get(server.url + "/v1/bookmarks", timeout=PATIENCE,
                                 headers={"Authorization": "Bearer " + token, "X-Request-Id": "r"})
            assert answer.status_code == 503, answer.text
        assert listed(server, other) == {"one"}
        assert put(server, other, "two").status_code == 201

        def drops():
            for _ in range(200):
                session.get(server.url + "/v1/bookmarks", timeout=PATIENCE,
                            headers={"Authorization": "Bearer " + token})
            return metric(server, "log_lines_dropped_total") > 0

        wait_until(drops, "no line was dropped")
    finally:
        assert server.stop() == 0


@pytest.mark.fault("F24")
def test_banner_that_nobody_reads_blocks_no_request(tmp_path):
    server = Unread(tmp_path / "data", "stdout")
    try:
        token = server.guest()
        assert put(server, token, "one").status_code == 201
        assert listed(server, token) == {"one"}
    finally:
        assert server.stop() == 0


@pytest.mark.fault("F24")
def test_log_lines_come_through_whole_when_the_reader_comes_back(start):
    server = start("--log-format", "json")
    token = server.guest()
    assert put(server, token, "one").status_code == 201
    file = store_file(server, token)
    server.stop()
    file.write_bytes(b"")
    server = start("--log-format", "json")
    for _ in range(50):
        assert server.call("GET", "/v1/bookmarks", token).status_code == 503
    server.stop()
    lines = [json.loads(line) for line in server.log]
    assert sum(line.get("error") == "store_damaged" for line in lines) == 50
    assert all(re.match(r"\d{4}-", line["time"]) for line in lines)


@pytest.mark.fault("F23")
def test_requests_are_taken_for_a_while_after_sigterm(start):
    server = start("--drain-seconds", "20")
    token = server.guest()
    server.process.terminate()
    wait_until(lambda: server.call("GET", "/readyz").status_code == 503, "readiness still says ready")
    assert server.logged("stops soon", "seconds=20")
    assert put(server, token, "late").status_code == 201
    assert server.stop() == 0


@pytest.mark.nightly
@pytest.mark.fault("F23")
def test_a_stop_ends_in_time_though_the_disk_never_answers(start):
    server = start()
    token = server.guest()
    assert put(server, token, "kept").status_code == 201

    def write():
        with contextlib.suppress(requests.RequestException):
            put(server, token, "unanswered")

    waiting = threading.Thread(target=write)
    with Injected(server, "fdatasync:delay_enter=120000000") as injected:
        waiting.start()
        wait_until(lambda: injected.calls, "nothing was written")
        began = time.monotonic()
        server.process.terminate()
        # The process is a zombie then: strace holds the thread whose call it delays.
        wait_until(lambda: "State:\tZ" in (pathlib.Path("/proc") / str(server.process.pid) / "status").read_text(),
                   "the stop has no limit")
        assert time.monotonic() - began > 25
        injected.process.kill()
    assert server.stop() == 1
    waiting.join()
    assert any("the stop takes too long" in line for line in server.log)
    # What was never answered may be there.
    assert "kept" in listed(start(), token)
