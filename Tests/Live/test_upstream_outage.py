"""An upstream that is unavailable for a whole load run or for an hour (FAULTS U10), a first start without one, and
pages that stay the same."""
import collections
import concurrent.futures
import contextlib
import itertools
import random
import sqlite3
import threading
import time

import pytest
import requests

from conftest import NIGHTLY
from waiting import PATIENCE, wait_until
from searching import answered, bookmarked, metric, search
from stub_upstream import answer, hotels

SECONDS = 120 if NIGHTLY else 6
"""How long the load runs while the upstream is unavailable. After it is back, the load runs a third of that."""
TEXTS = [f"text {number}" for number in range(60)]


def grow_old(data, ages=(30, 100, 3_600, 80_000)):
    """Makes stored responses older by these seconds in turn: fresh, stale and old ones."""
    with contextlib.closing(sqlite3.connect(data / "search-cache.sqlite")) as file, file:
        rows = [row for row, in file.execute("SELECT rowid FROM blocks ORDER BY key")]
        for number, row in enumerate(rows):
            milliseconds = ages[number % len(ages)] * 1000
            file.execute("UPDATE blocks SET stored = stored - ? WHERE rowid = ?", (milliseconds, row))


class Load:
    """Eight people who repeat searches from before the outage."""

    def __init__(self, server, tokens):
        self.server, self.tokens = server, tokens
        self.statuses, self.sources = collections.Counter(), collections.Counter()
        self.slowest, self._until, self._lock = 0, 0, threading.Lock()

    def run(self, seconds):
        self._until = time.monotonic() + seconds
        threads = [threading.Thread(target=self._search, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _search(self, number):
        chance, session = random.Random(number), requests.Session()
        while time.monotonic() < self._until:
            began = time.monotonic()
            # One search in ten is for a hotel that only the mirror has.
            text = "harbour inn" if chance.random() < 0.1 else chance.choice(TEXTS)
            reply = self.server.call(
                "GET", "/v1/hotels", token=self.tokens[number], session=session,
                params={"description": text})
            source = reply.json().get("source") if reply.status_code == 200 else reply.json()["error"]
            with self._lock:
                self.statuses[reply.status_code] += 1
                self.sources[source] += 1
                self.slowest = max(self.slowest, time.monotonic() - began)


@pytest.mark.nightly
def test_dead_upstream_for_a_whole_load_run(start, stub, tmp_path):
    is_dead = []

    def script(*_):
        if is_dead:
            return answer(b"down", 503, "text/plain")
        time.sleep(0.05)
        return hotels(1, 2, 3)

    upstream = stub(script)
    front = start("--upstream", upstream.url)
    tokens = [bookmarked(front) for _ in range(8)]
    for text in TEXTS:
        answered(front, text)
    assert front.stop() == 0
    grow_old(front.data)
    is_dead.append(True)
    upstream.calls.clear()

    front = start("--upstream", upstream.url)
    load = Load(front, tokens)
    began = time.monotonic()
    load.run(SECONDS)
    seconds = time.monotonic() - began
    calls, retried = len(upstream.calls), metric(front, "upstream_guard_total", decision="retried")
    refused = metric(front, "upstream_guard_total", decision="refused")
    searches = load.statuses.total()
    print(f"\ndead for {SECONDS} s: {searches} searches, {dict(load.statuses)}, {dict(load.sources)}, "
          f"slowest {load.slowest:.2f} s; {calls} upstream calls, {retried:.0f} of them second attempts, "
          f"{refused:.0f} refused by the breaker: {calls / (calls - retried):.2f} calls a first attempt")
    assert set(load.statuses) == {200}
    assert set(load.sources) == {"cache", "stale", "mirror"}
    # Eight calls open the breaker, one of them a retry. After that there is at most one probe per half second.
    assert retried <= 0.1 * (calls - retried) + 1
    assert calls <= 12 + 2 * seconds
    # The breaker stays open while searches fail.
    texts = itertools.count()

    def is_degraded():
        search(front, f"never asked {next(texts)}")
        return front.call("GET", "/readyz").json()["status"] == "degraded"

    wait_until(is_degraded)

    is_dead.clear()
    upstream.calls.clear()
    upstream.highest = 0
    back = Load(front, tokens)
    back.run(SECONDS / 3)
    deadline = time.monotonic() + PATIENCE
    while metric(front, "upstream_breaker_open") and time.monotonic() < deadline:
        back.run(1)
    print(f"back: {back.statuses.total()} searches, {dict(back.sources)}, slowest {back.slowest:.2f} s; "
          f"{len(upstream.calls)} upstream calls, {upstream.highest} at once at most")
    assert metric(front, "upstream_breaker_open") == 0
    # A text that was not searched for before is fetched at once: here it is one text.
    assert set(back.statuses) == {200}
    assert 1 <= upstream.highest <= 6 + 1
    # On a busy machine some calls miss the deadline and are repeated.
    assert len(upstream.calls) <= 2 * len(TEXTS)


@pytest.mark.fault("U10")
def test_upstream_that_is_back_after_an_hour_is_asked_about_once_for_each_text(start, stub):
    """During the outage everybody gets stored responses. Both times, all people search for all texts at once."""
    texts, is_dead = [f"text {number}" for number in range(100 if NIGHTLY else 24)], []

    def script(*_):
        time.sleep(0.05)
        return answer(b"down", 503, "text/plain") if is_dead else hotels(1, 2, 3)

    upstream = stub(script)
    front = start("--upstream", upstream.url)

    def everybody():
        """Counts the sources of the results for twelve people."""
        def look(number):
            replies = [search(front, text) for text in random.Random(number).sample(texts, len(texts))]
            assert {reply.status_code for reply in replies} == {200}
            return [reply.json()["source"] for reply in replies]

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            return collections.Counter(source for found in pool.map(look, range(12)) for source in found)

    for text in texts:
        answered(front, text)
    assert front.stop() == 0
    for is_away in (True, False):
        # The second time, the upstream was available for the whole hour, but nobody searched.
        grow_old(front.data, [3_600])
        is_dead[:] = [True] * is_away
        front = start("--upstream", upstream.url)
        if is_away:
            assert set(everybody()) == {"stale"}
            assert metric(front, "upstream_breaker_open") == 1
        is_dead.clear()
        upstream.calls.clear()
        upstream.highest = 0
        began = time.monotonic()
        wait_until(lambda: set(everybody()) == {"cache"}, "some are never asked for again")
        print(f"\n{len(texts)} texts: {len(upstream.calls)} upstream calls, {upstream.highest} at once at most")
        # On a busy machine some calls miss the deadline and are repeated.
        assert len(texts) <= len(upstream.calls) <= 1.5 * len(texts)
        # For ten seconds after an outage, few calls are made at the same time.
        assert not is_away or upstream.highest <= 6 + 1 or time.monotonic() - began > 10
        assert front.stop() == 0


def test_first_start_without_an_upstream(start, stub):
    upstream = stub(lambda *_: hotels(1))
    upstream.close()
    front = start("--upstream", upstream.url)
    ready = front.state("degraded")
    assert ready.status_code == 200
    assert ready.json()["stores"] == "writable"
    for token in [None, front.guest()]:
        cold = search(front, "inn", token)
        assert cold.status_code == 503 and cold.json()["error"] == "search_unavailable"
        assert int(cold.headers["Retry-After"]) > 0
    token = bookmarked(front)
    own = search(front, "harbour", token)
    assert own.status_code == 200 and own.json()["source"] == "mirror"
    assert "Age" not in own.headers and "Cache-Status" not in own.headers
    assert front.call("GET", "/v1/hotels/hotel_77", token=token).json()["name"] == "Harbour Inn"
    assert front.call("PUT", "/v1/bookmarks/hotel_1", token=token).status_code in (404, 503)
    assert front.call("PUT", "/v1/bookmarks/hotel_1", token=token, json={"name": "x"}).status_code == 201
    listed = front.call("GET", "/v1/bookmarks", token=token).json()["bookmarks"]
    assert [bookmark["id"] for bookmark in listed] == ["hotel_1", "hotel_77"]
    assert front.call("DELETE", "/v1/bookmarks/hotel_1", token=token).status_code == 204


def test_readiness_comes_back_although_nobody_searches(start, stub):
    is_well = []
    upstream = stub(lambda *_: hotels(1) if is_well else answer(b"", 500, "text/plain"))
    front = start("--upstream", upstream.url)
    for number in range(12):
        search(front, f"text {number}")
    assert metric(front, "upstream_breaker_open") == 1
    is_well.append(True)
    front.state("ready")


def pages(front, text, limit):
    ids, offset = [], 0
    while offset is not None:
        reply = answered(front, text, limit=limit, offset=offset)
        ids += [hotel["id"] for hotel in reply.json()["hotels"]]
        offset = reply.json().get("next")
    return ids


@pytest.mark.parametrize("kind", ["embedded", "remote"])
def test_pages_are_stable_whatever_their_size(start, tmp_path, kind):
    catalogue = start(data=tmp_path / "catalogue")
    front = catalogue if kind == "embedded" else start("--upstream", catalogue.url, data=tmp_path / "front")
    whole = pages(front, "hotel", 100)
    assert len(whole) == len(set(whole)) >= 60
    for limit in (1, 7, 30, 99):
        assert pages(front, "hotel", limit) == whole
    if kind == "remote":
        # Also when the upstream stops between two pages.
        catalogue.stop()
        assert pages(front, "hotel", 7) == whole


REFUSED = {
    "limit": ["0", "-1", "101", "1e2", "1.0", "abc", "", "9223372036854775808", "١"],
    "offset": ["-1", "10001", "1e9", "0x10", "abc", "", "9223372036854775808"],
}


@pytest.mark.fault("H16")
@pytest.mark.parametrize("name", REFUSED)
def test_bounds_of_paging_are_refused_by_name(shared, name):
    for value in REFUSED[name]:
        reply = shared.call("GET", "/v1/hotels", params={"description": "inn", name: value})
        assert reply.status_code == 400 and name in reply.json()["reason"], value
    twice = shared.call("GET", f"/v1/hotels?{name}=5&{name}=6")
    assert twice.status_code == 400 and name in twice.json()["reason"]
    for value in {"limit": ["1", "100"], "offset": ["0", "10000"]}[name]:
        assert shared.call("GET", "/v1/hotels", params={name: value}).status_code == 200
