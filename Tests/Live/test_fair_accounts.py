"""Sign-ups, log-ins and log-outs while all stores' threads are busy, and a stop of the server at that time."""
import contextlib
import signal

import pytest

import uuid

import hostile
import watched
from hostile_load import HonestClients, HostileLoad
from waiting import PATIENCE, wait_until
from people import Person, address

STORES = 17
"""One more than the number of threads to which stores were once bound."""


def attackers(server, stack):
    """Starts guests at one address. Each of them sends two costly queries at the same time."""
    attack, where = hostile.named("queries"), address()
    people = [Person(server, where) for _ in range(STORES)]
    requests = [attack.prepare(person, 1) for person in people]
    for person, request in zip(people, requests):
        stack.enter_context(HostileLoad(person, 2, request))
    wait_until(lambda: watched.work(server, "processor_seconds_total", account="overdrawn") > 0,
          "nobody has overdrawn")


@pytest.mark.nightly
def test_accounts_are_served_while_all_stores_are_busy(start):
    server = start("--guests-per-hour", "100000")
    with HonestClients(server, ("sign-up", "read")) as clients, contextlib.ExitStack() as stack:
        attackers(server, stack)
        clients.get_on()
        person = Person(server, kind="newcomer")
        body = {"username": "fair-" + uuid.uuid4().hex, "password": "a good password"}
        person.call("POST", "/v1/users", body)
        for _ in range(3):
            person.token = None
            person.token = person.call("POST", "/v1/sessions", body)["token"]
            person.call("DELETE", "/v1/sessions")
    watched.rests(server)


@pytest.mark.nightly
def test_sigterm_ends_whatever_runs(start):
    server = start("--guests-per-hour", "100000")
    with contextlib.ExitStack() as stack:
        attackers(server, stack)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=PATIENCE) == 0, "".join(server.log[-20:])
