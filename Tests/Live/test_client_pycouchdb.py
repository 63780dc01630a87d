"""pycouchdb through its own API."""
import pycouchdb
import pytest
from pycouchdb.exceptions import (
    AuthenticationFailed, BadRequest, Conflict, FeedReaderExited, GenericError, NotFound)
from pycouchdb.feedreader import BaseFeedReader

from couch import with_credentials
from waiting import PATIENCE


@pytest.fixture(scope="module")
def server(account):
    return pycouchdb.Server(account.url("/couch/"), timeout=PATIENCE)


@pytest.fixture(scope="module")
def db(server, account):
    """A user's own store, shared by all tests of this file. Each test uses its own ids."""
    return server.database(account.store)


@pytest.fixture
def guest(shared, database):
    """The store of a new guest, who has a token and no password."""
    server = pycouchdb.Server(shared.url + "/couch/", timeout=PATIENCE)
    server.resource.session.headers["Authorization"] = "Bearer " + database.token
    return server.database(database.name)


class Reader(BaseFeedReader):
    """Reads a feed until it has received some messages. Calls `at_first_beat` at the first heartbeat."""

    def __init__(self, count, at_first_beat):
        self.count, self.seen, self.beats, self.closed = count, [], 0, False
        self.at_first_beat = at_first_beat

    def on_message(self, message):
        self.seen.append(message)
        if len(self.seen) == self.count:
            raise FeedReaderExited

    def on_heartbeat(self):
        if not self.beats:
            self.at_first_beat()
        self.beats += 1

    def on_close(self):
        self.closed = True


def test_server_says_what_it_is(server, account):
    assert server.info()["couchdb"] == "Welcome" and int(server.version().split(".")[0]) >= 3
    assert account.store in server and "no-such" not in server
    with pytest.raises(NotFound):
        server.database("no-such")


@pytest.mark.parametrize("method", ["basic", "session"])
def test_password_is_checked_by_either_method(shared, account, method):
    db = pycouchdb.Server(account.url("/couch/"), authmethod=method).database(account.store)
    assert db.save({"_id": "by-" + method})["_rev"]
    wrong = with_credentials(shared.url, account.name, "another password") + "/couch/"
    with pytest.raises((AuthenticationFailed, GenericError)):
        list(pycouchdb.Server(wrong, authmethod=method))


def test_document_is_made_read_changed_and_deleted(db):
    one = db.save({"_id": "one", "n": 1})
    assert db.get("one") == one and "one" in db
    two = db.save({**one, "n": 2})
    assert db.get("one", rev=one["_rev"])["n"] == 1
    with pytest.raises(Conflict):
        db.save({**one, "n": 3})
    assert [past["n"] for past in db.revisions("one")] == [2, 1]
    with pytest.raises(Conflict):
        db.delete(one)
    db.delete(two)
    assert "one" not in db
    with pytest.raises(NotFound):
        db.get("one")
    with pytest.raises(NotFound):
        db.delete("one")
    db.save({"_id": "by-id"})
    db.delete("by-id")
    with pytest.raises(NotFound):
        list(db.revisions("never"))


def test_untitled_and_batched_documents_are_stored(db):
    assert db.get(db.save({"n": 1})["_id"])["n"] == 1
    batched = db.save({"n": 2}, batch=True)
    assert db.get(batched["_id"])["n"] == 2


def test_bulk_writes_and_deletes(db):
    saved = db.save_bulk([{"n": 1}, {"_id": "bulk", "n": 2}])
    assert all(doc["_rev"].startswith("1-") for doc in saved)
    with pytest.raises(Conflict):
        db.save_bulk([{"_id": "bulk", "n": 3}, {"_id": "besides", "n": 4}])
    assert db.get("bulk")["n"] == 2 and db.get("besides")["n"] == 4
    results = db.delete_bulk(saved)
    assert [result["rev"][:2] for result in results] == ["2-", "2-"] and "bulk" not in db
    with pytest.raises(Conflict):
        db.delete_bulk([{"_id": "besides"}])


def test_all_docs_by_range_keys_and_pages(guest):
    guest.save_bulk([{"_id": name, "n": ord(name)} for name in "abcdef"])
    assert len(guest) == 6
    assert guest.all(as_list=True, flat="id") == list("abcdef")
    assert guest.all(as_list=True, flat="id", startkey="b", endkey="d") == ["b", "c", "d"]
    assert guest.all(as_list=True, flat="id", key="c") == ["c"]
    assert [row["doc"]["n"] for row in guest.all(keys=["f", "a"])] == [ord("f"), ord("a")]
    assert list(guest.all(keys=["none"]))[0]["error"] == "not_found"
    assert guest.all(as_list=True, flat="id", descending="true", limit=2, skip=1) == ["e", "d"]
    assert guest.query("_all_docs", as_list=True, flat="id", pagesize=2) == list("abcdef")
    assert guest.one("_all_docs", flat="id", startkey="b") == "b"
    assert guest.one("_all_docs", key="none") is None
    pages = [[row["id"] for row in page] for page in guest.view_pages("_all_docs", 4)]
    assert pages == [list("abcd"), list("ef")]


def test_truth_in_python_is_truth_here(guest):
    guest.save_bulk([{"_id": "a"}, {"_id": "b"}])
    assert guest.all(as_list=True, flat="id", descending=True) == ["b", "a"]


def test_changes_as_a_list(guest):
    guest.save_bulk([{"_id": "a"}, {"_id": "b"}])
    guest.delete("a")
    last, rows = guest.changes_list()
    assert [(row["id"], row.get("deleted")) for row in rows] == [("b", None), ("a", True)]
    assert guest.changes_list(since=last) == (last, [])
    _, rows = guest.changes_list(include_docs="true", limit=1)
    assert rows[0]["doc"]["_id"] == "b"
    _, rows = guest.changes_list(since=last, feed="longpoll", timeout=10)
    assert rows == []


def test_feed_reader_hears_each_change(guest):
    guest.save_bulk([{"_id": "a"}, {"_id": "b"}])
    reader = Reader(3, lambda: guest.save({"_id": "c"}))
    guest.changes_feed(reader, heartbeat=100, since="0")
    assert [message["id"] for message in reader.seen] == ["a", "b", "c"] and reader.closed
    assert reader.beats
    heard = []
    guest.changes_feed(lambda message, db: heard.append(message), timeout=50, include_docs="true")
    assert [line.get("id") for line in heard] == ["a", "b", "c", None] and heard[-1]["pending"] == 0


def test_find_with_and_without_an_index_and_in_pages(guest):
    guest.save_bulk([{"_id": f"h{n}", "type": "hotel", "stars": n} for n in range(7)])
    few = {"stars": {"$in": [1, 2]}}
    assert sorted(doc["_id"] for doc in guest.find(few)) == ["h1", "h2"]
    assert [doc for doc in guest.find({"_id": "h3"}, fields=["stars"])] == [{"stars": 3}]
    pages = [len(page) for page in guest.mango_pages({"type": "hotel"}, 3)]
    assert pages == [3, 3, 1]
    everything = [
        doc["_id"] for page in guest.mango_pages({"stars": {"$gt": None}}, 2) for doc in page]
    assert sorted(everything) == [f"h{n}" for n in range(7)]
    with pytest.raises(GenericError):
        list(guest.find({"stars": {"$gt": 0}}, sort=["stars"]))
    with pytest.raises((BadRequest, GenericError)):
        list(guest.find("no object"))


def test_conflict_is_seen_and_resolved(db, server):
    leaves = [{"_id": "torn", "_rev": rev, "side": rev} for rev in ("1-b", "1-c")]
    body = pycouchdb.utils.force_bytes(
        pycouchdb.client.json.dumps({"docs": leaves, "new_edits": False}))
    assert db.resource.post("_bulk_docs", data=body)[1] == []
    assert db.get("torn", conflicts="true")["_conflicts"] == ["1-b"]
    found = db.get("torn", open_revs="all")
    assert [leaf["ok"]["side"] for leaf in found] == ["1-b", "1-c"]
    db.delete({"_id": "torn", "_rev": "1-b"})
    assert "_conflicts" not in db.get("torn", conflicts="true")


def test_local_documents_are_nowhere_else(guest):
    note = guest.resource("_local", "note").put(data=b'{"n":1}')[1]
    assert (note["id"], note["rev"]) == ("_local/note", "0-1")
    assert guest.get("_local/note") == {"_id": "_local/note", "_rev": "0-1", "n": 1}
    assert len(guest) == 0 and "_local/note" in guest
    guest.delete({"_id": "_local/note", "_rev": "0-1"})
    assert "_local/note" not in guest


def test_maintenance_is_answered(db, account):
    assert db.commit()["ok"] is True and db.compact() == {"ok": True}
    db.save({"_id": "_design/kept", "views": {}})
    assert db.cleanup() == db.compact_view("kept") == {"ok": True}
    with pytest.raises(NotFound):
        db.compact_view("none")
    assert db.config()["db_name"] == account.store


@pytest.mark.parametrize("call,error", [
    (lambda db: db.query("app/all", as_list=True), NotFound),
    (lambda db: db.one("app/all"), NotFound),
    (lambda db: list(db.view_pages("app/all", 2)), NotFound),
    (lambda db: db.changes_list(filter="app/mine"), NotFound),
    (lambda db: db.get_attachment(db.save({"n": 1}), "a.txt"), NotFound),
    (lambda db: db.delete_attachment(db.save({"n": 1}), "a.txt"), NotFound)],
    ids=["view", "one of a view", "pages of a view", "filter", "no attachment", "no attachment to delete"])
def test_what_is_not_offered_says_so(db, call, error):
    with pytest.raises(error):
        call(db)


def test_what_only_an_administrator_may_is_refused(server, account):
    for call in (lambda: list(server), lambda: len(server), lambda: server.delete(account.store),
                 lambda: server.create("mine"), lambda: server.replicate("a", "b")):
        with pytest.raises(GenericError) as error:
            call()
        assert error.value.args[0]["error"] in ("forbidden", "not_implemented")
    with pytest.raises(Conflict):
        server.create(account.store)


def test_administrator_makes_lists_and_deletes_databases(administrator):
    server = pycouchdb.Server(administrator.url("/couch/"))
    db = server.create("pycouch-db")
    assert "pycouch-db" in server and "pycouch-db" in list(server) and len(server) >= 1
    with pytest.raises(Conflict):
        server.create("pycouch-db")
    with pytest.raises(GenericError) as error:
        server.create("Upper")
    assert error.value.args[0]["error"] == "illegal_database_name"
    db.save({"_id": "a"})
    security = b'{"admins":{"names":[],"roles":[]},"members":{"names":["someone"],"roles":[]}}'
    assert db.resource.put("_security", data=security)[1] == {"ok": True}
    assert db.resource.get("_security")[1]["members"]["names"] == ["someone"]
    server.delete("pycouch-db")
    assert "pycouch-db" not in server
    with pytest.raises(NotFound):
        server.delete("pycouch-db")
