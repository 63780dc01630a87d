"""Writes that were accepted before the account changed: they are refused, or acknowledged and can be found."""
import json
import socket
import uuid
from waiting import PATIENCE

PASSWORD = "long enough"


class SlowPut:
    """A bookmark whose header is sent at once, and whose body is sent when the test says so."""

    body = json.dumps({"name": "Late"}).encode()

    def __init__(self, server, token):
        host, port = server.url.removeprefix("http://").split(":")
        self.connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.connection.sendall(
            (f"PUT /v1/bookmarks/late HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n"
             f"Content-Type: application/json\r\nContent-Length: {len(self.body)}\r\n\r\n").encode())
        self.connection.sendall(self.body[:1])

    def finish(self):
        self.connection.sendall(self.body[1:])
        with self.connection:
            return int(self.connection.recv(4096).split()[1])


def credentials():
    return {"username": "late-" + uuid.uuid4().hex, "password": PASSWORD}


def test_write_during_sign_up_is_not_acknowledged_into_the_dead_store(shared):
    guest = shared.guest()
    shared.call("PUT", "/v1/bookmarks/early", guest, json={"name": "Early"})
    late = SlowPut(shared, guest)
    token = shared.call("POST", "/v1/users", guest, json=credentials()).json()["token"]
    status = late.finish()
    listed = shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"]
    assert "early" in [bookmark["id"] for bookmark in listed]
    assert status == 410 or "late" in [bookmark["id"] for bookmark in listed]


def test_write_during_erasure_leaves_no_store(start):
    server = start()
    token = server.call("POST", "/v1/users", json=credentials()).json()["token"]
    server.call("PUT", "/v1/bookmarks/one", token, json={"name": "One"})
    late = SlowPut(server, token)
    assert server.call("DELETE", "/v1/me", token).status_code == 204
    files = set((server.data / "stores").rglob("*.sqlite"))
    assert late.finish() == 401
    assert set((server.data / "stores").rglob("*.sqlite")) == files
