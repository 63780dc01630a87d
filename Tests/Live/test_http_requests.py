"""Requests that no correct client sends: FAULTS H01 to H04, H07, H10, H11, H13. All use one server."""
import json

import pytest

from wire import LIMITS, connect, ended, receive, send

POST = "POST /v1/guests HTTP/1.1\r\nHost: x\r\n"
GET = "GET /v1/limits HTTP/1.1\r\n"
SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture(autouse=True)
def still_serving(shared):
    """Whatever was sent, the server answers the next request on another connection."""
    yield
    assert send(shared, LIMITS).statuses == [200]


def put(server, fields, body=""):
    return (f"PUT /v1/bookmarks/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {server.guest()}\r\n"
            f"{fields}\r\n{body}")


@pytest.mark.fault("H01")
@pytest.mark.parametrize("fields,body", [
    ("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n"),
    ("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd"),
    ("Content-Length: 0\r\nContent-Length: 0\r\n", ""),
    ("Content-Length: 0, 0\r\n", ""),
    ("Content-Length: +5\r\n", "abcde"), ("Content-Length: 0x5\r\n", "abcde"),
    ("Content-Length: -1\r\n", "abcde"), ("Content-Length: 5 5\r\n", "abcde"),
    ("Content-Length: \r\n", ""), ("Content-Length: 99999999999999999999\r\n", "abcde"),
    ("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: identity\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding: \x0bchunked\r\n", "0\r\n\r\n"),
    ("Transfer-Encoding : chunked\r\n", "0\r\n\r\n")], ids=lambda value: repr(value)[:50])
def test_doubtful_length_is_400_once_and_closes(shared, fields, body):
    answer = ended(shared, POST + fields + "\r\n" + body + SMUGGLED)
    assert answer.statuses == [400] and answer.closed, answer
    assert answer.errors in (["bad_request"], ["invalid_header"]), answer


@pytest.mark.fault("H01")
def test_chunks_in_http_1_0_are_400(shared):
    answer = ended(shared, POST.replace("1.1", "1.0")
                   + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED)
    assert answer.statuses == [400] and answer.closed, answer


@pytest.mark.fault("H01")
@pytest.mark.parametrize("chunks", ["1\na\r\n0\r\n\r\n", "0x1\r\na\r\n0\r\n\r\n", "fffffffffffffffff\r\na",
                                    "-1\r\n", "1\r\nab\r\n0\r\n\r\n", " 1\r\na\r\n0\r\n\r\n"])
def test_broken_chunk_is_400_and_closes(shared, chunks):
    answer = ended(shared, put(shared, "Transfer-Encoding: chunked\r\n", chunks + SMUGGLED))
    assert answer.statuses == [400] and answer.closed, answer


@pytest.mark.fault("H01")
def test_body_that_breaks_after_its_answer_gets_no_second_one(shared):
    with connect(shared) as connection:
        request = POST.replace("POST /v1/guests", "GET /v1/limits")
        connection.sendall((request + "Transfer-Encoding: chunked\r\n\r\n").encode())
        assert receive(connection).statuses == [200]  # This route does not read a body.
        connection.sendall(b"zz\r\n")
        assert receive(connection).statuses == []


@pytest.mark.fault("H11")
def test_options_of_the_server_name_every_method(shared):
    answer = send(shared, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.statuses == [204], answer
    assert answer.field("allow") == "COPY, DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"
    for method in ("GET", "PUT"):
        assert send(shared, f"{method} * HTTP/1.1\r\nHost: x\r\n\r\n").statuses == [400]
    assert send(shared, "OPTIONS ** HTTP/1.1\r\nHost: x\r\n\r\n").statuses == [400]


@pytest.mark.fault("H02")
@pytest.mark.parametrize("fields,status", [
    ("", 400), ("Host:\r\n", 400), ("Host: a\r\nHost: b\r\n", 400), ("Host: a\r\nhost: a\r\n", 400),
    ("Host: a/b\r\n", 400), ("Host: u@a\r\n", 400), ("Host: a b\r\n", 400), ("Host: a,b\r\n", 400),
    ("Host: a.example:8080\r\n", 200), ("HOST: [::1]:80\r\n", 200)])
def test_there_is_one_host(shared, fields, status):
    assert send(shared, f"{GET}{fields}\r\n").statuses == [status]


@pytest.mark.fault("H02")
@pytest.mark.parametrize("target,host", [
    ("http://target.example/v1/me", "target.example"), ("HTTP://target.example:81/v1/me", "target.example:81"),
    ("/v1/me", "other.example")])
def test_host_of_the_target_goes_first(shared, target, host):
    answer = send(shared, f"GET {target} HTTP/1.1\r\nHost: other.example\r\n"
                  f"Authorization: Bearer {shared.guest()}\r\n\r\n")
    me = json.loads(answer.data.partition(b"\r\n\r\n")[2])
    assert answer.statuses == [200] and me["couch"].startswith(f"http://{host}/couch/guest-"), answer


@pytest.mark.fault("H02")
@pytest.mark.parametrize("target,status", [
    ("http://target.example", 200), ("http://target.example?x=1", 200), ("http://u:p@x/v1/limits", 400),
    ("http:///v1/limits", 400), ("ftp://x/v1/limits", 400), ("v1/limits", 400), ("x:80", 400), ("*", 400)])
def test_other_forms_of_a_target(shared, target, status):
    assert send(shared, f"GET {target} HTTP/1.1\r\nHost: x\r\n\r\n").statuses == [status]


@pytest.mark.fault("H03")
@pytest.mark.parametrize("request_", [
    "GET /v1/limits HTTP/1.1\nHost: x\n\n", GET + "Host: x\nX: y\r\n\r\n",
    GET + "Host: x\r\nX: a\r\n b\r\n\r\n",
    GET + "Host: x\r\nX: a\0b\r\n\r\n", GET + "Host: x\r\nX: a\rb\r\n\r\n", GET + "Host : x\r\n\r\n",
    GET + "Host: x\r\nX : y\r\n\r\n", GET + " Host: x\r\n\r\n", GET + "Host: x\r\n: y\r\n\r\n",
    GET + "Host: x\r\nxyz\r\n\r\n", GET + "Host: x\r\nX\xe9: y\r\n\r\n", GET + "Host: x\r\nX: a\x01b\r\n\r\n",
    "GET\t/v1/limits HTTP/1.1\r\nHost: x\r\n\r\n", "GET /v1/limits HTTP/1.2\r\nHost: x\r\n\r\n",
    "GET /v1/limits HTTP/2.0\r\nHost: x\r\n\r\n", "GET /v1/limits\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03", "\0\0\0\0\r\n\r\n"], ids=lambda value: repr(value)[-40:])
def test_malformed_head_is_400_with_a_reason_and_closes(shared, request_):
    answer = ended(shared, request_ + SMUGGLED)
    assert answer.statuses == [400] and answer.errors == ["bad_request"] and answer.closed, answer
    assert answer.field("content-type") == "application/problem+json"


def fields(count):
    """A header with `count` fields."""
    return GET + "Host: x\r\n" + "X: a\r\n" * (count - 1) + "\r\n"


def sized(count):
    """A header whose line and fields have `count` bytes, as the parser counts them."""
    used = len("/v1/limits") + len("Hostx") + len("X")
    return GET + "Host: x\r\nX: " + "a" * (count - used) + "\r\n\r\n"


@pytest.mark.fault("H04")
@pytest.mark.parametrize("request_,status,error", [
    (fields(64), 200, None), (fields(65), 431, "headers_too_large"), (fields(10000), 431, "headers_too_large"),
    (sized(32 * 1024), 200, None), (sized(32 * 1024 + 1), 431, "headers_too_large"),
    (sized(100_000), 431, "headers_too_large"),
    (GET.replace("limits", "limits?" + "a" * (16_384 - 11)) + "Host: x\r\n\r\n", 200, None),
    (GET.replace("limits", "limits?" + "a" * (16_384 - 10)) + "Host: x\r\n\r\n", 414, "uri_too_long"),
    (GET.replace("limits", "limits?" + "a" * 33_000) + "Host: x\r\n\r\n", 414, "uri_too_long"),
    (GET.replace("limits", "a" * 100_000) + "Host: x\r\n\r\n", 414, "uri_too_long")],
    ids=["64 fields", "65 fields", "10000 fields", "32 KiB", "32 KiB + 1", "100 kB", "URI 16 KiB",
         "URI 16 KiB + 1", "URI 33 kB", "URI 100 kB"])
def test_heads_have_limits(shared, request_, status, error):
    answer = send(shared, request_)
    assert answer.statuses == [status] and answer.errors == ([error] if error else []), answer


@pytest.mark.fault("H04")
def test_limits_are_told(shared):
    limits = {row["name"]: row["value"] for row in shared.call("GET", "/v1/limits").json()["limits"]}
    assert (limits["headerFields"], limits["headerBytes"], limits["uriBytes"]) == (64, 32768, 16384)
    for name in ("headerSeconds", "bodyGraceSeconds", "bodyPieces", "bodyBytesPerSecond", "bodySeconds", "requestSeconds",
                 "idleSeconds", "connections", "connectionsPerAddress", "requestsAtOnce", "streams",
                 "bodyMemoryBytes", "answerMemoryBytes", "answerBytesPerSecond"):
        assert limits[name] > 0


@pytest.mark.fault("H07")
@pytest.mark.parametrize("count,status", [(16_000, 201), (30_000, 400)])
def test_body_in_chunks_of_a_byte_may_have_so_many(shared, count, status):
    token = shared.guest()
    value = json.dumps({"name": "Byte by byte", "text": "x" * count})
    answer = send(shared, f"PUT /v1/bookmarks/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                  "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                  + "".join(f"1\r\n{letter}\r\n" for letter in value) + "0\r\n\r\n")
    assert answer.statuses == [status] and answer.errors == (["bad_request"] if status == 400 else []), answer
    stored = shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"]
    assert [len(one["hotel"]["text"]) for one in stored] == ([count] if status == 201 else [])


@pytest.mark.fault("H07")
@pytest.mark.parametrize("fields,body", [
    ("Content-Length: 100\r\n", "{}"), ("Transfer-Encoding: chunked\r\n", "2\r\n{}\r\n"),
    ("Transfer-Encoding: chunked\r\n", "5\r\n{}"), ("Content-Length: 2\r\n", "{")])
def test_body_that_breaks_off_is_400_and_stores_nothing(shared, fields, body):
    token = shared.guest()
    answer = send(shared, f"PUT /v1/bookmarks/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                  f"{fields}\r\n{body}", half=True)
    assert answer.statuses == [400], answer
    assert shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"] == []


@pytest.mark.fault("H07")
def test_what_follows_a_body_is_another_request(shared):
    answer = ended(shared, put(shared, "Content-Length: 2\r\n", "{}{}"))
    assert answer.statuses == [201, 400] and answer.closed, answer


@pytest.mark.fault("H07")
def test_endless_chunks_are_413(shared):
    with connect(shared) as connection:
        connection.sendall(put(shared, "Transfer-Encoding: chunked\r\n").encode())
        with pytest.raises(OSError):
            while True:
                connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
    with connect(shared) as connection:
        chunk = b"1000\r\n" + b"x" * 4096 + b"\r\n"
        connection.sendall(put(shared, "Transfer-Encoding: chunked\r\n").encode() + chunk * 17)
        answer = receive(connection)
        assert answer.statuses == [413] and answer.field("connection") == "close", answer


@pytest.mark.fault("H10")
def test_a_thousand_requests_ahead_are_answered_in_order(shared):
    methods = ["GET", "POST", "HEAD"]
    wanted = [(200 if method != "POST" else 405) for method in methods] * 334
    data = "".join(f"{method} /v1/limits HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
                   for method in methods) * 334
    answer = ended(shared, (data + GET + "Host: x\r\nConnection: close\r\n\r\n").encode())
    assert answer.statuses == wanted + [200]


@pytest.mark.fault("H10")
def test_half_closed_connection_gets_its_answer(shared):
    assert send(shared, LIMITS, half=True).statuses == [200]
    answer = send(shared, put(shared, "Content-Length: 2\r\n", "{}"), half=True)
    assert answer.statuses == [201]


@pytest.mark.fault("H10")
@pytest.mark.parametrize("field", ["close", "Close", "keep-alive, close"])
def test_close_ends_the_connection_after_the_answer(shared, field):
    answer = ended(shared, GET + f"Host: x\r\nConnection: {field}\r\n\r\n" + SMUGGLED)
    assert answer.statuses == [200] and answer.field("connection") == "close" and answer.closed, answer


@pytest.mark.fault("H10")
@pytest.mark.parametrize("path", ["/v1/limits", "/couch"])
def test_http_1_0_is_answered_without_chunks_and_closed(shared, path):
    answer = ended(shared, f"GET {path} HTTP/1.0\r\n\r\n")
    assert answer.statuses == [200] and answer.closed and answer.data.startswith(b"HTTP/1.0 200")
    assert answer.field("transfer-encoding") is None


@pytest.mark.fault("H10")
def test_upgrade_is_ignored_and_the_connection_ends(shared):
    answer = ended(shared, GET + "Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                   "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
    assert answer.statuses == [200] and answer.field("connection") == "close", answer


@pytest.mark.fault("H11")
@pytest.mark.parametrize("method,status,allowed", [
    ("TRACE", 405, "GET, HEAD, OPTIONS"), ("PROPFIND", 405, "GET, HEAD, OPTIONS"),
    ("DELETE", 405, "GET, HEAD, OPTIONS"), ("CONNECT", 405, "GET, HEAD, OPTIONS"),
    ("BREW", 405, "GET, HEAD, POST, PUT, PATCH, DELETE, COPY, OPTIONS"),
    ("get", 405, "GET, HEAD, POST, PUT, PATCH, DELETE, COPY, OPTIONS"), ("OPTIONS", 204, "GET, HEAD, OPTIONS")])
def test_other_methods_are_told_which_there_are(shared, method, status, allowed):
    answer = send(shared, f"{method} /v1/limits HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.statuses == [status] and answer.field("allow") == allowed, answer


@pytest.mark.fault("H11")
@pytest.mark.parametrize("field", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])
def test_method_in_a_field_is_ignored(shared, field):
    token = shared.guest()
    shared.call("PUT", "/v1/bookmarks/x", token, json={})
    answer = send(shared, f"GET /v1/bookmarks/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
                  f"{field}: DELETE\r\n\r\n")
    assert answer.statuses == [200]
    assert shared.call("GET", "/v1/bookmarks/x", token).status_code == 200


@pytest.mark.fault("H13")
@pytest.mark.parametrize("path,status", [
    ("//v1/limits", 404), ("/v1//limits", 404), ("/v1/limits/", 200),
    ("/./v1/limits", 400), ("/v1/../v1/limits", 400),
    ("/v1/%2e%2e/limits", 400), ("/%2E/v1/limits", 400), ("/v1/.%2e/limits", 400), ("/v1/hotels/%", 400),
    ("/v1/hotels/%zz", 400), ("/v1/hotels/%f", 400), ("/v1/hotels/%00", 400), ("/v1/hotels/%ff", 400),
    ("/v1/hotels/%c0%af", 400), ("/v1/limits#x", 400), ("/v1/limits\xe9", 400), ("/v1%2flimits", 404),
    ("/v1\\limits", 404), ("/..%2f..%2fetc/passwd", 404)])
def test_paths_are_taken_as_they_stand(shared, path, status):
    answer = send(shared, f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.statuses == [status], answer


@pytest.mark.fault("H13")
@pytest.mark.parametrize("segment,identifier", [
    ("a%2Fb", "a/b"), ("a%2fb", "a/b"), ("%252f", "%2f"), ("%252e%252e", "%2e%2e"), ("..a", "..a"),
    ("a%20b", "a b"), ("a+b", "a+b"), ("%2E%2E%2Fx", "../x")])
def test_ids_are_decoded_once(shared, segment, identifier):
    token = shared.guest()
    head = f"HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    assert send(shared, f"PUT /v1/bookmarks/{segment} {head}Content-Length: 2\r\n\r\n{{}}").statuses == [201]
    listed = shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"]
    assert [row["id"] for row in listed] == [identifier]
