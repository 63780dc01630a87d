"""Y04, Y08, S17: feeds during purges and compactions; quotas to the byte.

A person's own store cannot be purged over HTTP. MirrorPurgeTests tests that its mirror is told to start again.
"""
import concurrent.futures
import threading

import pytest
import requests

from couch import Database
from faults import listed, put

GUEST_BYTES, GUEST_DOCUMENTS = 1 << 20, 201


def follow(database, stop, seen):
    """Reads a feed page by page until it is told to stop. `seen` has the rows in their order."""
    session, since = requests.Session(), "0"
    while True:
        ended = stop.is_set()
        page = database.server.call(
            "GET", f"/couch/{database.name}/_changes?limit=20&feed=longpoll&timeout=300&since={since}",
            database.token, session).json()
        seen += page["results"]
        since = page["last_seq"]
        if ended and not page["results"]:
            return


@pytest.mark.fault("Y08")
@pytest.mark.parametrize("size", [100, 40_000])
def test_feed_during_compactions_is_contiguous(shared, size):
    account = Database(shared)
    stop, feeds = threading.Event(), [[] for _ in range(3)]
    readers = [threading.Thread(target=follow, args=(account, stop, seen)) for seen in feeds]
    for reader in readers:
        reader.start()
    compactions = []

    def compact():
        session = requests.Session()
        while not stop.is_set():
            compactions.append(account.server.call(
                "POST", f"/couch/{account.name}/_compact", account.token, session, json={}).status_code)

    compactor = threading.Thread(target=compact)
    compactor.start()
    # Deleted data leaves free pages. A compaction gives them back while the file is written.
    for number in range(40):
        rev = account.rev(f"d{number % 20}", n=number, text="x" * size) if number < 20 else None
        if rev and number % 2:
            answer = account.call("DELETE", f"/d{number}?rev={rev}")
            assert answer.status_code == 200, answer.text
        if not rev:
            account.rev(f"late-{number}", n=number)
    stop.set()
    compactor.join()
    for reader in readers:
        reader.join()
    assert compactions and set(compactions) == {202}, compactions
    wanted = {row["id"]: row["seq"] for row in account.changes()["results"]}
    for seen in feeds:
        numbers = [int(row["seq"].split("-")[0]) for row in seen]
        assert numbers == sorted(set(numbers)), "each number once and in order"
        last = {row["id"]: row["seq"] for row in seen}
        assert {name: seq.split("-")[0] for name, seq in last.items()} == {
            name: seq.split("-")[0] for name, seq in wanted.items()}


def purge(administrator, database, name):
    """Purges a document with all its leaves."""
    document = database.call("GET", f"/{name}?conflicts=true").json()
    leaves = [document["_rev"], *document.get("_conflicts", [])]
    answer = administrator.call("POST", f"/{database.name}/_purge", json={name: leaves})
    assert answer.status_code == 201, answer.text


@pytest.mark.fault("Y04")
def test_sync_client_that_slept_over_a_purge_goes_on_and_brings_nothing_back(administrator):
    database = administrator.create()
    for name in ("stays", "goes"):
        database.rev(name, n=1)
    first = database.call("GET", "/goes").json()["_rev"]
    history = database.rev("goes", n=2, _rev=first) + " " + first
    since = database.changes()["last_seq"]
    purge(administrator, database, "goes")
    database.rev("new", n=1)
    # The feed continues from the old sequence, without the purged document.
    page = database.changes("&since=" + since)
    assert [row["id"] for row in page["results"]] == ["new"]
    assert [row["id"] for row in database.changes()["results"]] == ["stays", "new"]
    assert database.call("GET", "/goes").status_code == 404
    # A device that still has the document sends it again, and is told that the server knows all its revisions.
    database.graft("goes", history)
    database.graft("goes", history.split()[1])
    assert database.call("GET", "/goes").status_code == 404
    assert database.rev("goes", n=1).startswith("3-")
    # A new reader does not get the document, and a client does not push again what its checkpoint covers.
    assert int(page["last_seq"].split("-")[0]) > int(since.split("-")[0])


@pytest.mark.fault("S17")
def test_a_hundred_parallel_writers_never_exceed_a_guests_bytes(shared):
    database = Database(shared)
    body = {"text": "x" * 30_000}

    def write(number):
        answer = shared.call("PUT", f"/couch/{database.name}/d{number}", database.token, json=body)
        assert answer.status_code in (201, 429, 503, 507), answer.text
        return answer.status_code

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(write, range(100)))
    usage = shared.call("GET", "/v1/me", database.token).json()["usage"]
    stored = len('{"text":""}') + 30_000
    assert usage["bytes"] == answers.count(201) * stored <= GUEST_BYTES
    assert 507 in answers
    # There is no space for any of the refused documents.
    assert usage["bytes"] + stored > GUEST_BYTES or {429, 503} & set(answers)


@pytest.mark.fault("S17")
def test_conflicts_and_history_count_and_deletions_make_room(shared):
    database = Database(shared)
    text = "x" * 40_000
    stored = 0
    for number in range(40):
        answer = database.call("POST", "/_bulk_docs", json={"new_edits": False, "docs": [
            {"_id": "conflicted", "_rev": f"1-{number:02}", "text": text}]})
        if answer.status_code == 507 or answer.json():
            break
        stored += 1
    used = shared.call("GET", "/v1/me", database.token).json()["usage"]["bytes"]
    assert stored < 27 and used <= GUEST_BYTES and used > stored * 40_000
    # Deletion of leaves frees space, whatever their history is.
    rows = database.changes()["results"]
    for leaf in rows[0]["changes"][:10]:
        answer = database.call("DELETE", "/conflicted?rev=" + leaf["rev"])
        assert answer.status_code == 200, answer.text
    assert shared.call("GET", "/v1/me", database.token).json()["usage"]["bytes"] < used - 6 * 40_000
    assert database.put("another", text=text).status_code == 201


@pytest.mark.fault("S17")
def test_history_of_edits_never_stands_in_the_way_of_documents(shared):
    token = shared.guest()
    database = Database(shared, token)
    rev, text = None, "x" * 20_000
    for number in range(80):
        rev = database.rev("edited", n=number, text=text, **({"_rev": rev} if rev else {}))
        assert shared.call("GET", "/v1/me", token).json()["usage"]["bytes"] <= GUEST_BYTES
    for number in range(30):
        assert database.put(f"d{number}", text="y" * 30_000).status_code == 201 or number >= 25
    assert put(shared, token, "hotel", "z" * 100).status_code in (201, 507)
    assert "edited" in database.documents()
    assert listed(shared, token) <= {"hotel"}
