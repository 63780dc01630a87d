"""Small packed bodies that unpack to many values: their memory is accounted for until it is given back."""
import gzip
import json

import hostile
import watched
from patience import until
from people import HOSTILE, Person
from siege import Siege, besiege


def test_packed_bodies_take_no_more_memory_than_the_limits_say(start):
    statuses = besiege(start("--guests-per-hour", "100000"), "packed bodies")
    assert set(statuses) <= {200, 400, 413, 429, 503, "cut"}, statuses


def test_eighty_packed_bodies_that_are_reset_are_given_back(start):
    """Each is hung up on while it is read."""
    server = start("--guests-per-hour", "100000")
    attack, person = hostile.named("packed bodies"), Person(server, HOSTILE)
    request = attack.prepare(person, 1)
    for _ in range(5):
        with Siege(person, 16, request):
            until(lambda: watched.work(server, "running") > 0, "nothing is read")
    watched.rests(server)
    until(lambda: "request_body_bytes 0\n" in server.call("GET", "/metrics").text)
    assert watched.peak(server) <= watched.allowed(server, 80 * attack.body_bytes)
    assert watched.work(server, "ended_total", reason="gone") > 0


def test_a_request_of_too_many_values_is_413(shared):
    person = Person(shared)

    def status(values):
        body = gzip.compress(('{"keys":[' + '"k",' * values + '"k"]}').encode(), 1)
        answer = person.ask(
            "POST", person.path + "/_revs_diff", data=body,
            headers={"Content-Type": "application/json", "Content-Encoding": "gzip"})
        return answer.status_code

    assert json.loads('{"keys":["k","k"]}') and status(2_000_100) == 413
