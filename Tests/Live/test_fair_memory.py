"""Small packed bodies that unpack to many values: their memory is accounted for until it is freed."""
import gzip

import pytest

import hostile
import watched
from hostile_load import HostileLoad, run_hostile_load
from waiting import wait_until
from people import HOSTILE, Person


@pytest.mark.nightly
def test_packed_bodies_take_no_more_memory_than_the_limits_say(start):
    statuses = run_hostile_load(start("--guests-per-hour", "100000"), "packed bodies")
    assert set(statuses) <= {200, 400, 413, 429, 503, "cut"}, statuses


def test_eighty_packed_bodies_that_are_reset_are_given_back(start):
    """The client resets each connection while the server reads the body."""
    server = start("--guests-per-hour", "100000")
    attack, person = hostile.named("packed bodies"), Person(server, HOSTILE)
    request = attack.prepare(person, 1)
    for _ in range(5):
        with HostileLoad(person, 16, request):
            wait_until(lambda: watched.work(server, "running") > 0, "nothing is read")
    watched.rests(server)
    wait_until(lambda: "request_body_bytes 0\n" in server.call("GET", "/metrics").text)
    assert watched.peak(server) <= watched.allowed(server, 80 * attack.body_bytes)
    assert watched.work(server, "ended_total", reason="gone") > 0


def numbers(count):
    """A body with `count` values that the request does not need."""
    return b'{"keys":["none"],"other":[' + b"0," * count + b"0]}"


def asked(server, body, **fields):
    """Sends a request for a document with this body. Returns the status."""
    person = Person(server)
    return person.ask("POST", person.path + "/_all_docs", data=body,
                      headers={"Content-Type": "application/json", **fields}).status_code


def test_a_request_of_too_many_values_is_413(shared):
    """The limit is on the number of values, not on their bytes."""
    assert asked(shared, numbers(100_000)) == 200
    assert asked(shared, numbers(2_000_100)) == 413


@pytest.mark.parametrize("count,status", [(100_000, 413), (100, 200)])
def test_a_body_that_unpacks_more_than_a_hundredfold_is_413(shared, count, status):
    body = gzip.compress(numbers(count), 9)
    assert asked(shared, body, **{"Content-Encoding": "gzip"}) == status
