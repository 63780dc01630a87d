"""A client of a database with CouchDB's dialect: plain calls over one connection that is kept open."""
import http.client
import json
import socket
import urllib.parse
from waiting import PATIENCE


class Unreachable(Exception):
    """No response, an incomplete one, or one that asks for a retry. The same call may be sent again."""


class Refused(Exception):
    """An error response. To send the call again would not help."""

    def __init__(self, method, path, status, text):
        super().__init__(f"{method} {path} answers {status}: {text[:300]}")
        self.status = status


class Answer:
    """A complete response."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        """The body as a value. An incomplete body raises `Unreachable`."""
        try:
            return json.loads(self.body)
        except ValueError as error:
            raise Unreachable(f"not JSON: {self.body[:100]}") from error


def quoted(name):
    """A document's id as one segment of a path. `_design/` and `_local/` keep their slash."""
    for prefix in ("_design/", "_local/"):
        if name.startswith(prefix):
            return prefix + urllib.parse.quote(name[len(prefix):], safe="")
    return urllib.parse.quote(name, safe="")


class Timeout:
    """The seconds for each read and write of a socket. A busy machine may need more than a network without faults: each
    time that they were too few there are more of them, up to `most`."""

    def __init__(self, seconds, most):
        self.seconds, self.most = seconds, most

    def note(self, error):
        if isinstance(error, TimeoutError):
            self.seconds = min(1.25 * self.seconds, self.most)


class Peer:
    """One side of a replication. Two threads must not share it; `twin` makes another one."""

    again = {408, 429, 500, 502, 503, 504}

    def __init__(self, url, authorization, timeout=Timeout(PATIENCE, PATIENCE)):
        """`url` is the database's URL. `authorization` is the header's value."""
        self.url, self.authorization, self.timeout = url.rstrip("/"), authorization, timeout
        parts = urllib.parse.urlsplit(self.url)
        self.address, self.prefix = (parts.hostname, parts.port), parts.path
        self.calls = 0
        self._connection = None

    def twin(self):
        """The same database over another connection."""
        return Peer(self.url, self.authorization, self.timeout)

    def call(self, method, path="", body=None, accept="application/json", allow=()):
        """Sends one request. A status of 400 or more raises `Refused` unless it is in `allow`."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self.address, timeout=self.timeout.seconds)
        self.calls += 1
        try:
            response = self._send(self._connection, method, path, body, accept)
            answer = Answer(response.status, response.headers, response.read())
            if response.will_close:
                self.close()
        except (OSError, http.client.HTTPException) as error:
            self.timeout.note(error)
            self.close()
            raise Unreachable(f"{method} {path}: {error!r}") from error
        if answer.status in self.again and answer.status not in allow:
            raise Unreachable(f"{method} {path} answers {answer.status}: {answer.body[:300]}")
        if answer.status >= 400 and answer.status not in allow:
            raise Refused(method, path, answer.status, answer.body.decode(errors="replace"))
        return answer

    def get(self, path="", **options):
        return self.call("GET", path, **options).json()

    def post(self, path, value, **options):
        """Posts a value, or a text that is already JSON."""
        body = value if isinstance(value, str) else json.dumps(value)
        return self.call("POST", path, body.encode(), **options).json()

    def put(self, path, value, **options):
        return self.call("PUT", path, json.dumps(value).encode(), **options).json()

    def lines(self, path, opened=None):
        """Yields the lines of a streamed response over a separate connection, until the connection ends.

        `opened` receives a function that closes the connection from another thread. An incomplete line is left out.
        """
        connection = http.client.HTTPConnection(*self.address, timeout=self.timeout.seconds)
        try:
            response = self._send(connection, "GET", path, None, "application/json")
            if response.status != 200:
                text = response.read().decode(errors="replace")
                if response.status in self.again:
                    raise Unreachable(f"{path} answers {response.status}: {text[:300]}")
                raise Refused("GET", path, response.status, text)
            if opened:
                opened(lambda: _shut(connection, response))
            for line in iter(response.readline, b""):
                if line.endswith(b"\n"):
                    yield line[:-1].decode()
        except (OSError, http.client.HTTPException, AttributeError) as error:
            # http.client raises AttributeError when another thread closes its socket during a read.
            self.timeout.note(error)
            raise Unreachable(f"{path}: {error!r}") from error
        finally:
            connection.close()

    def close(self):
        if self._connection:
            self._connection.close()
        self._connection = None

    def _send(self, connection, method, path, body, accept):
        headers = {"Authorization": self.authorization, "Accept": accept}
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, self.prefix + path, body=body, headers=headers)
        return connection.getresponse()


def _shut(connection, response):
    for stream in (connection.sock, response.fp and response.fp.raw._sock):
        try:
            if stream:
                stream.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
