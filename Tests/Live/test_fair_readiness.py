"""Readiness probes from any client: the server answers from a stored value and does not touch the disk."""
import pytest

import hostile
import watched
from hostile_load import HostileLoad, run_hostile_load
from waiting import wait_until
from people import HOSTILE, Person

RENEWALS = 4 << 20
"""The most bytes that the check once a second may write to the disk during the test."""


@pytest.mark.nightly
def test_floods_of_readiness_hold_nobody_up(start):
    statuses = run_hostile_load(start("--guests-per-hour", "100000"), "readiness")
    assert set(statuses) == {200}, statuses


def test_readiness_is_told_without_writing(start):
    """However often clients ask, the server's own thread checks only about once a second."""
    server = start()
    attack, person = hostile.named("readiness"), Person(server, HOSTILE)

    def written():
        with open(f"/proc/{server.process.pid}/io", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("write_bytes:")).split()[1])

    before, stored = written(), watched.stored(server)
    with HostileLoad(person, 16, attack.prepare(person, 1)) as load:
        wait_until(lambda: sum(load.statuses.values()) > 4000)
    assert written() - before < RENEWALS
    assert watched.stored(server) == stored
