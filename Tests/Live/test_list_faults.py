"""The catalogue of faults, with a shared list instead of a person's store: S06, S07, S08, S17, S19, S20, Y04, Y05."""
import concurrent.futures
import uuid

import pytest
import requests

from couch import Account, Database
from waiting import PATIENCE, wait_until
from test_couch_feeds import open_feed
from test_feeds import Feed, is_open, many
from test_http_connections import stores
from test_observers import Stream, bookmark, make_list

LIST_DOCUMENTS = 50_000
ONE, OTHER = {"add": [{"id": "one", "name": "One"}]}, {"remove": ["one"]}


def database(account, path):
    return Database(account.server, account.token, "list-" + path[10:])


def ids(account, path):
    page = account.server.call("GET", path + "/bookmarks", account.token).json()
    return [each["id"] for each in page["bookmarks"]]


def batch(account, path, key, body):
    return account.server.call(
        "POST", path + "/bookmarks", account.token, json=body, headers={"Idempotency-Key": key})


@pytest.mark.fault("S06")
def test_places_in_one_list_are_of_no_use_in_another(shared):
    owner, intruder = Account(shared), Account(shared)
    theirs, own = make_list(owner), make_list(intruder)
    bookmark(owner, "secret", theirs)
    token = shared.call("GET", theirs + "/mirror", owner.token).json()["token"]
    since = database(owner, theirs).changes()["last_seq"]
    for path in (own, "/v1"):
        assert shared.call("GET", f"{path}/mirror?since={token}", intruder.token).status_code == 410
    answer = database(intruder, own).call("GET", f"/_changes?since={since}")
    assert (answer.status_code, answer.json()["results"]) == (200, database(intruder, own).changes()["results"])
    assert "secret" not in answer.text
    # The id of an owner's event covers a list that the intruder is not on. The stream tells nothing about that list.
    place = Stream(owner).last
    bookmark(owner, "later", theirs)
    stream = Stream(intruder, "", place)
    bookmark(intruder, "mine", own)
    wait_until(lambda: ("change", "mine") in stream.told())
    assert "later" not in str(stream.events) and "secret" not in str(stream.events)


@pytest.mark.fault("S07")
def test_invitation_needs_an_account_and_is_used_once(shared):
    owner = Account(shared)
    path = make_list(owner)
    token = shared.call("POST", path + "/invitations", owner.token, json={"role": "editor"}).json()["token"]
    guest = shared.guest()
    answer = shared.call("POST", f"/v1/invitations/{token}/accept", guest)
    assert (answer.status_code, answer.json()["error"]) == (403, "account_needed")
    for wrong in (token[:-1], token[::-1], uuid.uuid4().hex):
        assert shared.call("POST", f"/v1/invitations/{wrong}/accept", owner.token).status_code == 404
    body = {"username": "user-" + uuid.uuid4().hex, "password": Account.password}
    user = shared.call("POST", "/v1/users", guest, json=body).json()["token"]
    assert shared.call("POST", f"/v1/invitations/{token}/accept", user).status_code == 200
    # The guest's token is no longer valid for the list either. The invitation is used.
    assert shared.call("GET", path, guest).status_code == 410
    assert shared.call("POST", f"/v1/invitations/{token}/accept", Account(shared).token).status_code == 410


@pytest.mark.fault("S08")
def test_refused_lists_make_no_files(start):
    server = start()
    guest, user = server.guest(), Account(server)
    before = stores(server)
    for token in (guest, None):
        assert server.call("POST", "/v1/lists", token, json={"title": "Rome"}).status_code in (401, 403)
    assert server.call("POST", "/v1/lists", user.token, json={"title": " "}).status_code == 400
    assert stores(server) == before


@pytest.mark.fault("S17")
def test_a_list_has_limits_of_its_own_and_takes_nothing_of_its_members(shared):
    owner, editor = Account(shared), Account(shared)
    path = make_list(owner, (editor, "editor"))
    usage = [shared.call("GET", "/v1/me", each.token).json()["usage"] for each in (owner, editor)]
    assert database(editor, path).bulk(*({"_id": f"d{n}", "text": "x" * 500_000} for n in range(8)))
    assert usage == [shared.call("GET", "/v1/me", each.token).json()["usage"] for each in (owner, editor)]
    answer = shared.call(
        "PUT", path + "/notes/Long", editor.token, json={"markdown": "x" * (256 * 1024 + 1)})
    assert answer.status_code == 413, answer.text


@pytest.mark.nightly
@pytest.mark.fault("S17")
def test_a_list_takes_50000_documents_and_not_one_more_whoever_writes_and_how(start):
    server = start()
    owner, editor = Account(server), Account(server)
    path = make_list(owner, (editor, "editor"))
    mine, theirs = database(owner, path), database(editor, path)
    # The list's own document counts as one of them.
    for first in range(1, LIST_DOCUMENTS, 1_000):
        documents = [{"_id": f"d{n}"} for n in range(first, min(first + 1_000, LIST_DOCUMENTS))]
        answer = (mine, theirs)[first // 1_000 % 2].call("POST", "/_bulk_docs", json={"docs": documents})
        assert answer.status_code == 201 and all(row.get("ok") for row in answer.json()), answer.text[:300]
    assert mine.call("GET").json()["doc_count"] == LIST_DOCUMENTS

    def refused(answer, status=507):
        return (answer.status_code, answer.json()["error"]) == (status, "quota_exceeded")

    for person in (owner, editor):
        for method, target, body in (
                ("PUT", "/bookmarks/h1", {"name": "One"}), ("POST", "/bookmarks", ONE),
                ("PUT", "/notes/Plan", {"markdown": "one"})):
            assert refused(server.call(method, path + target, person.token, json=body)), target
        assert server.call(
            "PUT", path + "/bookmarks/h1?draft=true", person.token, json={"name": "One"}).status_code == 201
        assert refused(server.call("POST", path + "/bookmarks/h1/publish", person.token))
    assert refused(theirs.put("one-more"))
    assert refused(theirs.call("POST", "/_bulk_docs", json={
        "new_edits": False, "docs": [{"_id": "grafted", "_rev": "1-a"}]}))
    row, = theirs.call("POST", "/_bulk_docs", json={"docs": [{"_id": "one-more"}]}).json()
    assert row["error"] == "quota_exceeded"
    # After three deletions there is space for three of a hundred writes, whichever come first.
    for number in (1, 2, 3):
        rev = mine.call("GET", f"/d{number}").json()["_rev"]
        assert mine.call("DELETE", f"/d{number}?rev={rev}").status_code == 200
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(
            lambda n: database((owner, editor)[n % 2], path).put(f"race{n}").status_code, range(100)))
    assert answers.count(201) == 3 and set(answers) <= {201, 429, 503, 507}, answers
    assert mine.call("GET").json()["doc_count"] == LIST_DOCUMENTS


@pytest.mark.fault("S19")
def test_keys_on_a_list_replay_for_who_sent_them_alone(start):
    server = start()
    owner, editor = Account(server), Account(server)
    path = make_list(owner, (editor, "editor"))
    first = batch(owner, path, "k", ONE)
    assert first.status_code == 200, first.text
    assert batch(owner, path, "k", OTHER).status_code == 422
    # The same key of another member is a different key.
    assert batch(editor, path, "k", OTHER).status_code == 200
    assert ids(owner, path) == []
    server.kill()
    owner.server = editor.server = start()
    assert batch(owner, path, "k", ONE).content == first.content
    assert ids(owner, path) == []


@pytest.mark.fault("S20")
def test_feeds_and_exports_of_a_deleted_list_end_and_nothing_of_it_stays(start):
    server = start()
    owner, editor = Account(server), Account(server)
    before = stores(server)
    path = make_list(owner, (editor, "editor"))
    many(database(editor, path), 40, 50_000)
    feed = Feed(database(editor, path), "feed=continuous&since=now&heartbeat=1000")
    assert feed.head() == 200
    stream = Stream(editor)
    session = requests.Session()
    export = session.get(
        server.url + "/v1/me/export", headers={"Authorization": "Bearer " + owner.token}, stream=True,
        timeout=PATIENCE)
    assert export.status_code == 200
    assert server.call("DELETE", path, owner.token).status_code == 204
    wait_until(lambda: ("left", None) in stream.told())
    wait_until(lambda: not is_open(feed) or b"last_seq" in feed.file.read1(1 << 16), "the feed goes on")
    # The export is complete, from a moment before the deletion, or it has no manifest.
    text = b""
    try:
        for piece in export.iter_content(1 << 16):
            text += piece
    except requests.RequestException:
        assert b'"manifest"' not in text
    wait_until(lambda: stores(server) == before, "files of the list are left")
    assert database(editor, path).call("GET", "/_all_docs").status_code == 403
    feed.close()


@pytest.mark.fault("Y04")
def test_device_that_slept_over_a_deletion_of_a_list_brings_nothing_back(shared):
    owner, editor = Account(shared), Account(shared)
    path = make_list(owner, (editor, "editor"))
    bookmark(editor, "h1", path)
    slept = shared.call("GET", path + "/mirror", editor.token).json()["token"]
    document = database(editor, path).call("GET", "/h1?revs=true").json()
    assert shared.call("DELETE", path, owner.token).status_code == 204
    answer = database(editor, path).call(
        "POST", "/_bulk_docs", json={"docs": [document], "new_edits": False})
    assert answer.status_code == 403
    assert shared.call("GET", f"{path}/mirror?since={slept}", editor.token).status_code == 404


@pytest.mark.fault("Y05")
@pytest.mark.parametrize("feed", ["normal", "continuous", "eventsource"])
def test_membership_that_ends_in_the_middle_of_a_page_ends_the_page(shared, feed):
    owner, friend = Account(shared), Account(shared)
    path = make_list(owner, (friend, "reader"))
    many(database(owner, path), 300, 50_000)
    reader = Feed(
        database(friend, path), f"feed={feed}&include_docs=true&heartbeat=60000", buffer=4096)
    assert reader.head() == 200
    reader.file.readline()
    waiting, lines = open_feed(database(friend, path), "continuous")
    assert shared.call("DELETE", f"{path}/members/{friend.name}", owner.token).status_code == 204
    # The server has checked the membership again when the waiting feed ends. The client reads nothing meanwhile.
    with waiting:
        assert b"last_seq" in b"".join(lines)
    database(owner, path).rev("later", text="not for who has left")
    rest = b""
    try:
        while not rest.endswith(b"\r\n0\r\n\r\n") and (piece := reader.file.read1(1 << 20)):
            rest += piece
    except ConnectionResetError:
        pass
    # The bytes in the sockets' buffers may arrive, but not all 15 MB, and no end that looks complete.
    assert len(rest) < 8_000_000 and b'"pending":0' not in rest and b"not for who" not in rest
    reader.close()
