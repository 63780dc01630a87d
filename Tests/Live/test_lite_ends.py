"""How sessions of Couchbase Lite end: with the right of their client, with the server, and with the store."""
import json
import select
import signal

import pytest

from blip_client import Closed, Refused, WebSocket
from couch import Account, Administrator, Database
from phone import Phone


def another(account, database="bookmarks"):
    return Phone(account.server, database, token=account.token).connect()


def ended(phone):
    """Waits for the end of a session, and returns whether its client comes back after it."""
    with pytest.raises(Closed) as closed:
        while True:
            phone.take()
    return closed.value.code in (None, 4001)


def waiting(account, database="bookmarks"):
    phone = another(account, database)
    phone.subscribe(continuous=True)
    while not phone.caught_up:
        phone.take()
    return phone


def status(phone):
    with pytest.raises(Refused) as refused:
        phone.connect()
    return refused.value.status


def test_a_session_ends_with_the_log_in_that_opened_it(shared):
    account = Account(shared)
    phone = waiting(account)
    assert shared.call("DELETE", "/v1/sessions", account.token).status_code == 204
    assert ended(phone) and status(phone) == 401


def test_a_session_ends_with_its_account(shared):
    account = Account(shared)
    phone = waiting(account)
    assert shared.call("DELETE", "/v1/me", account.token).status_code == 204
    assert ended(phone) and status(phone) == 401


def test_members_sync_a_list_until_they_are_removed(shared):
    owner, member, stranger = (Account(shared) for _ in range(3))
    made = shared.call("POST", "/v1/lists", owner.token, json={"title": "Trip"}).json()
    store = "list-" + made["id"]
    with pytest.raises(Refused) as refused:
        another(stranger, store)
    assert refused.value.status == 404
    invitation = shared.call(
        "POST", f"/v1/lists/{made['id']}/invitations", owner.token, json={"role": "editor"}).json()
    answer = shared.call("POST", f"/v1/invitations/{invitation['token']}/accept", member.token)
    assert answer.status_code in (200, 201), answer.text
    phone, theirs = waiting(owner, store), waiting(member, store)
    # A device on which both log in names its checkpoint by its database.
    for number, each in enumerate((phone, theirs)):
        assert each.blip.call("getCheckpoint", client="cp-a").error == ("HTTP", 404)
        body = json.dumps({"time": 1, "local": number}).encode()
        assert each.blip.call("setCheckpoint", body, client="cp-a", rev="").error is None
    assert phone.blip.call("getCheckpoint", client="cp-a").json["local"] == 0
    theirs.edit("hotel_1", {"type": "hotel", "name": "one"})
    assert theirs.propose("hotel_1") == [0]
    assert theirs.blip.answer(theirs.send("hotel_1")).error is None
    while "hotel_1" not in phone.live():
        phone.take()
    answer = shared.call("DELETE", f"/v1/lists/{made['id']}/members/{member.name}", owner.token)
    assert answer.status_code in (200, 204), answer.text
    assert ended(theirs) and status(theirs) == 403
    phone.close()


@pytest.mark.files
def test_phones_come_back_after_a_restart_and_continue(start):
    server = start()
    token = server.guest()
    phone = Phone(server, token=token).connect()
    phone.edit("a", {"n": 1})
    assert phone.push("a") == {}
    phone.subscribe(continuous=True)
    while not phone.caught_up or phone.rows:
        phone.take()
    kept = phone.blip.call("setCheckpoint", json.dumps({"time": 1, "remote": phone.since}).encode(), client="cp", rev="")
    assert kept.error is None
    server.process.terminate()
    assert ended(phone)
    server.stop()
    phone.server = start()
    phone.connect()
    assert phone.blip.call("getCheckpoint", client="cp").json["remote"] == phone.since
    Database(phone.server, token).put("b", n=2)
    assert phone.pull().keys() == {"a", "b"}
    # A crash is a broken connection.
    phone.server.kill()
    assert ended(phone)


def test_server_ends_a_connection_when_the_client_has_answered_its_close_frame(start):
    """Regression: the end came right behind the frame, and Couchbase Lite 2.8 took no notice of either."""
    server = start()
    peer = WebSocket(server.url, "/couch/bookmarks/_blipsync", headers={"Authorization": "Bearer " + server.guest()})
    server.process.send_signal(signal.SIGTERM)
    while b"Come back" not in peer.buffer:
        peer._more()
    assert peer.buffer[:4] == b"\x88\x0b\x0f\xa1" and len(peer.buffer) == 13
    assert select.select([peer.socket], [], [], 0.2) == ([], [], [])
    peer.socket.sendall(b"\x88\x80\0\0\0\0")
    with pytest.raises(Closed):
        peer._more()
    assert server.stop() == 0


def test_administrators_databases_have_their_members(tmp_path):
    administrator = Administrator(tmp_path)
    try:
        made = administrator.create()
        account = Account(administrator.server)
        with pytest.raises(Refused) as refused:
            another(account, made.name)
        assert refused.value.status == 404
        made.call("PUT", "/_security", json={"members": {"names": [account.name]}})
        phone = another(account, made.name)
        # The owners of such a database resolve its conflicts.
        made.graft("hotel_1", "2-b 1-a", type="hotel")
        phone.edit("hotel_1", {"type": "hotel", "n": 1})
        assert phone.push("hotel_1")["hotel_1"]["status"] == 409
        admin = Phone(administrator.server, made.name, auth=administrator.auth).connect()
        assert admin.pull().keys() == {"hotel_1"}
        assert administrator.call("PUT", "/bookmarks").status_code == 400
        phone = waiting(account, made.name)
        made.call("DELETE")
        assert ended(phone) and status(phone) == 404
    finally:
        administrator.server.stop()
