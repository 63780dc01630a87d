"""Wrong input gets the documented 4xx, which says what to change. The log contains no secret."""
import base64
import http.client
import json
import socket
import uuid

import pytest
import requests
from waiting import PATIENCE

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("token", [
    "", "x", "a.b.c", "." * 40, "eyJhbGciOiJub25lIn0.eyJzdWIiOiJ4In0.", "x" * 9000],
    ids=["empty", "word", "three words", "dots", "alg none", "9000 bytes"])
def test_bad_token_is_401(shared, token):
    answer = shared.call("GET", "/v1/bookmarks", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401
    assert "WWW-Authenticate" in answer.headers


def test_changed_token_is_401(shared):
    head, body, signature = shared.guest().split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["sub"] = uuid.uuid4().hex
    forged = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    assert shared.call("GET", "/v1/me", f"{head}.{forged}.{signature}").status_code == 401


@pytest.mark.parametrize("body,error", [
    (b"{", "invalid_json"), (b'{"a":1,"a":2}', "duplicate_key"), (b'{"a":1,"\\u0061":2}', "duplicate_key"),
    (b"\xef\xbb\xbf{}", "invalid_json"), (b'{"a":1e400}', "number_out_of_range"),
    (b'{"a":' + b"[" * 70 + b"]" * 70 + b"}", "too_deep"), (b"[" * 60000, "too_deep"),
    (b'{"a":"\\ud800"}', None), (b'"text"', "doc_validation"), (b'{"a":"\xff"}', "invalid_utf8")],
    ids=["cut", "duplicate", "escaped duplicate", "BOM", "1e400", "depth 71", "60000 brackets",
         "lone surrogate", "no object", "bad UTF-8"])
def test_malformed_hotel_is_400(shared, body, error):
    answer = shared.call("PUT", "/v1/bookmarks/bad", shared.guest(), data=body, headers=JSON)
    assert answer.status_code == 400, answer.text
    assert error is None or answer.json()["error"] == error


def test_oversized_body_is_413(shared):
    body = b'{"a":"' + b"x" * (64 * 1024) + b'"}'
    assert shared.call(
        "PUT", "/v1/bookmarks/big", shared.guest(), data=body, headers=JSON).status_code == 413


def test_refused_body_is_not_read_for_ever(shared):
    address = shared.url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=PATIENCE) as connection:
        head = (f"PUT /v1/bookmarks/big HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {shared.guest()}\r\n"
                "Content-Length: 99000000000\r\n\r\n")
        connection.sendall(head.encode())
        assert b" 413 " in connection.recv(4096)
        with pytest.raises(OSError):
            while True:
                connection.sendall(b"x" * 65536)


def test_broken_chunk_is_400(shared):
    address = shared.url.removeprefix("http://").split(":")
    with socket.create_connection((address[0], int(address[1])), timeout=PATIENCE) as connection:
        connection.sendall(
            (f"PUT /v1/bookmarks/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {shared.guest()}\r\n"
             "Transfer-Encoding: chunked\r\n\r\nZZ\r\n").encode())
        assert b" 400 " in connection.recv(4096)


def test_other_content_type_is_415(shared):
    answer = shared.call("PUT", "/v1/bookmarks/x", shared.guest(), data=b"{}",
                         headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


@pytest.mark.parametrize("path,status", [
    ("/v1/bookmarks/%ff", 400), ("/v1/bookmarks/a%00b", 400),
    ("/v1/bookmarks/_x", 400), ("/v1/bookmarks/" + "x" * 513, 400), ("/v1/bookmarks/none", 404),
    ("/v1/hotels?limit=0", 400), ("/v1/hotels?limit=101", 400), ("/v1/hotels?offset=-1", 400),
    ("/v1/hotels?limit=9223372036854775808", 400), ("/v1/hotels?limit=1&limit=2", 400),
    ("/v1/hotels?colour=red", 400), ("/v1/hotels?description=" + "x" * 513, 400),
    ("/v1/bookmarks?after=%F0%9F%8F%A8", 400), ("/v1/hotels?description=" + "x" * 17_000, 414)],
    ids=lambda value: str(value)[:40])
def test_bad_paths_and_parameters(shared, path, status):
    assert shared.call("GET", path, shared.guest()).status_code == status


@pytest.mark.parametrize("path", [
    "/v1/./me", "/v1/%2e%2e/me", "/v1/x/../me", "/v1/hotels/%zz", "/v1/hotels/%", "/v1/hotels?limit=%f"])
def test_dot_segments_and_broken_escapes_are_400(shared, path):
    connection = http.client.HTTPConnection(shared.url.removeprefix("http://"), timeout=PATIENCE)
    connection.request("GET", path)  # Sent unchanged: requests would correct the path.
    assert connection.getresponse().status == 400


@pytest.mark.parametrize("identifier", [
    "a%2Fb", "%252f", "line%0D%0Abreak", "%F0%9F%8F%A8", "caf%C3%A9", "cafe%CC%81", "%2E%2E%2Fx"])
def test_odd_ids_come_back_as_they_are(shared, identifier):
    token = shared.guest()
    put = shared.call("PUT", f"/v1/bookmarks/{identifier}", token, json={"name": identifier})
    assert put.status_code == 201, put.text
    listed = shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"]
    assert [b["id"] for b in listed] == [requests.utils.unquote(identifier)]
    assert shared.call("GET", f"/v1/bookmarks/{identifier}", token).status_code == 200


@pytest.mark.parametrize("name,status", [
    ("guest", 201), ("../x", 400), ("a/b", 400), ("a:b", 400), ("a,b", 400), ("a`b", 400), ("", 400),
    ("x" * 240, 400), ("---", 400), ("nul\0", 400), ("de\u200bmo", 400), ("de\u202emo", 400),
    ("de\u00a0mo", 400), (" demo", 400), ("Demo User", 201)], ids=lambda value: repr(value)[:20])
def test_user_names_by_the_rule(start, name, status):
    server = start()
    body = {"username": name, "password": "long enough"}
    assert server.call("POST", "/v1/users", json=body).status_code == status
    assert {path.name for path in server.data.parent.iterdir()} == {server.data.name}


@pytest.mark.parametrize("first,second", [("Demo", "demo"), ("caf\u00e9", "cafe\u0301")])
def test_same_name_otherwise_written_is_taken(start, first, second):
    server = start()
    body = {"username": first, "password": "long enough"}
    assert server.call("POST", "/v1/users", json=body).status_code == 201
    assert server.call("POST", "/v1/users", json={**body, "username": second}).status_code == 409
    assert server.call("POST", "/v1/sessions", json={**body, "username": second}).status_code == 200


def test_lockout_is_429_and_the_log_names_no_secret(start):
    server = start("--log-level", "trace")
    secret, name = "canary-" + uuid.uuid4().hex, "user-" + uuid.uuid4().hex
    body = {"username": name, "password": secret}
    token = server.call("POST", "/v1/users", json=body).json()["token"]
    server.call("PUT", "/v1/bookmarks/x", token, json={"name": secret})
    statuses = [
        server.call("POST", "/v1/sessions", json={**body, "password": secret + str(n)}).status_code
        for n in range(8)]
    assert statuses[:5] == [401] * 5 and statuses[-1] == 429
    server.call("PUT", "/v1/bookmarks/x", token, data=b'{"' + secret.encode(), headers=JSON)
    server.stop()
    log = "".join(server.log)
    assert secret not in log and token not in log and name not in log


def test_cookie_writes_need_this_origin(shared):
    body = {"username": "cookie-" + uuid.uuid4().hex, "password": "long enough"}
    session = requests.Session()
    shared.call("POST", "/v1/users", session=session, json=body)
    assert shared.call("GET", "/v1/me", session=session).status_code == 200
    for headers, status in (({}, 403), ({"Origin": "http://evil.example"}, 403),
                            ({"Origin": shared.url}, 201)):
        answer = shared.call("PUT", "/v1/bookmarks/c", session=session, json={}, headers=headers)
        assert answer.status_code == status, answer.text
