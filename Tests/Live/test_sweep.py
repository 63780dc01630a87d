"""The sweeper removes what nobody can use any more. A wrong clock does not make it remove more."""
import re

import pytest

from couch import PASSWORD
from faults import listed, put
from waiting import wait_until
from test_faults_time import clock  # noqa: F401

DAY = 86_400


def swept(server, name, kind=None):
    """A metric of the sweeper."""
    labels = f'\\{{kind="{kind}"\\}}' if kind else ""
    return int(re.search(rf"(?m)^sweep_{name}{labels} (\d+)", server.metrics()).group(1))


def next_round(server):
    """Waits until a round that starts after the call has ended."""
    wanted = swept(server, "rounds_total") + 1
    wait_until(lambda: swept(server, "rounds_total") >= wanted, "no round ended")


def store_files(server):
    return set((server.data / "stores").rglob("*.sqlite"))


@pytest.mark.files
def test_answers_to_keys_go_from_a_store_that_nobody_writes_to(start, clock):  # noqa: F811
    server = start(environment=clock.environment, under=["env"])
    next_round(server)
    token = server.guest()
    for key in ("one", "two"):
        answer = server.call(
            "POST", "/v1/bookmarks", token, json={"add": [{"id": "a", "name": "A"}]},
            headers={"Idempotency-Key": key})
        assert answer.status_code == 200, answer.text
    # The clock is far wrong. At that time, every guest counts as recently active.
    clock.step(400 * DAY)
    next_round(server)
    # Of each write the note of its key, and the answer.
    assert swept(server, "removed_total", "receipts") == 4
    assert swept(server, "removed_total", "guests") == 0 and swept(server, "kept", "guests") == 1
    clock.step(0)
    next_round(server)
    assert swept(server, "removed_total", "guests") == 0
    assert listed(server, token) == {"a"}


@pytest.mark.files
def test_erased_account_leaves_no_file_of_the_guest_that_it_was(start):
    server = start()
    before = store_files(server)
    guest = server.guest()
    assert put(server, guest, "one").status_code == 201
    [file] = store_files(server) - before
    body = {"username": "swept", "password": PASSWORD}
    assert server.call("POST", "/v1/users", json=body).status_code == 201
    answer = server.call("POST", "/v1/sessions", json={**body, "guestToken": guest})
    assert answer.status_code in (200, 201), answer.text
    token = answer.json()["token"]
    assert listed(server, token) == {"one"}
    assert server.call("DELETE", "/v1/me", token).status_code == 204
    assert not file.exists()
    assert len(store_files(server)) == 1, "the accounts alone are left"
