"""Ids and bodies at the limits of what is allowed, byte for byte.

H13 (paths), H14 (ids), H15 (forms) and J01 to J08 (documents) in names are rows of the catalogue of faults."""
import http.client
import json
import urllib.parse

import pytest

from couch import failed
from waiting import PATIENCE

JSON = {"Content-Type": "application/json"}
ODD = [
    "a/b", "a+b", "a b", "a%2Fb", "%252f", "../x", "a/..", "a?b#c&d=e", "line\r\nbreak: x", "tab\t",
    "/\u0338", "a\u200db", "\u202eltr", "🏨", "日本語", "quote\"'\\", "café", "cafe\u0301", "x" * 512,
    "é" * 256, "\x7f", "\ufeff", "\U0010fffe", "x_", "~-._!$()*,;:@"]


def encoded(name):
    return "/" + urllib.parse.quote(name, safe="")


def exact(database, method, path, body=None, headers=None):
    """A request whose path is sent unchanged. The usual library would correct it."""
    connection = http.client.HTTPConnection(database.server.url.removeprefix("http://"), timeout=PATIENCE)
    headers = {"Authorization": "Bearer " + database.token, **(headers or {})}
    connection.request(method, f"/couch/{database.name}{path}", body=body, headers=headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read() or b"{}"), answer


@pytest.mark.fault("H14")
@pytest.mark.parametrize("name", ODD, ids=lambda name: ascii(name)[:24])
def test_odd_ids_come_back_as_they_are(database, name):
    status, made, answer = exact(database, "PUT", encoded(name), b"{}")
    assert (status, made["id"]) == (201, name)
    assert "\n" not in answer.headers["Location"]
    rev = made["rev"]
    assert exact(database, "GET", encoded(name))[1] == {"_id": name, "_rev": rev}
    assert [row["id"] for row in database.changes()["results"]] == [name]
    found = database.call("POST", "/_all_docs", json={"keys": [name]}).json()["rows"]
    assert [row["id"] for row in found] == [name]
    got = database.call("POST", "/_bulk_get", json={"docs": [{"id": name}]}).json()["results"]
    assert (got[0]["id"], got[0]["docs"][0]["ok"]["_rev"]) == (name, rev)
    missing = database.call("POST", "/_revs_diff", json={name: [rev, "9-x"]}).json()
    assert missing[name]["missing"] == ["9-x"]
    gone = exact(database, "DELETE", f"{encoded(name)}?rev={rev}")
    assert (gone[0], gone[1]["id"]) == (200, name)


@pytest.mark.fault("H13")
@pytest.mark.parametrize("path,name", [
    ("/a%2Fb", "a/b"), ("/a%2fB", "a/B"), ("/a+b", "a b"), ("/a%2Bb", "a+b"), ("/%2E", "."), ("/%2e%2E", ".."), ("/%252f", "%2f"),
    ("/a%20b", "a b"), ("/%61", "a"), ("/a;v=1", "a;v=1"), ("/%C3%A9", "é")])
def test_path_is_decoded_once_and_plus_is_a_space(database, path, name):
    status, made, _ = exact(database, "PUT", path, b"{}")
    assert (status, made["id"]) == (201, name)
    assert exact(database, "GET", path)[1]["_id"] == name
    assert set(database.documents()) == {name}


@pytest.mark.fault("H13")
@pytest.mark.parametrize("path", [
    "/%00", "/a%00b", "/%ff", "/%c3%28", "/%ed%a0%80", "/%zz", "/%", "/a%2", "/./a", "/../a", "/.", "/..",
    "/a/../b"])
def test_broken_escapes_and_dot_segments_are_400(untouched, path):
    for method in ("GET", "PUT", "DELETE"):
        status, body, _ = exact(untouched, method, path, b"{}" if method == "PUT" else None)
        assert status == 400 and body["error"] and body["reason"]


@pytest.mark.fault("H14")
@pytest.mark.parametrize(
    "name", ["_x", "_", "_designs/x", "_design", "_design/", "_local", "_local/", "x" * 513,
                                  "é" * 256 + "x"], ids=lambda name: name[:12])
def test_ids_that_are_not_allowed_are_400(untouched, name):
    answer = untouched.call("PUT", encoded(name), json={})
    assert failed(answer) in ((400, "illegal_docid"), (400, "bad_request")), answer.text
    if not name.startswith("_local"):
        posted = untouched.call("POST", json={"_id": name})
        assert failed(posted) == (400, "illegal_docid")
    if name not in ("_design", "_local", "_local/"):
        for method in ("GET", "DELETE"):
            missing = untouched.call(method, encoded(name))
            assert (missing.status_code, missing.json()) == (404, {"error": "not_found", "reason": "missing"}), method
    several = untouched.call("POST", "/_bulk_docs", json={"docs": [{"_id": name}]})
    if len(name) > 100:
        written, = several.json()
        assert (written["error"], written["id"]) == ("forbidden", name)
    else:
        assert failed(several) == (400, "illegal_docid")
    assert untouched.changes()["results"] == []


@pytest.mark.parametrize("value", [None, 1, True, [], {}, ""], ids=repr)
def test_id_that_is_no_text_is_400(untouched, value):
    assert failed(untouched.call("POST", json={"_id": value})) == (400, "illegal_docid")
    assert untouched.call("PUT", "/a", json={"_id": value}).status_code == 400
    several = untouched.call("POST", "/_bulk_docs", json={"docs": [{"_id": value}]})
    assert failed(several) == (400, "illegal_docid")


@pytest.mark.fault("H15")
def test_composed_and_decomposed_letters_are_two_documents(database):
    first, second = database.rev("café", n=1), database.rev("cafe\u0301", n=2)
    assert database.call("GET", encoded("café")).json() == {"_id": "café", "_rev": first, "n": 1}
    assert database.call(
        "GET", encoded("cafe\u0301")).json() == {"_id": "cafe\u0301", "_rev": second, "n": 2}
    assert len(database.documents()) == 2
    body = {"_id": "cafe\u0301", "_rev": first}
    assert database.call("PUT", encoded("café"), json=body).json()["id"] == "café"


@pytest.mark.fault("J07")
def test_id_of_the_path_counts_and_that_of_the_body_must_be_one(database):
    assert failed(database.call("PUT", "/a", json={"_id": "_b"})) == (400, "illegal_docid")
    assert database.call("PUT", "/a", json={"_id": "b"}).json()["id"] == "a"
    assert database.call("PUT", "/x%2Fy", json={"_id": "x/y"}).status_code == 201
    assert database.call("PUT", "/_design%2Fd", json={"_id": "_design/d"}).status_code == 201


@pytest.mark.fault("J07")
@pytest.mark.parametrize("member", [
    {"_unknown": 1}, {"_": 1}, {"_security": {}}, {"__proto__": 1}, {"_deleted": "yes"},
    {"_deleted": 1},
    {"_revisions": 1}, {"_attachments": []}, {"_attachments": "x"}], ids=str)
def test_unknown_or_malformed_reserved_members_are_400(untouched, member):
    answer = untouched.call("PUT", "/a", json=member)
    assert failed(answer) == (400, "doc_validation") and answer.json()["reason"], answer.text
    several = untouched.call("POST", "/_bulk_docs", json={"docs": [{"_id": "b", **member}]})
    assert failed(several) == failed(answer)
    assert untouched.documents() == {}


def test_reserved_members_that_come_back_are_ignored(database):
    rev = database.rev("a", n=1)
    read = database.call("GET", "/a?meta=true&revs=true&local_seq=true").json()
    assert {"_revs_info", "_revisions", "_local_seq"} <= set(read)
    read.update(_conflicts=["1-x"], _deleted_conflicts=["1-y"], n=2)
    again = database.call("PUT", "/a", json=read)
    assert again.status_code == 201
    assert set(database.call("GET", "/a").json()) == {"_id", "_rev", "n"}
    assert rev != again.json()["rev"]


@pytest.mark.fault("J07")
@pytest.mark.parametrize("rev", [
    "x", "", "1", "1-", "-a", "0-a", "01-a", "-1-a", "+1-a", "1.0-a", f"{2**64}-a",
    f"{2**53 + 1}-a",
    "9" * 40 + "-a", "1-" + "A" * 32, "1-" + "a" * 65, "1-a b", "1-é", "1-\u0000", " 1-a", 1, None,
    [], {}],
    ids=lambda rev: ascii(rev)[:16])
def test_malformed_revisions_are_400(untouched, rev):
    for query in ("", "?new_edits=false"):
        answer = untouched.call("PUT", "/a" + query, json={"_rev": rev})
        assert failed(answer) in ((400, "bad_request"), (400, "doc_validation")), answer.text
    for flag in (True, False):
        several = untouched.call("POST", "/_bulk_docs", json={
            "docs": [{"_id": "a", "_rev": rev}], "new_edits": flag})
        refused = several.json()[0] if several.status_code == 201 else several.json()
        assert refused["error"] in ("bad_request", "forbidden"), several.text
    assert untouched.changes()["results"] == []


@pytest.mark.fault("J01")
@pytest.mark.parametrize("body,error", [
    (b'{"a":1,"a":2}', "duplicate_key"), (b'{"a":1,"\\u0061":2}', "duplicate_key"),
    (b'{"x":{"a":1,"a":2}}', "duplicate_key"), (b'{"_id":"a","_id":"b"}', "duplicate_key"),
    (b'{"x":' + b"[" * 64 + b"]" * 64 + b"}", "too_deep"),
    (b'{"x":' + b'{"y":' * 70 + b"1" + b"}" * 71, "too_deep"),
    (b"[" * 100000, None), (b'{"x":1,}', "bad_request"), (b"{'x':1}", "bad_request"),
    (b'{"x":NaN}', "bad_request"), (b'{"x":01}', "bad_request"), (b'{"x":+1}', "bad_request"),
    (b'{"x":.5}', "bad_request"), (b'{"x":1.}', "bad_request"), (b"\xef\xbb\xbf{}", "bad_request"),
    ("{}".encode("utf-16"), "bad_request"), (b'{"x":1}/**/', "bad_request"),
    (b"{} {}", "bad_request"),
    (b'{"x":1e400}', "number_out_of_range"), (b'{"x":' + b"9" * 1000 + b"}", "number_out_of_range"),
    (b'{"x":"\xff"}', "bad_request"), (b'{"x":"\xc0\xaf"}', "bad_request"),
    (b'{"x":"\\ud800"}', None),
    (b'{"x":"\\x"}', "bad_request"), (b'{"x":"\n"}', "bad_request"), (b"", "bad_request"),
    (b"[]", "bad_request"), (b'"text"', "bad_request"), (b"null", "bad_request"),
    (b"1", "bad_request")],
    ids=lambda value: ascii(value)[:28])
def test_to_J06_bodies_that_are_no_documents_are_400(untouched, body, error):
    answer = untouched.call("PUT", "/a", data=body, headers=JSON)
    assert answer.status_code == 400 and answer.json()["reason"], answer.text
    assert error in (None, answer.json()["error"]), answer.text
    several = untouched.call("POST", "/_bulk_docs", data=b'{"docs":[' + body + b"]}", headers=JSON)
    if several.status_code == 201:
        # A document that only exceeds a limit fails alone. An empty body makes an empty array of documents.
        assert error != "bad_request" or not body, several.text
        assert [row["error"] for row in several.json()] == ["forbidden"][:len(body)]
    else:
        assert failed(several) == failed(answer), several.text
    assert untouched.documents() == {}


@pytest.mark.fault("J01")
@pytest.mark.parametrize("body,place", [
    (b'{"a":1,"a":2}', "/a"), (b'{"a":1,"\\u0061":2}', "/a"), (b'{"x":{"a":1,"a":2}}', "/x/a"),
    (b'{"x":[1,{"a":1,"a":2}]}', "/x/1/a"), (b'{"a/b":1,"a/b":2}', "/a~1b")])
def test_repeated_key_is_named_by_its_place(untouched, body, place):
    answer = untouched.call("PUT", "/a", data=body, headers=JSON)
    assert failed(answer) == (400, "duplicate_key") and f" {place} " in answer.json()["reason"]
    several = untouched.call(
        "POST", "/_bulk_docs", data=b'{"docs":[' + body + b"]}", headers=JSON)
    refused, = several.json()
    assert refused["error"] == "forbidden" and f" {place} " in refused["reason"], several.text
    for more in (b'{"docs":[],"docs":[]}', b'{"docs":[' + body + b'],"docs":[]}'):
        twice = untouched.call("POST", "/_bulk_docs", data=more, headers=JSON)
        assert failed(twice) == (400, "duplicate_key"), twice.text
    assert untouched.documents() == {}


@pytest.mark.fault("J02")
def test_largest_document_is_stored_and_a_larger_one_is_not(database):
    limits = {limit["name"]: limit["value"] for limit in database.server.call(
        "GET", "/v1/limits").json()["limits"]}
    longest = limits["stringBytes"]
    halves = lambda size: {"a": "x" * min(longest, size), "b": "x" * (size - min(longest, size))}
    size = limits["documentBytes"] - len(json.dumps(halves(0), separators=(",", ":")))
    database.server.call("POST", "/v1/guests")
    for bytes, status in ((size + 1, 413), (limits["guestBytes"] // 2, 201)):
        body = json.dumps(halves(bytes), separators=(",", ":"))
        assert database.call("PUT", "/a", data=body, headers=JSON).status_code == status
    text = json.dumps({"a": "x" * (longest + 1)})
    assert failed(database.call("PUT", "/b", data=text, headers=JSON)) == (400, "string_too_long")
    deep = b'{"x":' + b"[" * 62 + b"]" * 62 + b"}"
    assert database.call("PUT", "/c", data=deep, headers=JSON).status_code == 201


@pytest.mark.fault("J04")
def test_numbers_come_back_as_they_were_written(database):
    body = b'{"a":1.0,"b":-0,"c":1e2,"d":12345678901234567890,"e":0.1' + b"0" * 40 + b'1,"f":1E-300}'
    first = database.call("PUT", "/a", data=body, headers=JSON).json()["rev"]
    assert body[1:-1] in database.call("GET", "/a").content
    other = database.call("PUT", "/b", data=body, headers=JSON).json()["rev"]
    assert first == other, "the same content has the same revision"
    changed = database.call(
        "PUT", "/c", data=body.replace(b"1.0", b"1"), headers=JSON).json()["rev"]
    assert changed != first
    assert body[1:-1] in database.call("GET", "/_all_docs?include_docs=true").content
    assert body[1:-1] in database.call("GET", "/_changes?include_docs=true").content


@pytest.mark.fault("J06")
def test_escaped_nul_and_every_character_come_back(database):
    text = "\0\x01\x1f\x7f\"\\/\u2028\u2029\ud7ff\ue000\uffff\U0001f3e8\U0010ffff"
    database.put("a", text=text)
    assert database.call("GET", "/a").json()["text"] == text
    database.put("b", **{text: 1})
    assert database.call("GET", "/b").json()[text] == 1
