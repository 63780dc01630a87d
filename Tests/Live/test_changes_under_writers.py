"""Eight writers and readers of every feed at the same time: each reader sees each committed change, in order.

A run is one guest's store with some hundred writes to few documents, by a seed. What a reader must see follows from
the responses to the writers, not from the server's own list of changes.
"""
import asyncio
import json
import random
import time

import pytest

from async_http import Connection
from sites import NIGHTLY
from waiting import PATIENCE

RUNS = 1_000 if NIGHTLY else 10
"""The number of seeds. Each test runs ten."""
WRITERS = 8
WRITES = 25
"""The number of requests of one writer."""
DOCUMENTS = 24


class Run:
    """A store with writers and readers. `written` has the acknowledged revisions by document."""

    def __init__(self, url, token, seed):
        self.url, self.token, self.seed = url, "Bearer " + token, seed
        self.written = {f"doc-{number}": {} for number in range(DOCUMENTS)}
        self.current, self.spans, self.last = {}, {}, None

    def connection(self):
        return Connection(self.url, self.token)

    def acknowledge(self, name, rev, began):
        """Records an acknowledged revision, and the times of its request and response."""
        generation = number_of(rev)
        assert generation not in self.written[name], (name, rev, "two revisions of one generation")
        self.written[name][generation] = rev
        self.current[name] = self.written[name][max(self.written[name])]
        self.spans[name, rev] = began, time.monotonic()

    async def write(self, number):
        """One writer: single writes, deletions and batches. After a conflict it goes on with another document."""
        chance = random.Random(f"{self.seed} {number}")
        async with self.connection() as connection:
            for _ in range(WRITES):
                names = chance.sample(list(self.written), chance.choice([1, 1, 1, 4]))
                if len(names) > 1:
                    await self._bulk(connection, names, chance)
                else:
                    await self._one(connection, names[0], chance)
                if chance.random() < 0.2:
                    await asyncio.sleep(chance.uniform(0, 0.004))

    async def finish(self):
        """Writes the last change, at which every reader stops. It wakes the waiting readers."""
        self.last, self.written["end"], began = len(self.spans) + 1, {}, time.monotonic()
        async with self.connection() as connection:
            _, answer = await connection.call("PUT", "/end", {})
            self.acknowledge("end", answer["rev"], began)
            _, information = await connection.call("GET", "")
        assert number_of(information["update_seq"]) == self.last, "one number for each change"

    async def _one(self, connection, name, chance):
        rev, began = self.current.get(name), time.monotonic()
        if rev and chance.random() < 0.2:
            status, answer = await connection.call("DELETE", f"/{name}?rev={rev}")
        else:
            body = {"n": chance.getrandbits(40), **({"_rev": rev} if rev else {})}
            status, answer = await connection.call("PUT", f"/{name}", body)
        # Another writer was first, or the document is already deleted.
        assert status in (200, 201, 404, 409), (status, answer)
        if status < 400:
            self.acknowledge(name, answer["rev"], began)

    async def _bulk(self, connection, names, chance):
        began = time.monotonic()
        documents = [{"_id": name, "n": chance.getrandbits(40),
                      **({"_rev": self.current[name]} if name in self.current else {}),
                      **({"_deleted": True} if chance.random() < 0.1 else {})} for name in names]
        status, answer = await connection.call("POST", "/_bulk_docs", {"docs": documents})
        assert status == 201, answer
        for item in answer:
            assert item.get("error", "conflict") == "conflict", item
            if "rev" in item:
                self.acknowledge(item["id"], item["rev"], began)


def number_of(token):
    """The number at the start of a sequence or a revision."""
    return int(token.split("-")[0])


class Reader:
    """What one reader saw. `rows` has (number, document, revision, time) in order of arrival. `polls` has
    (when it asked for all changes, the last number of the response)."""

    def __init__(self, run, number):
        self.run, self.chance = run, random.Random(f"{run.seed} reader {number}")
        self.rows, self.polls = [], []

    def see(self, row):
        [change] = row["changes"]
        self.rows.append((number_of(row["seq"]), row["id"], change["rev"], time.monotonic()))
        return row["seq"]

    @property
    def done(self):
        return bool(self.rows) and self.rows[-1][0] == self.run.last


class Poller(Reader):
    """Polls with feed=normal, for all changes or for a few rows."""

    async def read(self):
        since = "0"
        async with self.run.connection() as connection:
            while not self.done:
                limit = self.chance.choice([None, None, 1, 7])
                asked = time.monotonic()
                path = f"/_changes?since={since}" + (f"&limit={limit}" if limit else "")
                status, page = await connection.call("GET", path)
                assert status == 200, page
                for row in page["results"]:
                    self.see(row)
                since = page["last_seq"]
                if not limit:
                    self.polls.append((asked, number_of(since)))
                await asyncio.sleep(self.chance.uniform(0, 0.02))


class LongPoller(Reader):
    """Waits with feed=longpoll."""

    async def read(self):
        since = "0"
        async with self.run.connection() as connection:
            while not self.done:
                wait = self.chance.choice(["timeout=1000", "timeout=5", "heartbeat=20"])
                status, page = await connection.call(
                    "GET", f"/_changes?feed=longpoll&{wait}&since={since}")
                assert status == 200, page
                for row in page["results"]:
                    self.see(row)
                since = page["last_seq"]


class Continuous(Reader):
    """Reads feed=continuous. Sometimes it disconnects and continues from its last sequence."""

    feed, prefix = "continuous", ""

    async def read(self):
        since = "0"
        while not self.done:
            left = self.chance.choice([10, 60, None])
            async with self.run.connection() as connection:
                path = f"/_changes?feed={self.feed}&heartbeat=100&since={since}"
                async for line in connection.lines(path):
                    if line.startswith(self.prefix + "{"):
                        since = self.see(json.loads(line[len(self.prefix):]))
                        left = left and left - 1
                    if self.done or left == 0:
                        break


class Events(Continuous):
    """Reads feed=eventsource."""

    feed, prefix = "eventsource", "data: "


READERS = [Poller, LongPoller, LongPoller, Continuous, Continuous, Events]


async def carry_out(run):
    """Runs all writers and readers. Returns the readers with what they saw."""
    readers = [kind(run, number) for number, kind in enumerate(READERS)]
    reading = [asyncio.create_task(reader.read()) for reader in readers]
    try:
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(run.write(number) for number in range(WRITERS)))
            await run.finish()
            await asyncio.gather(*reading)
    finally:
        for task in reading:
            task.cancel()
    return readers


def check(run, readers):
    """Compares what the readers saw with what the writers were told."""
    changes = {}
    for reader in readers:
        who = (run.seed, type(reader).__name__)
        numbers = [row[0] for row in reader.rows]
        assert numbers == sorted(set(numbers)), (who, "out of order")
        seen = {}
        for number, name, rev, _ in reader.rows:
            assert (name, rev) in run.spans, (who, rev, "nobody wrote that")
            assert changes.setdefault(number, (name, rev)) == (name, rev), (who, number)
            assert number_of(rev) > seen.get(name, 0), (who, name, rev, "went back")
            seen[name] = number_of(rev)
        # If a reader did not see a change, it saw a later change of the same document.
        missed = [(name, max(revs)) for name, revs in run.written.items()
                  if revs and seen.get(name, 0) < max(revs)]
        assert not missed, (who, missed)
    for reader in readers:
        check_gaps(run, changes, reader)
    check_times(run, changes, readers)


def check_gaps(run, changes, reader):
    """A reader may skip a change only if a later change of the same document replaced it: the request for the
    later change must have begun before the next row was read."""
    shown, before = {row[0] for row in reader.rows}, sorted(changes, reverse=True)
    for number, _, _, moment in reader.rows:
        while before[-1] < number:
            name, rev = changes[unseen := before.pop()]
            if unseen in shown:
                continue
            later = [run.spans[name, other][0] for generation, other in run.written[name].items()
                     if generation > number_of(rev)]
            skipped = not later or min(later) > moment
            assert not skipped, (run.seed, type(reader).__name__, name, rev)


def check_times(run, changes, readers):
    """A write that was answered before another one was sent has the lower number. A poll sees all answered writes."""
    latest = 0.0
    for number in sorted(changes):
        began, ended = run.spans[changes[number]]
        assert ended >= latest, (run.seed, changes[number], "committed before what it followed")
        latest = max(latest, began)
    ends = sorted((run.spans[change][1], number) for number, change in changes.items())
    for reader in readers:
        for asked, reached in reader.polls:
            due = max((number for ended, number in ends if ended < asked), default=0)
            assert reached >= due, (run.seed, type(reader).__name__, "not shown what was answered")


@pytest.mark.parametrize("part", range(RUNS // 10))
def test_every_change_is_shown_in_order_to_every_reader(shared, part):
    for seed in range(part * 10, part * 10 + 10):
        token = shared.guest()
        store = shared.call("GET", "/v1/me", token).json()["store"]
        run = Run(f"{shared.url}/couch/{store}", token, seed)
        check(run, asyncio.run(carry_out(run)))
