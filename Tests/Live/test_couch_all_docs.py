"""_all_docs by range and by keys, _all_docs/queries and _design_docs."""
import json
import urllib.parse

import pytest

from couch import Database, failed

NAMES = ["A", "a", "b", "ba", "c/d", "é", "日"]


def fill(database):
    database.bulk(*({"_id": name, "n": number} for number, name in enumerate(NAMES)))
    return database


@pytest.fixture
def filled(database):
    return fill(database)


@pytest.fixture(scope="module")
def read(shared):
    """The same store for tests that only read."""
    return fill(Database(shared))


def rows(database, query=""):
    answer = database.call("GET", "/_all_docs?" + query)
    assert answer.status_code == 200, answer.text
    return answer.json()["rows"]


def ids(database, query=""):
    return [row["id"] for row in rows(database, query)]


def test_rows_have_key_revision_and_place(read):
    body = read.call("GET", "/_all_docs").json()
    assert (body["total_rows"], body["offset"]) == (len(NAMES), 0)
    assert [row["id"] for row in body["rows"]] == NAMES, "ids stand in the order of their bytes"
    first = body["rows"][0]
    assert set(first) == {"id", "key", "value"} and first["key"] == "A"
    assert first["value"] == {"rev": read.call("GET", "/A").json()["_rev"]}
    assert "update_seq" not in body
    assert read.call("GET", "/_all_docs?update_seq=true").json()["update_seq"] == \
        read.call("GET", "").json()["update_seq"]


def test_designs_and_the_rest_but_no_tombstones_are_listed(filled):
    filled.call("PUT", "/_design/d", json={})
    filled.call("PUT", "/_local/l", json={})
    filled.call("DELETE", "/A?rev=" + filled.call("GET", "/A").json()["_rev"])
    assert ids(filled) == ["_design/d"] + NAMES[1:]


@pytest.mark.parametrize("query,expected", [
    ('startkey="b"', NAMES[2:]), ('start_key="b"', NAMES[2:]), ('endkey="b"', NAMES[:3]),
    ('end_key="b"&inclusive_end=false', NAMES[:2]), ('startkey="b"&endkey="c"', ["b", "ba"]),
    ('key="ba"', ["ba"]), ('key="none"', []), ('startkey="b"&endkey="b"', ["b"]),
    ('startkey="b"&endkey="b"&inclusive_end=false', []), ("limit=2", NAMES[:2]), ("limit=0", []),
    ("skip=5", NAMES[5:]), ("skip=100", []), ("limit=2&skip=1", NAMES[1:3]),
    ("limit=1000000000", NAMES),
    ("descending=true", NAMES[::-1]), ('descending=true&startkey="b"', ["b", "a", "A"]),
    ('descending=true&startkey="c"&endkey="a"', ["ba", "b", "a"]),
    ('descending=true&endkey="b"&inclusive_end=false', ["日", "é", "c/d", "ba"]),
    ("descending=true&limit=1", ["日"]), ("startkey=null", NAMES), ("startkey=1", NAMES),
    ("endkey=null", []),
    ("startkey=[]", NAMES), ("endkey={}", []), ('startkey="é"', ["é", "日"]), ("unknown=1", NAMES),
    ('end_key="z"&startkey="a"&endkey="c"&start_key="b"', ["b", "ba"]),
    ("stale=ok&stable=true&update=false&sorted=true&reduce=false", NAMES)],
    ids=lambda value: str(value)[:40])
def test_range_of_rows(read, query, expected):
    assert ids(read, urllib.parse.quote(query, safe="=&")) == expected
    body = dict(pair.split("=") for pair in query.split("&"))
    body = {name: value if name == "stale" else json.loads(value) for name, value in body.items()}
    posted = read.call("POST", "/_all_docs", json=body)
    assert [row["id"] for row in posted.json()["rows"]] == expected


@pytest.mark.parametrize("query", [
    "limit=-1", "limit=abc", "limit=1.5", "limit=9223372036854775808", "limit=", "limit=%2B1",
    "skip=-1", "skip=x",
    "descending=1", "descending=maybe", "include_docs=2", "inclusive_end=", "startkey=b",
    "startkey=%22b",
    "endkey=%7B", "key=x", "keys=1", "keys=%22a%22", "keys=%7B%7D", "update_seq=x"])
def test_malformed_parameters_are_400(read, query):
    answer = read.call("GET", "/_all_docs?" + query)
    assert failed(answer) in ((400, "query_parse_error"), (400, "bad_request")), answer.text
    assert answer.json()["reason"]


@pytest.mark.fault("H16")
@pytest.mark.parametrize("query", [
    "limit=x&limit=2", "descending=x&descending=false", "startkey=x&startkey=%22b%22",
    "skip=x&skip=0"])
def test_last_of_a_parameter_given_twice_counts(read, query):
    assert read.call("GET", "/_all_docs?" + query).status_code == 200


def test_documents_come_along_with_their_conflicts(filled):
    filled.graft("torn", "2-b 1-a", "2-c 1-a")
    row, = rows(filled, "key=%22torn%22&include_docs=true&conflicts=true")
    assert row["doc"]["_rev"] == "2-c" and row["doc"]["_conflicts"] == ["2-b"]
    row, = rows(filled, "key=%22torn%22&include_docs=true")
    assert "_conflicts" not in row["doc"] and row["doc"]["leaf"] == "2-c"
    row, = rows(filled, "key=%22torn%22&conflicts=true")
    assert "doc" not in row


def test_keys_are_answered_one_by_one(filled):
    rev = filled.call("GET", "/A").json()["_rev"]
    tombstone = filled.call("DELETE", f"/A?rev={rev}").json()["rev"]
    body = {"keys": ["b", "none", "A", "b", 1, None], "include_docs": True}
    answer = filled.call("POST", "/_all_docs", json=body).json()["rows"]
    assert [row.get("id") for row in answer] == ["b", None, "A", "b", None, None]
    assert answer[0]["doc"]["n"] == 2
    assert [row["error"] for row in answer if "error" in row] == ["not_found"] * 3
    assert answer[1] == {"key": "none", "error": "not_found"}
    assert answer[2] == {
        "id": "A", "key": "A", "value": {"rev": tombstone, "deleted": True}, "doc": None}
    page = filled.call(
        "POST", "/_all_docs?limit=1&skip=1", json={"keys": ["a", "b", "ba"]}).json()["rows"]
    assert [row["id"] for row in page] == ["b"]
    turned = filled.call(
        "POST", "/_all_docs?descending=true", json={"keys": ["a", "b"]}).json()["rows"]
    assert [row["id"] for row in turned] == ["b", "a"]
    assert ids(filled, "keys=%5B%22b%22,%22a%22%5D") == ["b", "a"]
    assert filled.call("POST", "/_all_docs", json={"keys": []}).json()["rows"] == []
    many = ["b", *(f"{number:064}" for number in range(140))]
    rows = filled.call("GET", "/_all_docs?keys=" + urllib.parse.quote(json.dumps(many))).json()["rows"]
    assert [row["key"] for row in rows] == many and rows[0]["id"] == "b"


@pytest.mark.parametrize("body", [
    b"", b"[]", b'"x"', b"{", b'{"keys":"a"}', b'{"keys":{}}', b'{"limit":-1}', b'{"limit":"x"}',
    b'{"descending":1}', b'{"limit":1,"limit":2}'])
def test_body_that_is_no_request_is_400(read, body):
    answer = read.call(
        "POST", "/_all_docs", data=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400 and answer.json()["reason"], answer.text


def test_several_queries_are_answered_in_order(read):
    queries = [{"keys": [
        "a", "none"]}, {"limit": 1, "descending": True}, {"startkey": "b", "endkey": "c"}, {}]
    answer = read.call("POST", "/_all_docs/queries", json={"queries": queries})
    assert answer.status_code == 200
    found = [[row.get("id") for row in one["rows"]] for one in answer.json()["results"]]
    assert found == [["a", None], ["日"], ["b", "ba"], NAMES]
    for body in ({}, {"queries": {}}, {"queries": [1]}, {"queries": [{"limit": -1}]}, []):
        refused = read.call("POST", "/_all_docs/queries", json=body)
        assert refused.status_code == 400, body


def test_design_documents_alone(filled):
    for name in ("one", "two"):
        filled.call("PUT", f"/_design/{name}", json={"n": name})
    body = filled.call("GET", "/_design_docs?include_docs=true").json()
    assert [row["id"] for row in body["rows"]] == ["_design/one", "_design/two"]
    assert body["rows"][1]["doc"]["n"] == "two"
    keyed = filled.call(
        "POST", "/_design_docs", json={"keys": ["_design/two", "_design/none"]}).json()
    assert [row.get("error") for row in keyed["rows"]] == [None, "not_found"]
    down = filled.call("GET", "/_design_docs?descending=true&limit=1").json()["rows"]
    assert [row["id"] for row in down] == ["_design/two"]


def test_offset_counts_what_comes_before(read):
    for query, offset in ((
        "skip=2", 2), ("startkey=%22b%22", 2), ("descending=true&skip=1", 1), ("", 0)):
        assert read.call("GET", "/_all_docs?limit=1&" + query).json()["offset"] == offset, query
