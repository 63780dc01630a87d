"""Work ends when its client resets or closes the connection, and after two seconds of processor time."""
import itertools
import socket
import struct
import time

import pytest

import hostile
import watched
from waiting import wait_until
from people import HOSTILE, Person
from wire import connect


def reset(connection):
    """Resets the connection, as the end of a killed client process does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("hang_up", [reset, socket.socket.close], ids=["reset", "closed"])
def test_work_ends_when_its_client_has_gone(start, hang_up):
    """Repeats the request with longer and longer pauses, because the time of a response depends on the build."""
    server = start()
    person = Person(server, HOSTILE, kind="user")
    request = hostile.named("queries").prepare(person, 5)(0)
    head = (f"POST {request.path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {person.token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(request.body)}\r\n\r\n").encode()
    before = watched.work(server, "ended_total", reason="gone")
    pauses = itertools.cycle((0.01, 0.03, 0.1, 0.3))

    def ended():
        connection = connect(server, source=HOSTILE)
        connection.sendall(head + request.body)
        time.sleep(next(pauses))
        hang_up(connection)
        return watched.work(server, "ended_total", reason="gone") > before

    wait_until(ended, "work goes on although its client has gone")
    watched.rests(server)


def test_what_costs_too_much_is_refused_in_its_own_words(start):
    """The limit is low enough that any machine needs more for this request."""
    server = start()
    person = Person(server, HOSTILE)
    # The processor time for unpacking stored data is counted like all other.
    hostile.branches(person, 8)
    server.stop()
    person.server = start("--request-processor-milliseconds", "10")
    answer = person.ask("POST", person.path + "/_bulk_docs", {"new_edits": False, "docs": [
        hostile.branch("tree", (1, each), 2) for each in range(400)]})
    assert (answer.status_code, answer.json()["error"]) == (400, "request_too_costly"), answer.text[:300]
    watched.rests(person.server)
    person.server.stop()
    person.server = start()
    stored = person.ask("GET", person.path + "/_all_docs")
    assert [row["id"] for row in stored.json()["rows"]] == []
    assert person.ask("GET", person.path + "/tree?deleted_conflicts=true").status_code == 404
