"""Local documents, which are never replicated: _local/{id} and _local_docs.

J14 is a row of the catalogue of faults."""
import http.client
import json
import urllib.parse

import pytest

from couch import failed
from waiting import PATIENCE

MISSING = {"error": "not_found", "reason": "missing"}


def local(database, method, name, **options):
    return database.call(method, "/_local/" + urllib.parse.quote(name, safe=""), **options)


def test_local_document_goes_through_its_life(database):
    assert local(database, "GET", "x").json() == MISSING
    made = local(database, "PUT", "x", json={"n": 1.5, "last_seq": "12-abc"})
    assert (made.status_code, made.json()) == (201, {"ok": True, "id": "_local/x", "rev": "0-1"})
    read = local(database, "GET", "x")
    assert read.json() == {"_id": "_local/x", "_rev": "0-1", "n": 1.5, "last_seq": "12-abc"}
    changed = local(database, "PUT", "x", json={"_rev": "0-1", "n": 2})
    assert (changed.status_code, changed.json()["rev"]) == (201, "0-2")
    gone = local(database, "DELETE", "x", params={"rev": "0-2"})
    assert gone.status_code == 200 and gone.json()["ok"] is True
    assert local(database, "GET", "x").json() == MISSING
    assert local(database, "DELETE", "x", params={"rev": "0-2"}).json() == MISSING
    assert local(database, "PUT", "x", json={}).json()["rev"] == "0-1"
    assert local(database, "PUT", "x", json={"_rev": "0-1", "_deleted": True}).status_code == 200
    assert local(database, "GET", "x").json() == MISSING


def test_checkpoint_of_each_replicator_comes_back_as_sent(database):
    pouch = {
        "_id": "_local/Ab.c_d=", "session_id": "S", "history": [{"last_seq": 7, "session_id": "S"}],
             "replicator": "pouchdb", "version": 1, "last_seq": 7}
    couch = {
        "session_id": "S", "source_last_seq": "7-g1AA", "replication_id_version": 4, "history": [],
             "_revisions": {"start": 0, "ids": ["1"]}}
    for name, body in (("Ab.c_d=", pouch), ("a1b2+continuous", couch)):
        assert local(database, "PUT", name, json=body).status_code == 201
        read = local(database, "GET", name).json()
        kept = {key: value for key, value in body.items() if key not in ("_id", "_revisions")}
        assert read == {"_id": "_local/" + name, "_rev": "0-1", **kept}
        again = local(database, "PUT", name, json={**read, **body, "_rev": "0-1"})
        assert again.json()["rev"] == "0-2"


def test_local_documents_are_nowhere_else(database):
    local(database, "PUT", "x", json={"n": 1})
    assert database.documents() == {} and database.changes()["results"] == []
    info = database.call("GET").json()
    assert info["doc_count"] == 0 and info["update_seq"].startswith("0-")
    assert database.call("POST", "/_bulk_get", json={"docs": [{"id": "_local/x"}]}).json()[
        "results"][0]["docs"][0]["error"]["error"] == "not_found"
    assert database.call("POST", "/_find", json={"selector": {"n": 1}}).json()["docs"] == []


@pytest.mark.parametrize("path", ["/_local/x", "/_local%2Fx", "/_local%2fx"])
def test_slash_may_be_percent_encoded(database, path):
    assert database.call("PUT", path, json={"n": 1}).json()["id"] == "_local/x"
    assert database.call("GET", "/_local/x").json()["n"] == 1
    assert database.call("DELETE", path + "?rev=0-1").status_code == 200


@pytest.mark.fault("J14")
@pytest.mark.parametrize("path", [
    "/_local%2F..", "/_local/%2E%2E", "/_local/..%2F..%2Fx", "/_local/a%2Fb", "/_local%2Fa%2Fb",
    "/_local/_local%2Fx",
    "/_local/_design%2Fx", "/_local/receipt%2Fx", "/_local/%00", "/_local/%ff", "/_local/",
    "/_local", "/_local//x",
    "/_local/" + "x" * 513, "/_LOCAL/x", "/_local/x/y"])
def test_games_with_local_ids_reach_nothing_else(database, path):
    database.bulk({"_id": "..", "n": 1})
    connection = http.client.HTTPConnection(database.server.url.removeprefix("http://"), timeout=PATIENCE)
    headers = {"Authorization": "Bearer " + database.token}
    for method in ("GET", "PUT", "DELETE"):
        connection.request(
            method, f"/couch/{database.name}{path}", b"{}" if method == "PUT" else None, headers)
        answer = connection.getresponse()
        body = json.loads(answer.read())
        if answer.status in (200, 201):
            assert body.get("id", body.get("_id", "")).startswith("_local/"), (method, body)
        else:
            assert answer.status in (400, 404, 405, 409, 415), (method, answer.status)
            assert body["reason"], (method, answer.status)
    assert set(database.documents()) <= {".."}


@pytest.mark.parametrize("body,status", [
    ([], 400), ("x", 400), ({"_unknown": 1}, 400), ({"_id": 1}, 400),
    ({"_rev": 1}, 400),
    ({"_rev": "1-a"}, 400), ({"_rev": "x"}, 400), ({"_deleted": "yes"}, 400)],
    ids=str)
def test_malformed_local_documents_are_refused(untouched, body, status):
    refused = local(untouched, "PUT", "x", json=body)
    assert refused.status_code == status and refused.json()["reason"]
    assert local(untouched, "GET", "x").status_code == 404


def test_local_documents_are_listed(database):
    for name in ("a", "b", "c/d", "é"):
        local(database, "PUT", name, json={"n": name})
    names = ["_local/a", "_local/b", "_local/c/d", "_local/é"]
    body = database.call("GET", "/_local_docs").json()
    assert [row["id"] for row in body["rows"]] == names
    assert body["rows"][0] == {"id": "_local/a", "key": "_local/a", "value": {"rev": "0-1"}}
    assert {"total_rows", "offset"} <= set(body)
    for query, expected in (
            ("limit=2", names[:2]), ("skip=3", names[3:]), ("descending=true", names[::-1]),
            ('startkey="_local/b"', names[1:]),
            ('endkey="_local/b"&inclusive_end=false', names[:1]),
            ('key="_local/c/d"', names[2:3])):
        found = database.call("GET", "/_local_docs?" + urllib.parse.quote(query, safe="=&"))
        assert [row["id"] for row in found.json()["rows"]] == expected, query
    posted = database.call(
        "POST", "/_local_docs", json={"keys": ["_local/é", "_local/none"], "include_docs": True})
    rows = posted.json()["rows"]
    assert rows[0]["doc"]["n"] == "é" and rows[1]["error"] == "not_found"
    # As in CouchDB, `_all_docs` finds them by their keys, too, and lists none.
    keyed = database.call("POST", "/_all_docs", json={"keys": ["_local/é", "_local/none"], "include_docs": True}).json()
    assert keyed["rows"] == rows and database.call("GET", "/_all_docs").json()["rows"] == []
    queries = [{"keys": ["_local/é", "_local/none"]}, {"limit": 2, "skip": 1}]
    results = database.call("POST", "/_local_docs/queries", json={"queries": queries}).json()["results"]
    assert [[row.get("id") for row in one["rows"]] for one in results] == [["_local/é", None], names[1:3]]
    assert all(one["total_rows"] is None and one["offset"] is None for one in results)
    for query in ("limit=-1", "descending=1", "startkey=x"):
        assert database.call("GET", "/_local_docs?" + query).status_code == 400, query


def test_receipts_of_the_service_are_no_local_documents(database):
    """The server stores idempotency keys beside local documents, but no client can read them there."""
    headers = {"Idempotency-Key": "canary"}
    body = {"add": [{"id": "h1", "name": "One"}]}
    assert database.call_v1("POST", "/v1/bookmarks", json=body, headers=headers).status_code == 200
    listed = database.call("GET", "/_local_docs?include_docs=true")
    assert listed.json()["rows"] == [] and b"canary" not in listed.content


def test_local_document_is_bounded(database):
    huge = {"a": "x" * 500_000, "b": "x" * 500_000, "c": "x" * 500_000}
    assert local(database, "PUT", "x", json=huge).status_code in (413, 507)
    assert local(database, "GET", "x").status_code == 404


def test_local_document_counts_to_the_quota(database):
    limits = {limit["name"]: limit["value"] for limit in database.server.call(
        "GET", "/v1/limits").json()["limits"]}
    piece = {"text": "x" * 400_000}
    statuses = [local(database, "PUT", str(
        n), json=piece).status_code for n in range(limits["guestBytes"] // 400_000 + 2)]
    assert statuses[0] == 201 and statuses[-1] == 507
