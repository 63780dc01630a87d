"""Requests for single documents: GET, HEAD, PUT, POST, DELETE and COPY with their parameters.

The expected responses are those of CouchDB 3.5: "API reference: documents"."""
import re

import pytest

from couch import failed

MISSING = {"error": "not_found", "reason": "missing"}
DELETED = {"error": "not_found", "reason": "deleted"}
CONFLICT = {"error": "conflict", "reason": "Document update conflict."}
UNKNOWN = "1-" + "0" * 32


def test_document_goes_through_its_revisions(database):
    first = database.put("a/b é", n=1.0)
    assert first.status_code == 201 and first.headers["ETag"] == f'"{first.json()["rev"]}"'
    assert first.headers["Location"].endswith("/a%2Fb%20%C3%A9")
    read = database.call("GET", "/a%2Fb%20%C3%A9")
    assert read.content.endswith(b'"n":1.0}\n') and read.json()["_id"] == "a/b é"
    assert read.headers["Cache-Control"] == "private, must-revalidate"
    stale = database.put("a/b é", n=2)
    assert (stale.status_code, stale.json()) == (409, CONFLICT)
    second = database.call(
        "PUT", "/a%2Fb%20%C3%A9", json={"n": 2}, headers={"If-Match": read.headers["ETag"]})
    assert second.json()["rev"].startswith("2-")
    old = database.call("GET", f"/a%2Fb%20%C3%A9?rev={first.json()['rev']}")
    assert old.json()["n"] == 1
    gone = database.call("DELETE", f"/a%2Fb%20%C3%A9?rev={second.json()['rev']}")
    assert gone.status_code == 200 and gone.json()["rev"].startswith("3-")
    assert database.call("GET", "/a%2Fb%20%C3%A9").json() == DELETED
    again = database.put("a/b é", n=3)
    assert again.status_code == 201 and again.json()["rev"].startswith("4-")


@pytest.mark.parametrize("place", ["body", "query", "If-Match", "If-Match without quotes"])
def test_revision_may_stand_in_any_of_three_places(database, place):
    rev = database.rev("a", n=1)
    body = {"n": 2, "_rev": rev} if place == "body" else {"n": 2}
    query = f"?rev={rev}" if place == "query" else ""
    header = {"If-Match": f'"{rev}"', "If-Match without quotes": rev}.get(place)
    headers = {"If-Match": header} if header else {}
    assert database.call("PUT", "/a" + query, json=body, headers=headers).status_code == 201
    assert database.call("PUT", "/a" + query, json=body, headers=headers).status_code == 409
    assert database.call("GET", "/a").json()["n"] == 2


def test_revisions_that_contradict_each_other_are_400(database):
    rev = database.rev("a")
    for path, body, headers in (
            (f"/a?rev={rev}", {"_rev": UNKNOWN}, {}), (f"/a?rev={UNKNOWN}", {"_rev": rev}, {}),
            ("/a", {"_rev": rev}, {"If-Match": f'"{UNKNOWN}"'}),
            (f"/a?rev={rev}", {}, {"If-Match": f'"{UNKNOWN}"'})):
        answer = database.call("PUT", path, json=body, headers=headers)
        assert failed(answer) == (400, "bad_request"), (path, body, headers)
    same = database.call(
        "PUT", f"/a?rev={rev}", json={"_rev": rev}, headers={"If-Match": f'"{rev}"'})
    assert same.status_code == 201


@pytest.mark.fault("H17")
@pytest.mark.parametrize("header", [
    "*", 'W/"1-a"', '"1-a", "1-b"', "", '""', '"', "none", '"1"', "1-", "-1-a", '"1-a', "0-a"])
def test_if_match_that_is_no_revision_is_400(database, header):
    database.rev("a")
    for method, options in (("PUT", {"json": {}}), ("DELETE", {})):
        answer = database.call(method, "/a", headers={"If-Match": header}, **options)
        assert failed(answer) == (400, "bad_request"), method
    assert database.call("GET", "/a").json()["_rev"].startswith("1-")


@pytest.mark.parametrize("form,status", [
    ('"{}"', 304), ('W/"{}"', 304), ('"1-x", "{}"', 304), ("*", 304), ('"1-x"', 200),
    ('W/"1-x"', 200)])
def test_if_none_match_spares_the_body(database, form, status):
    rev = database.rev("a")
    headers = {"If-None-Match": form.format(rev)}
    answer = database.call("GET", "/a", headers=headers)
    assert (answer.status_code, answer.headers["ETag"]) == (status, f'"{rev}"')
    assert database.raw("HEAD", "/a", headers=headers).status_code == status
    assert bool(answer.content) == (status == 200)


def test_etag_changes_with_the_document_and_is_absent_with_extras(database):
    rev = database.rev("a")
    tag = database.call("GET", "/a").headers["ETag"]
    database.call("PUT", f"/a?rev={rev}", json={"n": 2})
    changed = database.call("GET", "/a", headers={"If-None-Match": tag})
    assert changed.status_code == 200 and changed.headers["ETag"] != tag
    old = database.call("GET", f"/a?rev={rev}", headers={"If-None-Match": tag})
    assert old.status_code == 304
    for query in ("conflicts=true", "revs_info=true", "meta=true", "deleted_conflicts=true",
                  "open_revs=all"):
        assert "ETag" not in database.call("GET", "/a?" + query).headers, query


def test_head_is_get_without_a_body(database):
    database.rev("a", text="x" * 100)
    database.call("PUT", "/_design/d", json={})
    database.call("PUT", "/_local/l", json={"n": 1})
    for path in ("", "/", "/a", "/a?revs=true", "/_design/d", "/_design%2Fd", "/_local/l", "/_all_docs",
                 "/_changes", "/_security", "/_revs_limit", "/none", "/_local/none", "/none/att"):
        full, bare = database.raw("GET", path), database.raw("HEAD", path)
        assert bare.status_code == full.status_code and bare.content == b"", path
        for name in ("Content-Type", "ETag", "Cache-Control", "Content-Length"):
            assert bare.headers.get(name) == full.headers.get(name), (path, name)
    rev = database.call("GET", "/a").json()["_rev"]
    database.call("DELETE", f"/a?rev={rev}")
    assert database.raw("HEAD", "/a").status_code == 404
    assert database.raw("HEAD", f"/a?rev={rev}").status_code == 200


def test_tombstone_keeps_what_it_says(database):
    rev = database.rev("a", n=1)
    gone = database.put("a", _rev=rev, _deleted=True, why="old")
    assert gone.status_code in (200, 201)  # CouchDB answers 200.
    tombstone = gone.json()["rev"]
    assert database.call("GET", "/a").json() == DELETED
    read = database.call("GET", f"/a?rev={tombstone}").json()
    assert read == {"_id": "a", "_rev": tombstone, "_deleted": True, "why": "old"}
    assert database.call("DELETE", f"/a?rev={tombstone}").json() == DELETED
    stale = database.put("a", _rev=rev)
    assert (stale.status_code, stale.json()) == (409, CONFLICT)
    assert failed(database.put("a", _rev=tombstone, n=2)) == (409, "conflict")
    again = database.put("a", n=2)
    assert again.status_code == 201 and again.json()["rev"].startswith("3-")


def test_delete_needs_the_last_revision(database):
    first = database.rev("a")
    second = database.rev("a", _rev=first)
    for query, status in ((
        "", 409), (f"?rev={first}", 409), (f"?rev={UNKNOWN}", 409), ("?rev=x", 400),
                          (f"?rev={second}", 200), (f"?rev={second}", 404)):
        assert database.call("DELETE", "/a" + query).status_code == status, query
    assert database.call("DELETE", "/never").json() == MISSING
    third = database.rev("b")
    gone = database.call("DELETE", "/b", headers={"If-Match": f'"{third}"'})
    assert gone.status_code == 200 and gone.headers["ETag"] == f'"{gone.json()["rev"]}"'


def test_read_with_everything_that_can_be_asked(database):
    database.graft("a", "3-c 2-b 1-a", "2-d 1-a")
    database.call("DELETE", "/a?rev=2-d")
    database.graft("a", "2-e 1-a")
    read = database.call("GET", "/a?revs=true&conflicts=true&local_seq=true").json()
    assert (read["_rev"], read["leaf"]) == ("3-c", "3-c")
    assert read["_revisions"] == {"start": 3, "ids": ["c", "b", "a"]}
    assert read["_conflicts"] == ["2-e"] and read["_local_seq"]
    everything = database.call("GET", "/a?meta=true").json()
    assert [entry["rev"] for entry in everything["_revs_info"]] == ["3-c", "2-b", "1-a"]
    assert everything["_revs_info"][0]["status"] == "available"
    assert {entry["status"] for entry in everything["_revs_info"][1:]} == {"missing"}
    assert everything["_conflicts"] == ["2-e"]
    assert [rev[:2] for rev in everything["_deleted_conflicts"]] == ["3-"]
    for query in ("conflicts=false&revs=false", "revs=1&meta=yes&latest="):
        plain = database.call("GET", "/a?" + query).json()
        assert set(plain) == {"_id", "_rev", "leaf"}
    loser = database.call("GET", "/a?rev=2-e&revs=true").json()
    assert loser["_revisions"] == {"start": 2, "ids": ["e", "a"]}


def test_revisions_that_are_known_but_not_kept_are_missing(database):
    database.graft("a", "3-c 2-b 1-a")
    for rev in ("2-b", "1-a", "1-x", UNKNOWN):
        assert database.call("GET", f"/a?rev={rev}").json() == MISSING, rev
    latest = database.call("GET", "/a?rev=1-a&latest=true").json()
    assert latest["_rev"] == "3-c"
    assert database.call("GET", "/a?rev=1-x&latest=true").json() == MISSING


@pytest.mark.parametrize("query", [
    "rev=x", "rev=", "rev=1", "rev=0-a", "rev=-1-a", "rev=1.5-a", "rev=99999999999999999999-a",
    "rev=1-a%20b", "open_revs=x", "open_revs=1", "open_revs=%7B%7D", "open_revs=%5B1%5D",
    "open_revs=%5B%22x%22%5D", "open_revs=%5B%221-a%22", "rev=%00", "rev=%ff", "rev=%zz"])
def test_malformed_parameters_of_a_read_are_400(database, query):
    database.rev("a")
    answer = database.raw("GET", "/a?" + query)
    assert answer.status_code == 400 and answer.json()["reason"]


@pytest.mark.fault("H16")
@pytest.mark.parametrize(
    "query", ["rev=x&rev={rev}", "revs=x&revs=false", "open_revs=x&open_revs=all"])
def test_last_of_a_parameter_given_twice_counts(database, query):
    rev = database.rev("a")
    assert database.call("GET", "/a?" + query.format(rev=rev)).status_code == 200


def test_open_revisions_come_as_json_and_as_parts(database):
    database.graft("x", "1-a", "1-b")
    found = database.call("GET", "/x?open_revs=all&revs=true").json()
    assert [leaf["ok"]["leaf"] for leaf in found] == ["1-a", "1-b"]
    assert found[1]["ok"]["_revisions"] == {"start": 1, "ids": ["b"]}
    chosen = database.call("GET", '/x?open_revs=["1-a","9-x"]').json()
    assert chosen[0]["ok"]["_rev"] == "1-a" and chosen[1] == {"missing": "9-x"}
    assert database.call("GET", "/x?open_revs=[]").json() == database.call("GET", "/x").json()
    assert database.call("GET", "/never?open_revs=all").json() == MISSING
    assert database.call("GET", '/never?open_revs=["1-a"]').json() == [{"missing": "1-a"}]
    parts = database.call(
        "GET", '/x?open_revs=["1-a","9-x"]', headers={"Accept": "multipart/mixed"})
    boundary = re.search('boundary="?([^";]+)"?', parts.headers["Content-Type"]).group(1)
    first, second = parts.text.split("--" + boundary)[1:-1]
    assert parts.text.rstrip().endswith(f"--{boundary}--")
    assert "application/json" in first and '"1-a"' in first
    assert 'error="true"' in second and '{"missing":"9-x"}' in second


def test_open_revisions_with_latest_name_each_leaf_once(database):
    database.graft("x", "3-c 2-b 1-a", "2-d 1-a")
    found = database.call("GET", '/x?open_revs=["1-a","2-d","2-b"]&latest=true').json()
    assert sorted(leaf["ok"]["_rev"] for leaf in found) == ["2-d", "3-c"]


def test_post_gives_an_id_where_there_is_none(database):
    ids = []
    for _ in range(2):
        answer = database.call("POST", json={"n": 1})
        assert answer.status_code == 201 and re.fullmatch("[0-9a-f]{32}", answer.json()["id"])
        ids.append(answer.json()["id"])
    assert len(set(ids)) == 2 and ids[0][:16] <= ids[1][:16]
    named = database.call("POST", json={"_id": "a", "n": 1}).json()
    assert named["id"] == "a"
    assert database.call("POST", json={"_id": "a", "n": 2}).json() == CONFLICT
    changed = database.call("POST", json={"_id": "a", "_rev": named["rev"], "n": 2})
    assert changed.json()["rev"].startswith("2-")


@pytest.mark.parametrize("method,path", [("PUT", "/a?batch=ok"), ("POST", "?batch=ok")])
def test_batched_write_is_stored(database, method, path):
    answer = database.call(method, path, json={"n": 1})
    assert answer.status_code == 202 and answer.json()["ok"] is True
    assert database.call("GET", "/" + answer.json()["id"]).json()["n"] == 1


def test_put_of_a_revision_made_elsewhere(database):
    body = {"_rev": "2-b", "_revisions": {"start": 2, "ids": ["b", "a"]}, "n": 1}
    for _ in range(2):
        answer = database.call("PUT", "/a?new_edits=false", json=body)
        assert answer.status_code == 201 and answer.json()["rev"] == "2-b"
    other = database.call("PUT", "/a?new_edits=false&rev=2-c", json={"n": 2})
    assert other.json()["rev"] == "2-c"
    assert database.call("GET", "/a?conflicts=true").json()["_conflicts"] == ["2-b"]
    assert failed(database.call("PUT", "/a?new_edits=false", json={"n": 3})) == (400, "bad_request")
    assert failed(database.call("PUT", "/a?new_edits=maybe", json={"n": 3})) == (409, "conflict")


def test_copy_makes_another_document(database):
    rev = database.rev("source", n=1)
    copied = database.copy("/source", "a%20target")
    assert copied.status_code == 201 and copied.json()["id"] == "a target"
    target = copied.json()["rev"]
    assert database.call("GET", "/a%20target").json() == {"_id": "a target", "_rev": target, "n": 1}
    for destination in ("a%20target", "a+target"):
        conflict = database.copy("/source", destination)
        assert (conflict.status_code, conflict.json()) == (409, CONFLICT)
    changed = database.rev("source", _rev=rev, n=2)
    assert database.copy("/source", f"a%20target?rev={target}").json()["rev"].startswith("2-")
    assert database.copy(f"/source?rev={rev}", "old").status_code == 201
    assert database.call("GET", "/old").json()["n"] == 1
    assert database.copy("/source", "by-tag", **{"If-Match": f'"{rev}"'}).status_code == 201
    assert database.call("GET", "/by-tag").json()["n"] == 1
    assert database.copy("/source", "_design/d").status_code == 201
    database.call("DELETE", f"/source?rev={changed}")
    assert database.copy("/source", "none").json() == DELETED
    assert database.copy("/never", "none").json() == MISSING


@pytest.mark.parametrize("destination", [
    "", "http://127.0.0.1/couch/x/y", "https://elsewhere.example/x", "_reserved", "a?rev=x", "%ff",
    "%zz", "x" * 513])
def test_copy_to_no_document_is_400(database, destination):
    database.rev("a")
    answer = database.copy("/a", destination)
    assert answer.status_code == 400 and answer.json()["error"], answer.text


def test_copy_without_a_destination_or_of_an_unknown_revision(database):
    database.rev("a")
    assert database.raw("COPY", "/a").status_code == 400
    assert database.copy(f"/a?rev={UNKNOWN}", "b").json() == MISSING
    assert database.copy("/a", "b", **{"If-Match": f'"{UNKNOWN}"'}).json() == MISSING
    assert database.call("GET", "/b").status_code == 404


def test_design_documents_are_documents(database):
    for path in ("/_design/app", "/_design%2Fapp2"):
        made = database.call(
            "PUT", path, json={"language": "javascript", "views": {"v": {"map": "x"}}})
        assert made.status_code == 201
    read = database.call("GET", "/_design%2Fapp")
    assert read.json()["_id"] == "_design/app" and read.json()["views"]["v"]["map"] == "x"
    assert set(database.documents()) == {"_design/app", "_design/app2"}
    rev = read.json()["_rev"]
    assert database.call("PUT", "/_design/app", json={}).json() == CONFLICT
    assert database.call("DELETE", f"/_design/app?rev={rev}").status_code == 200
    assert database.call("GET", "/_design/app").json() == DELETED
    changed = database.changes("&filter=_design")["results"]
    assert [row["id"] for row in changed] == ["_design/app2", "_design/app"]
