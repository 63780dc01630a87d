"""aiocouch, an asynchronous client, through its own API."""
import asyncio
import contextlib
import functools

import aiocouch
import pytest
from aiocouch import (
    BadRequestError, ConflictError, ForbiddenError, NotFoundError, PreconditionFailedError,
    UnauthorizedError)
from aiocouch.event import DeletedEvent
from aiocouch.exception import RemoteResponseError

from couch import Account
from waiting import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def awaited(test):
    """Runs a coroutine as a test, with a time limit."""
    @functools.wraps(test)
    def run(**fixtures):
        asyncio.run(asyncio.wait_for(test(**fixtures), PATIENCE))
    return run


@contextlib.asynccontextmanager
async def opened(person, name=None):
    """A user's own store, or with `name` a database of the administrator."""
    url = person.server.url + "/couch"
    async with aiocouch.CouchDB(url, user=person.name, password=person.password) as server:
        yield await server[name or person.store]


@contextlib.asynccontextmanager
async def visited(database):
    """The store of a guest, who has a token and no password. The token is sent as the cookie."""
    async with aiocouch.CouchDB(database.server.url + "/couch", cookie=database.token) as server:
        yield await server[database.name]


async def listed(things):
    return [thing async for thing in things]


async def filled(db, *names):
    async with db.create_docs(list(names)) as bulk:
        async for doc in bulk:
            doc["n"] = ord(doc.id[0])
    assert len(bulk.ok) == len(names) and not bulk.error


@awaited
async def test_server_says_what_it_is(account):
    url = account.server.url + "/couch"
    async with aiocouch.CouchDB(url, user=account.name, password=account.password) as server:
        await server.check_credentials()
        assert (await server.info())["couchdb"] == "Welcome"
        assert (await (await server[account.store]).info())["db_name"] == account.store
        with pytest.raises(NotFoundError):
            await server["no-such"]
    async with aiocouch.CouchDB(url, user=account.name, password="another password") as server:
        with pytest.raises(UnauthorizedError):
            await server.check_credentials()


@awaited
async def test_document_is_made_read_changed_and_deleted(account):
    async with opened(account) as db:
        one = await db.create("one", data={"n": 1})
        answer = await one.save()
        assert answer.status == 201 and answer.etag == one.rev
        one["n"] = 2
        await one.save()
        assert one.rev.startswith("2-") and (await db["one"])["n"] == 2
        assert (await one.info())["rev"] == one.rev
        revs = await one.revs()
        assert [rev[:2] for rev in revs] == ["2-", "1-"]
        assert (await db.get("one", rev=revs[1]))["n"] == 1
        with pytest.raises(ConflictError):
            await db.create("one")
        stale = await db.get("one")
        stale.rev = revs[1]
        with pytest.raises(ConflictError):
            await stale.save()
        assert (await one.delete()).status == 200
        with pytest.raises(NotFoundError):
            await db["one"]
        assert (await db.get("one", default={"n": 0}))["n"] == 0
        bad = await db.get("none", default={})
        bad["_unknown"] = 1
        with pytest.raises(BadRequestError):
            await bad.save()


@awaited
async def test_document_is_saved_at_the_end_of_its_block(account):
    async with opened(account) as db:
        async with aiocouch.document.Document(db, "block/ä %2F") as doc:
            doc["n"] = 1
        async with aiocouch.document.Document(db, "block/ä %2F") as doc:
            assert doc["n"] == 1
        assert doc.rev.startswith("1-")


@awaited
async def test_bulk_creates_and_updates(database):
    async with visited(database) as db:
        await filled(db, "a", "b")
        async with db.update_docs(["a", "b", "c"], create=True) as bulk:
            async for doc in bulk:
                doc["more"] = True
        assert [entry["rev"][:2] for entry in bulk.response] == ["2-", "2-", "1-"]
        async with db.create_docs(["a", "d"]) as bulk:
            async for doc in bulk:
                doc["more"] = False
        assert [doc.id for doc in bulk.ok] == ["d"] and [doc.id for doc in bulk.error] == ["a"]
        assert bulk.response[0]["error"] == "conflict"


@awaited
async def test_all_docs_by_range_keys_and_prefix(database):
    async with visited(database) as db:
        await filled(db, "a", "b1", "b2", "c")
        assert await listed(db.akeys()) == ["a", "b1", "b2", "c"]
        assert [doc["n"] for doc in await listed(db.docs(["c", "a"]))] == [ord("c"), ord("a")]
        assert [doc.id for doc in await listed(db.docs(prefix="b"))] == ["b1", "b2"]
        assert await listed(db.all_docs.ids(prefix="b")) == ["b1", "b2"]
        assert await listed(db.all_docs.ids(["a", "none"])) == ["a"]
        made = await listed(db.docs(["none"], create=True))
        assert [(doc.id, doc.exists) for doc in made] == [("none", False)]
        with pytest.raises(NotFoundError):
            await listed(db.docs(["none"]))
        page = await db.all_docs.get(limit=2, skip=1, descending=True, update_seq=True)
        assert (list(page.keys()), page.total_rows, page.offset) == (["b2", "b1"], 4, 1)
        assert page.update_seq
        assert [key for key, value in await listed(db.all_docs.aitems())] == ["a", "b1", "b2", "c"]
        assert all(value["rev"] for value in await listed(db.all_docs.avalues()))
        assert len(await listed(db.values())) == 4


@awaited
async def test_changes_as_a_list_and_on_and_on(database):
    async with visited(database) as db:
        await filled(db, "a", "b")
        await (await db["a"]).delete()
        events = await listed(db.changes())
        assert [(event.id, type(
            event) is DeletedEvent) for event in events] == [("b", False), ("a", True)]
        assert (await events[0].doc())["n"] == ord("b")
        assert [event.id for event in await listed(db.changes(since=events[0].sequence))] == ["a"]
        included = await listed(db.changes(include_docs=True, limit=1))
        assert (await included[0].doc())["n"] == ord("b")
        feed = db.changes(feed="continuous", since=events[-1].sequence)
        waiting = asyncio.ensure_future(anext(feed))
        await asyncio.sleep(0.2)
        await filled(db, "c")
        third = await waiting
        assert third.id == "c"
        await feed.aclose()
        waiting = asyncio.ensure_future(
            listed(db.changes(feed="longpoll", since=third.sequence, timeout=60000)))
        await asyncio.sleep(0.2)
        await filled(db, "d")
        assert [event.id for event in await waiting] == ["d"]


@awaited
async def test_last_event_id_goes_on_where_a_feed_was(database):
    async with visited(database) as db:
        await filled(db, "a", "b")
        first, second = await listed(db.changes())
        later = await listed(db.changes(last_event_id=first.sequence))
        assert [event.id for event in later] == [second.id]


@awaited
async def test_find_and_indexes(database):
    async with visited(database) as db:
        await filled(db, "a", "b", "c")
        found = await listed(db.find({"n": {"$gt": ord("a")}}))
        assert sorted(doc.id for doc in found) == ["b", "c"] and found[0].exists
        made = await db.index({"fields": ["n"]}, ddoc="by", name="n")
        assert (made["result"], made["id"], made["name"]) == ("created", "_design/by", "n")
        assert (await db.index({"fields": ["n"]}, ddoc="by", name="n"))["result"] == "exists"
        ordered = await listed(db.find({"n": {"$gt": 0}}, sort=[{"n": "desc"}], limit=2))
        assert [doc.id for doc in ordered] == ["c", "b"]
        with pytest.raises(BadRequestError):
            await listed(db.find({"n": {"$no": 1}}))
        with pytest.raises(BadRequestError):
            await db.index({"fields": []})


@awaited
async def test_conflict_is_seen_and_resolved(database):
    database.graft("torn", "2-b 1-a", "2-c 1-a")
    async with visited(database) as db:
        torn = await db["torn"]
        assert (torn.rev, await torn.conflicts()) == ("2-c", ["2-b"])
        loser = await db.get("torn", rev="2-b")
        assert loser["leaf"] == "2-b"
        await loser.delete()
        assert await torn.conflicts() == []


@awaited
async def test_copy_local_and_design_documents(database):
    async with visited(database) as db:
        await filled(db, "a")
        source = await db["a"]
        assert (await source.copy("copy")).status == 201 and (await db["copy"])["n"] == ord("a")
        with pytest.raises(ConflictError):
            await source.copy("copy")
        local = await db.create("_local/note", data={"n": 1})
        await local.save()
        assert local.rev == "0-1" and (await db["_local/note"])["n"] == 1
        await local.delete()
        with pytest.raises(NotFoundError):
            await db["_local/note"]
        assert await listed(db.akeys()) == ["a", "copy"]


@awaited
async def test_design_document_is_kept_and_its_views_are_not_run(database):
    async with visited(database) as db:
        await filled(db, "a")
        design = await db.design_doc("app")
        view = await design.create_view("all", map_function="function (doc) { emit(doc._id); }")
        assert "all" in (await db["_design/app"])["views"]
        assert [doc.id for doc in await listed(db.docs())] == ["a"]
        again = await db.design_doc("app", exists_ok=True)
        assert again["language"] == "javascript"
        with pytest.raises(ConflictError):
            await db.design_doc("app")
        with pytest.raises(RemoteResponseError) as error:
            await view.get()
        assert error.value.status == 501 and error.value.reason
        with pytest.raises(RemoteResponseError) as error:
            await view.post(["a"])
        assert error.value.status == 501


@awaited
async def test_attachments_are_written_read_and_deleted(account):
    async with opened(account) as db:
        doc = await db.create("plain", exists_ok=True)
        doc["n"] = 1
        await doc.save()
        attachment = doc.attachment("a.txt")
        assert not await attachment.exists()
        with pytest.raises(NotFoundError):
            await attachment.fetch()
        await attachment.save(b"hi", "text/plain")
        assert await attachment.exists() and await attachment.fetch() == b"hi"
        await attachment.delete()
        assert not await attachment.exists()


@awaited
async def test_what_only_an_administrator_may_is_refused(account):
    url = account.server.url + "/couch"
    async with aiocouch.CouchDB(url, user=account.name, password=account.password) as server:
        with pytest.raises(ForbiddenError):
            await server.keys()
        with pytest.raises(PreconditionFailedError):
            await server.create(account.store)
        db = await server.create(account.store, exists_ok=True)
        with pytest.raises(ForbiddenError):
            await db.delete()
        security = await db.security()
        security.add_member("someone")
        with pytest.raises(ForbiddenError):
            await security.save()


@awaited
async def test_administrator_shares_a_database_with_a_member(administrator):
    member = Account(administrator.server)
    url = administrator.server.url + "/couch"
    async with aiocouch.CouchDB(
        url, user=administrator.name, password=administrator.password) as server:
        db = await server.create("aio-shared")
        assert "aio-shared" in await server.keys()
        with pytest.raises(PreconditionFailedError):
            await server.create("aio-shared")
        with pytest.raises(BadRequestError):
            await server.create("Upper")
        await filled(db, "a")
        security = await db.security()
        security.add_member(member.name)
        await security.save()
        assert (await db.security()).members == [member.name]
        async with opened(member, "aio-shared") as theirs:
            await filled(theirs, "b")
            assert await listed(theirs.akeys()) == ["a", "b"]
        security.remove_member(member.name)
        await security.save()
        with pytest.raises((NotFoundError, ForbiddenError)):
            async with opened(member, "aio-shared"):
                pass
        await db.delete()
        with pytest.raises(NotFoundError):
            await server["aio-shared"]
