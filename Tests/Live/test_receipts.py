"""Asynchronous writes, which are answered before they are carried out, and retries, on servers that are killed.

`BOOKMARKS_SEED` sets the seed that a failure prints, `BOOKMARKS_KILLS` the number of kills.
"""
import os
import random
import threading
import time

import requests

import postgres
from conftest import NIGHTLY
from waiting import PATIENCE, wait_until

IS_SHARED = bool(os.environ.get(postgres.INHERITED))
"""Whether the servers use a database. Then the receipt of a lost write is pending for half a minute, because another
server might carry the write out."""
KILLS = int(os.environ.get("BOOKMARKS_KILLS") or (300 if NIGHTLY else 10) // (5 if IS_SHARED else 1))
SEED = int(os.environ.get("BOOKMARKS_SEED") or (random.randrange(1_000_000) if NIGHTLY else 1))
ASYNC = {"Prefer": "respond-async"}
LONGEST = 0.05
"""The most seconds between the first request and a kill."""
STOPPED = "Not carried out: the server stopped. Send it again"


def settled(server, token, path):
    """Waits until a receipt is not pending any more. Returns the receipt."""
    def known():
        answer = server.call("GET", path, token)
        assert answer.status_code == 200, answer.text
        receipt = answer.json()
        return [receipt] if receipt["status"] != "pending" else None

    return wait_until(known, path)[0]


def bookmark(server, token, hotel):
    """The response to `GET` of a bookmark."""
    return server.call("GET", f"/v1/bookmarks/{hotel}", token)


def holds(server, token, hotel, receipt):
    """Whether a receipt is true. Only one write has bookmarked the hotel."""
    found = bookmark(server, token, hotel)
    if receipt["status"] == "rejected":
        return found.status_code == 404
    revisions = {change["id"]: change["rev"] for change in receipt["changed"]}
    return (found.status_code == 200 and found.json()["rev"] == revisions[hotel]
            and receipt["answer"]["status"] == 201
            and receipt["answer"]["headers"]["ETag"] == found.headers["ETag"]
            and receipt["answer"]["body"] == found.json())


def test_receipts_tell_the_truth_after_kills(start):
    print(f"BOOKMARKS_SEED={SEED}")
    chance, counts, token, given = random.Random(SEED), {"committed": 0, "rejected": 0}, None, []
    server = start("--guests-per-hour", "1000000")
    for kill in range(KILLS):
        if kill % 5 == 0:
            token, earlier = server.guest(), []
        given = []
        # A slow machine may commit nothing so soon, so every fifth kill comes after a commit.
        timer = threading.Timer(chance.uniform(0, LONGEST) if kill % 5 else PATIENCE, server.process.kill)
        timer.start()
        try:
            with requests.Session() as session:
                for number in range(1_000):
                    hotel = f"k{kill}n{number}"
                    answer = server.call("PUT", f"/v1/bookmarks/{hotel}", token, session=session,
                                         json={"name": hotel}, headers=ASYNC)
                    if answer.status_code in (429, 503):
                        time.sleep(0.001)
                        continue
                    assert answer.status_code == 202, answer.text
                    given.append((hotel, answer.headers["Location"]))
                    if kill % 5 == 0 and len(given) == 50:
                        settled(server, token, given[0][1])
                        server.process.kill()
        except requests.RequestException:
            pass
        timer.cancel()
        timer.join()
        server.process.wait(timeout=PATIENCE)
        server = start("--guests-per-hour", "1000000")
        statuses = []
        for hotel, path in given:
            receipt = settled(server, token, path)
            assert holds(server, token, hotel, receipt), (kill, hotel, receipt)
            if receipt["status"] == "rejected" and receipt["problem"]["error"] != "quota_exceeded":
                assert receipt["reason"] == STOPPED
            statuses.append(receipt["status"])
            counts[receipt["status"]] += 1
            earlier.append((hotel, path, receipt))
        # The server carries them out in order, so only the last ones can be lost.
        lost = statuses.index("rejected") if "rejected" in statuses else len(statuses)
        assert "committed" not in statuses[lost:]
        for hotel, path, receipt in earlier[-20:]:
            again = settled(server, token, path)
            assert {**again, "problem": None} == {**receipt, "problem": None}
    print(f"{KILLS} kills, {counts}")
    assert counts["committed"]


def test_committed_write_is_there_after_a_kill_at_once(start):
    server = start()
    token = server.guest()
    for kill in range(min(KILLS, 15)):
        hotel = f"hotel{kill}"
        answer = server.call("PUT", f"/v1/bookmarks/{hotel}", token, json={"n": kill}, headers=ASYNC)
        path = answer.headers["Location"]
        committed = settled(server, token, path)
        server.kill()
        server = start()
        assert settled(server, token, path) == committed
        assert holds(server, token, hotel, committed)


def test_retry_after_a_kill_gets_the_answer_that_nobody_heard(start):
    print(f"BOOKMARKS_SEED={SEED}")
    chance, server = random.Random(SEED), start()
    token, heard = server.guest(), 0
    for kill in range(KILLS):
        path, headers = f"/v1/bookmarks/h{kill}", {"Idempotency-Key": f"key {kill}"}
        first = None
        timer = threading.Timer(chance.uniform(0, 0.02), server.process.kill)
        timer.start()
        try:
            while True:
                answer = server.call("PUT", path, token, json={"name": path}, headers=headers)
                assert answer.status_code == 201, answer.text
                assert first in (None, answer.content)
                first = answer.content
        except requests.RequestException:
            pass
        timer.join()
        server.process.wait(timeout=PATIENCE)
        server = start()
        again = server.call("PUT", path, token, json={"name": path}, headers=headers)
        # 201 in each case: the first response was received, it was lost, or the first request was not carried out.
        assert again.status_code == 201 and first in (None, again.content), again.text
        assert again.json() == bookmark(server, token, f"h{kill}").json()
        assert again.json()["rev"].startswith("1-")
        heard += first is not None
    print(f"{KILLS} kills, {heard} answers heard before")


def test_server_that_stops_carries_out_what_it_has_accepted(start):
    server = start()
    token, given = server.guest(), []
    with requests.Session() as session:
        for number in range(30):
            answer = server.call("PUT", f"/v1/bookmarks/h{number}", token, session=session,
                                 json={"name": "N"}, headers=ASYNC)
            assert answer.status_code == 202, answer.text
            given.append((f"h{number}", answer.headers["Location"]))
    assert server.stop() == 0
    server = start()
    for hotel, path in given:
        receipt = settled(server, token, path)
        assert receipt["status"] == "committed" and holds(server, token, hotel, receipt)
