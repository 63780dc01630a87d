"""F23, F24: being told to stop in the middle of everything, and nobody who reads the log."""
import concurrent.futures
import fcntl
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import requests

from couch import Database
from faults import listed, metric, put, store_file
from server import BINARY, Server

STOP_SECONDS = 30


def connect(server):
    host, port = server.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=STOP_SECONDS + 10)


def half_sent(server, token):
    """Connections in every stage of a request; each is left as it is."""
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
    """Feeds that wait for more, of each kind: their connections, each with its first bytes read."""
    connections = []
    for feed in ("continuous", "eventsource", "longpoll"):
        connection = connect(server)
        connection.sendall(
            (f"GET /couch/{database.name}/_changes?feed={feed}&since=now&heartbeat=1000 HTTP/1.1\r\nHost: x\r\n"
             f"Authorization: Bearer {database.token}\r\n\r\n").encode())
        assert b"200 OK" in connection.recv(65_536)
        connections.append(connection)
    return connections


def test_F23_stop_amid_feeds_uploads_and_half_sent_requests_loses_no_acknowledged_write(start, rounds):
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
                        f"{server.url}/v1/bookmarks/{name}", json=body, timeout=STOP_SECONDS + 10,
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
            assert server.process.wait(timeout=STOP_SECONDS) == 0, "".join(server.log[-20:])
            for done in work:
                done.result()
        # Each feed has come to an end, rather than being cut off.
        for connection in waiting:
            connection.settimeout(STOP_SECONDS)
            while connection.recv(65_536):
                pass
        for connection in held:
            connection.close()
        number += 1
        server = start()
        # A guest's list ends at two hundred.
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


class Unread:
    """A server whose standard error is a pipe that is full and that nobody reads."""

    def __init__(self, data, *arguments, **streams):
        read, self.write = os.pipe()
        self.read = read
        fcntl.fcntl(self.write, fcntl.F_SETFL, os.O_NONBLOCK)
        try:
            while os.write(self.write, b"x" * 4_096):
                pass
        except BlockingIOError:
            pass
        fcntl.fcntl(self.write, fcntl.F_SETFL, 0)
        port = socket.create_server(("127.0.0.1", 0)).getsockname()[1]
        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", str(port), "--data", str(data), *arguments],
            **{name: self.write for name in streams}, text=True,
            **({} if "stdout" in streams else {"stdout": subprocess.DEVNULL}))
        self.url = f"http://127.0.0.1:{port}"
        try:
            self._await_health(time.monotonic() + 60)
        except BaseException:
            self.process.kill()
            raise

    def _await_health(self, deadline):
        while True:
            try:
                assert requests.get(self.url + "/healthz", timeout=STOP_SECONDS).status_code == 200
                return
            except requests.ConnectionError:
                assert time.monotonic() < deadline and self.process.poll() is None
                time.sleep(0.05)

    call, guest = Server.call, Server.guest
    contract = Server.contract

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=STOP_SECONDS)
        finally:
            self.process.kill()
            os.close(self.read)
            os.close(self.write)


def test_F24_log_that_nobody_reads_blocks_no_request_and_drops_are_counted(start, tmp_path):
    first = start()
    token, other = first.guest(), first.guest()
    for person in (token, other):
        assert put(first, person, "one").status_code == 201
    file = store_file(first, token)
    first.stop()
    # Each answer of a damaged store is a line of log.
    file.write_bytes(b"")
    server = Unread(first.data, "--log-level", "trace", stderr=True)
    try:
        session = requests.Session()
        for _ in range(400):
            # Some three megabytes of lines: more than may wait.
            answer = session.get(server.url + "/v1/bookmarks", timeout=STOP_SECONDS,
                                 headers={"Authorization": "Bearer " + token, "X-Request-Id": "r"})
            assert answer.status_code == 503, answer.text
        assert listed(server, other) == {"one"}
        assert put(server, other, "two").status_code == 201
        deadline = time.monotonic() + 120
        while metric(server, "log_lines_dropped_total") == 0 and time.monotonic() < deadline:
            for _ in range(200):
                session.get(server.url + "/v1/bookmarks", timeout=STOP_SECONDS,
                            headers={"Authorization": "Bearer " + token})
        assert metric(server, "log_lines_dropped_total") > 0
    finally:
        assert server.stop() == 0


def test_F24_banner_that_nobody_reads_blocks_no_request(tmp_path):
    server = Unread(tmp_path / "data", stdout=True)
    try:
        token = server.guest()
        assert put(server, token, "one").status_code == 201
        assert listed(server, token) == {"one"}
    finally:
        assert server.stop() == 0


def test_F24_log_lines_come_through_whole_when_the_reader_comes_back(start):
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
    time.sleep(0.2)
    lines = [json.loads(line) for line in server.log]
    assert sum(line.get("error") == "store_damaged" for line in lines) == 50
    assert all(re.match(r"\d{4}-", line["time"]) for line in lines)
