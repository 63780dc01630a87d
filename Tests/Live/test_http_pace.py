"""Slow clients, on purpose or not: FAULTS H05, H06, H07, H08, H12."""
import concurrent.futures
import gzip
import json
import os
import pathlib
import resource
import threading
import time
import zlib

import pytest

from couch import Account, Database
from conftest import NIGHTLY
from waiting import PATIENCE, wait_until
from wire import LIMITS, connect, receive, send

# Tests hold many connections. A server inherits the limit.
HARD = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (HARD, HARD))
# The number of clients of each of three kinds. It is smaller on a machine that allows few open files.
SLOW = min(4000 if NIGHTLY else 340, (HARD - 300) // 3 if HARD != resource.RLIM_INFINITY else 4000)


def head(server, fields, token=None):
    return (f"PUT /v1/bookmarks/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token or server.guest()}\r\n"
            f"{fields}\r\n").encode()


def drip(connection, data):
    """Sends a byte twice a second until the server answers, or waits for an answer at the end. Returns the answer."""
    connection.settimeout(0.5)
    for byte in data:
        try:
            connection.sendall(bytes([byte]))
            return connection.recv(1 << 16)
        except TimeoutError:
            continue
        except ConnectionError:
            return None
    connection.settimeout(PATIENCE)
    return connection.recv(1 << 16)


@pytest.mark.fault("H05")
def test_slow_heads_and_bodies_are_408(shared):
    """Also H07: a body that is shorter than its length. Silence before the first byte is not a slow header."""
    token = shared.guest()
    drips = {
        "head": (b"", b"GET /v1/limits HTTP/1.1\r\nX: " + b"a" * 60),
        "half a line": (b"GET /", b""),
        "body": (head(shared, "Content-Length: 1000\r\n", token), b" " * 60),
        "chunks": (head(shared, "Transfer-Encoding: chunked\r\n", token), b"5\r\n     \r\n" * 6),
        "H07 short body": (head(shared, "Content-Length: 3\r\n", token) + b"{}", b"")}
    said = {}

    def run(name, whole, slowly):
        with connect(shared) as connection:
            connection.sendall(whole)
            said[name] = drip(connection, slowly)

    with connect(shared) as silent:
        threads = {name: threading.Thread(target=run, args=(name, *data)) for name, data in drips.items()}
        for thread in threads.values():
            thread.start()
        # A head has less time than a connection that says nothing.
        threads["half a line"].join()
        silent.sendall(LIMITS)
        assert receive(silent).statuses == [200]
    for thread in threads.values():
        thread.join()
    assert said.keys() == drips.keys()
    for name, answer in said.items():
        assert answer and b" 408 " in answer and b"request_timeout" in answer, (name, answer)
    assert shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"] == []


@pytest.mark.fault("H05")
def test_body_that_pauses_shortly_is_taken(shared):
    with connect(shared) as connection:
        connection.sendall(head(shared, "Content-Length: 2\r\n") + b"{")
        time.sleep(2)
        connection.sendall(b"}")
        assert receive(connection).statuses == [201]


def writes(server, goes_on):
    """How many writes a new guest completes one after another."""
    token, count = server.guest(), 0
    while goes_on(count):
        answer = server.call("PUT", f"/v1/bookmarks/{count % 100}", token, json={})
        assert answer.status_code in (200, 201), answer.text
        count += 1
    return count


@pytest.mark.fault("H05")
def test_slow_clients_harm_nobody(start, shared):
    """Slow headers, slow bodies and clients that read nothing, while another client works. Beside it, one works at a
    server without slow clients: this is the measure, however busy the machine is."""
    server = start("--guests-per-hour", "100000", "--connections", str(3 * SLOW + 100))
    database = Database(server, Account(server).token)
    for number in range(8):
        database.rev(f"d{number}", text="x" * 400_000)
    read = (f"GET /couch/{database.name}/_all_docs?include_docs=true HTTP/1.1\r\nHost: x\r\n"
            f"Authorization: Bearer {database.token}\r\n\r\n").encode()
    body = head(server, "Content-Length: 60000\r\n", database.token) + b"{" + b" " * 1000

    slow = []
    try:
        for number in range(SLOW):
            unread = read if number % 20 == 0 else LIMITS[:9]
            for data in (b"GET /v1/limits HTTP/1.1\r\nHost: x\r\nX: ", body, unread):
                connection = connect(server)
                slow.append(connection)
                connection.sendall(data)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            beside = pool.submit(writes, server, lambda count: count < 100)
            quiet = writes(shared, lambda _: not beside.done())
        assert beside.result() == 100
    finally:
        for connection in slow:
            connection.close()
    print(f"\n100 writes beside {len(slow)} slow clients, {quiet} writes beside none")
    assert quiet <= 10 * 100, "slow clients hold another one up"


@pytest.mark.fault("H06")
def test_leave_to_send_is_given_when_the_body_is_wanted(shared):
    with connect(shared) as connection:
        connection.sendall(head(shared, "Expect: 100-continue\r\nContent-Length: 2\r\n"))
        first = connection.recv(1 << 16)
        assert first == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"{}")
        assert receive(connection).statuses == [201]


@pytest.mark.fault("H06")
@pytest.mark.parametrize("fields,token,status", [
    ("Content-Length: 65537\r\n", None, 413), ("Content-Length: 99999999999\r\n", None, 413),
    ("Content-Length: 2\r\n", "none", 401), ("Content-Encoding: br\r\nContent-Length: 2\r\n", None, 415)])
def test_refusal_comes_before_the_body(shared, fields, token, status):
    answer = send(shared, head(shared, "Expect: 100-continue\r\n" + fields, token))
    assert answer.statuses == [status], answer


@pytest.mark.fault("H06")
def test_body_of_the_limit_is_taken_and_other_expectations_are_417(shared):
    body = b"{" + b" " * (64 * 1024 - 2) + b"}"
    answer = send(shared, head(shared, f"Content-Length: {len(body)}\r\n") + body)
    assert answer.statuses == [201], answer
    assert send(shared, head(shared, "Expect: tea\r\nContent-Length: 2\r\n") + b"{}").statuses == [417]


def bomb(megabytes):
    """A number of megabytes of zeros as gzip."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    return b"".join(packer.compress(zeros) for _ in range(megabytes)) + packer.flush()


@pytest.mark.fault("H08")
@pytest.mark.parametrize("body,coding,status", [
    (bomb(64), "gzip", 413), (gzip.compress(bomb(8)), "gzip, gzip", 415), (b"{}", "br", 415),
    (b"{}", "deflate", 415), (b"{}", "zstd", 415), (b"{}", "gzip", 400),
    (gzip.compress(b'{"name":"x"}')[:-9], "gzip", 400), (gzip.compress(b'{"name":"x"}'), "gzip", 201),
    (gzip.compress(b'{"name":"x"}'), "X-GZIP", 201), (b'{"name":"x"}', "identity", 201)],
    ids=["bomb", "twice", "br", "deflate", "zstd", "not gzip", "cut", "good", "old name", "identity"])
def test_packed_bodies(shared, body, coding, status):
    answer = shared.call("PUT", "/v1/bookmarks/x", shared.guest(), data=body,
                         headers={"Content-Encoding": coding, "Content-Type": "application/json"})
    assert answer.status_code == status, answer.text


@pytest.mark.fault("H08")
def test_bombs_do_not_fill_memory(start):
    server = start()
    database = Database(server)
    body = bomb(4000 if NIGHTLY else 300)
    assert len(body) < 16 << 20
    before = memory(server)
    for _ in range(4):
        answer = server.call("POST", f"/couch/{database.name}/_bulk_docs", database.token, data=body,
                             headers={"Content-Encoding": "gzip", "Content-Type": "application/json"})
        assert answer.status_code == 413
    assert memory(server) - before < 200 << 20


def memory(server):
    """The resident bytes of a server's process."""
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


@pytest.mark.fault("H12")
@pytest.mark.parametrize("kind,status", [
    (None, 201), ("application/json", 201), ("application/json; charset=utf-8", 201),
    ('Application/JSON;charset="UTF-8"', 201), ("application/vnd.hotel+json", 201),
    ("application/json; charset=utf-16", 415), ("text/plain", 415), ("multipart/form-data", 415),
    ("application/x-www-form-urlencoded", 415), ("nonsense", 415)])
def test_content_types(shared, kind, status):
    fields = f"Content-Type: {kind}\r\n" if kind else ""
    answer = send(shared, head(shared, fields + "Content-Length: 2\r\n") + b"{}")
    assert answer.statuses == [status], answer


@pytest.mark.fault("H12")
@pytest.mark.parametrize("accept", [None, "*/*", "application/json", "application/*", "text/html", "nonsense"])
def test_json_is_answered_whatever_is_accepted(shared, accept):
    fields = f"Accept: {accept}\r\n" if accept else ""
    answer = send(shared, f"GET /v1/limits HTTP/1.1\r\nHost: x\r\n{fields}\r\n")
    assert answer.statuses == [200] and answer.field("content-type") == "application/json"
    json.loads(answer.data.partition(b"\r\n\r\n")[2])


def queued(connection):
    """The bytes that the system has taken from the server for the other end of a connection."""
    port = f":{connection.getsockname()[1]:04X}"
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text("ascii").splitlines()[1:]]
    return sum(int(row[4].partition(":")[0], 16) for row in rows if row[2].endswith(port))


@pytest.mark.fault("H05")
def test_long_answers_are_counted_until_they_are_read(start):
    """A client reads nothing of a long response. The bytes that are not sent yet are counted in `answer_bytes`, until
    the connection ends. The system takes few of them: it took 3.8 MB of each, which nothing counted, and with 200
    connections the event loop copied for a second."""
    server = start()
    database = Database(server, Account(server).token)
    for number in range(30):
        database.rev(f"d{number}", text="x" * 400_000)

    def waiting():
        text = server.call("GET", "/metrics").text
        return int(float(next(line for line in text.splitlines() if line.startswith("answer_bytes ")).split()[1]))

    with connect(server) as connection:
        connection.sendall((f"GET /couch/{database.name}/_all_docs?include_docs=true HTTP/1.1\r\nHost: x\r\n"
                            f"Connection: close\r\nAuthorization: Bearer {database.token}\r\n\r\n").encode())
        wait_until(lambda: waiting() > 1 << 20)
        answer = receive(connection, None)
        assert answer.statuses == [200] and len(answer.data) > 12_000_000
        wait_until(lambda: waiting() == 0)
    with connect(server) as connection:
        connection.sendall((f"GET /couch/{database.name}/_all_docs?include_docs=true HTTP/1.1\r\nHost: x\r\n"
                            f"Authorization: Bearer {database.token}\r\n\r\n").encode())
        wait_until(lambda: waiting() > 1 << 20)
        wait_until(lambda: queued(connection) > 0)
        assert queued(connection) < 1 << 20
    wait_until(lambda: waiting() == 0)


@pytest.mark.fault("H08")
def test_unpacked_bodies_are_taken_and_their_memory_is_given_back(start):
    """Bodies of about 100 KiB packed and 8 MiB unpacked, many at a time: each is stored or answered 503."""
    server = start()
    database = Database(server, Account(server).token)
    body = gzip.compress(json.dumps({"docs": [{"_id": f"d{number}", "text": os.urandom(5_000).hex() + "x" * 390_000}
                                              for number in range(20)]}).encode())
    assert len(body) < 160 << 10
    statuses = []

    def write():
        statuses.append(server.call(
            "POST", f"/couch/{database.name}/_bulk_docs", database.token, data=body,
            headers={"Content-Encoding": "gzip", "Content-Type": "application/json"}).status_code)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(statuses) <= {201, 503} and 201 in statuses, statuses
    wait_until(lambda: "request_body_bytes 0\n" in server.call("GET", "/metrics").text)
