"""Accounts of processor time: only the owner of an overdrawn account is told to retry later."""
import contextlib
import json

import pytest

import hostile
import watched
from hostile_load import HonestClients, HostileLoad
from waiting import wait_until
from people import HOSTILE, Person
from server import REQUEST_PROCESSOR_MILLISECONDS


def hostile_loads(server, *people):
    """An attack by costly queries for each of these people."""
    attack = hostile.named("queries")
    return [HostileLoad(person, attack.at_once, attack.prepare(person, 1)) for person in people]


def test_limits_say_what_a_bucket_holds(shared):
    rows = watched.limits(shared)
    shown = {name: rows.get(name) for name in (
        "processorMillisecondsSaved", "processorPercent", "processorWaitSeconds", "sliceMilliseconds",
        "requestProcessorMilliseconds")}
    assert shown == {"processorMillisecondsSaved": 10_000, "processorPercent": 10, "processorWaitSeconds": 5,
                     "sliceMilliseconds": 2, "requestProcessorMilliseconds": REQUEST_PROCESSOR_MILLISECONDS}


@pytest.mark.nightly
def test_the_overdrawn_wait_and_are_told_when_to_come_again(start):
    """When one person's account is overdrawn, people with full accounts come and ask for all processor time."""
    server = start("--guests-per-hour", "100000")
    load, *crowd = hostile_loads(server, Person(server, HOSTILE), *(Person(server) for _ in range(5)))
    with HonestClients(server, ("read", "sync")) as clients, load:
        wait_until(lambda: watched.work(server, "processor_seconds_total", account="overdrawn") > 0,
              "nothing was overdrawn", 240)
        with contextlib.ExitStack() as others:
            for other in crowd:
                others.enter_context(other)
            wait_until(lambda: load.statuses[429] > 0, "nobody was refused", 240)
            clients.get_on()
    fields, body = load.last[429]
    assert json.loads(body)["error"] == "overdrawn"
    assert 0 < int(fields["Retry-After"]) <= 3600
    watched.rests(server)


@pytest.mark.nightly
def test_with_nobody_waiting_nothing_is_refused(start):
    """One request at a time overdraws an account, and is still answered."""
    server = start("--guests-per-hour", "100000")
    person = Person(server, HOSTILE)
    request = hostile.named("queries").prepare(person, 1)
    with HostileLoad(person, 1, request) as load:
        wait_until(lambda: watched.work(server, "processor_seconds_total", account="overdrawn") > 1,
              "nothing was overdrawn", 240)
    assert 429 not in load.statuses and 503 not in load.statuses, load.statuses
    watched.rests(server)


@pytest.mark.nightly
def test_honest_guests_of_a_hostile_address_get_their_share(start):
    """Another guest at the address shares its account, and is served in turn. A user there has a separate account."""
    server = start("--guests-per-hour", "100000")
    with HonestClients(server, ("read",), source=HOSTILE) as guests, \
            HonestClients(server, ("read", "bookmark"), source=HOSTILE, kind="user") as users:
        [load] = hostile_loads(server, Person(server, HOSTILE))
        with load:
            wait_until(lambda: watched.work(server, "processor_seconds_total", account="overdrawn") > 0,
                  "nothing was overdrawn", 240)
            users.get_on()
            guests.get_on()
    watched.rests(server)
