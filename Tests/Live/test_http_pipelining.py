"""Requests that are sent before the responses to earlier ones: FAULTS H10."""
import pytest
from wire import LIMITS, ended

BODY = '{"name":"x"}'


def put(token, hotel):
    return (f"PUT /v1/bookmarks/{hotel} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Length: {len(BODY)}\r\n\r\n{BODY}").encode()


@pytest.mark.fault("H10")
def test_nothing_behind_an_answer_that_closes_is_done(shared):
    """Regression: a chunked body that is not JSON was answered 400 with close, and the request behind it was still
    carried out (RFC 9112, section 9.6)."""
    token = shared.guest()
    bad = (f"POST /v1/bookmarks HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
           "Transfer-Encoding: chunked\r\n\r\n2\r\n{x\r\n0\r\n\r\n").encode()
    answer = ended(shared, put(token, "before") + bad + put(token, "behind") + LIMITS)
    assert answer.statuses == [201, 400] and answer.field("connection") == "close", answer
    kept = shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"]
    assert [bookmark["id"] for bookmark in kept] == ["before"]
