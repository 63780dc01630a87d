"""IBM's Cloudant SDK through its own API. Its models tell which members a response must have."""
import io
import itertools
import json

import pytest
from ibm_cloud_sdk_core import ApiException
from ibm_cloud_sdk_core.authenticators import BasicAuthenticator, BearerTokenAuthenticator
from ibmcloudant import CouchDbSessionAuthenticator
from ibmcloudant import cloudant_v1 as model
from ibmcloudant.cloudant_v1 import CloudantV1, Document, IndexDefinition, IndexField
from ibmcloudant.features.changes_follower import ChangesFollower
from ibmcloudant.features.pagination import PagerType, Pagination

from couch import Account, soon


def service(server, authenticator):
    client = CloudantV1(authenticator=authenticator)
    client.set_service_url(server.url + "/couch")
    return client


@pytest.fixture(scope="module")
def user(account):
    return service(account.server, BasicAuthenticator(account.name, account.password))


@pytest.fixture
def guest(database):
    """The service for a new guest, who has a token and no password."""
    return service(database.server, BearerTokenAuthenticator(database.token))


@pytest.fixture(scope="module")
def admin(administrator):
    return service(
        administrator.server, BasicAuthenticator(administrator.name, administrator.password))


def refusal(call, *arguments, **options):
    """The status and CouchDB's error code of a call that must fail."""
    with pytest.raises(ApiException) as error:
        call(*arguments, **options)
    body = error.value.http_response.json()
    assert body["reason"]
    return error.value.status_code, body["error"]


def fill(client, db, *names):
    documents = [{"_id": name, "n": ord(name[0])} for name in names]
    answer = client.post_bulk_docs(db, {"docs": documents})
    assert answer.get_status_code() == 201
    return [model.DocumentResult.from_dict(item).rev for item in answer.get_result()]


def test_server_says_what_it_is(user, account):
    assert user.get_server_information().get_result()["couchdb"] == "Welcome"
    assert model.UpInformation.from_dict(user.get_up_information().get_result()).status == "ok"
    assert user.head_up_information().get_status_code() == 200
    uuids = model.UuidsResult.from_dict(user.get_uuids(count=3).get_result()).uuids
    assert len(set(uuids)) == 3
    session = model.SessionInformation.from_dict(user.get_session_information().get_result())
    assert session.user_ctx.name == account.name
    info = model.DatabaseInformation.from_dict(
        user.get_database_information(account.store).get_result())
    assert info.db_name == account.store and info.sizes.external >= 0
    assert user.head_database(account.store).get_status_code() == 200
    with pytest.raises(ApiException):
        user.head_database("no-such")
    assert refusal(user.get_database_information, "no-such") == (404, "not_found")


def test_session_authenticator_logs_in_by_itself(account):
    client = service(account.server, CouchDbSessionAuthenticator(account.name, account.password))
    assert client.put_document(account.store, "by-session", {"n": 1}).get_status_code() == 201
    session = client.get_session_information().get_result()
    assert (
        session["userCtx"]["name"], session["info"]["authenticated"]) == (account.name, "cookie")
    wrong = service(account.server, CouchDbSessionAuthenticator(account.name, "another password"))
    with pytest.raises((ApiException, StopIteration)):  # The SDK looks for the cookie before it checks the status.
        wrong.get_database_information(account.store)


def test_document_is_made_read_changed_and_deleted(guest, database):
    db = database.name
    made = model.DocumentResult.from_dict(guest.put_document(db, "a/ä", Document(n=1)).get_result())
    assert made.ok and made.id == "a/ä"
    read = guest.get_document(db, "a/ä")
    assert Document.from_dict(read.get_result())._rev == made.rev
    head = guest.head_document(db, "a/ä")
    assert head.get_headers()["ETag"] == f'"{made.rev}"'
    changed = guest.put_document(db, "a/ä", {"n": 2}, if_match=f'"{made.rev}"').get_result()["rev"]
    last = guest.put_document(db, "a/ä", {"n": 3}, rev=changed).get_result()["rev"]
    assert refusal(guest.put_document, db, "a/ä", {"n": 4}) == (409, "conflict")
    everything = guest.get_document(
        db, "a/ä", revs=True, revs_info=True, conflicts=True, deleted_conflicts=True,
        local_seq=True,
        att_encoding_info=True, attachments=False, latest=True).get_result()
    assert everything["_revisions"]["start"] == 3 and len(everything["_revs_info"]) == 3
    assert everything["_local_seq"]
    assert guest.get_document(db, "a/ä", rev=made.rev).get_result()["n"] == 1
    assert json.loads(guest.get_document_as_stream(db, "a/ä").get_result().content)["n"] == 3
    assert refusal(guest.delete_document, db, "a/ä", rev=made.rev) == (409, "conflict")
    assert guest.delete_document(db, "a/ä", if_match=last).get_result()["ok"]
    assert refusal(guest.get_document, db, "a/ä") == (404, "not_found")


def test_untitled_and_streamed_documents_are_stored(guest, database):
    untitled = guest.post_document(database.name, Document(n=1)).get_result()
    streamed = guest.post_document(
        database.name, io.BytesIO(b'{"_id":"streamed","n":2}'), content_type="application/json")
    assert streamed.get_result()["id"] == "streamed"
    found = guest.get_document(database.name, untitled["id"]).get_result()
    assert found["n"] == 1
    assert guest.post_document(database.name, Document(n=3), batch="ok").get_result()["ok"]


def test_all_docs_by_range_keys_and_pages(guest, database):
    db, names = database.name, [f"{letter}{n}" for letter in "abc" for n in range(3)]
    fill(guest, db, *names)
    result = model.AllDocsResult.from_dict(guest.post_all_docs(
        db, start_key="b", end_key="b\ufff0", include_docs=True, update_seq=True).get_result())
    assert [row.id for row in result.rows] == ["b0", "b1", "b2"] and result.total_rows == 9
    assert result.rows[0].doc._rev == result.rows[0].value.rev and result.update_seq
    keyed = guest.post_all_docs(db, keys=["c2", "none"]).get_result()["rows"]
    assert [row.get("error") for row in keyed] == [None, "not_found"]
    down = guest.post_all_docs(
        db, descending=True, limit=2, skip=1, start_key="b2", inclusive_end=False, end_key="a2")
    assert [row["id"] for row in down.get_result()["rows"]] == ["b1", "b0"]
    assert len(guest.post_all_docs(db, key="a0").get_result()["rows"]) == 1
    pages = Pagination.new_pagination(guest, PagerType.POST_ALL_DOCS, db=db, limit=4)
    assert [len(page) for page in pages.pages()] == [4, 4, 1]
    assert [row.id for row in pages.rows()] == names


def test_bulk_get_gives_revisions_in_order(guest, database):
    rev, = fill(guest, database.name, "a")
    asked = [{"id": "a", "rev": rev}, {"id": "none"}, {"id": "a", "rev": "1-0"}]
    result = model.BulkGetResult.from_dict(
        guest.post_bulk_get(database.name, asked, revs=True, latest=True).get_result())
    first, second, third = (item.docs[0] for item in result.results)
    assert first.ok._revisions.start == 1
    assert (second.error.error, third.error.rev) == ("not_found", "1-0")


def test_changes_as_a_list_a_stream_and_a_wait(guest, database):
    db = database.name
    fill(guest, db, "a", "b")
    result = model.ChangesResult.from_dict(guest.post_changes(db, style="all_docs").get_result())
    assert [row.id for row in result.results] == ["a", "b"] and result.pending == 0
    after = guest.post_changes(db, since=result.results[0].seq).get_result()
    assert [row["id"] for row in after["results"]] == ["b"]
    chosen = guest.post_changes(db, doc_ids=["b"], filter="_doc_ids", include_docs=True)
    assert [row["doc"]["n"] for row in chosen.get_result()["results"]] == [ord("b")]
    timer = soon(lambda: fill(guest, db, "c"))
    waited = guest.post_changes(
        db, feed="longpoll", since=result.last_seq, timeout=60000, seq_interval=5)
    timer.join()
    assert [row["id"] for row in waited.get_result()["results"]] == ["c"]
    stream = guest.post_changes_as_stream(db, feed="continuous", timeout=50).get_result()
    lines = [json.loads(line) for line in stream.iter_lines() if line]
    assert [line.get("id") for line in lines] == ["a", "b", "c", None]


def test_changes_by_selector(guest, database):
    fill(guest, database.name, "a", "b")
    found = guest.post_changes(
        database.name, filter="_selector", selector={"n": {"$gt": ord("a")}}, include_docs=True)
    assert [row["id"] for row in found.get_result()["results"]] == ["b"]


def test_follower_reads_all_and_then_listens(guest, database):
    db = database.name
    fill(guest, db, *"abcde")
    follower = ChangesFollower(guest, db=db, include_docs=True)
    assert [item.id for item in follower.start_one_off()] == list("abcde")
    listener = ChangesFollower(guest, db=db, since="0", limit=6)
    timer = soon(lambda: fill(guest, db, "f"))
    assert [item.id for item in itertools.islice(listener.start(), 6)] == list("abcdef")
    timer.join()
    timer = soon(lambda: fill(guest, db, "g"))  # Ends the wait that stop() waits for.
    listener.stop()
    timer.join()


def test_find_indexes_and_explain(guest, database):
    db = database.name
    fill(guest, db, *"abcdefg")
    definition = IndexDefinition(fields=[IndexField(n="asc")])
    made = model.IndexResult.from_dict(
        guest.post_index(db, definition, ddoc="by", name="n", type="json").get_result())
    assert (made.result, made.id, made.name) == ("created", "_design/by", "n")
    listed = model.IndexesInformation.from_dict(guest.get_indexes_information(db).get_result())
    assert {"_all_docs", "n"} <= {index.name for index in listed.indexes}
    assert listed.total_rows == len(listed.indexes)
    query = {"selector": {"n": {"$gte": ord("c")}}, "sort": [{"n": "desc"}], "fields": ["_id"]}
    found = model.FindResult.from_dict(
        guest.post_find(db, **query, limit=2, skip=1, execution_stats=True,
                        use_index=["by", "n"]).get_result())
    assert [doc._id for doc in found.docs] == ["f", "e"]
    assert found.execution_stats.results_returned == 2
    plan = model.ExplainResult.from_dict(guest.post_explain(db, **query).get_result())
    assert plan.index.name == "n" and plan.dbname == db
    pages = Pagination.new_pagination(guest, PagerType.POST_FIND, db=db, **query, limit=2)
    assert [[doc._id for doc in page] for page in pages.pages()] == [["g", "f"], ["e", "d"], ["c"]]
    assert guest.delete_index(db, "by", "json", "n").get_result() == {"ok": True}
    assert refusal(guest.delete_index, db, "by", "json", "n") == (404, "not_found")
    assert refusal(guest.post_find, db, {"n": {"$no": 1}})[0] == 400


def test_conflict_is_seen_and_resolved(guest, database):
    db = database.name
    bodies = [{"_id": "torn", "_rev": rev, "_revisions": {"start": 2, "ids": [rev[2:], "a"]}}
              for rev in ("2-b", "2-c")]
    assert guest.post_bulk_docs(db, {"docs": bodies, "new_edits": False}).get_result() == []
    assert guest.put_document(
        db, "torn", {"_rev": "2-d", "_revisions": {"start": 2, "ids": ["d", "a"]}},
        new_edits=False).get_status_code() == 201
    winner = guest.get_document(db, "torn", conflicts=True).get_result()
    assert (winner["_rev"], winner["_conflicts"]) == ("2-d", ["2-c", "2-b"])
    found = guest.post_find(db, {"_id": "torn"}, conflicts=True).get_result()["docs"]
    assert found[0]["_conflicts"] == ["2-c", "2-b"]
    for loser in winner["_conflicts"]:
        guest.delete_document(db, "torn", rev=loser)
    assert "_conflicts" not in guest.get_document(db, "torn", meta=True).get_result()


def test_local_and_design_documents(guest, database):
    db = database.name
    assert guest.put_local_document(db, "note", {"n": 1}).get_result()["rev"] == "0-1"
    assert guest.get_local_document(db, "note").get_result()["n"] == 1
    assert guest.head_local_document(db, "note").get_status_code() == 200
    assert guest.put_local_document(db, "note", {"n": 2}).get_result()["rev"] == "0-1"
    changed = guest.put_local_document(db, "note", {"n": 2, "_rev": "0-1"}).get_result()
    assert changed["rev"] == "0-2"
    design = guest.put_design_document(
        db, "app", model.DesignDocument(language="query")).get_result()
    assert guest.head_design_document(db, "app").get_headers()["ETag"] == f'"{design["rev"]}"'
    read = guest.get_design_document(db, "app", revs=True).get_result()
    assert read["_id"] == "_design/app" and read["_revisions"]["start"] == 1
    assert guest.delete_design_document(db, "app", rev=design["rev"]).get_result()["ok"]


def test_several_queries_at_once_and_design_documents_alone(guest, database):
    fill(guest, database.name, *"abc")
    guest.put_design_document(database.name, "app", model.DesignDocument())
    queries = [model.AllDocsQuery(keys=["a"]), model.AllDocsQuery(limit=2, skip=1)]
    found = model.AllDocsQueriesResult.from_dict(
        guest.post_all_docs_queries(database.name, queries).get_result())
    assert [[row.id for row in one.rows] for one in found.results] == [["a"], ["a", "b"]]
    designs = guest.post_design_docs(database.name).get_result()["rows"]
    assert [row["id"] for row in designs] == ["_design/app"]


def test_revs_diff_names_what_is_missing(guest, database):
    rev, = fill(guest, database.name, "a")
    asked = {"a": [rev, "3-x"], "b": ["1-y"]}
    answer = guest.post_revs_diff(database.name, asked).get_result()
    assert answer == {
        "a": {"missing": ["3-x"], "possible_ancestors": [rev]}, "b": {"missing": ["1-y"]}}


def test_compressed_bodies_are_read(database):
    client = service(database.server, BearerTokenAuthenticator(database.token))
    client.set_enable_gzip_compression(True)
    fill(client, database.name, *"abc")
    assert client.put_document(database.name, "d", {"text": "x" * 10000}).get_status_code() == 201
    assert len(client.post_all_docs(database.name, keys=["a", "d"]).get_result()["rows"]) == 2


def test_what_is_not_offered_says_so(guest, database):
    db, made = database.name, guest.post_document(database.name, Document(n=1)).get_result()
    views = (guest.post_view, guest.post_view_as_stream)
    for call in views:
        assert refusal(call, db, "app", "all") == (404, "not_found")
    assert refusal(guest.get_attachment, db, made["id"], "a.txt")[0] == 404
    attachment = io.BytesIO(b"hi")
    guest.put_attachment(db, made["id"], "a.txt", attachment, "text/plain", rev=made["rev"])
    assert guest.get_attachment(db, made["id"], "a.txt").get_result().content == b"hi"
    assert refusal(guest.post_bulk_docs, db, {"docs": "none"})[0] == 400
    for call, arguments in (
            (guest.post_search, (db, "app", "all", "x")), (guest.get_membership_information, ()),
            (guest.get_partition_information, (db, "p")), (guest.get_active_tasks, ()),
            (guest.get_db_updates, ()), (guest.post_dbs_info, ([db],)),
            (guest.get_scheduler_jobs, ()), (guest.get_design_document_information, (db, "app")),
            (guest.post_view_queries, (db, "app", "all", [])),
            (guest.get_shards_information, (db,))):
        assert refusal(call, *arguments)[0] in (400, 403, 404, 405, 501)


def test_what_only_an_administrator_may_is_refused(user, account):
    user.put_document(account.store, "mine", {"n": 1})
    assert refusal(user.get_all_dbs) == (403, "forbidden")
    assert refusal(user.delete_database, account.store) == (403, "forbidden")
    assert refusal(user.put_database, account.store) == (412, "file_exists")
    assert refusal(user.put_security, account.store, admins={}, members={}) == (403, "forbidden")
    assert refusal(user.put_database, "mine") == (403, "forbidden")


def test_administrator_shares_a_database_with_a_member(admin, administrator):
    assert admin.put_database("cloudant-db").get_result() == {"ok": True}
    assert refusal(admin.put_database, "cloudant-db") == (412, "file_exists")
    assert refusal(admin.put_database, "Upper") == (400, "illegal_database_name")
    named = admin.get_all_dbs(start_key='"cloudant"', end_key='"cloudant-z"', limit=5).get_result()
    assert named == ["cloudant-db"]
    person = Account(administrator.server)
    member = service(administrator.server, BasicAuthenticator(person.name, person.password))
    with pytest.raises(ApiException):
        member.get_database_information("cloudant-db")
    names = model.SecurityObject(names=[person.name], roles=[])
    assert admin.put_security(
        "cloudant-db", admins=model.SecurityObject(names=[], roles=[]), members=names
    ).get_result() == {"ok": True}
    kept = model.Security.from_dict(admin.get_security("cloudant-db").get_result())
    assert kept.members.names == [person.name]
    fill(member, "cloudant-db", "a")
    assert member.get_database_information("cloudant-db").get_result()["doc_count"] == 1
    assert admin.delete_database("cloudant-db").get_result() == {"ok": True}
    assert refusal(admin.delete_database, "cloudant-db") == (404, "not_found")
