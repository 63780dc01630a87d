"""A server with a certificate, and connections to it over TLS and HTTP/2."""
import socket
import ssl
import subprocess
import urllib.parse

import h2.config
import h2.connection
import h2.events
import h2.exceptions
from waiting import PATIENCE


FRAME = 16_384
"""Bytes of the longest frame that the server takes."""
PING = bytes([0, 0, 8, 6, 0, 0, 0, 0, 0]) + bytes(8)
"""A frame by which a client learns that the connection has ended (RFC 9113, section 6.7)."""


def certificate(directory, name):
    """A self-signed certificate for localhost and its key, as two PEM files."""
    pair = directory / "certificate.pem", directory / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "1", "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-out", str(pair[0]), "-keyout", str(pair[1])], check=True, capture_output=True)
    return pair


def connect(server, *protocols, source=""):
    """A TLS connection from an address that offers these protocols."""
    # It needs no authorities, which take long to load.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if protocols:
        context.set_alpn_protocols(list(protocols))
    parts = urllib.parse.urlsplit(server.url)
    plain = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE,
                                     source_address=(source, 0))
    return context.wrap_socket(plain, server_hostname="localhost")


def opening(requests):
    """What a client sends first: the settings, and requests of a method, a path and fields, each on a stream of its own."""
    client = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    client.initiate_connection()
    for method, path, fields in requests:
        client.send_headers(
            client.get_next_available_stream_id(),
            [(":method", method), (":scheme", "https"), (":authority", "localhost"), (":path", path), *fields],
            end_stream=True)
    return client.data_to_send()


class Streams:
    """An HTTP/2 connection. `ended` is the reason why the server ended it, or None. If `takes` is false, its window is
    used up for ever once answers have filled it."""

    def __init__(self, server, source="", takes=True):
        self.takes = takes
        self.socket = connect(server, "h2", source=source)
        assert self.socket.selected_alpn_protocol() == "h2"
        config = h2.config.H2Configuration(validate_outbound_headers=False, header_encoding="utf-8")
        self.h2 = h2.connection.H2Connection(config)
        self.h2.initiate_connection()
        self.answers, self.bodies, self.done, self.resets = {}, {}, set(), {}
        self.ended = None
        self.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def flush(self):
        """Sends pending bytes. Returns false when the server has closed the connection."""
        try:
            self.socket.sendall(self.h2.data_to_send())
        except OSError:
            self.ended = self.ended or "closed"
        return self.ended is None

    def ask(self, method, path, *fields, body=b"", end=True):
        """Opens a stream and returns its number."""
        stream = self.h2.get_next_available_stream_id()
        head = [(":method", method), (":scheme", "https"), (":authority", "localhost"),
                (":path", path), *fields]
        self.h2.send_headers(stream, head, end_stream=end and not body)
        for start in range(0, len(body), FRAME):
            self.h2.send_data(stream, body[start:start + FRAME], end_stream=end and start + FRAME >= len(body))
        self.flush()
        return stream

    def read(self, until=lambda: False):
        """Reads until a condition holds or the connection ends."""
        while not until() and self.ended is None:
            try:
                data = self.socket.recv(1 << 16)
            except TimeoutError:
                raise
            except OSError:
                data = b""
            if not data:
                self.ended = "closed"
                return
            try:
                events = self.h2.receive_data(data)
            except h2.exceptions.ProtocolError:
                self.ended = "closed"
                return
            for event in events:
                self._take(event)
            self.flush()

    def _take(self, event):
        if isinstance(event, h2.events.ResponseReceived):
            self.answers[event.stream_id] = dict(event.headers)
        elif isinstance(event, h2.events.DataReceived):
            self.bodies[event.stream_id] = self.bodies.get(event.stream_id, b"") + event.data
            if self.takes:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.done.add(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            self.resets[event.stream_id] = event.error_code
            self.done.add(event.stream_id)
        elif isinstance(event, h2.events.ConnectionTerminated):
            self.ended = event.error_code

    def answer(self, *request, **options):
        """(status, fields, body) of one request."""
        stream = self.ask(*request, **options)
        self.read(lambda: stream in self.done)
        fields = self.answers[stream]
        return int(fields[":status"]), fields, self.bodies.get(stream, b"")
