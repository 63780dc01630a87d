"""The server answers operators from stored values, also under load. It frees the memory of request bodies."""
import concurrent.futures
import gzip
import json
import random
import re
import socket
import struct
import subprocess
import threading
import time

import pytest
import requests

from couch import Account, Database
from faults import put
from server import BINARY
from waiting import PATIENCE, wait_until
from test_http_pace import memory
from wire import connect, receive

PATHS = ("/healthz", "/readyz", "/metrics", "/couch/_up")
MIB = 1 << 20


def own_port(server):
    """The URL of the operators' own port, from the banner."""
    while True:
        line = server.process.stdout.readline()
        assert line, "the banner names no such port"
        if found := re.search(r"operations at (http://\S+)", line):
            return found.group(1)


def test_operators_own_port_answers_these_alone(start):
    server = start("--operations-port", "0")
    url = own_port(server)
    for path in PATHS:
        for method in ("GET", "HEAD"):
            answer = requests.request(method, url + path + "?x=1", timeout=PATIENCE)
            there = requests.request(method, server.url + path, timeout=PATIENCE)
            assert answer.status_code == there.status_code == 200
            assert answer.headers["Content-Type"] == there.headers["Content-Type"]
            assert {"Date", "Content-Length", "X-Content-Type-Options"} <= answer.headers.keys()
            assert (answer.content == b"") == (method == "HEAD")
    for method, path in [("GET", "/v1/limits"), ("POST", "/v1/guests"), ("GET", "/"), ("PUT", "/healthz")]:
        answer = requests.request(method, url + path, data=b"{}" if method != "GET" else None, timeout=PATIENCE)
        assert answer.status_code == 404, (method, path)
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 3 + b"nonsense\r\n\r\n")
        assert receive(connection, None).statuses == [200, 200, 200, 400]


def test_health_says_why(start):
    """It waits two seconds for an answer, which a busy machine may take longer for."""
    server = start("--drain-seconds", "60")

    def why(url=server.url):
        return subprocess.run([BINARY, "health", "--url", url], capture_output=True, text=True, timeout=PATIENCE).stderr

    for url in (server.url, server.url + "/"):
        wait_until(lambda: why(url) == "")
    secure = server.url.replace("http", "https")
    wait_until(lambda: why(secure) == (
        f"hotel-bookmarks: {secure} does not answer: it speaks no TLS, or has a certificate that this machine does not trust\n"))
    assert why("foo") == (
        "hotel-bookmarks: --url must be a URL such as https://hotels.example, with or without a path, not foo\n")
    server.process.terminate()
    wait_until(lambda: f"hotel-bookmarks: {server.url} answers 503: " in why())
    server.kill()
    wait_until(lambda: f"hotel-bookmarks: {server.url} does not answer: nothing listens there" in why())


def test_flood_of_connections_does_not_hide_the_operators_port(start):
    server = start("--connections", "4", "--operations-port", "0")
    url = own_port(server)
    flood = [connect(server) for _ in range(40)]
    try:
        with connect(server) as one_more:
            assert receive(one_more).statuses in ([503], [])
        for path in PATHS:
            assert requests.get(url + path, timeout=PATIENCE).status_code == 200
    finally:
        for connection in flood:
            connection.close()


@pytest.mark.files
def test_data_directory_that_was_moved_away_is_not_ready(start, tmp_path):
    server = start()
    assert server.state("ready").status_code == 200
    away = tmp_path / "away"
    server.data.rename(away)
    answer = server.state("unavailable")
    assert answer.status_code == 503 and "no longer where it was opened" in answer.json()["stores"]
    assert server.call("GET", "/couch/_up").status_code == 503
    assert server.call("GET", "/healthz").status_code == 200
    # A new directory with the same name is not the right one.
    server.data.mkdir()
    (server.data / "lock").touch()
    assert server.call("GET", "/readyz").status_code == 503
    (server.data / "lock").unlink()
    server.data.rmdir()
    away.rename(server.data)
    assert server.state("ready").status_code == 200


def written(server):
    """The bytes that the server has written to disks."""
    with open(f"/proc/{server.process.pid}/io", encoding="ascii") as file:
        return int(re.search(r"(?m)^write_bytes: (\d+)", file.read()).group(1))


def test_questions_about_readiness_cost_no_write_each(start):
    """Regression: each probe wrote and synced 64 KiB. With 256 connections, a first write took a second."""
    server = start()
    before = written(server)
    assert put(server, server.guest(), "one").status_code == 201
    if written(server) == before:
        pytest.skip("the kernel counts no writes to this disk")
    before, asked = written(server), 2_000
    renewals = int(re.search(r"(?m)^health_renewals_total (\d+)", server.metrics()).group(1))
    with connect(server) as connection:
        for _ in range(asked // 50):
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n" * 50)
            assert receive(connection, 50).statuses == [200] * 50
    probes = int(re.search(r"(?m)^health_renewals_total (\d+)", server.metrics()).group(1)) - renewals + 3
    assert probes < asked // 2, "the machine is too slow to tell"
    assert written(server) - before <= (probes + 3) * (256 << 10)


def body(seed):
    """4 MiB of keys, packed into about 60 KiB."""
    chance = random.Random(seed)
    blocks = [[f"{chance.randrange(10 ** 9):09d}" for _ in range(1_000)] for _ in range(12)]
    keys = [key for block in blocks for key in block * 29]
    data = json.dumps({"keys": keys}, separators=(",", ":")).encode()
    packed = gzip.compress(data)
    assert 3 * MIB < len(data) < 100 * len(packed)
    return packed


def test_bodies_of_clients_that_hang_up_are_in_the_account_until_their_handlers_have_ended(start):
    """Regression: eighty such requests, each reset, took 4.9 GB of memory, which was not accounted for."""
    server = start("--operations-port", "0")
    # This port has its own connections. A new connection to the main port waits, because the thread pool is busy.
    url = own_port(server)
    database = Database(server, Account(server).token)
    packed = body(1)
    head = (f"POST /couch/{database.name}/_all_docs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {database.token}\r\n"
            f"Content-Type: application/json\r\nContent-Encoding: gzip\r\n"
            f"Content-Length: {len(packed)}\r\n\r\n").encode()
    limits = {one["name"]: one["value"] for one in server.call("GET", "/v1/limits").json()["limits"]}
    before, highest, seen, over = memory(server), 0, [], threading.Event()

    def watch():
        nonlocal highest
        while not over.wait(0.02):
            highest = max(highest, memory(server))
            text = requests.get(url + "/metrics", timeout=PATIENCE).text
            seen.append(int(re.search(r"(?m)^request_body_bytes (\d+)", text).group(1)))

    def ask(_):
        with connect(server) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.sendall(head + packed)
            # A reset discards what the server has not read yet.
            time.sleep(0.5)
            wait_until(lambda: seen and max(seen) > len(packed), "no body was read")

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(ask, range(24)))
        wait_until(lambda: (text := requests.get(url + "/metrics", timeout=PATIENCE).text) and (
            "requests_running 0\n" in text and "request_body_bytes 0\n" in text), seconds=300)
    finally:
        over.set()
        watcher.join()
    assert len(packed) < max(seen) <= limits["bodyMemoryBytes"]
    assert highest - before < limits["bodyMemoryBytes"] + 200 * MIB, f"{(highest - before) // MIB} MiB more"


@pytest.mark.parametrize("values, status, error", [
    (2_000_000, 400, "bad_request"), (2_000_001, 413, "too_large")])
def test_body_has_two_million_values_at_most(start, values, status, error):
    """The array counts as a value, too. Only a body that was read is found to be no object."""
    server = start()
    database = Database(server)
    data = b"[" + b",".join([b"0"] * (values - 1)) + b"]"
    answer = requests.post(
        f"{server.url}/couch/{database.name}/_bulk_docs", data=data, timeout=600,
        headers={"Authorization": "Bearer " + database.token, "Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (status, error), answer.text[:300]


def test_packed_body_unpacks_a_hundredfold_at_most(start):
    server = start()
    database = Database(server)
    packed = gzip.compress(b'{"keys":[' + b" " * (8 * MIB) + b"]}")
    answer = database.call("POST", "/_all_docs", data=packed, headers={
        "Content-Type": "application/json", "Content-Encoding": "gzip"})
    assert answer.status_code == 413 and answer.json()["error"] == "too_large"
