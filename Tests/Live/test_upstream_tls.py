"""Upstreams with invalid TLS (FAULTS U01, "TLS bad") are treated like any other failure."""
import socketserver
import threading
import time

import pytest
import requests

from certificates import server_context
from searching import HASTY, answered, bookmarked, search
from server import Server
from stub_upstream import hotels
from waiting import PATIENCE

CERTIFICATES = {
    "self-signed": {},
    "expired": {"end": "20210101000000Z"},
    "not yet valid": {"start": "20400101000000Z"},
    "another host": {"host": "elsewhere.example"},
}


def check(front):
    """Asserts that searches fail, that a person's own bookmarks are found, and that no response is stored."""
    token = bookmarked(front)
    for text in ["pool", "view"]:
        failed = search(front, text)
        assert failed.status_code in (502, 503, 504), failed.text
        assert failed.json()["error"].startswith("search_")
    assert search(front, "harbour", token).json()["source"] == "mirror"
    front.state("degraded")


@pytest.mark.fault("U01")
@pytest.mark.parametrize("kind", CERTIFICATES)
def test_certificate_that_nobody_should_trust_is_not_trusted(start, stub, tmp_path, kind):
    context, certificate = server_context(tmp_path, **CERTIFICATES[kind])
    upstream = stub(lambda *_: hotels(1), context=context)
    url = f"https://localhost:{upstream.port}"
    front = start("--upstream", url)
    check(front)
    # TLS failed, so no request was sent. A client that trusts the certificate gets a response.
    assert not upstream.calls
    assert "CERTIFICATE" in front.logged("Upstream search failed").upper()
    if kind == "self-signed":
        reply = requests.get(url + "/api/hotels/a/b/", verify=str(certificate), timeout=PATIENCE)
        assert reply.status_code == 200 and len(upstream.calls) == 1


def test_certificate_of_an_operators_own_authority_is_trusted(start, stub, tmp_path):
    context, certificate = server_context(tmp_path)
    upstream = stub(lambda *_: hotels(1), context=context)
    url = f"https://localhost:{upstream.port}"
    front = start("--upstream", url, "--upstream-ca-file", str(certificate))
    assert answered(front, "inn").json()["source"] == "upstream"
    front.state("ready")


@pytest.mark.fault("U01")
@pytest.mark.parametrize("kind", ["expired", "not yet valid", "another host"])
def test_own_authority_excuses_nothing_else(start, stub, tmp_path, kind):
    context, certificate = server_context(tmp_path, **CERTIFICATES[kind])
    upstream = stub(lambda *_: hotels(1), context=context)
    url = f"https://localhost:{upstream.port}"
    check(start("--upstream", url, "--upstream-ca-file", str(certificate)))
    assert not upstream.calls


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_file_without_an_authority_refuses_to_start(tmp_path, content):
    file = tmp_path / "authority.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(AssertionError, match="upstreamCaFile must be"):
        Server(tmp_path / "data", "--upstream", "https://localhost:1", "--upstream-ca-file", str(file))


@pytest.mark.fault("U01")
def test_plain_http_where_tls_should_be_is_a_failure(start, stub):
    upstream = stub(lambda *_: hotels(1))
    url = f"https://localhost:{upstream.port}"
    # The upstream waits for the rest of what it takes for a head.
    check(start("--upstream", url, *HASTY))


@pytest.mark.fault("U01")
def test_tls_where_plain_http_should_be_is_a_failure(start, stub, tmp_path):
    context, _ = server_context(tmp_path)
    upstream = stub(lambda *_: hotels(1), context=context)
    url = f"http://localhost:{upstream.port}"
    check(start("--upstream", url))
    assert not upstream.calls


@pytest.mark.fault("U01")
@pytest.mark.parametrize("reply", [
    b"", b"HTTP/1.1 200 OK\r\n\r\n{}", b"\x15\x03\x01\x00\x02\x02\x28", bytes(range(256)) * 40, None])
def test_handshake_that_breaks_is_a_failure(start, reply):
    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65_536)
            if reply is None:
                time.sleep(PATIENCE)
            self.request.sendall(reply or b"")

    class Listener(socketserver.ThreadingTCPServer):
        allow_reuse_address, daemon_threads = True, True

    with Listener(("127.0.0.1", 0), Handler) as listener:
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        url = f"https://localhost:{listener.server_address[1]}"
        check(start("--upstream", url, *HASTY))
        listener.shutdown()
