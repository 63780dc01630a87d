"""Couchbase Lite's sync with several servers on one database: what broke on one of them is finished by another."""
import pytest

import postgres
from couch import Database
from phone import Phone
from test_lite_cuts import Device, check, push
from test_nodes import database, nodes  # noqa: F401

pytestmark = pytest.mark.skipif(postgres.programs() is None, reason="Scripts/setup --tests installs PostgreSQL")


def frames_of_sessions(server):
    """The frames of a push and of a pull that nothing breaks."""
    token = Database(server).token
    return Device(server, token=token).fill().session(push), Device(server, token=token).session(Phone.pull)


def test_a_session_that_breaks_on_one_node_continues_on_another(nodes):
    servers = nodes(2)
    pushed, pulled = frames_of_sessions(servers[0])
    for frames in range(1, pushed + 1, 2):
        first, second = servers if frames % 4 == 1 else servers[::-1]
        token = Database(first).token
        device = Device(first, token=token).fill()
        device.session(push, frames, within=frames % 3 == 0)
        device.server = second
        device.session(push)
        check(Database(second, token), device)
        other = Device(second, token=token)
        other.session(Phone.pull, frames % pulled, within=frames % 3 == 0)
        other.server = first
        other.session(Phone.pull)
        assert other.documents == device.documents and other.blobs == device.blobs, frames
        assert not other.refused and not other.lacking


def test_what_a_killed_node_has_confirmed_another_has(nodes):
    for frames in range(4, frames_of_sessions(nodes(2)[0])[0], 8):
        first, second = nodes(0)[-2:]
        token = Database(first).token
        device = Device(first, token=token).fill()
        device.session(push, frames, end=first.kill)
        database = Database(second, token)
        stored = {row["id"] for row in database.call("GET", "/_changes").json()["results"]}
        assert device.confirmed <= stored, frames
        device.server = second
        device.session(push)
        check(database, device)
        nodes(1)


def test_a_continuous_pull_has_what_another_node_wrote_and_checkpoints_are_shared(nodes):
    first, second = nodes(2)
    couch = Database(first)
    couch.put("early", n=1)
    phone = Phone(second, token=couch.token).connect()
    phone.subscribe(continuous=True)
    while not phone.caught_up or "early" not in phone.documents:
        phone.take()
    for number in range(10):
        couch.put(f"d{number}", n=number)
        while f"d{number}" not in phone.documents:
            phone.take()
    assert phone.blip.call("setCheckpoint", b'{"local":1}', client="cp").properties["rev"] == "0-1"
    # The position is good for a session with the other node.
    phone.close()
    phone.server = first
    phone.connect()
    known = phone.blip.call("getCheckpoint", client="cp")
    assert known.json == {"local": 1} and known.properties["rev"] == "0-1"
    assert phone.blip.call("setCheckpoint", b'{"local":2}', client="cp", rev="0-1").properties["rev"] == "0-2"
    Database(second, couch.token).put("late", n=1)
    phone.subscribe()
    asked = []
    while not phone.caught_up or phone.rows:
        request = phone.take()
        if request.properties["Profile"] == "rev":
            asked.append(request.properties["id"])
    assert asked == ["late"]
    phone.close()
    stale = Phone(second, token=couch.token).connect()
    assert stale.blip.call("setCheckpoint", b'{"local":3}', client="cp", rev="0-1").error == ("HTTP", 409)
