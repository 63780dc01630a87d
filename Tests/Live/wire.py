"""HTTP as bytes over a socket: what no client library would send, and answers as they came."""
import re
import socket
import urllib.parse

LIMITS = b"GET /v1/limits HTTP/1.1\r\nHost: x\r\n\r\n"


class Exchange:
    """What came back on one connection."""

    def __init__(self, data, closed):
        """`closed` tells whether the server ended the connection."""
        self.data, self.closed = data, closed
        self.statuses = [int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3}) ", data)]
        self.errors = [word.decode() for word in re.findall(rb'"error":"(\w+)"', data)]

    def field(self, name):
        """The last value of a header field; None without one."""
        found = re.findall(rb"(?im)^" + name.encode() + rb": ([^\r]*)\r", self.data)
        return found[-1].decode() if found else None

    def __repr__(self):
        return f"{self.statuses} {self.errors} closed={self.closed} {self.data[:300]!r}"


def connect(server, timeout=30, source=None):
    """A connection to a server's port."""
    parts = urllib.parse.urlsplit(server.url)
    return socket.create_connection(
        (parts.hostname, parts.port), timeout=timeout,
        source_address=(source, 0) if source else None)


def receive(connection, answers=1):
    """Reads until so many answers have come with their bodies, or the connection ends; None for its end."""
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
    """The answers with a length that have come whole; 1xx are none."""
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
    """Sends bytes on a connection of their own and takes so many answers.

    `half` closes the sending side after them.
    """
    data = data.encode("latin-1") if isinstance(data, str) else data
    with connect(server) as connection:
        try:
            connection.sendall(data)
            if half:
                connection.shutdown(socket.SHUT_WR)
        except ConnectionError:
            pass  # An early answer may close the connection before everything is sent.
        return receive(connection, answers)


def ended(server, data):
    """What comes until the server ends the connection."""
    return send(server, data, answers=None)
