"""TLS and HTTP/2 with a configured certificate; FAULTS H09 and the parts of H01 to H08 that apply to streams."""
import contextlib
import json
import os
import signal
import socket
import ssl
import struct
import urllib.parse
import warnings

import h2.settings
import pytest

from waiting import PATIENCE, wait_until
from secure import Streams, certificate, connect
from server import Server
from wire import LIMITS, receive


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    """A server with a certificate."""
    directory = tmp_path_factory.mktemp("secure")
    pair = certificate(directory, "first")
    server = Server(directory / "data", "--tls-certificate-file", str(pair[0]), "--tls-key-file", str(pair[1]))
    server.pair = pair
    yield server
    assert server.stop() == 0, "".join(server.log[-20:])


@pytest.fixture(autouse=True)
def still_serving(secure):
    """Whatever was sent, the server answers the next request on another connection."""
    yield
    with connect(secure, "http/1.1") as connection:
        connection.sendall(LIMITS)
        assert receive(connection).statuses == [200]


@pytest.mark.parametrize("offered,taken", [
    (["h2", "http/1.1"], "h2"), (["http/1.1"], "http/1.1"), ([], None)])
def test_protocol_is_what_the_client_prefers(secure, offered, taken):
    assert secure.url.startswith("https://")
    with connect(secure, *offered) as connection:
        assert connection.selected_alpn_protocol() == taken
        assert connection.version() in ("TLSv1.2", "TLSv1.3")
        if taken != "h2":
            connection.sendall(LIMITS)
            assert receive(connection).statuses == [200]


def test_old_tls_and_plain_text_are_refused(secure):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    parts = urllib.parse.urlsplit(secure.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as plain:
        with pytest.raises((ssl.SSLError, OSError)):
            context.wrap_socket(plain)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as plain:
        plain.sendall(LIMITS)
        assert b"HTTP/1.1 200" not in plain.recv(1 << 16)


def test_whole_life_of_a_bookmark_over_http_2(secure):
    with Streams(secure) as streams:
        status, _, body = streams.answer("POST", "/v1/guests")
        assert status == 201
        token = ("authorization", "Bearer " + json.loads(body)["token"])
        kind = ("content-type", "application/json")
        assert streams.answer("PUT", "/v1/bookmarks/x", token, kind, body=b'{"name":"x"}')[0] == 201
        status, fields, body = streams.answer("GET", "/v1/me", token)
        assert status == 200 and json.loads(body)["couch"].startswith("https://localhost/couch/guest-")
        assert "connection" not in fields and "transfer-encoding" not in fields
        long = ("content-length", "65537")
        status, fields, _ = streams.answer("PUT", "/v1/bookmarks/y", token, kind, long, end=False)
        assert status == 413 and "connection" not in fields
        assert streams.answer("DELETE", "/v1/bookmarks/x", token)[0] == 204


@pytest.mark.fault("H05")
def test_long_answer_of_a_stream_is_counted_until_it_is_read(secure):
    """A stream's window of 64 KiB stays closed until its client reads."""
    with Streams(secure) as streams, Streams(secure) as others:
        body = json.dumps({"username": "reader", "password": "long enough"}).encode()
        kind = ("content-type", "application/json")
        status, _, answer = streams.answer("POST", "/v1/users", kind, body=body)
        assert status == 201
        token = ("authorization", "Bearer " + json.loads(answer)["token"])
        database = json.loads(streams.answer("GET", "/v1/me", token)[2])["couch"].partition("localhost")[2]
        for number in range(20):
            document = json.dumps({"text": "x" * 15_000}).encode()
            assert streams.answer("PUT", f"{database}/d{number}", token, kind, body=document)[0] == 201

        def waiting():
            lines = others.answer("GET", "/metrics")[2].decode().splitlines()
            return float(next(line for line in lines if line.startswith("answer_bytes ")).split()[1])

        stream = streams.ask("GET", database + "/_all_docs?include_docs=true", token)
        wait_until(lambda: waiting() > 100_000)
        streams.read(lambda: stream in streams.done)
        assert len(streams.bodies[stream]) > 300_000
        wait_until(lambda: waiting() == 0)
        stream = streams.ask("GET", database + "/_all_docs?include_docs=true", token)
        wait_until(lambda: waiting() > 100_000)
        streams.h2.reset_stream(stream)
        streams.flush()
        wait_until(lambda: waiting() == 0)


def test_refused_body_without_an_end_ends_its_stream_alone(secure):
    with Streams(secure) as streams:
        stream = streams.ask("PUT", "/v1/bookmarks/y", ("content-length", "99999999"), end=False)
        streams.read(lambda: stream in streams.done)
        assert streams.answers[stream][":status"] in ("401", "413")
        assert streams.answer("GET", "/v1/limits")[0] == 200


def test_cookie_is_for_tls_alone_and_so_is_the_host_from_then_on(secure):
    with Streams(secure) as streams:
        for path in ("/healthz", "/v1/limits", "/", "/v1/absent"):
            assert streams.answer("GET", path)[1]["strict-transport-security"] == "max-age=31536000"
        body = json.dumps({"username": "ann", "password": "long enough"}).encode()
        status, fields, _ = streams.answer("POST", "/v1/users", ("content-type", "application/json"), body=body)
        assert status == 201 and "; Secure" in fields["set-cookie"]


@pytest.mark.fault("H04")
@pytest.mark.parametrize("fields,status", [
    ([("x", "a")] * 60, 200), ([("x", "a")] * 65, 431), ([("expect", "tea")], 200), ([("host", "other")], 200)])
def test_fields_of_a_stream_have_limits(secure, fields, status):
    with Streams(secure) as streams:
        assert streams.answer("GET", "/v1/limits", *fields)[0] == status


def test_answer_of_a_stream_has_no_fields_about_the_connection(secure):
    """Regression: clients reset the stream of the answer to a WebSocket's handshake, which has them over HTTP/1.1."""
    with Streams(secure) as client:
        token = json.loads(client.answer("POST", "/v1/guests")[2])["token"]
        stream = client.ask("GET", "/couch/bookmarks/_blipsync", ("authorization", "Bearer " + token))
        client.read(lambda: stream in client.done)
        assert stream not in client.resets and client.answers[stream][":status"] == "426"
        assert not {"connection", "upgrade"} & set(client.answers[stream]), client.answers


def test_target_of_16_kib_is_taken_over_http_2(secure):
    """The setting counts from the client's acknowledgement on, which the first answer shows to have arrived."""
    with Streams(secure) as streams:
        assert streams.answer("GET", "/v1/limits")[0] == 200
        assert streams.answer("GET", "/v1/limits?" + "a" * (16_384 - 11), ("x", "b" * 8_000))[0] == 200
        assert streams.answer("GET", "/v1/limits?" + "a" * (16_384 - 10))[0] == 414


@pytest.mark.fault("H13")
@pytest.mark.parametrize("path,status", [
    ("/v1/../v1/limits", 400), ("/v1/limits?" + "a" * 16_374, 414), ("v1/limits", 400), ("*", 400)])
def test_targets_of_a_stream_are_checked(secure, path, status):
    with Streams(secure) as streams:
        stream = streams.ask("GET", path)
        streams.read(lambda: stream in streams.done)
        answered = streams.answers.get(stream, {}).get(":status")
        assert answered == str(status) or (answered is None and (streams.ended is not None or streams.resets))


def ping(server):
    with Streams(server) as streams:
        assert streams.answer("GET", "/v1/limits")[0] == 200


def cpu(server):
    """Seconds of processor time that a server has used."""
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.fault("H09")
def test_rapid_reset_ends_the_connection(secure):
    before = cpu(secure)
    with Streams(secure) as streams:
        for number in range(20_000):
            stream = streams.h2.get_next_available_stream_id()
            streams.h2.send_headers(stream, [
                (":method", "GET"), (":scheme", "https"), (":authority", "localhost"), (":path", "/v1/limits")],
                end_stream=True)
            streams.h2.reset_stream(stream)
            if number % 50 == 49 and not streams.flush():
                break
        streams.read()
        assert streams.ended in (11, "closed"), streams.ended  # ENHANCE_YOUR_CALM
        assert number < 19_999, "all of them were taken"
    assert cpu(secure) - before < 20
    ping(secure)


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def goodbyes(data):
    """The error codes of the GOAWAY frames in what a server sent."""
    found = []
    while len(data) >= 9:
        size = int.from_bytes(data[:3], "big")
        if data[3] == 7:
            found.append(int.from_bytes(data[13:17], "big"))
        data = data[9 + size:]
    return found


def flooded(server, first, data, count):
    """Sends the same bytes again and again until the server ends the connection. Returns the reasons that it gave."""
    with Streams(server) as streams:
        connection, came = streams.socket, b""
        with contextlib.suppress(OSError):
            connection.sendall(first)
            for _ in range(count):
                connection.settimeout(PATIENCE)
                connection.sendall(data)
                connection.settimeout(0)
                try:
                    while piece := connection.recv(1 << 16):
                        came += piece
                    break
                except ssl.SSLWantReadError:
                    continue
            else:
                pytest.fail("all of it was taken")
        # Reads what was still in transit when a write failed.
        connection.settimeout(PATIENCE)
        with contextlib.suppress(OSError):
            while piece := connection.recv(1 << 16):
                came += piece
    ping(server)
    return goodbyes(came)


@pytest.mark.fault("H09")
@pytest.mark.parametrize("kind,flags,payload", [
    (9, 0, b""), (9, 0, b"\x00\x01a\x01b" * 100)], ids=["empty", "full"])
def test_flood_of_continuations_ends_the_connection(secure, kind, flags, payload):
    first = frame(1, 0, 1, b"\x82\x87\x84\x41\x09localhost")
    # The reason is lost if the connection ends before it is read, so this tries several times.
    assert any(flooded(secure, first, frame(kind, flags, 1, payload), 1 << 16) == [11] for _ in range(5))


@pytest.mark.fault("H09")
@pytest.mark.parametrize("data,reasons", [
    (frame(4, 0, 0, b""), [11]), (frame(6, 0, 0, b"12345678"), []), (frame(0, 0, 1, b""), [11]),
    (frame(2, 0, 1, b"\0\0\0\0\1"), [11])], ids=["settings", "pings", "empty data", "priorities"])
def test_flood_of_frames_ends_the_connection(secure, data, reasons):
    """After a flood of pings, Hummingbird closes before it sends its reason (2.28.1, `optionallyFlush`)."""
    first = frame(1, 4, 1, b"\x83\x87\x84\x41\x09localhost")
    assert any(flooded(secure, first, data * 64, 1 << 12) in (reasons, [11]) for _ in range(5))


@pytest.mark.fault("H09")
def test_streams_at_once_have_a_limit(secure):
    with Streams(secure) as streams:
        streams.read(lambda: streams.h2.remote_settings.max_concurrent_streams < 1 << 20)
        assert streams.h2.remote_settings.max_concurrent_streams == 100
        head = b"\x83\x87\x84\x41\x09localhost"  # A POST whose stream stays open.
        streams.socket.sendall(b"".join(frame(1, 4, 2 * number + 1, head) for number in range(101)))
        streams.read(lambda: bool(streams.resets))
        assert streams.ended is not None or streams.resets


@pytest.mark.fault("H09")
def test_window_of_nothing_holds_its_own_stream_alone(secure):
    with Streams(secure) as streams:
        streams.h2.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
        streams.flush()
        stuck = [streams.ask("GET", "/openapi.yaml") for _ in range(50)]
        streams.read(lambda: len(streams.answers) == len(stuck))
        assert not streams.bodies
        ping(secure)


def test_renewed_certificate_is_taken_without_a_restart(secure, tmp_path):
    def serial():
        with connect(secure, "http/1.1") as connection:
            return connection.getpeercert(binary_form=True)

    with connect(secure, "http/1.1") as old:
        first = serial()
        for made, used in zip(certificate(tmp_path, "second"), secure.pair):
            os.replace(made, used)
        secure.process.send_signal(signal.SIGHUP)
        wait_until(lambda: serial() != first)
        old.sendall(LIMITS)
        assert receive(old).statuses == [200]
        secure.pair[1].write_text("no key")
        secure.process.send_signal(signal.SIGHUP)
        assert secure.logged("certificate can't be reloaded")
        assert serial() != first


@pytest.mark.fault("F23")
def test_clients_that_read_nothing_hold_the_end_up_for_a_while_only(start, tmp_path):
    """Regression: the end of an HTTP/2 connection waited for the client without a limit."""
    pair = certificate(tmp_path, "stopped")
    server = start("--tls-certificate-file", str(pair[0]), "--tls-key-file", str(pair[1]))
    with Streams(server) as idle, Streams(server) as body, connect(server, "http/1.1") as plain:
        body.ask("POST", "/v1/guests", body=b"{", end=False)
        plain.sendall(LIMITS[:-2])
        idle.answer("GET", "/v1/limits")
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(timeout=PATIENCE) == 0


def test_certificate_that_is_none_refuses_to_start(tmp_path):
    pair = certificate(tmp_path, "x")
    pair[1].write_text("no key")
    with pytest.raises(AssertionError, match="certificate"):
        Server(tmp_path / "data", "--tls-certificate-file", str(pair[0]), "--tls-key-file", str(pair[1]))
