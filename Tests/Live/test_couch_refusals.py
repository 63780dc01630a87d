"""Unsupported features and invalid requests: methods, types, encodings and sizes.

H08, H11 and H12 in names are rows of the catalogue of faults."""
import gzip
import http.client
import json
import zlib

import pytest
import requests

from couch import failed
from waiting import PATIENCE

JSON = {"Content-Type": "application/json"}
POSTS = [
    "", "/_bulk_docs", "/_bulk_get", "/_revs_diff", "/_missing_revs", "/_all_docs", "/_find",
    "/_explain", "/_index"]


@pytest.mark.parametrize("method,path,body", [
    ("GET", "/_design/app/_view/all", None), ("POST", "/_design/app/_view/all", {"keys": []}),
    ("POST", "/_design/app/_view/all/queries", {"queries": []}),
    ("GET", "/_design/app/_show/s/x", None),
    ("GET", "/_design/app/_list/l/all", None), ("POST", "/_design/app/_update/u", {}),
    ("PUT", "/_design/app/_update/u/x", {}),
    ("GET", "/_design/app/_info", None), ("GET", "/_design/app/_rewrite/x", None),
    ("GET", "/_design/app/_search/s?q=x", None),
    ("GET", "/_partition/p", None), ("GET", "/_shards", None),
    ("POST", "/_temp_view", {"map": "x"}),
    ("GET", "/_purged_infos", None), ("PUT", "/_purged_infos_limit", 500),
    ("GET", "/_changes?filter=app/mine", None)])
def test_part_of_couchdb_that_is_not_offered_says_so(database, method, path, body):
    database.call("PUT", "/_design/app", json={
        "views": {"all": {"map": "function(doc){emit(doc._id)}"}}, "filters": {"mine": "x"}})
    answer = database.raw(method, path, **({"json": body} if body is not None else {}))
    assert answer.status_code in (400, 404, 405, 501), answer.status_code
    assert answer.headers["Content-Type"].startswith("application/json")
    assert answer.json()["error"] and answer.json()["reason"]
    if "_view/" in path or "filter" in path:
        assert failed(answer) == (501, "not_implemented")


@pytest.mark.parametrize("method,path", [
    ("GET", "/_active_tasks"), ("GET", "/_db_updates"), ("GET", "/_membership"),
    ("GET", "/_config"), ("GET", "/_users"),
    ("GET", "/_node/_local/_stats"), ("GET", "/_node/_local/_config"),
    ("PUT", "/_node/_local/_config/admins/x"),
    ("GET", "/_utils"), ("GET", "/_stats"), ("POST", "/_restart"),
    ("GET", "/_log"),
    ("POST", "/_cluster_setup"), ("GET", "/_reshard"), ("GET", "/_replicator"),
    ("GET", "/_global_changes")])
def test_servers_inside_is_shown_to_nobody(database, administrator, method, path):
    for answer in (database.server.call(method, "/couch" + path, database.token, json=None),
                   administrator.call(method, path)):
        if answer.status_code != 200:
            assert answer.status_code in (400, 403, 404, 405, 501) and answer.json()["reason"]
        else:
            assert path == "/_active_tasks" and answer.json() == []


def test_replications_are_the_administrators(database):
    refused = database.server.call(
        "POST", "/couch/_replicate", database.token, json={"source": "a", "target": "b"})
    assert failed(refused) == (403, "forbidden")


@pytest.mark.fault("H11")
@pytest.mark.parametrize("method", ["PATCH", "TRACE", "PROPFIND", "LOCK", "FOO", "get"])
@pytest.mark.parametrize("path", ["", "/a", "/_all_docs", "/_local/x"])
def test_other_methods_are_405_with_those_that_are_allowed(database, method, path):
    database.put("a")
    connection = http.client.HTTPConnection(database.server.url.removeprefix("http://"), timeout=PATIENCE)
    headers = {"Authorization": "Bearer " + database.token, "X-HTTP-Method-Override": "GET"}
    connection.request(method, f"/couch/{database.name}{path}", headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status in (400, 405, 501), answer.status
    if answer.status == 405:
        assert {"GET", "HEAD"} <= set(answer.headers["Allow"].split(", "))
        assert json.loads(body)["reason"]
    assert b"_rev" not in body


@pytest.mark.parametrize("path,allowed", [
    ("/_bulk_docs", {"POST"}), ("/_revs_diff", {"POST"}), ("/_ensure_full_commit", {"POST"}),
    ("/_find", {"POST"}),
    ("/_all_docs", {"GET", "HEAD", "POST"}), ("/_changes", {"GET", "HEAD", "POST"})])
def test_methods_that_are_allowed_are_named(database, path, allowed):
    answer = database.raw("OPTIONS", path)
    assert allowed <= set(answer.headers["Allow"].split(", "))


@pytest.mark.fault("H11")
def test_method_is_overridden_in_a_post_alone(database):
    database.put("a")
    for header in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        answer = database.call("GET", "/a", headers={header: "DELETE"})
        assert answer.status_code == 200
        if header != "X-HTTP-Method-Override":
            assert database.raw("POST", "/a", headers={header: "DELETE"}).status_code == 405
    assert database.call("GET", "/a").status_code == 200


@pytest.mark.fault("H12")
@pytest.mark.parametrize("path", POSTS)
def test_other_content_types_are_415(untouched, path):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/xml", "x",
                 "application/json; charset=utf-16", "application/json; charset=latin1",
                 "application/jsonp", None):
        refused = untouched.call("POST", path, data=b"{}", headers={"Content-Type": kind} if kind else {})
        assert refused.status_code == 415, kind
        assert refused.json()["error"] and refused.json()["reason"]


@pytest.mark.fault("H12")
@pytest.mark.parametrize("kind", [
    "application/json", "application/json; charset=utf-8", 'application/json; charset="UTF-8"',
    "APPLICATION/JSON",
    "application/vnd.x+json"])
def test_json_is_json_however_it_is_called(database, kind):
    headers = {"Content-Type": kind}
    assert database.call("POST", data=b'{"n":1}', headers=headers).status_code == 201
    assert database.call("POST", "/_revs_diff", data=b"{}", headers=headers).status_code == 200


@pytest.mark.fault("H12")
@pytest.mark.parametrize(
    "accept", ["*/*", "application/json", "text/plain", "text/html", "image/png", "x", ""])
def test_answers_are_json_whatever_is_accepted(database, accept):
    database.put("a")
    answer = database.call("GET", "/a", headers={"Accept": accept})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("path", POSTS)
def test_bodies_that_are_no_object_are_400(untouched, path):
    for body in (b"", b"null", b"[]", b"1", b'"x"', b"true", b"{", b"\xff", b"\0"):
        refused = untouched.call("POST", path, data=body, headers=JSON)
        assert refused.status_code == 400, (body, refused.text)
        assert refused.json()["error"] and refused.json()["reason"]


@pytest.mark.parametrize("path", POSTS)
def test_deep_bodies_are_400(untouched, path):
    for body in (b"[" * 100_000, b'{"docs":' * 100_000, b'{"a":' + b"[" * 90 + b"]" * 90 + b"}"):
        refused = untouched.call("POST", path, data=body, headers=JSON)
        assert refused.status_code == 400 and refused.json()["error"] in ("too_deep", "bad_request")


def packed(body):
    return {"data": gzip.compress(body), "headers": {**JSON, "Content-Encoding": "gzip"}}


def test_gzip_bodies_are_read(database):
    assert database.call("PUT", "/a", **packed(b'{"n":1}')).status_code == 201
    assert database.call("POST", "", **packed(b'{"_id":"b"}')).status_code == 201
    documents = json.dumps(
        {"docs": [{"_id": str(n), "text": "x" * 100} for n in range(100)]}).encode()
    assert database.call("POST", "/_bulk_docs", **packed(documents)).status_code == 201
    assert len(
        database.call("POST", "/_all_docs", **packed(b'{"keys":["a","b"]}')).json()["rows"]) == 2
    two = gzip.compress(b'{"_id":') + gzip.compress(b'"joined"}')
    joined = database.call("POST", "", data=two, headers={**JSON, "Content-Encoding": "gzip"})
    assert joined.status_code in (201, 400)


@pytest.mark.parametrize("body", [
    b"", b"no gzip", gzip.compress(b'{"n":1}')[:-4], gzip.compress(b'{"n":1}')[:12],
    b"\x1f\x8b\x08\x00",
    zlib.compress(b'{"n":1}'), gzip.compress(b'{"n":1}')[:-8] + b"\0" * 8],
    ids=["empty", "text", "cut", "head", "magic", "zlib", "sum"])
def test_broken_gzip_is_400(untouched, body):
    refused = untouched.call("PUT", "/a", data=body, headers={**JSON, "Content-Encoding": "gzip"})
    assert refused.status_code == 400 and refused.json()["reason"]
    assert untouched.documents() == {}


@pytest.mark.fault("H08")
@pytest.mark.parametrize("coding", ["br", "deflate", "compress", "gzip, gzip", "x", "zstd"])
def test_other_codings_are_415(database, coding):
    body = gzip.compress(gzip.compress(b"{}"))
    refused = database.call("PUT", "/a", data=body, headers={**JSON, "Content-Encoding": coding})
    assert refused.status_code == 415 and refused.json()["reason"]
    same = database.call("PUT", "/b", data=b"{}", headers={**JSON, "Content-Encoding": "identity"})
    assert same.status_code in (201, 415)


@pytest.mark.fault("H08")
def test_gzip_bomb_is_413(untouched):
    """The server does not unpack a body that would become a hundred megabytes."""
    bomb = gzip.compress(b" " * (100 << 20), 1)
    for method, path in (("PUT", "/a"), ("POST", "/_bulk_docs"), ("POST", "/_find")):
        refused = untouched.call(
            method, path, data=bomb, headers={**JSON, "Content-Encoding": "gzip"})
        assert refused.status_code == 413 and refused.json()["reason"]


@pytest.mark.parametrize("path", ["/_bulk_docs", "/_find", "/_all_docs"])
def test_bodies_that_are_too_large_are_413(untouched, path):
    body = b'{"docs":["' + b"x" * (17 << 20) + b'"]}'
    try:
        refused = untouched.raw("POST", path, data=body, headers=JSON)
    except requests.ConnectionError:
        return  # The server closed the connection while the client was still sending.
    assert refused.status_code == 413 and refused.json()["reason"]


def test_empty_segments_and_a_last_slash_are_nothing(database):
    database.put("a")
    assert database.raw("GET", "//a").status_code == 200
    assert database.raw("GET", "/a/").status_code == 200
    assert database.raw("GET", "/_all_docs/").status_code == 200
    address = f"{database.server.url}/couch//{database.name}"
    assert requests.get(address, headers={
        "Authorization": "Bearer " + database.token}, timeout=PATIENCE).status_code == 200


def test_long_address_is_414(database):
    assert database.raw("GET", "/a?x=" + "y" * 17_000).status_code == 414
