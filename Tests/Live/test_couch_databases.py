"""Databases and the administrator: create, list and delete them, _security, _purge, _compact.

The expected responses are those of CouchDB 3.5: "API reference: databases" and "server"."""
import json
import urllib.parse

import pytest

from couch import PASSWORD, Account, Administrator, Database, failed
from waiting import PATIENCE

STANDARD = {"members": {"roles": ["_admin"]}, "admins": {"roles": ["_admin"]}}
OPEN = {"admins": {"names": [], "roles": []}, "members": {"names": [], "roles": []}}


@pytest.fixture(scope="module")
def person(administrator):
    return Account(administrator.server)


def as_person(person, database):
    return Database(person.server, person.token, name=database.name)


def share(database, members=(), admins=()):
    body = {"members": {"names": list(members)}, "admins": {"names": list(admins)}}
    assert database.call("PUT", "/_security", json=body).json() == {"ok": True}


@pytest.mark.parametrize("name", ["travel", "a", "x_$()+-/9", "a/b/c", "long" + "g" * 200])
def test_database_is_made_once_and_deleted_once(administrator, name):
    path = "/" + urllib.parse.quote(name, safe="")
    assert failed(administrator.call("GET", path)) == (404, "not_found")
    made = administrator.call("PUT", path)
    assert (made.status_code, made.json()) == (201, {"ok": True})
    assert made.headers["Location"].endswith(path)
    assert failed(administrator.call("PUT", path)) == (412, "file_exists")
    info = administrator.call("GET", path).json()
    assert (info["db_name"], info["doc_count"]) == (name, 0)
    assert administrator.call("POST", path + "/_ensure_full_commit").json() == {
        "ok": True, "instance_start_time": info["instance_start_time"]}
    assert name in administrator.call("GET", "/_all_dbs").json()
    assert administrator.call("PUT", path + "/doc", json={"n": 1}).status_code == 201
    assert administrator.call("DELETE", path).json() == {"ok": True}
    assert failed(administrator.call("DELETE", path)) == (404, "not_found")
    assert administrator.call("PUT", path + "/").status_code == 201
    assert administrator.call(
        "GET", path).json()["doc_count"] == 0, "what was deleted stays deleted"
    assert administrator.call("DELETE", path + "/").json() == {"ok": True}


@pytest.mark.parametrize("name", [
    "Upper", "1st", "_users", "_x", "-a", "a b", "a.b", "a:b", "ä", "a%2Fb",
    "x" * 300, "a\\b", "../x"])
def test_names_against_the_rule_are_400(administrator, name):
    refused = administrator.call("PUT", "/" + urllib.parse.quote(name, safe=""))
    assert failed(refused) in ((400, "illegal_database_name"), (400, "database_name_too_long"))
    assert name not in administrator.call("GET", "/_all_dbs").json()


def test_deleting_with_a_revision_is_taken_for_a_mistake(administrator):
    database = administrator.create()
    refused = database.call("DELETE", "?rev=1-a")
    assert failed(refused) == (400, "bad_request")
    assert database.call("GET").status_code == 200


def test_names_are_listed_by_range(administrator):
    names = ["list-a", "list-b", "list-c"]
    for name in names:
        administrator.create(name)
    within = 'startkey="list-"&endkey="list-z"'
    for query, expected in (
            (within, names), (within + "&limit=1", names[:1]), (within + "&skip=1", names[1:]),
            ('start_key="list-b"&end_key="list-z"', names[1:]),
            ('descending=true&startkey="list-z"&endkey="list-"', names[::-1]), ("limit=0", [])):
        found = administrator.call("GET", "/_all_dbs?" + urllib.parse.quote(query, safe="=&"))
        assert found.json() == expected, query
    for query in ("limit=-1", "limit=x", "skip=-1", "descending=1", "startkey=x"):
        assert administrator.call("GET", "/_all_dbs?" + query).status_code == 400, query
    infos = administrator.call("POST", "/_dbs_info", json={"keys": ["list-a", "none"]}).json()
    assert infos[0]["key"] == "list-a" and infos[0]["info"]["db_name"] == "list-a"
    assert infos[1] == {"key": "none", "error": "not_found"}
    for body in ({}, [], {"keys": "a"}, {"keys": [1]}, {"keys": ["a"] * 101}):
        assert administrator.call("POST", "/_dbs_info", json=body).status_code == 400, body


def test_peoples_own_stores_are_not_among_the_administrators(administrator, person):
    Database(administrator.server, person.token).put("mine")
    assert person.store not in administrator.call("GET", "/_all_dbs").json()
    for method, path, body in ((
        "GET", "", None), ("GET", "/mine", None), ("PUT", "/mine", {}), ("GET", "/_all_docs", None),
                               ("GET", "/_changes", None), ("DELETE", "", None),
                               ("PUT", "/_security", OPEN)):
        refused = administrator.call(
            method, f"/{person.store}{path}", **({"json": body} if body is not None else {}))
        assert refused.status_code == 404, (method, path)
    assert administrator.call("PUT", "/" + person.store).status_code in (400, 412)
    assert Database(administrator.server, person.token).call("GET", "/mine").status_code == 200


def test_only_the_administrator_makes_lists_and_deletes(administrator, person):
    database = administrator.create()
    guest = administrator.server.guest()
    for token in (person.token, guest):
        call = lambda method, path, **options: administrator.server.call(
            method, "/couch" + path, token, **options)
        for method, path in (("GET", "/_all_dbs"), ("GET", "/_dbs_info"), ("PUT", "/some-name"),
                             ("PUT", "/" + database.name), ("DELETE", "/some-name"),
                             ("DELETE", "/" + database.name)):
            assert failed(call(method, path)) == (403, "forbidden"), (method, path)
        assert failed(call("POST", "/_dbs_info", json={"keys": ["a"]})) == (403, "forbidden")
    for method, path in (("GET", "/_all_dbs"), ("PUT", "/x"), ("DELETE", "/" + database.name)):
        assert failed(administrator.server.call(method, "/couch" + path)) == (401, "unauthorized")
    own = "/couch/" + person.store
    assert failed(administrator.server.call("DELETE", own, person.token)) == (403, "forbidden")


def test_database_is_the_administrators_alone_at_first(administrator, person):
    database = administrator.create()
    database.put("secret")
    assert database.call("GET", "/_security").json() == STANDARD
    absent = administrator.server.call("GET", "/couch/no-such-db", person.token)
    for path in ("", "/secret", "/_changes", "/_all_docs", "/_security"):
        refused = as_person(person, database).call("GET", path)
        assert (refused.status_code, refused.content) == (404, absent.content), path
    database.call("PUT", "/_security", json=OPEN)
    assert as_person(
        person, database).call("GET").status_code == 404, "an empty list lets nobody in"


def test_member_reads_and_writes_but_no_designs(administrator, person):
    database = administrator.create()
    share(database, members=[person.name])
    theirs = as_person(person, database)
    rev = theirs.rev("a", n=1)
    assert database.call("GET", "/a").json()["_rev"] == rev
    assert theirs.call("GET", "/_security").json()["members"]["names"] == [person.name]
    assert len(theirs.changes()["results"]) == 1 and theirs.bulk({"_id": "b"})[0]["ok"]
    assert theirs.call("POST", "/_find", json={"selector": {"n": 1}}).json()["docs"]
    assert theirs.call("PUT", "/_local/l", json={}).status_code == 201
    for method, path, body in (
            ("PUT", "/_security", OPEN), ("POST", "/_purge", {"a": [rev]}),
            ("POST", "/_compact", None), ("DELETE", "", None)):
        refused = theirs.call(method, path, **({"json": body} if body is not None else {}))
        assert failed(refused) == (403, "forbidden"), (method, path)
    assert theirs.call("GET", "/a").status_code == 200


@pytest.mark.fault("J14")
def test_design_documents_of_a_member_are_403(administrator, person):
    database = administrator.create()
    share(database, members=[person.name])
    theirs = as_person(person, database)
    made = database.call("PUT", "/_design/app", json={"n": 1}).json()["rev"]
    for method, path, options in (
            ("PUT", "/_design/new", {"json": {}}), ("PUT", "/_design%2Fnew", {"json": {}}),
            ("PUT", "/_design/app?rev=" + made, {"json": {}}),
            ("DELETE", "/_design/app?rev=" + made, {}),
            ("POST", "", {"json": {"_id": "_design/new"}}),
            ("PUT", "/_design/new?new_edits=false", {"json": {"_rev": "1-a"}}),
            ("POST", "/_index", {"json": {"index": {"fields": ["a"]}}}),
            ("DELETE", "/_index/app/json/x", {})):
        assert failed(theirs.call(method, path, **options)) == (403, "forbidden"), (method, path)
    theirs.put("a")
    copied = theirs.copy("/a", "_design/new")
    assert failed(copied) == (403, "forbidden")
    for number, extra in enumerate(({}, {"_rev": "1-a"})):
        options = {"new_edits": False} if extra else {}
        written = theirs.bulk(
            {"_id": "_design/new", **extra}, {"_id": f"b{number}", **extra}, **options)
        refused = [(item["id"], item["error"]) for item in written if "error" in item]
        assert refused == [("_design/new", "forbidden")]
    assert [row["id"] for row in database.call(
        "GET", "/_design_docs").json()["rows"]] == ["_design/app"]
    assert theirs.call("GET", "/_design/app").json()["n"] == 1


def test_administrator_of_a_database_writes_designs_and_purges(administrator, person):
    database = administrator.create()
    share(database, admins=[person.name])
    theirs = as_person(person, database)
    rev = theirs.rev("a")
    assert theirs.call("PUT", "/_design/app", json={}).status_code == 201
    assert theirs.call("POST", "/_index", json={"index": {"fields": ["a"]}}).status_code == 200
    assert theirs.call("POST", "/_purge", json={"a": [rev]}).status_code == 201
    assert theirs.call("POST", "/_compact").status_code == 202
    assert failed(theirs.call("DELETE")) == (403, "forbidden")


def test_right_that_was_taken_away_ends(administrator, person):
    database = administrator.create()
    share(database, members=[person.name])
    theirs = as_person(person, database)
    assert theirs.put("a").status_code == 201
    with theirs.raw(
        "GET", "/_changes?feed=continuous&since=now&heartbeat=100", stream=True,
        timeout=PATIENCE) as feed:
        lines = feed.iter_lines(chunk_size=1)
        next(lines)
        share(database)
        assert theirs.call("GET").status_code == 404 and theirs.put("b").status_code == 404
        assert not [
            line for line in lines if b'"id"' in line], "the feed ends and tells nothing more"


@pytest.mark.parametrize("body", [
    [], "x", 1, {"members": []}, {"members": {"names": "a"}}, {"members": {"names": [1]}},
    {"admins": {"roles": {}}},
    {"admins": 1}], ids=str)
def test_security_of_another_shape_is_400(administrator, body):
    database = administrator.create()
    refused = database.call("PUT", "/_security", json=body)
    assert refused.status_code == 400 and refused.json()["reason"]
    assert database.call("GET", "/_security").json() == STANDARD


def test_security_keeps_what_it_does_not_know(administrator):
    database = administrator.create()
    body = {"members": {"names": ["a"], "roles": ["r"]}, "admins": {}, "cloudant": {"x": 1}}
    assert database.call("PUT", "/_security", json=body).status_code == 200
    assert database.call("GET", "/_security").json() == body


def test_purge_forgets_all_but_marks_of_what_there_was(administrator):
    database = administrator.create()
    rev = database.rev("a")
    database.graft("torn", "2-b 1-a", "2-c 1-a")
    asked = {"a": [rev, "1-x"], "torn": ["2-c", "1-a"], "none": ["1-a"]}
    answer = database.call("POST", "/_purge", json=asked)
    assert answer.status_code == 201 and "purge_seq" in answer.json()
    purged = answer.json()["purged"]
    assert purged["a"] == [rev] and purged["torn"] == ["2-c"] and not purged.get("none")
    assert database.call("GET", "/a").json()["reason"] == "missing"
    assert [row["id"] for row in database.changes()["results"]] == ["torn"]
    left = database.call("GET", "/torn?conflicts=true").json()
    assert left["_rev"] == "2-b" and "_conflicts" not in left
    assert database.call(
        "POST", "/_revs_diff", json={"a": [rev, "1-x"]}).json() == {"a": {"missing": ["1-x"]}}
    assert database.rev("a").startswith("2-")
    again = database.call("POST", "/_purge", json=asked).json()["purged"]
    assert not again.get("torn"), "what is gone can't be purged again"


@pytest.mark.parametrize(
    "body", [[], "x", {"a": "1-a"}, {"a": {}}, {"a": [1]}, {"a": ["x"]}, {"a": None}], ids=str)
def test_purge_of_another_shape_is_400(administrator, body):
    database = administrator.create()
    refused = database.call("POST", "/_purge", json=body)
    assert refused.status_code == 400 and refused.json()["reason"]


def test_owner_compacts_and_may_not_purge(database):
    rev = database.rev("a")
    assert database.call("POST", "/_compact").json() == {"ok": True}
    assert database.call("POST", "/_compact/app").status_code == 404
    assert database.call("POST", "/_view_cleanup").json() == {"ok": True}
    assert failed(database.call("POST", "/_purge", json={"a": [rev]})) == (403, "forbidden")
    assert failed(database.call("PUT", "/_security", json=OPEN)) == (403, "forbidden")
    assert database.call("GET", "/a").status_code == 200
    assert failed(database.call("DELETE")) == (403, "forbidden")


def test_own_store_is_there_before_it_is_made(database):
    info = database.call("GET", "/").json()
    assert (info["doc_count"], info["db_name"]) == (0, database.name)
    assert info["sizes"]["file"] >= 0 and info["sizes"]["external"] >= 0
    made = database.call("PUT")
    assert made.status_code == 201 and made.headers["Location"].endswith(database.name)
    assert failed(database.call("PUT")) == (412, "file_exists")
    assert failed(database.call("PUT", "/")) == (412, "file_exists")
    database.put("a")
    assert database.call("GET").json()["doc_count"] == 1


def test_administrator_says_who_they_are(administrator):
    session = administrator.call("GET", "/_session").json()
    assert session["userCtx"] == {"name": administrator.name, "roles": ["_admin"]}
    body = {"name": administrator.name, "password": administrator.password}
    answer = administrator.server.call("POST", "/couch/_session", json=body)
    assert answer.json()["roles"] == ["_admin"]
    cookie = {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}
    assert administrator.server.call("GET", "/couch/_all_dbs", headers=cookie).status_code == 200
    wrong = administrator.server.call(
        "POST", "/couch/_session", json={**body, "password": "not the operator's"})
    assert failed(wrong) == (401, "unauthorized")
    assert administrator.server.call(
        "GET", "/v1/bookmarks", auth=administrator.auth).status_code == 403


def test_administrators_name_can_not_be_signed_up(administrator):
    body = {"username": administrator.name, "password": PASSWORD}
    assert administrator.server.call("POST", "/v1/users", json=body).status_code == 409


def test_server_without_an_administrator_lets_nobody_in(shared):
    refused = shared.call(
        "GET", "/couch/_all_dbs", auth=(Administrator.name, Administrator.password))
    assert failed(refused) == (401, "unauthorized")


def test_databases_outlive_a_restart(tmp_path):
    first = Administrator(tmp_path)
    try:
        database = first.create("kept/one")
        rev = database.rev("a", n=1)
        share(database, members=["someone"])
        before = database.changes()
        first.server.kill()
        second = Administrator(tmp_path)
        try:
            again = Database(second.server, name="kept/one", auth=second.auth)
            assert second.call("GET", "/_all_dbs").json() == ["kept/one"]
            assert again.call("GET", "/a").json()["_rev"] == rev and again.changes() == before
            assert again.call("GET", "/_security").json()["members"]["names"] == ["someone"]
        finally:
            second.server.stop()
    finally:
        first.server.stop()


def test_password_of_the_administrator_must_be_a_good_one(tmp_path):
    for number, secret in enumerate(("", "short", "password", "admin")):
        directory = tmp_path / str(number)
        directory.mkdir()
        with pytest.raises(AssertionError, match="did not start"):
            Administrator(directory, password=secret)


def test_info_counts_documents_and_tombstones(administrator):
    database = administrator.create()
    revs = [database.rev(name) for name in "abc"]
    database.call("DELETE", f"/a?rev={revs[0]}")
    info = database.call("GET").json()
    assert (info["doc_count"], info["doc_del_count"]) == (2, 1)
    assert info["update_seq"] == json.loads(database.call("GET", "/_changes").content)["last_seq"]
