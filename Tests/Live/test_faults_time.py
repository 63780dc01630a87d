"""F21, F22: clocks that jump, and a suspended process."""
import threading
import time

import pytest
import requests

from clocks import HOUR, TEN_YEARS, Clock
from conftest import NIGHTLY
from couch import Database
from faults import listed, put
from test_faults_start import refusal

GUEST = 97 * 86_400
"""Seconds for which a guest's token is valid."""


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)


def newcomer(server):
    """A new guest's token. After a jump back, the address's rate limit may ask to wait for a few seconds."""
    for _ in range(5):
        answer = server.call("POST", "/v1/guests")
        if answer.status_code == 201:
            return answer.json()["token"]
        assert answer.status_code == 429, answer.text
        time.sleep(int(answer.headers["Retry-After"]))
    raise AssertionError(answer.text)


@pytest.mark.fault("F21")
def test_steps_change_no_number_no_revision_and_no_stored_bookmark(start, clock):
    server = start(environment=clock.environment, under=["env"])
    database = Database(server)
    first = database.rev("a", n=0)
    written = {"a"}
    for number, step in enumerate((-HOUR, TEN_YEARS, 0, -TEN_YEARS, HOUR, 0)):
        clock.step(step)
        # New guests are served, whatever the clock says.
        other = newcomer(server)
        assert put(server, other, "one").status_code == 201
        assert listed(server, other) == {"one"}
        answer = database.put(f"n{number}", n=number)
        # The server may have cached a token from the future as valid. Ten years later the token is expired.
        due = {TEN_YEARS: {401}, -TEN_YEARS: {201, 401}}.get(step, {201})
        assert answer.status_code in due, (step, answer.text)
        if answer.status_code == 201:
            written.add(f"n{number}")
    assert database.rev("a", n=1, _rev=first).startswith("2-")
    written.add("last")
    database.rev("last")
    rows = database.changes()["results"]
    assert {row["id"] for row in rows} == written
    numbers = [int(row["seq"].split("-")[0]) for row in rows]
    assert numbers == sorted(set(numbers))
    assert rows[-1]["id"] == "last"


@pytest.mark.fault("F21")
def test_tokens_are_judged_by_the_clock_with_a_minute_of_grace(start, clock):
    server = start(environment=clock.environment, under=["env"])
    for step, status in ((GUEST - HOUR, 200), (GUEST + 5, 200), (GUEST + HOUR, 401), (TEN_YEARS, 401),
                         (HOUR, 200), (-30, 200), (-HOUR, 200), (HOUR - GUEST, 200), (-GUEST - HOUR, 401),
                         (-TEN_YEARS, 401)):
        used, new = newcomer(server), newcomer(server)
        assert server.call("GET", "/v1/me", used).status_code == 200
        clock.step(step)
        assert server.call("GET", "/v1/me", new).status_code == status, step
        # The server caches a verified token, but not beyond its expiry.
        assert server.call("GET", "/v1/me", used).status_code == status or step < 0, step
        clock.step(0)
        for token in (used, new):
            assert server.call("GET", "/v1/me", token).status_code == 200, step


@pytest.mark.fault("F21")
def test_steps_while_writers_write_skip_nothing(start, clock):
    server = start(environment=clock.environment, under=["env"])
    database = Database(server)
    stop = threading.Event()
    written, failures = [], []

    def write(writer):
        session = requests.Session()
        for number in range(45):
            name = f"w{writer}-{number}"
            answer = database.server.call(
                "PUT", f"/couch/{database.name}/{name}", database.token, session, json={"n": number})
            (written if answer.status_code == 201 else failures).append(
                name if answer.status_code == 201 else answer.text)

    def tick():
        turn = 0
        while not stop.wait(0.02):
            turn += 1
            clock.step((0, 30, -30, 50, -50)[turn % 5])

    ticker = threading.Thread(target=tick)
    ticker.start()
    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    stop.set()
    ticker.join()
    clock.step(0)
    # Jumps smaller than the tolerated clock skew cause no refusal.
    assert not failures
    rows = database.changes()["results"]
    assert [int(row["seq"].split("-")[0]) for row in rows] == list(range(1, 181))
    assert {row["id"] for row in rows} == set(written)


@pytest.mark.fault("F21")
def test_backward_step_forgets_no_idempotency_key(start, clock):
    server = start(environment=clock.environment, under=["env"])
    clock.step(HOUR)
    token = server.guest()
    body = {"add": [{"id": "once", "name": "Once"}]}
    headers = {"Idempotency-Key": "one"}
    first = server.call("POST", "/v1/bookmarks", token, json=body, headers=headers)
    assert first.status_code == 200, first.text
    clock.step(HOUR - 50)
    for _ in range(2):
        again = server.call("POST", "/v1/bookmarks", token, json=body, headers=headers)
        assert again.content == first.content
        server.call("POST", "/v1/bookmarks", token, json={"remove": ["other"]},
                    headers={"Idempotency-Key": "two"})


@pytest.mark.fault("F22")
def test_process_that_stood_still_goes_on_alone_and_lost_nothing(start):
    server = start()
    token = server.guest()
    acknowledged = {"before"}
    assert put(server, token, "before").status_code == 201
    stop = threading.Event()

    def write(writer):
        session, number = requests.Session(), 0
        while not stop.is_set():
            number += 1
            name = f"w{writer}-{number}"
            if put(server, token, name, session=session).status_code == 201:
                acknowledged.add(name)
            if number == 20:
                return

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for writer in writers:
        writer.start()
    time.sleep(0.1)
    server.pause()
    # The process holds its lock even while it is suspended, so no other process can use its files.
    assert "Another process uses" in refusal(server.data)
    time.sleep(30 if NIGHTLY else 2)
    server.resume()
    for writer in writers:
        writer.join()
    stop.set()
    assert put(server, token, "after").status_code == 201
    assert acknowledged | {"after"} <= listed(server, token)
    server.kill()
    assert acknowledged | {"after"} <= listed(start(), token)
