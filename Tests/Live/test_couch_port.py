"""`/couch` at the root of a port of its own, for clients that drop the path of a server's URL."""
import json
import re

import pytest
import requests

from couch import Account, Database
from waiting import PATIENCE
from wire import connect, receive

OWN = {"date", "x-request-id", "x-couch-request-id", "x-couchdb-body-time", "etag", "set-cookie", "location"}


def root(server):
    """The URL of that port, from the banner."""
    while True:
        line = server.process.stdout.readline()
        assert line, "the banner names no such port"
        if found := re.search(r"CouchDB's API at (http://\S+)", line):
            return found.group(1)


def same(one, other):
    """Whether two answers differ in nothing but what differs between any two."""
    fields = [{name.lower(): value for name, value in each.headers.items() if name.lower() not in OWN} for each in (one, other)]
    assert fields[0] == fields[1] and one.status_code == other.status_code, (one.text, other.text)
    return one


@pytest.fixture
def ported(start):
    server = start("--couch-port", "0")
    return server, root(server)


def test_answers_are_those_below_couch(ported):
    server, url = ported
    database = Database(server, Account(server).token)
    headers = {"Authorization": "Bearer " + database.token}
    for method, path in [
            ("GET", ""), ("GET", "/"), ("GET", "/_up"), ("HEAD", "/_up"), ("GET", "/_session"), ("GET", "/_all_dbs"), ("GET", "/nobody"),
            ("GET", "/" + database.name), ("GET", f"/{database.name}/_all_docs"), ("GET", f"/{database.name}/none"),
            ("GET", f"/{database.name}//none"), ("PATCH", "/" + database.name), ("OPTIONS", "/" + database.name),
            ("GET", f"/{database.name}/_changes?limit=nothing"), ("GET", "/_uuids?count=2"), ("GET", "/%zz")]:
        here = requests.request(method, url + path, headers=headers, timeout=PATIENCE)
        there = requests.request(method, server.url + "/couch" + path, headers=headers, timeout=PATIENCE)
        same(here, there)
    welcome = requests.get(url, timeout=PATIENCE).json()
    assert welcome == requests.get(server.url + "/couch", timeout=PATIENCE).json() and welcome["couchdb"] == "Welcome"
    # Nothing else is there.
    for path in ("/v1/limits", "/healthz", "/metrics", "/docs"):
        assert requests.get(url + path, headers=headers, timeout=PATIENCE).json()["error"] == "not_found", path


def test_what_is_written_there_is_in_the_store_and_has_its_url_there(ported):
    server, url = ported
    database = Database(server, Account(server).token)
    headers = {"Authorization": "Bearer " + database.token}
    made = requests.put(f"{url}/{database.name}/a%20b", json={"n": 1}, headers=headers, timeout=PATIENCE)
    assert made.status_code == 201 and made.headers["Location"] == f"{url}/{database.name}/a%20b"
    assert requests.get(made.headers["Location"], headers=headers, timeout=PATIENCE).json()["n"] == 1
    other = database.call("PUT", "/c", json={"n": 2})
    assert other.headers["Location"] == f"{server.url}/couch/{database.name}/c"
    rows = requests.get(f"{url}/{database.name}/_all_docs", headers=headers, timeout=PATIENCE).json()["rows"]
    assert [row["id"] for row in rows] == ["a b", "c"]


def test_connections_of_both_ports_count_together(start):
    server = start("--couch-port", "0", "--connections", "4")
    url = root(server)
    host, port = url.removeprefix("http://").split(":")
    server.url = url
    flood = [connect(server) for _ in range(40)]
    try:
        with connect(server) as one_more:
            assert receive(one_more).statuses in ([503], [])
    finally:
        for connection in flood:
            connection.close()


def test_refused_request_is_answered_as_couchdb_does(ported):
    """Also one that is no HTTP, if its first line has a path of `/couch`."""
    server, url = ported
    method = (405, {"error": "method_not_allowed", "reason": "There is no such method"})
    malformed = (400, {"error": "bad_request", "reason": "The request is no HTTP/1.1 (RFC 9112)"})
    for base, head, (status, body) in (
            (url, "nonsense", malformed), (url, "FOO /x HTTP/1.1", method), (server.url, "FOO /couch/x HTTP/1.1", method),
            (server.url, "FOO /couch?x HTTP/1.1", method), (server.url, "GET /couch/é HTTP/1.1", malformed),
            (server.url, "GET /couch/x HTTP/1.1\r\nA B: c", malformed)):
        server.url = base
        with connect(server) as connection:
            connection.sendall(head.encode() + b"\r\n\r\n")
            answer = receive(connection)
        assert answer.statuses == [status] and answer.field("Content-Type") == "application/json", answer
        assert json.loads(answer.data.partition(b"\r\n\r\n")[2]) == body, answer
