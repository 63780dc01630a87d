"""Answers that HTTP/2 clients do not take: they are on the account of the client's address, and are given back."""
import contextlib
import json
import re

import pytest

from secure import Streams, certificate
from server import Server
from waiting import wait_until

STREAMS = 100
"""The streams that a connection may have open at once."""
LITTLE = 256 << 10
"""Bytes of answers that a connection may have open in any case."""
BODY = 60_000
"""A body that is shorter than what HTTP/1 sends in one piece."""


@pytest.fixture
def server(tmp_path):
    pair = certificate(tmp_path, "window")
    server = Server(tmp_path / "data", "--tls-certificate-file", str(pair[0]), "--tls-key-file", str(pair[1]))
    yield server
    assert server.stop() == 0, "".join(server.log[-20:])


def gauge(text, name):
    return int(float(re.search(rf"(?m)^{name} (\S+)", text).group(1)))


def metrics(client):
    return client.answer("GET", "/metrics")[2].decode()


def test_answers_that_nobody_takes_are_on_the_account_of_their_address(server):
    with Streams(server, "127.0.0.3") as other:
        token = json.loads(other.answer("POST", "/v1/guests")[2])["token"]
        mine = ("authorization", "Bearer " + token)
        stored = json.dumps({"name": "x", "description": "y" * BODY}).encode()
        kind = ("content-type", "application/json")
        assert other.answer("PUT", "/v1/bookmarks/x", mine, kind, body=stored)[0] == 201
        whole = other.answer("GET", "/v1/bookmarks/x", mine)[2]
        bound = gauge(metrics(other), "answer_bytes_bound")
        enough = bound // BODY // STREAMS + 2
        with contextlib.ExitStack() as stack:
            # Only the heads of answers are read, so that the window of each connection is soon used up.
            hostile = [stack.enter_context(Streams(server, "127.0.0.2", takes=False)) for _ in range(enough)]
            for one in hostile:
                for _ in range(STREAMS):
                    one.ask("GET", "/v1/bookmarks/x", mine)
                status, _, body = other.answer("GET", "/v1/bookmarks/x", mine)
                assert (status, body) == (200, whole)
                one.read(lambda: len(one.answers.keys() | one.resets.keys()) == STREAMS)
            # One address takes half of the memory, and a little for each connection. Other streams were closed.
            assert gauge(metrics(other), "answer_bytes") <= bound / 2 + (enough + 1) * LITTLE
            # On a slow machine the first connections have ended meanwhile, so that the last ones have room again.
            assert any(len(one.resets) > STREAMS * 0.9 for one in hostile)
            with Streams(server, "127.0.0.2") as colleague:
                assert colleague.answer("GET", "/v1/bookmarks/x", mine)[::2] == (200, whole)
        wait_until(lambda: gauge(metrics(other), "answer_bytes") < bound // 100)
        assert other.answer("GET", "/v1/bookmarks/x", mine)[::2] == (200, whole)
