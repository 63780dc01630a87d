"""FAULTS F01: a server that is killed at any moment while 64 writers work keeps everything that it acknowledged.

`BOOKMARKS_SEED` sets the seed that a failure prints, `BOOKMARKS_KILLS` the number of kills.
"""
import pytest
import asyncio
import json
import os
import random
import statistics
import time

import requests

from async_http import NoStream
from conftest import NIGHTLY
from ledger import Problem, number_of
from powerloss.opening import StateChecker
from powerloss.workload import Person, goes, logs_in, signs_up
from writers import LOST, Client, Writer, become_user, credentials, new_guest
from waiting import PATIENCE

KILLS = int(os.environ.get("BOOKMARKS_KILLS") or (1000 if NIGHTLY else 6))
SEED = int(os.environ.get("BOOKMARKS_SEED") or (random.randrange(1_000_000) if NIGHTLY else 1))
GUESTS, USERS, DEVICES, MOVERS = 9, 6, 4, 4
"""15 stores with four writers each, and four people who arrive, sign up, log in and are erased: 64
writers."""
GENERATION = 4
"""The number of kills for which the same stores are used. Then new ones are made, because a guest's quota is small."""
LONGEST = 1.2
"""The most seconds of writing before a kill."""


class AllAnswered:
    """Replaces a recording: every response was sent before the kill."""

    answered = type("Answered", (), {"__getitem__": lambda self, receipt: 0})()

    @staticmethod
    def is_due(index):
        return lambda attempt: True


class Load:
    """All users of the servers of one run, and what the feeds showed."""

    def __init__(self, chance):
        self.chance, self.people, self.movers = chance, [], []
        self.shown, self.turn = {}, 0

    async def renew(self, url):
        """Makes new stores to replace the old ones."""
        self.people, self.shown = [], {}

        async def make(kind):
            async with Client(url, None) as client:
                if kind == "guest":
                    self.people.append(Person(await new_guest(client)))
                else:
                    ledger = await become_user(client, credentials())
                    self.people.append(Person(ledger, since=client.receipt))

        await asyncio.gather(*(make(kind) for kind in ["guest"] * GUESTS + ["user"] * USERS))

    async def go_on(self, server):
        """Writes and reads until the server is killed, within `LONGEST` seconds."""
        self.turn += 1
        self.movers = []
        work = [self.feed(server.url, person) for person in self.people]
        work += [self.device(server.url, person, number)
                 for person in self.people for number in range(DEVICES)]
        work += [self.move(server.url, number) for number in range(MOVERS)]
        asyncio.get_running_loop().call_later(
            self.chance.uniform(0.02, LONGEST), server.process.kill)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*work)

    async def device(self, url, person, number):
        """One writer."""
        chance = random.Random(f"{self.chance.random()} {number}")
        try:
            async with Client(url, person.ledger.token) as client:
                writer = Writer(client, person.ledger, chance, f"t{self.turn}w{number}-", most=8)
                while True:
                    await writer.step()
        except LOST:
            return

    async def move(self, url, number):
        """People who arrive, sign up, log in with their bookmarks, and are erased."""
        chance = random.Random(f"{self.chance.random()} {number}")
        try:
            for turn in range(1_000):
                async with Client(url, None) as client:
                    act = chance.choice([signs_up, goes, logs_in])
                    await act(client, chance, f"t{self.turn}m{number}.{turn}-", self.movers)
        except LOST:
            return

    async def feed(self, url, person):
        """Reads a store's changes as they arrive, from the reader's last sequence."""
        shown = self.shown.setdefault(person, [])
        while True:
            since = shown[-1]["seq"] if shown else "0"
            try:
                async with Client(url, person.ledger.token) as client:
                    path = f"/couch/{person.ledger.store}/_changes?feed=continuous&heartbeat=500"
                    async for line in client.lines(f"{path}&since={since}"):
                        if line.strip():
                            shown.append(json.loads(line))
                return
            except NoStream as refusal:
                if refusal.args[0] != 503:
                    raise
                # The server is overloaded.
                await asyncio.sleep(0.1)
            except LOST:
                return

    def unkept(self, person, rows):
        """Changes that a feed showed and that the store does not have."""
        now = {row["id"]: row for row in rows}
        shown = self.shown.get(person, [])
        numbers = [number_of(row["seq"]) for row in shown]
        if numbers != sorted(set(numbers)):
            yield Problem("damaged", "the feed went back")
        for row in shown:
            later = now.get(row["id"])
            rev, found = row["changes"][0]["rev"], later and later["changes"][0]["rev"]
            if not found or number_of(found) < number_of(rev):
                yield Problem("lost", f"the feed showed {row['id']} {rev}")
            elif number_of(found) == number_of(rev) and (found, later["seq"]) != (rev, row["seq"]):
                yield Problem("damaged", f"the feed showed {row}, there is {later}")


def held(server, checker, load):
    """The problems after a kill."""
    people = load.people + load.movers
    problems = asyncio.run(checker.check_people(
        server, {person: 0 for person in people},
        {person: object() for person in people}))
    for (person, _), (status, answer) in checker.known.items():
        if status == 200:
            problems += load.unkept(person, answer["results"])
    checker.known.clear()
    loud = [line for line in server.log if " error " in line or " warning " in line]
    return problems + [Problem("damaged", f"the start had to say: {line}") for line in loud]


def restarted(start):
    """Starts a server over the same data. Returns it, and the seconds until it was ready."""
    began = time.monotonic()
    server = start("--guests-per-hour", "1000000")
    assert requests.get(server.url + "/readyz", timeout=PATIENCE).status_code == 200
    return server, time.monotonic() - began


@pytest.mark.fault("F01")
def test_kills_under_64_writers_lose_nothing_that_was_acknowledged(start):
    print(f"BOOKMARKS_SEED={SEED}")
    load, checker, times = Load(random.Random(SEED)), StateChecker(AllAnswered), []
    server, _ = restarted(start)
    written = 0
    for kill in range(KILLS):
        if kill % GENERATION == 0:
            asyncio.run(load.renew(server.url))
            checker.seen.clear()
        asyncio.run(load.go_on(server))
        server.process.wait(timeout=PATIENCE)
        server, seconds = restarted(start)
        times.append(seconds)
        problems = held(server, checker, load)
        assert not problems, (kill, len(problems), problems[:10])
        if kill % GENERATION == GENERATION - 1 or kill == KILLS - 1:
            written += sum(attempt.due is not None for person in load.people
                           for attempts in person.ledger.documents.values() for attempt in attempts)
    print(f"{KILLS} kills, {written} acknowledged changes; ready after "
          f"{statistics.median(times):.2f} s, at most {max(times):.2f} s")


@pytest.mark.fault("F01")
def test_without_their_logs_losses_are_reported(start):
    """Shows that the check can fail: the stores' logs are removed after a kill."""
    load, checker = Load(random.Random(SEED)), StateChecker(AllAnswered)
    server, _ = restarted(start)
    asyncio.run(load.renew(server.url))
    asyncio.run(load.go_on(server))
    server.process.wait(timeout=PATIENCE)
    for log in (server.data / "stores").rglob("*-wal"):
        log.unlink()
    server, _ = restarted(start)
    assert "lost" in {problem.kind for problem in held(server, checker, load)}
