"""The behaviour that ordinary clients of CouchDB expect of design documents, indexes and the administrator's databases:
the same responses as CouchDB 3.5, where it has only one."""
import json
import urllib.parse

import couchdb
from pycouchdb import client as pycouchdb

from couch import Administrator, Database, failed
from waiting import wait_until
from dialect import DEEP, post


# Design documents.

def test_functions_that_are_there_are_not_run_and_others_are_missing(database):
    functions = {"f": "function () {}"}
    database.rev(
        "_design/d", views={"f": {"map": "function (doc) {}"}}, filters=functions, shows=functions,
        lists=functions, updates=functions)
    for method, path in [
            ("POST", "/_design/{d}/_view/{f}/queries"), ("GET", "/_changes?filter={d}/{f}"),
            ("GET", "/_changes?filter=_view&view={d}/{f}")] + [
                (method, "/_design/{d}/" + path) for methods, paths in (
                    ("GET POST", "_view/{f} _show/{f} _show/{f}/a/b _list/{f}/f _list/{f}/d/f"),
                    ("POST PUT", "_update/{f} _update/{f}/a/b"))
                for method in methods.split() for path in paths.split()]:
        ask = lambda d, f: database.raw(
            method, path.replace("{d}", d).replace("{f}", f), json=None if method == "GET" else {})
        assert failed(ask("d", "f")) == (501, "not_implemented"), path
        assert failed(ask("d", "none")) == (404, "not_found"), path
        assert failed(ask("none", "f")) == (404, "not_found"), path
    for path in ("/_design/d/_show/f/a", "/_design/d/_show/f/a/b"):
        answer = database.raw("PUT", path, json={})
        assert failed(answer) == (405, "method_not_allowed") and answer.headers["Allow"] == "GET, HEAD, OPTIONS, POST", path
    for query, words in (
            ("filter=x", "`filter` must be of the form `designname/filtername`"),
            ("filter=_view", "`view` filter parameter is not provided."),
            ("filter=_none", "unknown builtin filter name")):
        answer = database.call("GET", "/_changes?" + query)
        assert answer.status_code == 400 and answer.json()["reason"] == words


def test_rules_that_nothing_runs_are_refused_here_and_told_of_from_a_peer(database):
    rules = {"validate_doc_update": "function () { throw({forbidden: 'no'}) }"}
    assert failed(database.put("_design/r", **rules)) == (403, "forbidden")
    assert failed(
        database.call("POST", "", json={"_id": "_design/r", **rules})) == (403, "forbidden")
    row, = database.bulk({"_id": "_design/r", **rules})
    assert row["error"] == "forbidden" and "validate_doc_update" in row["reason"]
    database.rev("plain", **rules)
    assert failed(database.copy("/plain", "_design/r")) == (403, "forbidden")
    assert "warnings" not in database.call("GET").json()
    assert database.bulk({"_id": "_design/r", "_rev": "1-a", **rules}, new_edits=False) == []
    again = database.call("PUT", "/_design/s?new_edits=false", json={"_rev": "1-a", **rules})
    assert again.status_code == 201
    warnings = database.call("GET").json()["warnings"]
    assert [warning.split(":")[0] for warning in warnings] == ["_design/r", "_design/s"]
    wait_until(lambda: sum("validate_doc_update" in line for line in database.server.log) >= 2)
    assert database.call("DELETE", "/_design/r?rev=1-a").status_code == 200
    assert len(database.call("GET").json()["warnings"]) == 1


def test_fresh_database_lists_one_index(database):
    assert [index["name"] for index in database.call("GET", "/_index").json()["indexes"]] == [
        "_all_docs"]


def test_indexes_of_equal_fields_and_different_names_have_their_own_documents(database):
    made = [database.call("POST", "/_index", json={
        "index": {"fields": ["a"]}, "name": name}).json() for name in ("one", "two", "one")]
    assert [answer["result"] for answer in made] == ["created", "created", "exists"]
    assert made[0]["id"] != made[1]["id"] == made[1]["id"] and made[0]["id"] == made[2]["id"]
    listed = database.call("GET", "/_index").json()["indexes"]
    assert sorted(index["name"] for index in listed) == ["_all_docs", "one", "two"]


# The administrator's databases.

def test_administrators_database_takes_what_couchdb_takes(administrator):
    database = administrator.create()
    text = "y" * 7_900_000
    assert database.put("long", text=text).status_code == 201
    assert database.call("GET", "/long").json()["text"] == text
    members = {f"m{number}": number for number in range(20_000)}
    assert database.bulk({"_id": "wide", **members})[0]["ok"] is True
    found = database.call("POST", "/_find", json={"selector": {"m19999": 19_999}})
    assert [doc["_id"] for doc in found.json()["docs"]] == ["wide"]
    rev = database.call("GET", "/wide").json()["_rev"]
    assert database.copy("/wide", "copy").status_code == 201
    assert database.call("DELETE", f"/wide?rev={rev}").status_code == 200
    refused = post(database, "/_bulk_docs", '{"docs":[{"_id":"deep","x":%s}]}' % DEEP)
    assert [row["error"] for row in refused.json()] == ["forbidden"]
    assert failed(database.put("longer", text=text + "y" * 200_000)) == (413, "document_too_large")
    limits = administrator.server.call("GET", "/v1/limits").json()["limits"]
    told = {limit["name"]: limit["value"] for limit in limits}
    assert told["databaseDocumentBytes"] == 8_000_000 and "databaseDocuments" not in told


def test_operator_bounds_the_administrators_databases(tmp_path):
    administrator = Administrator(
        tmp_path, "--database-documents", "2", "--database-bytes", "5000",
        "--database-document-bytes", "1048576")
    try:
        database = administrator.create()
        rows = database.bulk({"_id": "a"}, {"_id": "b"}, {"_id": "c"})
        assert [row.get("error") for row in rows] == [None, None, "quota_exceeded"]
        peers = {"docs": [{"_id": "c", "_rev": "1-c"}], "new_edits": False}
        answer = database.call("POST", "/_bulk_docs", json=peers)
        assert failed(answer) == (507, "quota_exceeded")
        grown = database.put("a", _rev=rows[0]["rev"], text="x" * 6000)
        assert failed(grown) == (507, "quota_exceeded")
        limits = administrator.server.call("GET", "/v1/limits").json()["limits"]
        told = {limit["name"]: limit["value"] for limit in limits}
        assert (told["databaseDocuments"], told["databaseBytes"]) == (2, 5000)
        own = Database(administrator.server)
        assert len(own.bulk(*({"_id": name} for name in "abcd"))) == 4
    finally:
        assert administrator.server.stop() == 0


def test_compaction_drops_former_revisions_of_a_database_and_keeps_a_persons(administrator):
    own = Database(administrator.server)
    for database, status, word in ((administrator.create(), 404, "missing"), (own, 200, "available")):
        first = database.rev("a", n=1)
        second = database.rev("a", _rev=first, n=2)
        database.graft("torn", "2-b 1-a", "1-z")
        changes = database.changes()
        assert database.call("POST", "/_compact", json={}).status_code == 202
        assert database.call("GET", f"/a?rev={first}").status_code == status
        info = database.call("GET", "/a?revs_info=true").json()["_revs_info"]
        assert info == [
            {"rev": second, "status": "available"}, {"rev": first, "status": word}]
        assert database.call("GET", "/torn?rev=1-z").status_code == 200
        assert database.changes() == changes
        assert failed(database.call("POST", "/_compact/none", json={})) == (404, "not_found")
        # Users may write design documents in their own stores. A function in one is stored and not run.
        database.rev("_design/d", views={})
        assert database.call("POST", "/_compact/d", json={}).status_code == 202


def test_revisions_limit_is_the_databases_own(administrator):
    database = administrator.create()
    put = lambda limit: database.call(
        "PUT", "/_revs_limit", data=json.dumps(limit), headers={"Content-Type": "application/json"})
    assert database.call("GET", "/_revs_limit").json() == 1000
    assert put(3).json() == {"ok": True}
    assert database.call("GET", "/_revs_limit").json() == 3
    rev = None
    for number in range(5):
        rev = database.rev("a", n=number, **({"_rev": rev} if rev else {}))
    assert len(database.call("GET", "/a?revs=true").json()["_revisions"]["ids"]) == 3
    for limit in (0, -1, "3", 1001, None):
        assert failed(put(limit)) == (400, "bad_request")
    own = Database(administrator.server)
    assert own.call("PUT", "/_revs_limit", json=5).status_code == 403


def test_databases_are_asked_for_by_keys(administrator):
    names = [administrator.create().name for _ in range(2)]
    keys = urllib.parse.quote(json.dumps([names[1], "absent", names[0]]))
    rows = administrator.call("GET", "/_dbs_info?keys=" + keys).json()
    assert [row["key"] for row in rows] == [names[1], "absent", names[0]]
    assert rows[1] == {"key": "absent", "error": "not_found"}
    assert rows[0]["info"]["db_name"] == names[1]
    assert administrator.call("GET", "/_all_dbs?keys=" + keys).json() == names[::-1]


# Client libraries of others.

def test_couchdb_python_deletes_what_it_has_not_read(administrator):
    """The client takes the revision from the ETag of HEAD."""
    database = administrator.create()
    server = couchdb.Server(administrator.url("/couch/"))
    found = server[database.name]
    found["_local/x"] = {"n": 1}
    assert found["_local/x"]["n"] == 1
    del found["_local/x"]
    found["a"] = {"n": 1}
    del found["a"]
    assert list(found) == []
    assert server.uuids(2) and server.version()


def test_pycouchdb_saves_what_it_reads(administrator):
    database = administrator.create()
    server = pycouchdb.Server(administrator.url("/couch/"))
    found = server.database(database.name)
    saved = found.save({"_id": "a", "n": 1})
    assert found.save({**saved, "n": 2}, batch=True)["_id"] == "a"
    assert found.get("a")["n"] == 2
    found.save({"_id": "_design/d", "language": "javascript", "views": {}})
    assert len(found.save_bulk([{"n": 1}, {"n": 2}])) == 2


def test_long_history_of_conflicts_comes_into_an_administrators_database(administrator):
    """700 conflicts and 1,300 deleted branches are more than a document in a person's store may have."""
    database = administrator.create()
    taken = []
    for first in range(0, 2_000, 500):
        taken += database.bulk(*(
            {"_id": "a", "_rev": f"1-{number:032x}", "n": number, "_deleted": number >= 700}
            for number in range(first, first + 500)), new_edits=False)
    assert taken == []
    row, = database.changes()["results"]
    assert len(row["changes"]) == 2_000
    found = database.call("GET", "/a?conflicts=true").json()
    assert found["n"] == 699 and len(found["_conflicts"]) == 699


def test_operator_bounds_the_trees_of_the_administrators_databases(tmp_path):
    administrator = Administrator(tmp_path, "--database-tree-bytes", "1048576")
    try:
        database = administrator.create()
        refused = []
        for branch in range(64):
            ids = [f"{branch:016x}{number:016x}" for number in range(1_000, 0, -1)]
            refused += database.bulk(
                {"_id": "a", "_revisions": {"start": 1_000, "ids": ids}}, new_edits=False)
        assert [row["error"] for row in refused] == ["forbidden"] * 3, refused
        assert len(database.changes()["results"][0]["changes"]) == 61
    finally:
        assert administrator.server.stop() == 0
