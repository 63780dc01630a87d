"""Many documents and revisions in one request: _bulk_docs, _bulk_get, _revs_diff, _missing_revs.

J07 to J15 in names are rows of the catalogue of faults."""
import json
import urllib.parse
import uuid

import pytest

from couch import Account, Database, failed

UNKNOWN = "1-" + "0" * 32


def limit(database, name):
    limits = database.server.call("GET", "/v1/limits").json()["limits"]
    return next(limit["value"] for limit in limits if limit["name"] == name)


@pytest.mark.fault("J11")
def test_document_that_can_not_be_stored_does_not_stop_the_others(database):
    written = database.bulk(
        {"_id": "a"}, {"_id": "b" * 513}, {"_id": "a"}, {"n": 1},
        {"_id": "e", "_rev": UNKNOWN}, {"_id": "f"})
    assert [item.get("error") for item in written] == [
        None, "forbidden", "conflict", None, "conflict", None]
    assert [item.get("id") for item in written[:3]] == ["a", "b" * 513, "a"]
    assert len(written[3]["id"]) == 32
    assert all(item["reason"] for item in written if "error" in item)
    assert all(item["ok"] and item["rev"] for item in written if "error" not in item)
    assert set(database.documents()) == {"a", written[3]["id"], "f"}


def test_bulk_updates_and_deletes_in_order(database):
    made = database.bulk({"_id": "a"}, {"_id": "b"}, {"_id": "c"})
    revs = {item["id"]: item["rev"] for item in made}
    changed = database.bulk(
        {"_id": "a", "_rev": revs["a"], "n": 2}, {"_id": "b", "_rev": revs["b"], "_deleted": True},
        {"_id": "c", "n": 3})
    assert [item.get("rev", "")[:2] for item in changed] == ["2-", "2-", ""]
    assert changed[2]["error"] == "conflict"
    assert set(database.documents()) == {"a", "c"}


def test_bulk_without_new_edits_answers_with_failures_only(database):
    written, = database.bulk(
        {"_id": "a", "_rev": "1-a"},
        {"_id": "c" * 513, "_rev": "1-c"},
        {"_id": "a", "_rev": "1-b"},
        new_edits=False)
    assert (written["id"], written["rev"], written["error"]) == ("c" * 513, "1-c", "forbidden")
    assert database.call("GET", "/a?conflicts=true").json()["_conflicts"] == ["1-a"]


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"{}", b'"docs"', b'{"docs":{}}', b'{"docs":null}', b'{"docs":"a"}',
    b'{"docs":1}',
    b'{"docs":[],"new_edits":1}', b'{"docs":[],"new_edits":"false"}', b'{"docs":[],"docs":[]}'])
def test_bulk_body_that_is_no_request_is_400(untouched, body):
    answer = untouched.call(
        "POST", "/_bulk_docs", data=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400 and answer.json()["reason"]


def test_bulk_is_bounded_in_documents(database):
    documents = [{"_id": "a"}] * 10_001
    assert failed(
        database.call("POST", "/_bulk_docs", json={"docs": documents})) == (413, "too_large")
    asked = {"docs": [{"id": "a"}] * 10_001}
    assert failed(database.call("POST", "/_bulk_get", json=asked)) == (413, "too_large")
    asked = {"a": ["1-a"] * 10_001}
    assert failed(database.call("POST", "/_revs_diff", json=asked)) == (413, "too_large")
    assert database.call("POST", "/_bulk_docs", json={"docs": []}).json() == []


@pytest.mark.fault("J08")
@pytest.mark.parametrize("revisions", [
    {"start": 2, "ids": []}, {"start": 2}, {"ids": ["b", "a"]}, {"start": "2", "ids": ["b", "a"]},
    {"start": 2, "ids": ["b", 1]}, {"start": 1, "ids": ["b", "a"]},
    {"start": 2.5, "ids": ["b", "a"]}, {"start": -1, "ids": ["b"]}, {"start": "x", "ids": ["b"]},
    {"start": 1e3, "ids": ["b"]}, {"start": -2**70, "ids": ["b"]}, [], "x", 1], ids=str)
def test_history_that_does_not_fit_is_refused(untouched, revisions):
    document = {"_id": "a", "_rev": "2-b", "_revisions": revisions}
    body = {"docs": [document], "new_edits": False}
    assert failed(untouched.call("POST", "/_bulk_docs", json=body)) == (400, "doc_validation")
    answer = untouched.call("PUT", "/a?new_edits=false", json={**document})
    assert answer.status_code == 400
    assert untouched.documents() == {}


ODD = [
    ("1-a/b", {"start": 1, "ids": ["a/b"]}), ("1-", {"start": 1, "ids": [""]}),
    ("01-a", {"start": 1, "ids": ["a"]}),
    ("1-" + "x" * 65, {"start": 1, "ids": ["x" * 65]}),
    ("1-" + "A" * 32, {"start": 1, "ids": ["A" * 32]}),
    (f"{2**53 + 1}-a", {"start": 2**53 + 1, "ids": ["a"]}),
    (f"{2**60}-a", {"start": 2**60, "ids": ["a"]}),
    (f"{2**70}-a", {"start": 2**70, "ids": ["a"]}),
    ("2-b", {"start": 2, "ids": ["b", "\u00e9"]})]


@pytest.mark.fault("J15")
@pytest.mark.parametrize("rev,revisions", ODD, ids=lambda given: str(given)[:20])
def test_revision_that_can_not_be_stored_does_not_stop_a_replication(database, rev, revisions):
    kept = database.rev("kept")
    asked = {"odd": [rev], "kept": [kept], "new": ["1-a"]}
    found = database.call("POST", "/_revs_diff", json=asked)
    assert found.status_code == 200, found.text
    assert found.json() == {"odd": {"missing": [rev]}, "new": {"missing": ["1-a"]}}
    old = database.call("POST", "/_missing_revs", json=asked).json()
    assert old == {"missing_revs": {"odd": [rev], "new": ["1-a"]}}
    refused = database.bulk(
        {"_id": "odd", "_rev": rev, "_revisions": revisions},
        {"_id": "new", "_rev": "1-a", "_revisions": {"start": 1, "ids": ["a"]}}, new_edits=False)
    assert [(item["id"], item["rev"], item["error"]) for item in refused] == [
        ("odd", rev, "forbidden")]
    assert set(database.documents()) == {"kept", "new"}


@pytest.mark.fault("J15")
@pytest.mark.parametrize("rev", ["1-a/b", "1-", "01-a", f"{2**70}-a", '1-"'])
def test_revision_that_can_not_be_stored_is_missing_when_it_is_read(database, rev):
    database.graft("a", "2-b 1-a")
    asked = {"docs": [{"id": "a", "rev": rev}, {"id": "a", "rev": "2-b"}]}
    odd, known = database.call("POST", "/_bulk_get", json=asked).json()["results"]
    assert odd == {"id": "a", "docs": [
        {"error": {"id": "a", "rev": rev, "error": "not_found", "reason": "missing"}}]}
    assert known["docs"][0]["ok"]["_rev"] == "2-b"
    wanted = urllib.parse.quote(json.dumps([rev, "2-b"]))
    for latest in ("", "&latest=true"):
        missing, found = database.call("GET", f"/a?open_revs={wanted}{latest}").json()
        assert missing == {"missing": rev} and found["ok"]["_rev"] == "2-b"
    parts = database.call(
        "GET", f"/a?open_revs={wanted}", headers={"Accept": "multipart/mixed"}).text
    assert json.dumps({"missing": rev}, separators=(",", ":")) in parts


@pytest.mark.fault("J08")
def test_history_is_trimmed_to_the_limit(database):
    ids = [f"{number:032x}" for number in range(10_000)]
    kept = database.call("GET", "/_revs_limit").json()
    body = {"_id": "a", "_rev": "10000-" + ids[0], "_revisions": {"start": 10_000, "ids": ids}}
    assert database.bulk(body, new_edits=False) == []
    read = database.call("GET", "/a?revs=true").json()["_revisions"]
    assert read == {"start": 10_000, "ids": ids[:kept]}
    rev = database.rev("a", _rev="10000-" + ids[0])
    read = database.call("GET", "/a?revs=true").json()["_revisions"]
    assert read["start"] == 10_001 and len(read["ids"]) == kept and rev.startswith("10001-")


@pytest.mark.fault("J09")
def test_replay_in_any_order_leads_to_the_same_tree(shared):
    leaves = ["3-c 2-b 1-a", "3-d 2-b 1-a", "2-e 1-a", "4-f 3-c 2-b 1-a", "4-g 3-g", "1-z"]
    trees = set()
    for order in (leaves, leaves[::-1], leaves[::2] + leaves[1::2], leaves * 2):
        database = Database(shared)
        for leaf in order:
            database.graft("a", leaf)
        row, = database.changes()["results"]
        found = database.call("GET", "/a?open_revs=all&revs=true").json()
        trees.add(json.dumps([row["changes"], sorted(found, key=lambda leaf: leaf["ok"]["_rev"])]))
    assert len(trees) == 1
    winner, *_ = json.loads(trees.pop())[0]
    assert winner == {"rev": "4-g"}


@pytest.mark.fault("J09")
def test_histories_that_are_cut_off_make_one_tree_in_any_order(shared):
    """As in CouchDB, a longer history of a known revision joins the branches."""
    cut = ["5-e", "3-c 2-b", "3-d", "1-a", "2-b 1-a", "5-e 4-c 3-c", "3-d 2-b", "3-c 2-b 1-a"]
    trees = set()
    for order in (cut, cut[::-1], cut[::2] + cut[1::2], cut[1::2] + cut[::2], sorted(cut)):
        database = Database(shared)
        for leaf in order:
            database.graft("a", leaf)
        found = database.call("GET", "/a?open_revs=all&revs=true").json()
        trees.add(json.dumps(sorted(leaf["ok"]["_revisions"]["ids"] for leaf in found)))
    assert [json.loads(tree) for tree in trees] == [
        [["d", "b", "a"], ["e", "c", "c", "b", "a"]]], trees


@pytest.mark.fault("J09")
def test_longer_history_of_a_known_revision_is_one_change(database):
    database.graft("a", "3-c 2-b")
    before = database.changes()["results"]
    database.graft("a", "3-c 2-b 1-a")
    (row,), (last,) = before, database.changes()["results"]
    assert last["changes"] == row["changes"] and last["seq"] != row["seq"]
    for known in ("3-c 2-b 1-a", "2-b 1-a", "3-c", "1-a"):
        database.graft("a", known)
    assert database.changes()["results"] == [last]
    assert database.call("GET", "/a?revs=true").json()["_revisions"]["ids"] == ["c", "b", "a"]
    assert "_conflicts" not in database.call("GET", "/a?conflicts=true").json()


@pytest.mark.fault("J09")
def test_same_revision_with_another_body_is_refused(database):
    database.graft("a", "1-a", n=1)
    answer = database.call("PUT", "/a?new_edits=false", json={"_rev": "1-a", "n": 2})
    assert failed(answer) == (409, "rev_collision")
    written, = database.bulk({"_id": "a", "_rev": "1-a", "n": 2}, new_edits=False)
    assert written["error"] in ("rev_collision", "forbidden")
    assert database.call("GET", "/a").json()["n"] == 1


@pytest.mark.fault("J09")
@pytest.mark.parametrize("number", ["1000", "1000.0", "1e3", "10E2"])
def test_same_revision_with_a_number_in_another_spelling_is_known(database, number):
    headers = {"Content-Type": "application/json"}
    def push(text):
        body = '{"new_edits":false,"docs":[{"_id":"a","_rev":"1-a","n":%s,"deep":[{"m":%s}]}]}' % (text, text)
        return database.call("POST", "/_bulk_docs", data=body, headers=headers)
    assert push("1e3").json() == []
    before = database.changes()["last_seq"]
    assert push(number).json() == []
    body = '{"_rev":"1-a","n":%s,"deep":[{"m":%s}]}' % (number, number)
    put = database.call("PUT", "/a?new_edits=false", data=body, headers=headers)
    assert put.status_code == 201, put.text
    assert database.changes()["last_seq"] == before
    assert '"n":1e3,"deep":[{"m":1e3}]' in database.call("GET", "/a").text
    refused, = push("1001").json()
    assert refused["error"] == "forbidden"


@pytest.mark.fault("J10")
def test_leaves_of_one_document_are_bounded(shared):
    database = Database(shared, Account(shared).token)
    most = limit(database, "leaves")
    names = sorted(uuid.uuid4().hex for _ in range(most + 10))
    documents = [{"_id": "a", "_rev": "1-" + name} for name in names]
    refused = database.bulk(*documents, new_edits=False)
    assert len(refused) == 10
    assert {item["error"] for item in refused} <= {"too_many_leaves", "forbidden"}
    row, = database.changes()["results"]
    assert len(row["changes"]) == most
    answer = database.call("PUT", "/a?new_edits=false", json={"_rev": "1-more"})
    assert failed(answer) == (409, "too_many_leaves")
    winner = row["changes"][0]["rev"]
    assert winner == "1-" + names[most - 1]
    assert database.put("a", _rev=winner, n=1).status_code == 201, "an edit adds no leaf"
    for change in row["changes"][1:]:
        assert database.call("DELETE", f"/a?rev={change['rev']}").status_code == 200
    assert database.call("PUT", "/a?new_edits=false", json={"_rev": "1-more"}).status_code == 201


def test_bulk_get_answers_one_entry_a_request_in_order(database):
    database.graft("a", "2-b 1-a", "2-c 1-a")
    rev = database.rev("b", n=1)
    asked = [
        {"id": "b", "rev": rev}, {"id": "a", "rev": "2-b"}, {"id": "a", "rev": "1-a"},
        {"id": "none"},
        {"id": "none", "rev": "1-a"}, {"id": "b", "rev": "x"}, {"rev": "1-a"},
        {"id": "b", "rev": rev}]
    answer = database.call("POST", "/_bulk_get?revs=true", json={"docs": asked})
    assert set(answer.json()) == {"results"}
    results = answer.json()["results"]
    assert [entry["id"] for entry in results[:6]] == ["b", "a", "a", "none", "none", "b"]
    assert all(len(entry["docs"]) == 1 and len(entry["docs"][0]) == 1 for entry in results)
    assert [next(iter(entry["docs"][0])) for entry in results] == [
        "ok", "ok", "error", "error", "error", "error", "error", "ok"]
    assert results[1]["docs"][0]["ok"]["_revisions"] == {"start": 2, "ids": ["b", "a"]}
    missing = results[2]["docs"][0]["error"]
    assert missing == {"id": "a", "rev": "1-a", "error": "not_found", "reason": "missing"}
    assert results[5]["docs"][0]["error"]["error"] == "bad_request"


def test_bulk_get_without_a_revision_gives_every_leaf_and_latest_follows(database):
    database.graft("a", "3-c 2-b 1-a", "2-d 1-a")
    database.call("DELETE", "/a?rev=2-d")
    docs = database.call(
        "POST", "/_bulk_get", json={"docs": [{"id": "a"}]}).json()["results"][0]["docs"]
    leaves = {doc["ok"]["_rev"]: doc["ok"].get("_deleted", False) for doc in docs}
    assert len(leaves) == 2 and leaves["3-c"] is False and True in leaves.values()
    for query, body in (("?latest=true", {}), ("", {"latest": True})):
        asked = {"docs": [{"id": "a", "rev": "2-b"}], **body}
        docs = database.call("POST", "/_bulk_get" + query, json=asked).json()["results"][0]["docs"]
        assert [doc["ok"]["_rev"] for doc in docs] == ["3-c"]


@pytest.mark.parametrize("path,body", [
    ("/_bulk_get", {}), ("/_bulk_get", {"docs": {}}), ("/_bulk_get", []),
    ("/_revs_diff", []), ("/_revs_diff", {"a": "1-a"}), ("/_revs_diff", {"a": [1]}),
    ("/_revs_diff", {"a": ["x"]}),
    ("/_revs_diff", {"a": {}}), ("/_revs_diff", {"a": None}), ("/_missing_revs", {"a": ["x"]}),
    ("/_missing_revs", "x")], ids=str)
def test_malformed_questions_are_400(untouched, path, body):
    answer = untouched.call("POST", path, json=body)
    assert answer.status_code == 400 and answer.json()["reason"], answer.text


def test_revs_diff_leaves_out_what_is_complete(database):
    database.graft("a", "3-c 2-b 1-a")
    rev = database.rev("b")
    gone = database.call("DELETE", f"/b?rev={rev}").json()["rev"]
    asked = {"a": ["3-c", "2-b", "1-a"], "b": [rev, gone], "c": ["1-x", "2-y"], "_bad": ["1-a"]}
    assert database.call("POST", "/_revs_diff", json={k: asked[k] for k in "ab"}).json() == {}
    answer = database.call("POST", "/_revs_diff", json={**asked, "a": ["4-d", "2-x", "3-c"]}).json()
    assert answer == {
        "a": {"missing": ["4-d", "2-x"], "possible_ancestors": ["3-c"]},
        "c": {"missing": ["1-x", "2-y"]},
        "_bad": {"missing": ["1-a"]}}
    old = database.call("POST", "/_missing_revs", json={"a": ["4-d", "3-c"], "b": [rev]}).json()
    assert old == {"missing_revs": {"a": ["4-d"]}}
    for path in ("/_revs_diff", "/_missing_revs"):
        assert database.call("POST", path, json={}).status_code == 200
