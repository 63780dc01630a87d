"""CouchDB-Python, the oldest client library, through its own API."""
import io
import itertools

import couchdb
import couchdb.mapping
import pytest
from couchdb.http import (
    Forbidden, PreconditionFailed, ResourceConflict, ResourceNotFound, ServerError, Unauthorized)
from couchdb.tools.dump import dump_db
from couchdb.tools.load import load_db

from couch import soon, with_credentials


@pytest.fixture(scope="module")
def server(account):
    return couchdb.Server(account.url())


@pytest.fixture(scope="module")
def db(server, account):
    """A user's own store, shared by all tests of this file. Each test uses its own ids."""
    return server[account.store]


@pytest.fixture
def guest(shared, database):
    """The store of a new guest, who has a token and no password."""
    server = couchdb.Server(shared.url + "/couch")
    server.resource.headers["Authorization"] = "Bearer " + database.token
    return server[database.name]


def refusal(error):
    """The status and CouchDB's error code of an error for which the library has no class."""
    status, (word, reason) = error.value.args[0]
    assert reason
    return status, word


def test_server_says_what_it_is(server, account):
    assert server and server.version_info() >= (3, 0)
    assert account.store in server and "no-such" not in server
    assert len(set(server.uuids(count=7))) == 7 and len(server.uuids()) == 1
    with pytest.raises(ResourceNotFound):
        server["no-such"]


def test_wrong_password_is_unauthorized(shared, account):
    url = with_credentials(shared.url, account.name, "another password") + "/couch"
    with pytest.raises(Unauthorized):
        couchdb.Server(url)[account.store]
    with pytest.raises(Unauthorized):
        couchdb.Server(shared.url + "/couch").login(account.name, "another password")


def test_login_and_logout(shared, account):
    server = couchdb.Server(shared.url + "/couch")
    status, headers, body = server.resource.post_json(
        "_session", {"name": account.name, "password": account.password})
    assert (status, body["name"]) == (200, account.name)
    token = headers["Set-Cookie"].split(";")[0].split("=", 1)[1]
    assert server.verify_token(token)
    assert server.logout(token)
    with pytest.raises(Unauthorized):
        server.resource(account.store).get_json(headers={"Cookie": "AuthSession=" + token})


def test_document_is_made_read_changed_and_deleted(db):
    db["one"] = {"n": 1}
    one = db["one"]
    assert (one.id, one["n"]) == ("one", 1) and "one" in db and db["one"] == one
    one["n"] = 2
    db["one"] = one
    assert one["_rev"].startswith("2-") and db["one"]["n"] == 2
    with pytest.raises(ResourceConflict) as error:
        db["one"] = {"n": 3}
    assert error.value.args[0] == ("conflict", "Document update conflict.")
    assert [past["n"] for past in db.revisions("one")] == [2, 1]
    assert db.get("one", rev=one["_rev"], revs=True)["_revisions"]["start"] == 2
    stale = dict(one, _rev="1-" + "0" * 32)
    with pytest.raises(ResourceConflict):
        db.delete(stale)
    db.delete(one)
    assert "one" not in db and db.get("one") is None
    with pytest.raises(ResourceNotFound) as error:
        db["one"]
    assert error.value.args[0] == ("not_found", "deleted")


def test_del_finds_the_revision_itself(db):
    db["gone"] = {}
    del db["gone"]
    assert "gone" not in db
    with pytest.raises(ResourceNotFound):
        del db["gone"]


def test_untitled_document_is_given_an_id(db):
    untitled = {"n": 1}
    name, rev = db.save(untitled)
    assert len(name) == 32 and untitled["_rev"] == rev and db[name]["n"] == 1
    name, rev = db.save({"n": 2}, batch="ok")
    assert db[name]["n"] == 2


@pytest.mark.parametrize("name", ["a/b", "ä + ö", "a%2Fb", "?#&=", "_design/x", "日本語", "a:b\"c'"])
def test_odd_ids_come_back_as_they_are(db, name):
    db[name] = {"n": 1}
    assert db[name].id == name and db.get(name, revs=True)["n"] == 1
    del db[name]


def test_bulk_tells_each_document_its_own_result(db):
    documents = [{"_id": f"bulk-{n}", "n": n} for n in range(3)]
    assert all(done for done, _, _ in db.update(documents))
    documents[0]["n"] = 10
    documents[1]["_rev"] = "1-" + "0" * 32
    (first, _, rev), (second, name, error), (third, _, _) = db.update(documents)
    assert (first, second, third, name) == (True, False, True, "bulk-1")
    assert isinstance(error, ResourceConflict) and db["bulk-0"].rev == rev


def test_all_docs_by_range_keys_and_pages(guest):
    guest.update([{"_id": name, "n": ord(name)} for name in "abcdef"])
    rows = guest.view("_all_docs")
    assert list(guest) == list("abcdef") and len(guest) == rows.total_rows == 6
    assert [row.id for row in rows["b":"d"]] == ["b", "c", "d"]
    assert [row.id for row in rows["c"]] == ["c"]
    down = guest.view("_all_docs", descending=True, limit=2, skip=1, include_docs=True)
    assert [row.doc["n"] for row in down] == [ord("e"), ord("d")] and down.offset == 1
    chosen = guest.view("_all_docs", keys=["f", "none", "a"], include_docs=True)
    assert [
        (row.key, row.error) for row in chosen] == [("f", None), ("none", "not_found"), ("a", None)]
    assert [row.id for row in guest.iterview("_all_docs", 2)] == list("abcdef")
    assert [
        row.id for row in guest.iterview("_all_docs", 4, limit=5, startkey="b")] == list("bcdef")
    assert [
        row.id for row in guest.view("_all_docs", startkey="b", endkey="d", inclusive_end=False)] \
        == ["b", "c"]


def test_changes_as_a_list_and_as_a_wait(guest):
    guest.update([{"_id": "a"}, {"_id": "b"}])
    del guest["a"]
    answer = guest.changes()
    assert [
        (row["id"], row.get("deleted")) for row in answer["results"]] == [("b", None), ("a", True)]
    assert guest.changes(limit=1, descending=True)["results"][0]["id"] == "a"
    assert guest.changes(since=answer["last_seq"])["results"] == []
    with_documents = guest.changes(include_docs=True, filter="_doc_ids", doc_ids='["b"]')
    assert [row["doc"]["_id"] for row in with_documents["results"]] == ["b"]
    timer = soon(lambda: guest.save({"_id": "c"}))
    waited = guest.changes(feed="longpoll", since=answer["last_seq"], timeout=30000)
    timer.join()
    assert [row["id"] for row in waited["results"]] == ["c"]


def test_changes_go_on_and_on(guest):
    guest.update([{"_id": "a"}, {"_id": "b"}])
    feed = guest.changes(feed="continuous", heartbeat=1000)
    assert [row["id"] for row in itertools.islice(feed, 2)] == ["a", "b"]
    guest.save({"_id": "c"})
    assert next(feed)["id"] == "c"
    feed.close()
    lines = list(guest.changes(feed="continuous", timeout=100))
    assert [line.get("id") for line in lines] == ["a", "b", "c", None] and lines[-1]["last_seq"]


def test_changes_by_selector(guest):
    guest.update([{"_id": "a", "n": 1}, {"_id": "b", "n": 2}])
    found = guest.changes(filter="_selector", _selector={"selector": {"n": {"$gt": 1}}})
    assert [row["id"] for row in found["results"]] == ["b"]


def test_conflict_is_seen_and_resolved(db):
    leaves = [
        {"_id": "torn", "_rev": rev, "_revisions": {"start": 2, "ids": [rev[2:], "a"]}, "side": rev}
              for rev in ("2-b", "2-c")]
    assert db.update(leaves, new_edits=False) == []
    winner = db.get("torn", conflicts=True)
    assert (winner.rev, winner["_conflicts"]) == ("2-c", ["2-b"])
    assert [leaf["ok"]["side"] for leaf in db.get("torn", open_revs="all")] == ["2-b", "2-c"]
    assert db.get("torn", open_revs='["2-b"]')[0]["ok"]["side"] == "2-b"
    db.delete({"_id": "torn", "_rev": "2-b"})
    assert "_conflicts" not in db.get("torn", conflicts=True)
    assert db.get("torn", deleted_conflicts=True)["_deleted_conflicts"][0].startswith("3-")


def test_copy_to_new_and_existing_documents(db):
    db["source"] = {"n": 1}
    rev = db.copy("source", "copy of it")
    assert db["copy of it"]["n"] == 1 and db["copy of it"].rev == rev
    with pytest.raises(ResourceConflict):
        db.copy(db["source"], "copy of it")
    db["source"] = dict(db["source"], n=2)
    assert db.copy(db["source"], db["copy of it"]).startswith("2-") and db["copy of it"]["n"] == 2


def test_local_documents_are_nowhere_else(guest):
    guest["_local/note"] = {"n": 1}
    note = guest["_local/note"]
    assert (note["n"], note.rev) == (1, "0-1")
    guest["_local/note"] = dict(note, n=2)
    assert guest["_local/note"]["n"] == 2
    guest["_local/note"] = {"n": 3}
    assert guest["_local/note"]["n"] == 3, "CouchDB knows no conflict of local documents"
    assert list(guest) == [] and guest.changes()["results"] == []
    assert [row.id for row in guest.view("_local_docs")] == ["_local/note"]
    guest.delete(guest["_local/note"])
    assert guest.get("_local/note") is None


def test_find_indexes_and_explain(guest):
    guest.update([{"_id": f"hotel-{n}", "type": "hotel", "stars": n} for n in range(1, 6)])
    query = {"selector": {"stars": {"$gte": 3}}, "fields": ["_id", "stars"]}
    assert sorted(found["stars"] for found in guest.find(query)) == [3, 4, 5]
    indexes = guest.index()
    indexes["by", "stars"] = [{"stars": "asc"}]
    assert {"_all_docs", "stars"} <= {index["name"] for index in indexes}
    ordered = guest.find({**query, "sort": [{"stars": "desc"}], "limit": 2})
    assert [found["stars"] for found in ordered] == [5, 4]
    assert guest.explain({**query, "sort": ["stars"]})["index"]["ddoc"] == "_design/by"
    del indexes["by", "stars"]
    with pytest.raises(ResourceNotFound):
        del indexes["by", "stars"]
    with pytest.raises(ServerError) as error:
        guest.find({"selector": {"n": {"$no": 1}}})
    assert refusal(error)[0] == 400


def test_maintenance_is_answered(db):
    assert db.commit()["ok"] is True and db.compact() is True and db.cleanup() is True
    info = db.info()
    assert info["db_name"] == db.name and info["instance_start_time"] == "0"
    assert set(db.security) >= {"admins", "members"}


def test_object_mapping_stores_and_loads(db):
    class Hotel(couchdb.mapping.Document):
        name = couchdb.mapping.TextField()
        stars = couchdb.mapping.IntegerField()

    hotel = Hotel(id="mapped", name="Ritz", stars=5).store(db)
    loaded = Hotel.load(db, "mapped")
    assert (loaded.name, loaded.stars, loaded.rev) == ("Ritz", 5, hotel.rev)
    loaded.stars = 4
    loaded.store(db)
    found = Hotel.view(db, "_all_docs", include_docs=True, key="mapped")
    assert [one.stars for one in found] == [4]


def test_dump_and_load_carry_a_store(db, account, administrator):
    db["dumped"] = {"text": "ä"}
    archive = io.BytesIO()
    dump_db(account.url("/couch/" + account.store), output=archive)
    target = administrator.create()
    archive.seek(0)
    load_db(archive, administrator.url("/couch/" + target.name))
    there = couchdb.Server(administrator.url())[target.name]
    assert there["dumped"]["text"] == "ä" and list(there) == list(db)


@pytest.mark.parametrize("call,status", [
    (lambda db: list(db.view("app/all")), 501),
    (lambda db: list(db.query("function(doc){}")), None),
    (lambda db: db.show("app/one", "x"), None), (lambda db: db.list("app/some", "all"), None),
    (lambda db: db.update_doc("app/touch", "x"), None),
    (lambda db: db.changes(filter="app/mine"), 501), (lambda db: db.info("app"), None)],
    ids=["view", "temporary view", "show", "list", "update", "filter", "view info"])
def test_what_is_not_offered_says_so(db, call, status):
    if "plain" not in db:
        db["plain"] = {}
        db["_design/app"] = {"views": {"all": {"map": "x"}}, "filters": {"mine": "x"}}
    with pytest.raises((ServerError, ResourceNotFound)) as error:
        call(db)
    if status:
        assert refusal(error)[0] == status


def test_what_only_an_administrator_may_is_refused(server, db):
    db["kept"] = {}
    with pytest.raises(Forbidden):
        list(server)
    with pytest.raises(Forbidden):
        server.delete(db.name)
    with pytest.raises(Forbidden):
        db.purge([db["kept"]])
    with pytest.raises(Forbidden):
        db.security = {"admins": {}, "members": {}}
    with pytest.raises(Forbidden):
        server.create("mine")
    with pytest.raises(PreconditionFailed):
        server.create(db.name)
    with pytest.raises(Forbidden):
        server.replicate("a", "b")
    with pytest.raises(ResourceNotFound):
        server.add_user("someone", "a good password")


def test_administrator_makes_lists_and_deletes_databases(administrator):
    server = couchdb.Server(administrator.url())
    name = "travel/$x_(1)+2-3"
    db = server.create(name)
    assert name in server and name in list(server) and len(server) >= 1
    with pytest.raises(PreconditionFailed) as error:
        server.create(name)
    assert error.value.args[0][0] == "file_exists"
    with pytest.raises(ServerError) as error:
        server.create("Upper")
    assert refusal(error) == (400, "illegal_database_name")
    db["a"] = {"n": 1}
    db.security = {"members": {"names": ["someone"]}}
    assert db.security["members"]["names"] == ["someone"]
    del server[name]
    assert name not in server
    with pytest.raises(ResourceNotFound):
        del server[name]


def test_administrator_purges(administrator):
    db = couchdb.Server(administrator.url())[administrator.create().name]
    name, rev = db.save({"_id": "purged"})
    assert db.purge([{"_id": name, "_rev": rev}])["purged"] == {name: [rev]}
    assert name not in db and db.changes()["results"] == []
