"""Feeds whose clients disconnect, read slowly, or lose their permission to read."""
import json
import socket
import urllib.parse

import pytest

from couch import Account, Database
from waiting import PATIENCE, wait_until

PLACES = 256


class Feed:
    """A feed on its own socket."""

    def __init__(self, database, query, buffer=None):
        address = urllib.parse.urlsplit(database.server.url)
        self.socket = socket.socket()
        if buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect((address.hostname, address.port))
        request = (f"GET /couch/{database.name}/_changes?{query} HTTP/1.1\r\nHost: x\r\n"
                   f"Authorization: Bearer {database.token}\r\n\r\n")
        self.socket.sendall(request.encode())
        self.file = self.socket.makefile("rb")

    def head(self):
        """The status, once the response has begun."""
        status = int(self.file.readline().split()[1])
        while self.file.readline() != b"\r\n":
            pass
        return status

    def close(self):
        self.file.close()
        self.socket.close()


def waiting(database, count, query="feed=continuous&since=now&heartbeat=60000"):
    feeds = [Feed(database, query) for _ in range(count)]
    assert [feed.head() for feed in feeds] == [200] * count
    return feeds


def status(database):
    return database.call("GET", "/_changes?feed=longpoll&timeout=1&since=now").status_code


def until_free(database):
    """Waits until another feed can be opened."""
    wait_until(lambda: status(database) == 200, "no place came free")


def is_open(feed):
    """Whether the server still holds the connection of a feed open, even if it has unread bytes."""
    ends = [address[1] for address in (feed.socket.getpeername(), feed.socket.getsockname())]
    with open("/proc/net/tcp", encoding="ascii") as table:
        rows = [line.split()[1:4] for line in list(table)[1:]]
    return any([int(end.split(":")[1], 16) for end in row[:2]] == ends and row[2] == "01" for row in rows)


@pytest.mark.parametrize("farewell", ["close", "reset", "half"])
def test_client_that_left_gives_its_place_back_at_once(shared, farewell):
    """Regression: the server noticed it only at the next heartbeat, up to a minute later."""
    database = Database(shared)
    database.put("a")
    feeds = waiting(database, PLACES)
    assert status(database) == 429
    for feed in feeds:
        if farewell == "half":
            feed.socket.shutdown(socket.SHUT_WR)
            continue
        if farewell == "reset":
            feed.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        feed.close()
    until_free(database)
    if farewell == "half":
        assert b"last_seq" in feeds[0].file.read()
        feeds[0].close()


def test_head_takes_no_place(database):
    for _ in range(PLACES + 1):
        path = "/_changes?feed=longpoll&heartbeat=60000&since=now"
        assert database.raw("HEAD", path).status_code == 200
    assert status(database) == 200


def test_connection_serves_further_requests_after_a_feed(database):
    feed = Feed(database, "feed=longpoll&timeout=1&since=now")
    feed.head()
    while feed.file.readline() not in (b"0\r\n", b""):
        pass
    assert feed.file.readline() == b"\r\n"
    feed.socket.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert feed.head() == 200
    feed.close()


def many(database, count, size):
    text = "x" * size
    for first in range(0, count, 100):
        documents = [{"_id": str(first + n), "text": text} for n in range(100)]
        assert database.call("POST", "/_bulk_docs", json={"docs": documents}).status_code == 201


def test_slow_reader_holds_up_nobody(shared):
    account = Account(shared)
    database = Database(shared, account.token)
    many(database, 300, 50_000)
    query = "feed=continuous&include_docs=true&heartbeat=60000"
    slow = [Feed(database, query, buffer=4096) for _ in range(8)]
    [quick] = waiting(database, 1)
    database.put("new")
    while b'"new"' not in quick.file.readline():
        pass
    for feed in [*slow, quick]:
        feed.close()
    until_free(database)


@pytest.mark.parametrize("feed", ["normal", "continuous"])
def test_rows_on_their_way_are_cut_off_with_the_session(shared, feed):
    account = Account(shared)
    database = Database(shared, account.token)
    many(database, 300, 50_000)
    reader = Feed(database, f"feed={feed}&include_docs=true&heartbeat=60000", buffer=4096)
    assert reader.head() == 200
    reader.file.readline()
    assert database.call_v1("DELETE", "/v1/sessions").status_code == 204
    wait_until(lambda: not is_open(reader), "the feed goes on")
    rest = b""
    try:
        while piece := reader.file.read1(1 << 20):
            rest += piece
    except ConnectionResetError:
        pass
    # The bytes in the sockets' buffers may arrive, but not all 15 MB, and no regular end of a feed.
    assert len(rest) < 8_000_000 and b"last_seq" not in rest
    reader.close()


def test_server_stops_beside_a_client_that_does_not_read(start):
    server = start()
    database = Database(server, Account(server).token)
    many(database, 300, 50_000)
    reader = Feed(database, "feed=continuous&include_docs=true&heartbeat=60000", buffer=4096)
    assert reader.head() == 200
    assert server.stop() == 0
    reader.close()


def test_sequence_from_before_a_deletion_starts_over(administrator):
    database = administrator.create()
    for name in "abc":
        database.put(name)
    since = database.call("GET", "/_changes").json()["last_seq"]
    database.call("DELETE")
    assert database.call("PUT").status_code == 201
    database.put("d")
    again = database.call("GET", f"/_changes?since={since}").json()
    assert [row["id"] for row in again["results"]] == ["d"]
    assert again["last_seq"].startswith("1-")
    other = administrator.create()
    other.put("e")
    assert [row["id"] for row in other.call("GET", f"/_changes?since={since}").json()["results"]] == ["e"]


def test_selector_feed_sees_what_it_selects(database):
    body = {"selector": {"type": "hotel"}}
    with database.raw(
            "POST", "/_changes?feed=longpoll&filter=_selector&heartbeat=100&since=0", json=body, stream=True) as answer:
        lines = answer.iter_lines(chunk_size=1)
        assert next(lines) == b'{"results":['
        database.put("other", type="list")
        # The feed has seen it when it has waited again for a while.
        assert [next(lines) for _ in range(10)] == [b""] * 10
        database.put("mine", type="hotel")
        rows = json.loads(b'{"results":[' + b"".join(lines))["results"]
    assert [row["id"] for row in rows] == ["mine"], json.dumps(rows)
