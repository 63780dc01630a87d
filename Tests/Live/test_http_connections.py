"""Connections: their limits, the proxies whose header names the caller, pages of other origins; FAULTS H16,
H17, H20, S08, S10, S13, S20."""
import collections
import concurrent.futures
import json
import uuid

import pytest
import requests

from couch import Account, Database
from faults import store_file
from waiting import wait_until
from wire import LIMITS, connect, receive, send


def filled(server, count, source=None):
    """Opens `count` connections, each of which gets a response."""
    connections = []
    for _ in range(count):
        connections.append(connect(server, source=source))
        connections[-1].sendall(LIMITS)
        assert receive(connections[-1]).statuses == [200]
    return connections


def free_again(server, source=None):
    """Waits until the server accepts a connection again."""
    def served():
        with connect(server, source=source) as connection:
            connection.sendall(LIMITS)
            return receive(connection).statuses == [200]

    wait_until(served, "no place came free")


def close(connections):
    for connection in connections:
        connection.close()


@pytest.mark.fault("H05")
@pytest.mark.parametrize("flag,sources", [
    ("--connections", (None, None)), ("--connections-per-address", ("127.0.0.1", "127.0.0.1"))])
def test_connection_past_the_limit_is_told_so_and_closed(start, flag, sources):
    server = start(flag, "5")
    held = filled(server, 5, sources[0])
    with connect(server, source=sources[1]) as one_more:
        answer = receive(one_more, answers=None)
        assert answer.statuses == [503] and answer.errors == ["overloaded"], answer
        assert answer.field("retry-after") == "1"
    if flag == "--connections-per-address":
        close(filled(server, 5, "127.0.0.2"))  # Another address has its own limit.
    close(held)
    free_again(server, sources[1])
    limits = {row["name"]: row["value"] for row in server.call("GET", "/v1/limits").json()["limits"]}
    assert limits["connections" if flag == "--connections" else "connectionsPerAddress"] == 5


def test_trusted_proxies_may_have_as_many_as_they_need(start):
    server = start("--connections-per-address", "2", "--trusted-proxies", "127.0.0.2")
    close(filled(server, 6, "127.0.0.2"))


def guests(server, count, caller, source=None):
    """The statuses when a caller behind a proxy makes `count` guests."""
    found = []
    for _ in range(count):
        with connect(server, source=source) as connection:
            connection.sendall(
                f"POST /v1/guests HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: {caller}\r\n\r\n".encode())
            found += receive(connection).statuses
    return found


@pytest.mark.fault("S13")
def test_forged_callers_share_one_limit(start):
    server = start("--guests-per-hour", "6")
    statuses = [guests(server, 1, f"198.51.100.{number}")[0] for number in range(12)]
    assert statuses.count(201) <= 6 and statuses[-1] == 429


@pytest.mark.fault("S13")
def test_callers_behind_a_trusted_proxy_have_their_own(start):
    """Their own limits, and the URL by which they have called it."""
    server = start("--guests-per-hour", "6", "--trusted-proxies", "127.0.0.2,10.0.0.0/8")
    token = server.guest()
    for source, url in ("127.0.0.2", "https://hotels.example:444"), ("127.0.0.1", "http://x"):
        with connect(server, source=source) as connection:
            connection.sendall(
                f"PUT /couch/bookmarks/{source} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                "X-Forwarded-Host: forged.example, hotels.example:444\r\nX-Forwarded-Proto: https\r\n"
                "Content-Length: 2\r\n\r\n{}".encode())
            answer = receive(connection)
            assert answer.statuses == [201] and answer.field("Location") == f"{url}/couch/bookmarks/{source}"
    for number in range(4):
        # The addresses that the caller wrote come first, those that the proxies added come last.
        caller = f"192.0.2.1, 198.51.100.{number}, 10.1.1.1"
        statuses = guests(server, 8, caller, source="127.0.0.2")
        assert 201 in statuses and statuses[-1] == 429
    statuses = guests(server, 8, "203.0.113.1", source="127.0.0.1")  # This address is not a trusted proxy.
    assert statuses[-1] == 429
    assert guests(server, 1, "203.0.113.2", source="127.0.0.1") == [429]


@pytest.mark.fault("S08")
def test_guests_have_a_rate_and_make_no_files(start):
    server = start("--guests-per-hour", "100")
    before = files(server)
    with requests.Session() as session:
        answers = [server.call("POST", "/v1/guests", session=session) for _ in range(300)]
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(201) <= 100 and set(statuses) == {201, 429}
    assert all(int(answer.headers["retry-after"]) > 0 for answer in answers if answer.status_code == 429)
    # A file that the server is writing has a temporary name until it is complete.
    wait_until(lambda: files(server) <= before, "guests have made files")


@pytest.mark.fault("S10")
def test_five_hundred_log_ins_leave_others_in_peace(start):
    server = start()
    account = Account(server)
    token = server.guest()

    # Bytes over sockets, because clients that do more hold each other up.
    read = f"GET /v1/bookmarks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"

    def log_in(number):
        body = json.dumps({"username": account.name, "password": account.password + "x" * (number % 2)})
        answer = send(server, f"POST /v1/sessions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n{body}")
        [status] = answer.statuses
        assert status in (200, 401) or int(answer.field("retry-after")) > 0
        return status

    with concurrent.futures.ThreadPoolExecutor(64) as pool:
        log_ins, others = [pool.submit(log_in, number) for number in range(500)], 0
        while not all(log_in.done() for log_in in log_ins):
            answer = send(server, read)
            assert answer.statuses == [200], answer
            others += 1
    statuses = collections.Counter(log_in.result() for log_in in log_ins)
    hashed = statuses[200] + statuses[401]
    print(f"\n{others} answers to another client beside {hashed} hashes; {dict(statuses)}")
    assert set(statuses) <= {200, 401, 429, 503} and statuses[200] > 0
    # Behind the queue of hashes, another client would get one answer for each 64 of them.
    assert others * 32 >= hashed, "log-ins hold others up"


@pytest.mark.fault("H16")
@pytest.mark.parametrize("query,name", [
    ("limit=1&limit=2", "limit"), ("limit=-1", "limit"), ("limit=1e9", "limit"), ("limit=+1", "limit"),
    ("limit=9223372036854775808", "limit"), ("limit=abc", "limit"), ("limit=", "limit"), ("limit=1.0", "limit"),
    ("limit=%EF%BC%91", "limit"), ("offset=1000000000", "offset"), ("limit=1&limi%74=2", "limit")])
def test_wrong_parameters_are_400_by_name(shared, query, name):
    answer = shared.call("GET", "/v1/hotels?" + query, shared.guest())
    assert answer.status_code == 400 and name in answer.json()["reason"], answer.text


@pytest.mark.fault("H16")
@pytest.mark.parametrize("query,status", [
    ("limit=abc", 400), ("limit=-1", 400), ("limit=9223372036854775808", 400), ("since=garbage", 400),
    ("heartbeat=abc", 400), ("feed=nonsense", 400)])
def test_wrong_parameters_of_the_dialect_are_400(untouched, query, status):
    answer = untouched.call("GET", "/_changes?" + query)
    assert answer.status_code == status, answer.text


@pytest.mark.fault("H17")
@pytest.mark.parametrize("field,value,status", [
    ("If-Match", '"stale"', 412), ("If-Match", "*", 200), ("If-Match", "W/{tag}", 412),
    ("If-Match", "{tag}", 200),
    ("If-Match", '"stale", {tag}', 200), ("If-Match", "garbage", 400), ("If-Match", '"', 400),
    ("If-Match", '"a" "b"', 400), ("If-Match", "", 400), ("If-None-Match", "*", 412),
    ("If-None-Match", '"x"', 400)])
def test_conditional_writes(shared, field, value, status):
    token = shared.guest()
    tag = shared.call("PUT", "/v1/bookmarks/x", token, json={"name": "a"}).headers["ETag"]
    answer = shared.call("PUT", "/v1/bookmarks/x", token, json={"name": "b"},
                         headers={field: value.format(tag=tag)})
    assert answer.status_code == status, answer.text


@pytest.mark.fault("H17")
@pytest.mark.parametrize("value,status", [
    ("{tag}", 304), ("W/{tag}", 304), ("*", 304), ('"x"', 200), ('"x", {tag}', 304), ("garbage", 400)])
def test_conditional_reads(shared, value, status):
    token = shared.guest()
    tag = shared.call("PUT", "/v1/bookmarks/x", token, json={"name": "a"}).headers["ETag"]
    answer = shared.call("GET", "/v1/bookmarks/x", token, headers={"If-None-Match": value.format(tag=tag)})
    assert answer.status_code == status, answer.text


@pytest.mark.fault("H20")
def test_pages_of_listed_origins_alone_may_read(start):
    app = "https://app.example"
    server = start("--origins", app)
    for origin in ("null", "https://evil-app.example", "https://app.example.evil", app + ":1", app.upper(),
                   "http://app.example", app + "/"):
        for method in ("GET", "OPTIONS"):
            answer = send(server, f"{method} /couch HTTP/1.1\r\nHost: x\r\nOrigin: {origin}\r\n"
                          "Access-Control-Request-Method: PUT\r\n\r\n")
            assert answer.statuses == [200 if method == "GET" else 204]
            assert answer.field("access-control-allow-origin") is None, (origin, answer)
    preflight = (f"OPTIONS /couch/db/_bulk_docs HTTP/1.1\r\nHost: x\r\nOrigin: {app}\r\n"
                 "Access-Control-Request-Method: POST\r\n\r\n")
    answer = send(server, preflight * 500, answers=500)
    assert answer.statuses == [204] * 500
    assert answer.field("access-control-allow-origin") == app
    assert answer.field("access-control-allow-credentials") == "true"
    assert int(answer.field("access-control-max-age")) >= 600


def files(server):
    """All files but the one with which the server tries now and then whether it can write."""
    return {path for path in server.data.rglob("*") if path.name != "probe" and path.is_file()}


def stores(server):
    """The stores that have any file: the database, its log, or a new file that is not yet renamed."""
    return {path.name.partition(".")[0] for path in files(server) if server.data / "stores" in path.parents}


@pytest.mark.files
@pytest.mark.fault("S20")
def test_feed_of_an_erased_store_ends_and_nothing_of_it_stays(start):
    server = start()
    assert Database(server, Account(server).token).put("other").status_code == 201
    before = stores(server)
    account = Account(server)
    database = Database(server, account.token)
    word = "canary" + uuid.uuid4().hex
    database.rev(word, text=word)
    file = store_file(server, account.token)
    assert stores(server) - before == {file.stem} and file.with_name(file.name + "-wal") in files(server)
    assert any(word.encode() in path.read_bytes() for path in files(server))
    feed = f"GET /couch/{database.name}/_changes?feed=continuous&since=now&heartbeat=1000 HTTP/1.1\r\n"
    with connect(server) as connection:
        connection.sendall(f"{feed}Host: x\r\nAuthorization: Bearer {account.token}\r\n\r\n".encode())
        data = connection.recv(1 << 16)
        assert b" 200 OK" in data
        assert server.call("DELETE", "/v1/me", account.token).status_code == 204
        while not data.endswith(b"\r\n0\r\n\r\n"):
            piece = connection.recv(1 << 16)
            assert piece, f"cut off: {data[-300:]}"
            data += piece
    assert b'{"last_seq":' in data
    assert database.call("GET").status_code == 401
    wait_until(lambda: stores(server) == before, "files of the store are left")
    assert not [path for path in files(server) if word.encode() in path.read_bytes()]
    # The log of the accounts' own store contains the account until it is overwritten, or emptied at the stop.
    assert server.stop() == 0
    for path in files(server):
        assert account.name not in str(path) and account.name.encode() not in path.read_bytes(), path
