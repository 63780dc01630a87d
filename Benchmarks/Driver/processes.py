"""The processes of a run, and simple requests to a server."""
import base64
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import time
import urllib.parse

PASSWORD = "the operator's password"


class Process:
    """A server process that prints its URL. Its standard error goes to a file."""

    def __init__(self, command, log):
        self.started = time.perf_counter()
        with open(log, "ab") as file:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=file, text=True)
        first = self.process.stdout.readline()
        found = re.search(r"at (https?://\S+)", first)
        if not found:
            raise SystemExit(f"{command[0]} did not start: {first}; see {log}")
        self.url = found.group(1).replace("localhost", "127.0.0.1")
        self.pid = self.process.pid

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=60)

    def resident(self):
        """The resident memory, in bytes."""
        with open(f"/proc/{self.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def memory(self):
        """The anonymous resident memory in bytes, which the process shares with no other."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as file:
            found = re.search(r"RssAnon:\s+(\d+) kB", file.read())
        return int(found.group(1)) * 1024


def processor_seconds(pid):
    """The processor time that a process and its children have used, including children that have ended."""
    total = 0
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(entry) == pid:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == pid:
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


class BookmarkServer(Process):
    """Our server, on a free port and a data directory. `through` is a command that starts it, such as strace."""

    def __init__(self, binary, data, *arguments, through=()):
        secret = data.parent / "password"
        secret.write_text(PASSWORD)
        secret.chmod(0o600)
        super().__init__(
            [*through, binary, "serve", "--port", "0", "--data", str(data), "--guests-per-hour", "1000000",
             "--admin-password-file", str(secret), *arguments], data.parent / "server.log")


def connection(parts, source=None):
    """A connection to a server, whose certificate is its own."""
    options = {"timeout": 120, "source_address": (source, 0) if source else None}
    if parts.scheme == "http":
        return http.client.HTTPConnection(parts.hostname, parts.port, **options)
    return http.client.HTTPSConnection(
        parts.hostname, parts.port, context=ssl._create_unverified_context(), **options)


class Client:
    """One persistent connection to a server. A call returns the body as JSON, or raises OSError for a status from 400.

    `source` is the local address of the connection.
    """

    def __init__(self, url, headers=None, source=None):
        self.parts = urllib.parse.urlsplit(url)
        self.headers = dict(headers or {})
        self.connection = connection(self.parts, source)

    def call(self, method, path, body=None, headers=None):
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        content = self.raw(method, path, body, headers)
        return json.loads(content) if content else None

    def raw(self, method, path, body=None, headers=None):
        """The answer's bytes to a request with a body of bytes."""
        fields = {**self.headers, **(headers or {})}
        if body is not None:
            fields["Content-Type"] = "application/json"
        self.connection.request(method, self.parts.path + path, body, fields)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status >= 400:
            raise OSError(f"{method} {path}: {answer.status} {content[:200]!r}")
        return content


def basic(name, password):
    """The header field for the Basic scheme."""
    text = base64.b64encode(f"{name}:{password}".encode()).decode()
    return {"Authorization": "Basic " + text}


def bearer(token):
    """The header field for a bearer token."""
    return {"Authorization": "Bearer " + token}
