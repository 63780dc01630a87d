"""What operators ask, asked by whoever likes: it is answered from a value, and touches no disk."""
import pytest

import hostile
import watched
from patience import until
from people import HOSTILE, Person
from siege import Siege, besiege

RENEWALS = 4 << 20
"""Bytes that looking once a second may write to the disk while the test runs."""


@pytest.mark.nightly
def test_floods_of_readiness_hold_nobody_up(start):
    statuses = besiege(start("--guests-per-hour", "100000"), "readiness")
    assert set(statuses) == {200}, statuses


def test_readiness_is_told_without_writing(start):
    """However often it is asked, about once a second a thread of its own looks."""
    server = start()
    attack, person = hostile.named("readiness"), Person(server, HOSTILE)

    def written():
        with open(f"/proc/{server.process.pid}/io", encoding="ascii") as file:
            return int(next(line for line in file if line.startswith("write_bytes:")).split()[1])

    before, stored = written(), watched.stored(server)
    with Siege(person, 16, attack.prepare(person, 1)) as siege:
        until(lambda: sum(siege.statuses.values()) > 4000)
    assert written() - before < RENEWALS
    assert watched.stored(server) == stored
