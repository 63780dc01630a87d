"""HTTP as bytes over a socket: requests that no client library would send, and responses as they arrived."""
import re
import socket
import urllib.parse
from waiting import PATIENCE

LIMITS = b"GET /v1/limits HTTP/1.1\r\nHost: x\r\n\r\n"


class Exchange:
    """What was received on one connection."""

    def __init__(self, data, closed):
        """`closed` tells whether the server ended the connection."""
        self.data, self.closed = data, closed
        self.statuses = [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3}) ", data)]
        self.errors = [word.decode() for word in re.findall(rb'"error":"(\w+)"', data)]

    def field(self, name):
        """The last value of a header field. None if there is no such field."""
        found = re.findall(rb"(?im)^" + name.encode() + rb": ([^\r]*)\r", self.data)
        return found[-1].decode() if found else None

    def __repr__(self):
        return f"{self.statuses} {self.errors} closed={self.closed} {self.data[:300]!r}"


def connect(server, timeout=PATIENCE, source=None):
    """A connection to a server's port."""
    parts = urllib.parse.urlsplit(server.url)
    return socket.create_connection(
        (parts.hostname, parts.port), timeout=timeout,
        source_address=(source, 0) if source else None)


def receive(connection, answers=1):
    """Reads until `answers` complete responses have arrived or the connection ends. None reads until its end."""
    data = b""
    while True:
        if answers is not None and len(complete(data)) >= answers:
            return Exchange(data, closed=False)
        try:
            piece = connection.recv(1 << 16)
        except ConnectionError:
            return Exchange(data, closed=True)
        if not piece:
            return Exchange(data, closed=True)
        data += piece


def complete(data):
    """The complete responses with a length. 1xx responses do not count."""
    found = []
    while True:
        head, gap, rest = data.partition(b"\r\n\r\n")
        if not gap:
            return found
        status = int(head.split(b" ", 2)[1])
        length = re.search(rb"(?im)^content-length: (\d+)", head)
        size = int(length.group(1)) if length else 0
        if len(rest) < size:
            return found
        if status >= 200:
            found.append((status, rest[:size]))
        data = rest[size:]


def send(server, data, answers=1, half=False):
    """Sends bytes on a new connection and reads `answers` responses.

    `half` closes the sending side after the bytes.
    """
    data = data.encode("latin-1") if isinstance(data, str) else data
    with connect(server) as connection:
        try:
            connection.sendall(data)
            if half:
                connection.shutdown(socket.SHUT_WR)
        except ConnectionError:
            pass  # An early response may close the connection before everything is sent.
        return receive(connection, answers)


def ended(server, data):
    """Everything that the server sends until it ends the connection."""
    return send(server, data, answers=None)
