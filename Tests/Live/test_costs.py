"""Requests of every operation over a store that is as hostile as the quotas allow, changed at random towards the most
expensive ones. None fails, memory and work stay bounded, and in a release build none takes too much time.

By default 24 requests are changed. `BOOKMARKS_COSTS_SECONDS` sets a duration instead; in the nightly run it is an hour.
The most expensive requests are written to `.build/costs.md`.
"""
import os
import random
import time

import watched
from conftest import NIGHTLY
from cost_search import CostSearch
from hostile_store import HostileStore
from people import Person
from server import BINARY, ROOT

REQUESTS = 24
SECONDS = float(os.environ.get("BOOKMARKS_COSTS_SECONDS") or (3600 if NIGHTLY else 0))
RELEASE = bool(os.environ.get("BOOKMARKS_RELEASE")) or "/release/" in BINARY
SLICE = 10
"""The longest slice in milliseconds that is allowed. The server aims at two."""
LISTED = {
    "signUp", "logIn", "changePassword", "resetPassword", "travelSignUp", "travelLogIn", "travelTenantSignUp", "travelTenantLogIn", "couchLogIn", "liteLogIn",
    "couchBulkDocs", "couchPostDocument", "couchPutDocument", "couchPutDesign", "couchPutLocal", "couchCopyDocument",
    "couchPostIndex", "couchPurge", "couchDeleteDocument", "couchPutAttachment", "couchDeleteAttachment", "lite rev",
}
"""Operations with a call that is bounded and listed instead of sliced: a hash, one document's digest, one rule."""
BODIES = 4 << 20
"""The most bytes of request bodies that one client has in transit."""


def test_no_request_costs_too_much(start):
    server = start(
        "--guests-per-hour", "1000000", *(("--request-processor-milliseconds", "2000") if RELEASE else ()),
        environment={"HOTEL_BOOKMARKS_SHOW_COST": "1"})
    person = Person(server, kind="user")
    search = CostSearch(person, HostileStore(person, 1 if RELEASE else 0.05), random.Random(13), SLICE if RELEASE else None)
    end = time.monotonic() + SECONDS
    search.run(lambda count: server.process.poll() is None and (
        time.monotonic() < end if SECONDS else count < REQUESTS))
    assert server.process.poll() is None, "".join(server.log[-20:])
    report = ROOT / ".build" / "costs.md"
    report.parent.mkdir(exist_ok=True)
    report.write_text(search.report(), encoding="utf-8")
    assert not search.failed, search.failed[:5]
    assert search.best, "no answer tells what it cost"
    watched.rests(server)
    assert watched.peak(server) <= watched.allowed(server, BODIES)
    assert person.ask("GET", person.path + "/_all_docs?limit=1").status_code == 200
    if RELEASE:
        dear = [cost.row() for cost in search.worst("whole") if cost.whole > cost.bound()]
        long = [cost.row() for cost in search.worst("slice", 100)
                if cost.slice > SLICE and cost.call.operation.name not in LISTED]
        assert not dear and not long, "\n".join(dear + ["in one piece:"] + long)
