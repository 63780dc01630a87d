"""The sync protocol from end to end: the requests of a replicator, and bookmarks as documents.

Each endpoint has its own file: test_couch_documents.py, test_couch_changes.py and so on."""
from couch import Database


def replicate(source, target, checkpoint="_local/abc%3D"):
    """One pull or push in the order of the protocol's specification. Returns the number of revisions copied."""
    log = target.call("GET", "/" + checkpoint)
    since = log.json()["last_seq"] if log.status_code == 200 else "0"
    carried = 0
    while True:
        page = source.changes(f"&limit=2&since={since}")
        if not page["results"]:
            break
        asked = {row["id"]: [c["rev"] for c in row["changes"]] for row in page["results"]}
        missing = target.call("POST", "/_revs_diff", json=asked).json()
        wanted = [{"id": i, "rev": rev} for i, diff in missing.items() for rev in diff["missing"]]
        if wanted:
            found = source.call("POST", "/_bulk_get?revs=true&latest=true", json={"docs": wanted})
            documents = [doc["ok"] for entry in found.json()["results"] for doc in entry["docs"]]
            written = target.call(
                "POST", "/_bulk_docs", json={"docs": documents, "new_edits": False})
            assert (written.status_code, written.json()) == (201, [])
            carried += len(documents)
        since = page["last_seq"]
        assert target.call("POST", "/_ensure_full_commit").status_code == 201
    body = {"last_seq": since, **({"_rev": log.json()["_rev"]} if log.ok else {})}
    assert target.call("PUT", "/" + checkpoint, json=body).status_code == 201
    return carried


def test_absent_store_is_an_empty_database(database):
    info = database.call("GET", "/").json()
    assert (info["doc_count"], info["db_name"]) == (0, database.name)
    assert database.changes()["results"] == [] and database.documents() == {}
    assert database.call("GET", "/none").json() == {"error": "not_found", "reason": "missing"}
    for query in ("", "?rev=1-a", "?rev=x"):
        assert database.call("DELETE", "/none" + query).json() == {"error": "not_found", "reason": "missing"}
    assert database.call("PUT").status_code == 201
    assert database.call("PUT").json()["error"] == "file_exists"


def test_store_replicates_into_anothers(shared):
    source, target = Database(shared), Database(shared)
    rev = source.put("one", n=1).json()["rev"]
    source.call("PUT", f"/one?rev={rev}", json={"n": 2})
    source.put("two", n=1)
    gone = source.put("gone").json()["rev"]
    source.call("DELETE", f"/gone?rev={gone}")
    assert replicate(source, target) == 3
    assert target.documents() == source.documents()
    assert replicate(source, target) == 0
    source.put("three", n=1)
    assert replicate(source, target) == 1
    history = target.call("GET", "/one?revs=true").json()
    assert history == source.call("GET", "/one?revs=true").json()


def test_bookmarks_are_documents_both_ways(database):
    database.call_v1("PUT", "/v1/bookmarks/h1", json={"name": "One"})
    documents = database.documents()
    assert documents["h1"]["type"] == "hotel"
    lists = [doc for doc in documents.values() if doc.get("type") == "bookmarkedhotels"]
    assert [doc["hotels"] for doc in lists] == [["h1"]]
    lists[0]["hotels"].append("h2")
    hotel = {"_id": "h2", "type": "hotel", "id": "h2", "name": "Two"}
    written = database.call("POST", "/_bulk_docs", json={"docs": [hotel, lists[0]]})
    assert all(item.get("ok") for item in written.json()), written.text
    listed = database.call_v1("GET", "/v1/bookmarks").json()["bookmarks"]
    assert {bookmark["id"] for bookmark in listed} == {"h1", "h2"}


def test_merged_list_can_be_read_leaf_by_leaf(database):
    """Regression: the tombstones that a merge leaves had no body, so sync always answered 500."""
    history = lambda generation, *ids: {"start": generation, "ids": list(ids)}
    made = [("1-a", history(1, "a"), []), ("2-b", history(2, "b", "a"), ["h1"]),
            ("2-c", history(2, "c", "a"), ["h2"])]
    documents = [{"_id": "bookmarkedhotels", "_rev": rev, "_revisions": revisions,
                  "type": "bookmarkedhotels", "hotels": hotels} for rev, revisions, hotels in made]
    documents += [{"_id": h, "_rev": "1-a", "type": "hotel", "name": h} for h in ("h1", "h2")]
    assert database.call(
        "POST", "/_bulk_docs", json={"docs": documents, "new_edits": False}).json() == []
    assert database.call_v1("PUT", "/v1/bookmarks/h9", json={"name": "Nine"}).status_code == 201
    listed = database.call_v1("GET", "/v1/bookmarks").json()["bookmarks"]
    assert {bookmark["id"] for bookmark in listed} == {"h1", "h2", "h9"}
    leaves = database.call("GET", "/bookmarkedhotels?open_revs=all&revs=true")
    assert leaves.status_code == 200 and len(leaves.json()) == 2
    [row] = [row for row in database.changes()["results"] if row["id"] == "bookmarkedhotels"]
    wanted = [{"id": "bookmarkedhotels", "rev": change["rev"]} for change in row["changes"]]
    answer = database.call("POST", "/_bulk_get?revs=true&latest=true", json={"docs": wanted})
    assert all("ok" in entry["docs"][0] for entry in answer.json()["results"])


INDEX = {"index": {"fields": ["n"]}, "ddoc": "by", "name": "n"}

# One call of each operation of the dialect, with its body, in an order in which all succeed.
SERVER = [
    ("GET", "/couch/", 200, None), ("GET", "/couch/_up", 200, None),
    ("GET", "/couch/_uuids", 200, None),
    ("GET", "/couch/_session", 200, None), ("GET", "/couch/_all_dbs", 200, None),
    ("GET", "/couch/_dbs_info", 200, None), ("POST", "/couch/_dbs_info", 200, {"keys": ["a"]}),
    ("GET", "/couch/_active_tasks", 200, None), ("POST", "/couch/_replicate", 400, {}),
    ("GET", "/couch/_scheduler/jobs", 200, None), ("GET", "/couch/_scheduler/jobs/none", 404, None),
    ("GET", "/couch/_scheduler/docs", 200, None), ("GET", "/couch/_scheduler/docs/_replicator", 200, None),
    ("GET", "/couch/_scheduler/docs/_replicator/none", 404, None)]
WHOLE = [
    ("PUT", "", 201, None), ("GET", "", 200, None), ("POST", "", 201, {"n": 1}), ("GET", "/_blipsync", 426, None),
    ("POST", "/_session", 200, "credentials"), ("GET", "/_session", 200, None), ("DELETE", "/_session", 200, None),
    ("PUT", "/_security", 200, {}), ("GET", "/_security", 200, None),
    ("GET", "/_revs_limit", 200, None), ("PUT", "/_revs_limit", 200, 1000),
    ("GET", "/_purged_infos_limit", 501, None), ("PUT", "/_purged_infos_limit", 501, 10),
    ("POST", "/_ensure_full_commit", 201, None), ("POST", "/_compact", 202, None),
    ("POST", "/_compact/none", 404, None), ("POST", "/_view_cleanup", 202, None),
    ("POST", "/_purge", 201, {"a": ["1-a"]}), ("GET", "/_changes", 200, None),
    ("POST", "/_changes", 200, {}),
    ("POST", "/_bulk_docs", 201, {"docs": []}), ("POST", "/_bulk_get", 200, {"docs": []}),
    ("POST", "/_revs_diff", 200, {"a": ["1-a"]}), ("POST", "/_missing_revs", 200, {"a": ["1-a"]})]
LISTS = [
    ("GET", "/_all_docs", 200, None), ("POST", "/_all_docs", 200, {"keys": []}),
    ("POST", "/_all_docs/queries", 200, {"queries": [{}]}), ("GET", "/_design_docs", 200, None),
    ("POST", "/_design_docs", 200, {}), ("POST", "/_design_docs/queries", 200, {"queries": [{}]}),
    ("GET", "/_local_docs", 200, None), ("POST", "/_local_docs", 200, {}),
    ("POST", "/_local_docs/queries", 200, {"queries": [{}]}),
    ("POST", "/_find", 200, {"selector": {}}), ("POST", "/_explain", 200, {"selector": {}}),
    ("GET", "/_index", 200, None), ("POST", "/_index", 200, INDEX),
    ("DELETE", "/_index/_design/by/json/n", 200, None), ("POST", "/_index", 200, INDEX),
    ("DELETE", "/_index/by/json/n", 200, None),
    ("POST", "/_index/_bulk_delete", 200, {"docids": []})]
FUNCTIONS = [
    ("PUT", "/_design/f", 201, {
        "views": {"v": {"map": "function"}}, "shows": {"s": "function"}, "lists": {"l": "function"},
        "updates": {"u": "function"}}),
    ("POST", "/_compact/f", 202, None),
    ("GET", "/_design/f/_view/v", 501, None), ("POST", "/_design/f/_view/v", 501, {}),
    ("POST", "/_design/f/_view/v/queries", 501, {"queries": []}),
    ("GET", "/_design/f/_view/none", 404, None)] + [
    (method, "/_design/f/" + path, 501, None if method == "GET" else {})
    for methods, paths in (("GET POST", "_show/s _show/s/a _list/l/v"), ("POST PUT", "_update/u _update/u/a"))
    for method in methods.split() for path in paths.split()]
DOCUMENTS = [
    call for path in ("/a", "/_design/a", "/_local/a") for call in (
        ("PUT", path, 201, {"n": 1}), ("GET", path, 200, None),
        ("DELETE", path + "?rev={rev}", 200, None))]
ATTACHMENTS = [
    call for path in ("/b/f.txt", "/_design/b/f.txt") for call in (
        ("PUT", path, 201, {}), ("GET", path, 200, None), ("DELETE", path + "?rev={rev}", 200, None))]
END = [
    ("DELETE", "", 200, None), ("POST", "/couch/_session", 200, "credentials"),
    ("DELETE", "/couch/_session", 200, None)]


def test_every_operation_of_the_dialect_answers_as_documented(administrator):
    server, called, rev = administrator.server, set(), None
    bodies = {"credentials": {"name": administrator.name, "password": administrator.password}}
    for method, path, status, body in SERVER + WHOLE + LISTS + FUNCTIONS + ATTACHMENTS + DOCUMENTS + END:
        full = path if path.startswith("/couch") else "/couch/every-operation" + path
        full = full.format(rev=rev)
        options = {} if body is None else {"json": bodies.get(str(body), body)}
        answer = server.call(method, full, auth=administrator.auth, **options)
        assert answer.status_code == status, (method, path, answer.text)
        rev = answer.json().get("rev", rev) if method == "PUT" else rev
        called.add((method, server.contract.template(full)))
    dialect = {call for call in server.contract.operations() if call[1].startswith("/couch")}
    assert sorted(dialect - called) == []
