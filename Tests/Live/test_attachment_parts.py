"""H19: attachments as parts of `multipart`, written and read, as CouchDB's replicator has them."""
import base64
import gzip
import json
import re

import pytest

from attachments import inline, md5, some, used
from couch import Database, failed
from waiting import wait_until


def related(boundary, *parts, end=True):
    lines = b"".join(b"--" + boundary + b"\r\n" + part + b"\r\n" for part in parts)
    return lines + (b"--" + boundary + b"--" if end else b"")


def following(content, **members):
    return {"follows": True, "length": len(content), "content_type": "text/plain", **members}


def part(content, name=None, **fields):
    if name:
        fields["Content-Disposition"] = f'attachment; filename="{name}"'
    lines = "".join(f"{field.replace('_', '-')}: {value}\r\n" for field, value in fields.items())
    return (lines + "\r\n").encode() + content


def document(**attachments):
    return part(json.dumps({"n": 1, "_attachments": attachments}).encode(), Content_Type="application/json")


def put_related(database, body, boundary="x", path="/a", kind="related"):
    return database.call("PUT", path, data=body, headers={
        "Content-Type": f"multipart/{kind}" + (f'; boundary="{boundary}"' if boundary else "")})


def test_document_and_attachments_in_parts(database):
    one, two = some(100_000), b"two\r\n--y"
    packed = gzip.compress(b"three" * 100)
    body = related(b"x", document(
        one=following(one), two=following(two, digest=md5(two)),
        three=following(b"three" * 100, encoding="gzip", encoded_length=len(packed)), four=inline(b"four")),
        part(two, "two"), part(one, "one"), part(packed))
    answer = put_related(database, b"preamble\r\n" + body)
    assert answer.status_code == 201, answer.text
    for name, content in [("one", one), ("two", two), ("three", b"three" * 100), ("four", b"four")]:
        assert database.call("GET", "/a/" + name).content == content, name
    answer = put_related(database, related(
        b"x", part(json.dumps({"_id": "b", "_rev": "2-b", "_revisions": {"start": 2, "ids": ["b", "a"]},
                               "_attachments": {"f": following(b"hi", revpos=2)}}).encode()), part(b"hi")),
        path="/b?new_edits=false")
    assert answer.json()["rev"] == "2-b", answer.text
    assert database.call("GET", "/b/f").content == b"hi"


def test_peers_document_that_can_never_be_stored_is_forbidden(database):
    """CouchDB's replicator counts a 403. Any other answer ends it, and it never gets past the document."""
    database.graft("known", "1-a", n=2)
    for name, members, sent, status in [
            ("a", {}, following(b"hi", content_type="\u00e9/x"), 400), ("i" * 600, {}, following(b"hi"), 400),
            ("a", {"deep": json.loads("[" * 99 + "]" * 99)}, following(b"hi"), 400), ("known", {}, following(b"hi"), 201)]:
        text = {"_id": name, "_rev": "1-a", "n": 1, **members, "_attachments": {"f": sent}}
        body = related(b"x", part(json.dumps(text).encode()), part(b"hi"))
        assert failed(put_related(database, body, path=f"/{name}?new_edits=false")) == (403, "forbidden"), name
        assert put_related(database, body, path="/" + name).status_code == status, name
    # What is cut off may come whole the next time.
    assert failed(put_related(database, body[:-9], path="/known?new_edits=false")) == (400, "bad_request")
    assert set(database.documents()) == {"known"}


def test_names_without_quotation_marks_find_their_attachments(database):
    """Parts of the same length in another order would exchange their bytes."""
    parts = [part(name.encode(), Content_Disposition=f"attachment; filename={name}{rest}")
             for name, rest in (("b", ""), ("c", "; size=1"), ("a", " ;size=1"))]
    assert put_related(database, related(b"x", document(**{name: following(b"?") for name in "abc"}), *parts)).status_code == 201
    assert [database.call("GET", "/a/" + name).content for name in "abc"] == [b"a", b"b", b"c"]


def test_names_as_couchdb_writes_them(database):
    """CouchDB's replicator escapes nothing in a name and keeps the order of the document."""
    names = ["a", 'a"b', 'a"', "new\nline", "cr\r\nContent-Type: x", "b\\", "b"]
    parts = [b"Content-Disposition: attachment; filename=\"" + name.encode() + b"\"\r\nContent-Type: text/plain\r\n\r\n"
             + b"of %d" % number for number, name in enumerate(names)]
    attachments = {name: following(b"of 0", digest=md5(b"of %d" % number)) for number, name in enumerate(names)}
    answer = put_related(database, related(b"x", document(**attachments), *parts))
    assert answer.status_code == 201, answer.text
    whole = database.call("GET", "/a?attachments=true").json()["_attachments"]
    assert {name: base64.b64decode(whole[name]["data"]) for name in whole} == {
        name: b"of %d" % number for number, name in enumerate(names)}


def test_many_attachments_are_not_held_in_memory_until_the_last_one_comes(account, shared):
    database, content = Database(shared, account.token), some((1 << 20) - 1)
    names = [f"f{number}" for number in range(20)]
    body = related(
        b"x", document(**{name: following(content) for name in names}), *(part(content, name) for name in names))
    before, seen = used(database), []

    def sent():
        yield body[:-100_000]
        # Meanwhile all others are written.
        wait_until(lambda: used(database) - before > 17 << 20)
        seen.append(True)
        yield body[-100_000:]

    answer = put_related(database, sent(), path="/many")
    assert answer.status_code == 201 and seen, answer.text
    assert database.call("GET", "/many/f19").content == content
    # The same bytes are kept once.
    assert used(database) - before < 2 << 20


def test_packed_bytes_are_limited_by_what_they_unpack_to_alone(account, shared):
    database = Database(shared, account.token)
    text = b"all work and no play " * 100_000
    packed = gzip.compress(text)
    assert len(text) > 200 * len(packed)
    sent = following(text, encoding="gzip", encoded_length=len(packed))
    assert put_related(database, related(b"x", document(f=sent), part(packed)), path="/packed").status_code == 201
    gzipped = {"Content-Encoding": "gzip", "Content-Type": "text/plain"}
    assert database.call("PUT", "/gzip/f", data=packed, headers=gzipped).status_code == 201
    assert database.call("GET", "/packed/f").content == database.call("GET", "/gzip/f").content == text
    before = used(database)
    packed = gzip.compress(bytes((10 << 20) + 1))
    sent = following(b"", encoding="gzip", encoded_length=len(packed))
    assert put_related(database, related(b"x", document(f=sent), part(packed)), path="/long").status_code == 413
    assert database.call("PUT", "/long/f", data=packed, headers=gzipped).status_code == 413
    assert used(database) == before


FILE = part(b"hi", "f")
HI = document(f=following(b"hi"))
PARTS = {
    "wrong boundary": ("y", related(b"x", HI, FILE)),
    "missing part": ("x", related(b"x", HI)),
    "extra part": ("x", related(b"x", HI, FILE, FILE)),
    "wrong length": ("x", related(b"x", HI, part(b"hi there"))),
    "wrong digest": ("x", related(b"x", document(f=following(b"hi", digest=md5(b"ho"))), FILE)),
    "no length": ("x", related(b"x", document(f={"follows": True}), FILE)),
    "not packed": ("x", related(b"x", document(f=following(b"hi", encoding="gzip", encoded_length=2)), FILE)),
    "no end": ("x", related(b"x", HI, FILE, end=False)),
    "no document": ("x", related(b"x", FILE)),
    "long fields": ("x", related(b"x", HI, part(b"hi", Content_Type="x" * 9_000))),
    "nothing": ("x", b""),
}


@pytest.mark.fault("H19")
@pytest.mark.parametrize("name", PARTS)
def test_malformed_parts_are_refused_whole(database, name):
    boundary, body = PARTS[name]
    answer = put_related(database, body, boundary)
    assert answer.status_code == 400, answer.text
    assert database.call("GET", "/a").status_code == 404
    assert used(database) == 0


@pytest.mark.fault("H19")
@pytest.mark.parametrize("kind, boundary", [("mixed", "x"), ("form-data", "x"), ("related", None), ("related", "x" * 71)])
def test_other_forms_of_several_parts_are_refused(untouched, kind, boundary):
    body = related(b"x", HI, FILE)
    assert put_related(untouched, body, boundary, kind=kind).status_code == 415
    headers = {"Content-Type": f"multipart/{kind}; boundary=x"}
    for path in ("", "/_bulk_docs"):
        assert untouched.call("POST", path, data=body, headers=headers).status_code == 415


def split(answer):
    """The parts of an answer: their fields and contents, without those of the boundaries."""
    kind = answer if isinstance(answer, str) else answer.headers["Content-Type"]
    return re.search(r'boundary="?([0-9a-f]+)', kind)[1].encode()


def parts_of(content, boundary):
    pieces = content.split(b"--" + boundary)
    assert pieces[-1].strip() == b"--"
    found = []
    for piece in pieces[1:-1]:
        head, _, body = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        found.append((head.decode(), body.removesuffix(b"\r\n")))
    return found


def test_document_is_read_in_parts(database):
    one, two = some(150_000), b"two"
    database.call("PUT", "/a", json={"_attachments": {"one": inline(one), "two": inline(two)}})
    answer = database.call("GET", "/a?attachments=true", headers={"Accept": "multipart/related, application/json"})
    assert answer.headers["Content-Type"].startswith("multipart/related")
    parts = parts_of(answer.content, split(answer))
    named = json.loads(parts[0][1])["_attachments"]
    assert named["one"]["follows"] and named["one"]["digest"] == md5(one) and "stub" not in named["one"]
    assert [content for _, content in parts[1:]] == [one, two]
    assert 'filename="one"' in parts[1][0] and "Content-Length: 150000" in parts[1][0]


def test_open_revisions_come_with_their_attachments(database):
    database.call("PUT", "/a", json={"_attachments": {"f": inline(b"hi")}})
    revision = database.call("GET", "/a").json()["_rev"]
    query = f'/a?open_revs=["{revision}","9-x"]&revs=true&latest=true'
    answer = database.call("GET", query, headers={"Accept": "multipart/mixed"})
    found = parts_of(answer.content, split(answer))
    (head, body), (missing, text) = found
    assert head.startswith("Content-Type: multipart/related")
    # As CouchDB's suite asks.
    either = database.call("GET", query, headers={"Accept": "multipart/related,*/*;"})
    assert either.headers["Content-Type"].startswith("multipart/mixed")
    assert [part[0].split(";")[0] for part in parts_of(either.content, split(either))] == [
        head.split(";")[0], missing.split(";")[0]]
    inner = parts_of(body, split(head))
    read = json.loads(inner[0][1])
    assert read["_revisions"]["start"] == 1 and read["_attachments"]["f"]["follows"]
    assert inner[1][1] == b"hi"
    assert 'error="true"' in missing and json.loads(text) == {"missing": "9-x"}
    since = database.call("GET", query + f'&atts_since=["{revision}"]', headers={"Accept": "multipart/mixed"})
    (head, body), _ = parts_of(since.content, split(since))
    assert head == "Content-Type: application/json" and json.loads(body)["_attachments"]["f"]["stub"]
    got = database.call("POST", "/_bulk_get?attachments=true", json={"docs": [{"id": "a", "rev": revision}]}).json()
    assert got["results"][0]["docs"][0]["ok"]["_attachments"]["f"]["data"] == "aGk="
    for path in ("/_all_docs", "/_changes"):
        rows = database.call("GET", path + "?include_docs=true&attachments=true").json()
        assert (rows.get("rows") or rows["results"])[0]["doc"]["_attachments"]["f"]["data"] == "aGk="


def test_bulk_get_has_attachments_for_each_element(database):
    database.graft("a", "1-a", _attachments={"f": {**inline(b"hi"), "revpos": 1}})
    database.graft("a", "2-b 1-a", _attachments={"f": {"stub": True}, "g": {**inline(b"ho"), "revpos": 2}})
    database.call("PUT", "/b", json={"n": 1})
    since = {"id": "a", "rev": "2-b", "atts_since": ["1-a"]}
    asked = {"docs": [{"id": "a", "rev": "2-b"}, since, {"id": "b"}, {"id": "a", "rev": "9-x"}, {**since, "atts_since": "1-a"}]}
    # A revision that can't be stored is none that the client has; no revisions say nothing.
    for known, wanted in (("0-a", {"f", "g"}), (None, set())):
        entry = {**since, "atts_since": [known] if known else []}
        found = database.call("POST", "/_bulk_get", json={"docs": [entry]}).json()["results"][0]["docs"][0]["ok"]
        assert {name for name, stub in found["_attachments"].items() if "data" in stub} == wanted
    for query, first in [("", set()), ("?attachments=true", {"f", "g"})]:
        results = database.call("POST", "/_bulk_get" + query, json=asked).json()["results"]
        named = [row["docs"][0].get("ok", {}).get("_attachments", {}) for row in results]
        assert {name for name in named[0] if "data" in named[0][name]} == first
        assert named[1]["f"]["stub"] and base64.b64decode(named[1]["g"]["data"]) == b"ho"
        assert [row["docs"][0]["error"]["error"] for row in results[3:]] == ["not_found", "bad_request"]
    for kind in ("mixed", "related"):
        answer = database.call("POST", "/_bulk_get", json=asked, headers={"Accept": f"multipart/{kind}"})
        assert answer.headers["Content-Type"].startswith(f"multipart/{kind};")
        parts = parts_of(answer.content, split(answer))
        contents = []
        for head, body in parts[:2]:
            assert "X-Doc-Id: a\r\nX-Rev-Id: 2-b" in head
            contents.append([content for _, content in parts_of(body, split(head))[1:]])
        assert contents == [[b"hi", b"ho"], [b"ho"]]
        assert parts[2][0] == "Content-Type: application/json" and json.loads(parts[2][1])["_id"] == "b"
        for head, body in parts[3:]:
            assert 'error="true"' in head and json.loads(body)["id"] == "a"
    both = database.call("POST", "/_bulk_get", json=asked, headers={"Accept": "multipart/mixed, application/json"})
    assert both.headers["Content-Type"] == "application/json"


def test_document_of_json_may_have_all_attachments_that_fit_into_the_database(account, shared):
    database = Database(shared, account.token)
    contents = {f"f{number}": some(9 << 20, number) for number in range(4)}
    revision = None
    for name, content in contents.items():
        query = f"?rev={revision}" if revision else ""
        revision = database.call("PUT", f"/a/{name}{query}", data=content).json()["rev"]
    asked = {"docs": [{"id": "a"}]}
    for document in (database.call("GET", "/a?attachments=true").json(),
                     database.call("POST", "/_bulk_get?attachments=true", json=asked).json()["results"][0]["docs"][0]["ok"]):
        found = {name: base64.b64decode(each["data"]) for name, each in document["_attachments"].items()}
        assert found == contents
    assert database.call("DELETE", f"/a?rev={revision}").status_code == 200


def test_long_attachments_come_whole_in_json_and_as_stubs_in_lists(account, shared):
    database = Database(shared, account.token)
    content = some(3 << 20)
    revision = database.call("PUT", "/a/f", data=content).json()["rev"]
    asked = {"docs": [{"id": "a", "rev": revision}]}
    documents = [
        database.call("GET", "/a?attachments=true").json(),
        database.call("GET", "/a?attachments=true&open_revs=all").json()[0]["ok"],
        database.call("POST", "/_bulk_get?attachments=true", json=asked).json()["results"][0]["docs"][0]["ok"]]
    for document in documents:
        assert base64.b64decode(document["_attachments"]["f"]["data"]) == content
    mixed = database.call("GET", "/a?open_revs=all", headers={"Accept": "multipart/mixed"})
    [(head, body)] = parts_of(mixed.content, split(mixed))
    assert parts_of(body, split(head))[1][1] == content
    assert mixed.content.endswith(b"--"), "CouchDB's replicator fails on a line end behind the last boundary"
    listed = database.call("GET", "/_all_docs?include_docs=true&attachments=true").json()["rows"][0]["doc"]
    assert listed["_attachments"]["f"]["stub"] and listed["_attachments"]["f"]["length"] == len(content)
