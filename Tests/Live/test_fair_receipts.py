"""Batches with their own idempotency keys: what the server keeps for retries is counted and bounded."""
import os

import pytest

import hostile
import watched
from hostile_load import run_hostile_load
from people import HOSTILE, Person

BATCHES = 2000 if os.environ.get("BOOKMARKS_NIGHTLY") else 300

LOG = 8 << 20
"""The most bytes of a store's log."""


@pytest.mark.nightly
def test_batches_with_many_keys_hold_nobody_up(start):
    statuses = run_hostile_load(start("--guests-per-hour", "100000"), "receipts")
    assert set(statuses) <= {200, 409, 413, 429, 503, 507}, statuses


@pytest.mark.nightly
def test_receipts_stay_within_a_guests_quota(start):
    server = start("--guests-per-hour", "100000")
    person, rows = Person(server, HOSTILE), watched.limits(server)
    before, statuses = watched.stored(server), set()
    for number in range(BATCHES):
        asked = hostile.batch(number, "receipts")
        answer = person.ask(asked.method, asked.path, data=asked.body, headers=asked.fields)
        statuses.add(answer.status_code)
    assert 200 in statuses and statuses <= {200, 409, 413, 429, 507}, statuses
    # The store, and a log that is not yet copied into it.
    assert watched.stored(server) - before <= rows["storeOverallFactor"] * rows["guestBytes"] + LOG
    assert person.ask("GET", "/v1/bookmarks").status_code == 200
