"""A person's data: an export is the same from another account, and an interrupted import leaves the account empty.

`BOOKMARKS_SEED` sets the seed that a failure prints, `BOOKMARKS_KILLS` the number of kills.
"""
import gzip
import hashlib
import json
import os
import random
import socket
import threading
import time
import urllib.parse

import requests

from conftest import NIGHTLY
from couch import Account, Database
from waiting import PATIENCE, wait_until

KILLS = int(os.environ.get("BOOKMARKS_KILLS") or (100 if NIGHTLY else 5))
SEED = int(os.environ.get("BOOKMARKS_SEED") or (random.randrange(1_000_000) if NIGHTLY else 1))
DOCUMENTS = 600
"""The number of documents of an export, so that its import takes several commits."""


def export(server, token, **options):
    answer = server.call("GET", "/v1/me/export", token, **options)
    assert answer.status_code == 200, answer.text
    return answer.content


def told(text):
    """An export's lines about the store's content, without those about the account and the store's counters."""
    skipped = (b'{"export"', b'{"section"', b'{"end"', b'{"manifest"', b'{"note":"guest/')
    return [line for line in text.splitlines() if not line.startswith(skipped)]


def bring(server, token, text, **options):
    return server.call("POST", "/v1/me/import", token, data=text, **options)


def filled(server):
    """Makes an account with conflicts, tombstones, bookmarks and many documents. Returns it with its export."""
    account = Account(server)
    database = Database(server, account.token)
    for number in range(3):
        server.call("PUT", f"/v1/bookmarks/h{number}", account.token, json={"name": f"Hotel {number} é"})
    server.call("DELETE", "/v1/bookmarks/h1", account.token)
    database.graft("conflict", "3-c 2-b 1-a", "2-x 1-a", "1-z")
    database.bulk(*({"_id": f"d{number}", "n": number, "f": "x" * 900} for number in range(DOCUMENTS)))
    return account, export(server, account.token)


def test_export_is_whole_and_the_same_in_another_account(shared):
    account, text = filled(shared)
    *lines, last = text.splitlines(keepends=True)
    manifest = json.loads(last)["manifest"]
    assert manifest["sha256"] == hashlib.sha256(b"".join(lines)).hexdigest()
    assert manifest["lines"] == len(lines) and manifest["bytes"] == sum(map(len, lines))
    for line in lines:
        json.loads(line)
    packed = requests.get(
        shared.url + "/v1/me/export", stream=True, timeout=PATIENCE,
        headers={"Authorization": "Bearer " + account.token, "Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    unpacked = gzip.decompress(packed.raw.read())
    assert told(unpacked) == told(text)
    other = Account(shared)
    answer = bring(shared, other.token, text)
    assert answer.status_code == 200, answer.text
    assert answer.json()["documents"] == manifest["documents"]
    assert told(export(shared, other.token)) == told(text)
    mine, theirs = (Database(shared, person.token).changes() for person in (account, other))
    revisions = lambda found: {row["id"]: row["changes"] for row in found["results"]}
    assert revisions(mine) == revisions(theirs)
    assert bring(shared, other.token, text).status_code == 409


def test_import_takes_its_body_as_it_comes_and_with_leave(shared):
    _, text = filled(shared)
    pieces = [text[start:start + 50_000] for start in range(0, len(text), 50_000)]
    packed = gzip.compress(text)
    for send, coding in ((lambda: iter(pieces), None), (lambda: text, None), (lambda: packed, "gzip"),
                         (lambda: iter([packed[:99], packed[99:]]), "gzip")):
        account = Account(shared)
        answer = bring(shared, account.token, send(), headers={"Expect": "100-continue", "Content-Encoding": coding})
        assert answer.status_code == 200, answer.text
        assert told(export(shared, account.token)) == told(text)


def import_under_way(server, text):
    """Sends all of an import but its end. Returns the account and the connection once a second import is refused."""
    parts = urllib.parse.urlsplit(server.url)
    for attempt in range(40):
        account = Account(server)
        connection = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
        head = (f"POST /v1/me/import HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {account.token}\r\n"
                f"Content-Length: {len(text)}\r\n\r\n")
        connection.sendall(head.encode() + text[:-2_000])
        time.sleep(0.2 * attempt)
        if bring(server, account.token, text).json().get("error") == "import_running":
            return account, connection
        # The second import came first.
        connection.close()
    raise AssertionError("the first import never was the first")


def test_nobody_sees_an_import_before_its_end_nor_one_that_breaks_off(shared):
    _, text = filled(shared)
    account, connection = import_under_way(shared, text)
    database = Database(shared, account.token)
    with connection:
        assert database.changes()["results"] == []
        assert shared.call("GET", "/v1/bookmarks", account.token).json()["bookmarks"] == []
        assert len(export(shared, account.token).splitlines()) == 4
    answer = wait_until(lambda: (found := bring(shared, account.token, text)).status_code == 200 and found)
    assert answer.json()["documents"] > DOCUMENTS
    assert told(export(shared, account.token)) == told(text)


def test_an_account_that_is_erased_meanwhile_gets_nothing(shared):
    _, text = filled(shared)
    account = Account(shared)

    def pieces():
        yield text[:50_000]
        assert shared.call("DELETE", "/v1/me", account.token).status_code == 204
        yield text[50_000:]

    assert bring(shared, account.token, pieces()).status_code == 401


def test_after_a_kill_at_any_moment_the_account_is_empty_or_whole(start):
    chance = random.Random(SEED)
    server = start()
    account, text = filled(server)
    token, whole, longest = account.token, 0, 0.5
    for turn in range(KILLS):
        other, answers = Account(server), []

        def send():
            began = time.monotonic()
            try:
                answers.append((bring(server, other.token, text).status_code, time.monotonic() - began))
            except requests.RequestException:
                pass

        sender = threading.Thread(target=send)
        sender.start()
        # The last step is a short moment at the end, so half of the kills are near it.
        wait = chance.uniform(0, longest) if turn % 2 else chance.uniform(0.85, 1.05) * longest
        time.sleep(wait)
        server.kill()
        sender.join()
        server = start()
        found = told(export(server, other.token))
        assert found in ([], told(text)), f"seed {SEED}: {len(found)} lines"
        if answers:
            assert answers[0][0] == 200 and found, f"seed {SEED}: {answers}"
            longest = answers[0][1]
        whole += bool(found)
        # The accounts' own store, the exported one, and one for each account that was filled. No other file is left.
        files = list((server.data / "stores").rglob("*.sqlite"))
        assert len(files) == 2 + turn + bool(found), f"seed {SEED}"
        if not found:
            assert bring(server, other.token, text).status_code == 200, f"seed {SEED}"
    assert told(export(server, token)) == told(text)
    print(f"seed {SEED}: {KILLS} kills, {whole} after the end")
