"""Couchbase Lite's sync: what breaks the protocol, what it ignores, and what is counted."""
import socket
import time
import urllib.parse

import pytest

from blip_client import TREES, Closed, WebSocket
from test_lite import account, another, database, phone  # noqa: F401
from waiting import wait_until


def raw(account):
    return WebSocket(account.server.url, "/couch/bookmarks/_blipsync", headers={"Authorization": "Bearer " + account.token})


@pytest.mark.parametrize("frame", [
    b"", b"\x00", b"\x01\x00", b"\x01\x00\x00\x00\x00\x00\x01", b"\x02\x00\x00\xd2\x02\xef\x8d", b"\x01\x01\x00\xd2\x02\xef\x8d",
    b"\x01\x03\x00\x00\x00\x00", b"\x01\x08\xff\xff\xff\x00\x00\x00\x00", b"\xff" * 20], ids=str)
def test_frames_that_break_blip_close_the_connection(account, frame):
    websocket = raw(account)
    websocket.send(frame)
    with pytest.raises(Closed) as closed:
        websocket.receive()
    assert closed.value.code == 1002


def test_frames_that_break_websockets_close_the_connection(account):
    for options, code in (
            ({"masked": False}, 1002), ({"bits": 0x40}, 1002), ({"opcode": 3}, 1002), ({"opcode": 0}, 1002),
            ({"opcode": 9, "final": False}, 1002)):
        websocket = raw(account)
        websocket.send(b"x", **options)
        with pytest.raises(Closed) as closed:
            websocket.receive()
        assert closed.value.code in (code, None), options
    websocket = raw(account)
    websocket.socket.sendall(b"\x82\xff" + (1 << 40).to_bytes(8, "big") + b"\0\0\0\0")
    with pytest.raises(Closed) as closed:
        websocket.receive()
    assert closed.value.code == 1009


def test_handshake_by_http_1_0_is_none(account):
    """Such a client knows no other protocol."""
    with socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(account.server.url).port), timeout=10) as plain:
        plain.sendall((
            "GET /couch/bookmarks/_blipsync HTTP/1.0\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            f"Sec-WebSocket-Protocol: {TREES}\r\nAuthorization: Bearer {account.token}\r\n\r\n").encode())
        assert plain.recv(100).startswith(b"HTTP/1.0 426 ")


def test_pings_are_answered_and_texts_ignored(phone):
    websocket = phone.blip.websocket
    websocket.send(b"hello", opcode=1)
    websocket.send(b"are you there", opcode=9)
    assert websocket.receive() == (10, b"are you there")
    # A message in several WebSocket frames.
    [frame] = phone.blip.frames(0, 1, {"Profile": "getCheckpoint", "client": "x"}, b"")
    phone.blip.last = 1
    websocket.send(frame[:3], final=False)
    websocket.send(b"", opcode=9)
    websocket.send(frame[3:], opcode=0)
    assert websocket.receive()[0] == 10
    assert phone.blip.answer(1).error == ("HTTP", 404)


@pytest.mark.parametrize("end", ["close", "half close"])
def test_what_comes_before_the_end_is_kept(account, phone, end):
    """Also revisions whose attachment the document has already. The close frame is answered when all of it is stored."""
    phone.edit("pic", {"pic": phone.blob(b"bytes" * 100)})
    assert not phone.push("pic")
    phone.edit("pic", {"pic": phone.blob(b"bytes" * 100), "n": 2})
    names = ["pic", *(f"d{number}" for number in range(300))]
    for name in names[1:]:
        phone.edit(name, {"text": "x" * 500})
    # All of it in one write, so that the server reads the end together with the messages.
    websocket, sent = phone.blip.websocket, []
    websocket._send = sent.append
    for name in names:
        phone.send(name, history=phone.documents[name][0][1] if name == "pic" else "")
    if end == "close":
        websocket.send(b"\x03\xe8", opcode=8)
    websocket.socket.sendall(b"".join(sent))
    if end == "half close":
        websocket.socket.shutdown(socket.SHUT_WR)
    with pytest.raises(Closed) as closed:
        while True:
            websocket.receive()
    assert closed.value.code == (1000 if end == "close" else 4001)
    rows = database(account).call("POST", "/_all_docs", json={"keys": names}).json()["rows"]
    assert [row["value"]["rev"] for row in rows] == [phone.documents[name][0][0] for name in names]


def test_a_client_that_reads_late_gets_the_answer_to_its_last_ping(account, phone):
    couch = database(account)
    for start in range(0, 80, 20):
        couch.bulk(*({"_id": f"d{start + number}", "text": "x" * 100_000} for number in range(20)))
    websocket = phone.blip.websocket
    websocket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
    phone.subscribe()
    phone.take()
    # The server can't write any more until the client reads on. If it still could, it answers both.
    time.sleep(1)
    for text in (b"first", b"last"):
        websocket.send(text, opcode=9)
    time.sleep(0.2)
    assert b"last" in (payload for opcode, payload in iter(websocket.receive, None) if opcode == 10)


def test_sessions_are_counted_and_their_limits_shown(account, shared):
    limits = {row["name"]: row["value"] for row in shared.call("GET", "/v1/limits").json()["limits"]}
    assert limits["liteMessageBytes"] > limits["documentBytes"] and limits["liteOpenMessages"] > 10
    phones = [another(account) for _ in range(3)]
    count = lambda: float(next(
        line.split()[1] for line in shared.metrics().splitlines() if line.startswith("lite_sessions_open ")))
    assert count() >= 3
    for phone in phones:
        phone.blip.websocket.drop()
    wait_until(lambda: count() == 0)
