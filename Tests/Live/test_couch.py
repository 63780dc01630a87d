"""The sync protocol: what CouchDB's and PouchDB's replicators do, over a guest's own store."""
import json
import threading
import urllib.parse
import uuid

import pytest
import requests


class Database:
    """A guest's or user's store as a database of the sync protocol."""

    def __init__(self, server, token=None):
        self.server = server
        self.token = token or server.guest()
        self.name = self.call_v1("GET", "/v1/me").json()["store"]

    def call_v1(self, method, path, **options):
        return self.server.call(method, path, self.token, **options)

    def call(self, method, path="", **options):
        return self.server.call(method, f"/couch/{self.name}{path}", self.token, **options)

    def put(self, name, **members):
        return self.call("PUT", "/" + urllib.parse.quote(name, safe=""), json=members)

    def changes(self, query=""):
        return self.call("GET", "/_changes?style=all_docs" + query).json()

    def documents(self):
        rows = self.call("GET", "/_all_docs?include_docs=true").json()["rows"]
        return {row["id"]: row["doc"] for row in rows}


@pytest.fixture
def database(shared):
    return Database(shared)


def replicate(source, target, checkpoint="_local/abc%3D"):
    """One pull or push, as the protocol's specification orders it; how many revisions were carried."""
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
    assert database.call("DELETE", "/none?rev=1-a").status_code == 404
    assert database.call("PUT").status_code == 201
    assert database.call("PUT").json()["error"] == "file_exists"


def test_document_goes_through_its_revisions(database):
    first = database.put("a/b é", n=1.0)
    assert first.status_code == 201 and first.headers["ETag"] == f'"{first.json()["rev"]}"'
    read = database.call("GET", "/a%2Fb%20%C3%A9")
    assert read.content.endswith(b'"n":1.0}') and read.json()["_id"] == "a/b é"
    assert read.headers["Cache-Control"] == "must-revalidate"
    again = database.call("GET", "/a%2Fb%20%C3%A9", headers={"If-None-Match": read.headers["ETag"]})
    assert again.status_code == 304
    stale = database.put("a/b é", n=2)
    assert (stale.status_code, stale.json()["error"]) == (409, "conflict")
    second = database.call(
        "PUT", "/a%2Fb%20%C3%A9", json={"n": 2}, headers={"If-Match": read.headers["ETag"]})
    assert second.json()["rev"].startswith("2-")
    revisions = database.call("GET", "/a%2Fb%20%C3%A9?revs=true").json()["_revisions"]
    assert (revisions["start"], len(revisions["ids"])) == (2, 2)
    old = database.call("GET", f"/a%2Fb%20%C3%A9?rev={first.json()['rev']}")
    assert old.json()["n"] == 1
    gone = database.call("DELETE", f"/a%2Fb%20%C3%A9?rev={second.json()['rev']}")
    assert gone.status_code == 200
    deleted = database.call("GET", "/a%2Fb%20%C3%A9")
    assert deleted.json() == {"error": "not_found", "reason": "deleted"}


def test_design_and_local_documents_have_their_own_paths(database):
    for path in ("/_design/app", "/_design%2Fapp2"):
        assert database.call("PUT", path, json={"language": "javascript"}).status_code == 201
    assert database.call("GET", "/_design%2Fapp").json()["_id"] == "_design/app"
    assert database.call("PUT", "/_local/x", json={"at": 1}).json()["rev"] == "0-1"
    assert database.call("PUT", "/_local%2Fx", json={"at": 2}).status_code == 409
    assert database.call("GET", "/_local%2Fx").json()["_rev"] == "0-1"
    assert database.call("DELETE", "/_local/x?rev=0-1").status_code == 200
    assert set(database.documents()) == {"_design/app", "_design/app2"}
    assert database.call("GET", "/_design/app/_view/all").status_code == 501


def test_copy_makes_another_document(database):
    database.put("source", n=1)
    headers = {"Authorization": "Bearer " + database.token, "Destination": "a%20target"}
    url = f"{database.server.url}/couch/{database.name}/source"
    assert requests.request("COPY", url, headers=headers).status_code == 201
    assert database.call("GET", "/a%20target").json()["n"] == 1


def test_bulk_answers_each_document(database):
    documents = [{"_id": "a"}, {"_id": "b", "_attachments": {"f": {"data": "aGk="}}},
                 {"_id": "a"}, {"n": 1}]
    written = database.call("POST", "/_bulk_docs", json={"docs": documents})
    assert written.status_code == 201
    assert [item.get("error") for item in written.json()] == [None, "forbidden", "conflict", None]
    rows = database.call("POST", "/_all_docs", json={"keys": ["a", "none"]}).json()["rows"]
    assert rows[0]["id"] == "a" and rows[1] == {"key": "none", "error": "not_found"}
    assert database.call("POST", "/_bulk_docs", json={}).status_code == 400


def test_open_revisions_come_as_json_and_as_parts(database):
    for digest in "ab":
        body = {"docs": [{"_id": "x", "_rev": "1-" + digest, "side": digest}], "new_edits": False}
        database.call("POST", "/_bulk_docs", json=body)
    found = database.call("GET", "/x?open_revs=all&revs=true").json()
    assert [leaf["ok"]["side"] for leaf in found] == ["b", "a"]
    assert database.call("GET", "/x?conflicts=true").json()["_conflicts"] == ["1-a"]
    parts = database.call("GET", "/x?open_revs=all", headers={"Accept": "multipart/mixed"})
    boundary = parts.headers["Content-Type"].split("boundary=")[1].strip('"')
    assert parts.text.count("--" + boundary) == 3


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
    """Regression: the tombstones that a merge leaves had no body, and sync answered 500 for ever."""
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


def test_longpoll_waits_for_the_first_change(database):
    since = database.changes()["last_seq"]
    answers = []

    def wait():
        answers.append(database.changes(f"&feed=longpoll&heartbeat=100&since={since}"))

    waiting = threading.Thread(target=wait)
    waiting.start()
    rev = database.put("new").json()["rev"]
    waiting.join(timeout=30)
    [row] = answers[0]["results"]
    assert (row["id"], row["changes"]) == ("new", [{"rev": rev}])
    assert database.changes(f"&since={answers[0]['last_seq']}")["results"] == []
    nothing = database.changes(f"&feed=longpoll&timeout=1&since={answers[0]['last_seq']}")
    assert nothing["results"] == [] and nothing["last_seq"] == answers[0]["last_seq"]


def test_continuous_feed_has_a_row_a_line_and_ends(database):
    for name in "ab":
        database.put(name)
    url = f"{database.server.url}/couch/{database.name}/_changes?feed=continuous&"
    headers = {"Authorization": "Bearer " + database.token}
    text = requests.get(url + "timeout=1", headers=headers, timeout=30).text
    lines = [json.loads(line) for line in text.splitlines() if line]
    assert [line.get("id") for line in lines] == ["a", "b", None] and lines[2]["pending"] == 0
    with requests.get(url + "heartbeat=100", headers=headers, timeout=30, stream=True) as feed:
        rows = (json.loads(line) for line in feed.iter_lines() if line)
        assert [next(rows)["id"], next(rows)["id"]] == ["a", "b"]
        database.put("c")
        assert next(rows)["id"] == "c"


def test_events_carry_their_sequence(database):
    database.put("a")
    url = f"{database.server.url}/couch/{database.name}/_changes?feed=eventsource&timeout=1"
    answer = requests.get(url, headers={"Authorization": "Bearer " + database.token}, timeout=30)
    assert answer.headers["Content-Type"] == "text/event-stream"
    data, identifier = answer.text.splitlines()[:2]
    row = json.loads(data.removeprefix("data: "))
    assert (row["id"], "id: " + row["seq"]) == ("a", identifier)


def test_changes_longer_than_a_page_come_whole(shared):
    user = {"username": "many-" + uuid.uuid4().hex, "password": "a good password"}
    database = Database(shared, shared.call("POST", "/v1/users", json=user).json()["token"])
    names = [f"{number:04}" for number in range(2500)]
    documents = [{"_id": name} for name in names]
    assert database.call("POST", "/_bulk_docs", json={"docs": documents}).status_code == 201
    answer = database.changes()
    assert sorted(row["id"] for row in answer["results"]) == names
    assert answer["pending"] == 0 and answer["last_seq"] == answer["results"][-1]["seq"]
    newest = database.changes("&descending=true&limit=2")["results"]
    assert newest == answer["results"][:-3:-1]


def open_feed(database, feed="longpoll"):
    """The lines of a feed that has begun and waits."""
    query = f"feed={feed}&heartbeat=100&since=now"
    answer = requests.get(
        f"{database.server.url}/couch/{database.name}/_changes?{query}", timeout=30, stream=True,
        headers={"Authorization": "Bearer " + database.token})
    lines = answer.iter_lines()
    assert next(lines) == b'{"results":['
    return answer, lines


def test_feed_misses_nothing_under_writers(database):
    names = {f"{writer}-{number}" for writer in range(4) for number in range(25)}
    url = f"{database.server.url}/couch/{database.name}/_changes?feed=continuous&heartbeat=100"
    headers = {"Authorization": "Bearer " + database.token}
    with requests.get(url + f"&limit={len(names)}", headers=headers, timeout=30, stream=True) as feed:
        def write(writer):
            for number in range(25):
                assert database.put(f"{writer}-{number}").status_code == 201

        writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for writer in writers:
            writer.start()
        rows = [json.loads(line) for line in feed.iter_lines() if line]
        for writer in writers:
            writer.join()
    assert sorted(row["id"] for row in rows[:-1]) == sorted(names)
    sequences = [int(row["seq"].split("-")[0]) for row in rows[:-1]]
    assert sequences == list(range(1, len(names) + 1)) and rows[-1]["pending"] == 0


def test_feeds_end_with_the_server(start):
    server = start()
    answer, lines = open_feed(Database(server))
    with answer:
        assert server.stop() == 0
        assert b"last_seq" in b"".join(lines)


def test_feeds_end_with_the_account(database):
    database.put("a")
    answer, lines = open_feed(database)
    with answer:
        assert database.call_v1("DELETE", "/v1/me").status_code == 204
        assert b"last_seq" in b"".join(lines)


def test_feeds_end_with_the_session(shared):
    user = {"username": "feed-" + uuid.uuid4().hex, "password": "a good password"}
    database = Database(shared, shared.call("POST", "/v1/users", json=user).json()["token"])
    answer, lines = open_feed(database)
    with answer:
        assert database.call_v1("DELETE", "/v1/sessions").status_code == 204
        assert b"last_seq" in b"".join(lines)


def test_feeds_on_one_store_are_bounded(database):
    feeds = [open_feed(database)[0] for _ in range(16)]
    refused = database.call("GET", "/_changes?feed=longpoll&since=now")
    for feed in feeds:
        feed.close()
    assert refused.status_code == 429


def test_anothers_database_is_an_absent_one(shared):
    mine, other = Database(shared), Database(shared)
    other.put("secret")
    answers = set()
    for name in (other.name, "guest-" + "0" * 32, "no-such", other.name.upper()):
        for path in ("", "/secret", "/_changes", "/_all_docs"):
            answer = shared.call("GET", f"/couch/{name}{path}", mine.token)
            answers.add((answer.status_code, answer.text))
    assert answers == {(404, '{"error":"not_found","reason":"Database does not exist."}')}
    unknown = shared.call("GET", f"/couch/{other.name}")
    assert (unknown.status_code, unknown.json()["error"]) == (401, "unauthorized")


def test_sessions_by_cookie(shared):
    name = "cookie-" + uuid.uuid4().hex
    password = {"name": name, "password": "a good password"}
    shared.call("POST", "/v1/users", json={"username": name, "password": "a good password"})
    assert shared.call("POST", "/couch/_session", json=password).json()["name"] == name
    session = requests.Session()
    assert shared.call("POST", "/couch/_session", session=session, data=password).ok
    me = shared.call("GET", "/couch/_session", session=session).json()
    assert (me["userCtx"]["name"], me["info"]["authenticated"]) == (name, "cookie")
    headers = {"Origin": "http://elsewhere.example"}
    foreign = shared.call("POST", "/couch/_session", data=password, headers=headers)
    assert foreign.status_code == 403
    out = shared.call("DELETE", "/couch/_session", session=session, headers={"Origin": shared.url})
    assert out.json() == {"ok": True}
    assert shared.call("GET", "/couch/_session").json()["userCtx"]["name"] is None
    wrong = shared.call("POST", "/couch/_session", json={**password, "password": "wrong one"})
    assert (wrong.status_code, wrong.json()["error"]) == (401, "unauthorized")


def test_every_operation_of_the_dialect_answers_as_documented(database):
    server, nothing = database.server, {"docs": []}
    calls = [
        ("GET", "", 200, None), ("PUT", "", 201, None), ("POST", "", 201, {"n": 1}),
        ("DELETE", "", 403, None), ("GET", "/_security", 200, None),
        ("GET", "/_revs_limit", 200, None), ("POST", "/_ensure_full_commit", 201, None),
        ("GET", "/_all_docs", 200, None), ("POST", "/_all_docs", 200, {"keys": []}),
        ("POST", "/_bulk_docs", 201, nothing), ("POST", "/_bulk_get", 200, nothing),
        ("POST", "/_revs_diff", 200, {"a": ["1-a"]}),
        ("POST", "/_missing_revs", 200, {"a": ["1-a"]}), ("GET", "/_changes", 200, None),
        ("POST", "/_changes?filter=_doc_ids", 200, {"doc_ids": ["a"]}),
        ("GET", "/_changes?filter=app/mine", 501, None), ("GET", "/_changes?since=x", 400, None),
        ("POST", "/_find", 501, {}), ("POST", "/_explain", 501, {}), ("GET", "/_index", 501, None),
        ("POST", "/_index", 501, {}), ("GET", "/_design/a/_view/b", 501, None),
        ("POST", "/_design/a/_view/b", 501, {}), ("GET", "/_none", 400, None),
    ]
    for path, rev in (("/a", "1-a"), ("/_design/a", "1-a"), ("/_local/a", "0-9")):
        calls += [("PUT", path, 201, {"n": 1}), ("GET", path, 200, None), ("PUT", path, 409, {}),
                  ("DELETE", f"{path}?rev={rev}", 409, None)]
    for method, path, status, body in calls:
        answer = database.call(method, path, **({} if body is None else {"json": body}))
        assert answer.status_code == status, (method, path, answer.text)
    assert server.call("GET", "/couch/").json()["couchdb"] == "Welcome"
    assert server.call("GET", "/couch/_up").json() == {"status": "ok"}
    assert len(server.call("GET", "/couch/_uuids?count=3").json()["uuids"]) == 3
    assert server.call("GET", "/couch/_all_dbs", database.token).status_code == 403
    for method in ("GET", "DELETE"):
        assert server.call(method, "/couch/_session", database.token).status_code == 200
    assert server.call("POST", "/couch/_session", json={}).status_code == 400
    dialect = {call for call in server.contract.operations() if call[1].startswith("/couch")}
    assert not dialect - server.contract.seen
    head = requests.head(f"{server.url}/couch/", timeout=30)
    assert (head.status_code, head.content) == (200, b"")
