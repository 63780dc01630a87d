"""People at their own addresses: honest ones, whose requests are timed, and hostile ones in another process."""
import http.client
import itertools
import multiprocessing
import os
import pathlib
import resource
import socket
import sys
import threading
import time
import urllib.parse
import uuid

from processes import PASSWORD, Client, bearer, connection

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Live"))

REFUSED = 0.05
"""How long hostile clients wait after a refusal, in seconds: they must not take the whole machine from the server."""
LONG = 1 << 20
"""Bytes from which on no further request is written in advance."""
STREAMS = 100
"""The streams that a client may have open at once on a connection."""
_numbers = itertools.count()


def address():
    """A loopback address that was not used before."""
    number = next(_numbers)
    return f"127.{64 + number // 62_500 % 64}.{number // 250 % 250 + 1}.{number % 250 + 1}"


class Person:
    """A guest, a user or a newcomer (without an account), as `honest.py` and `hostile.py` need them."""

    def __init__(self, url, kind="guest", source=None):
        self.url, self.source, self.token, self.path = url, source or address(), None, None
        self.client = Client(url, source=self.source)
        if kind == "newcomer":
            return
        body = {"username": "fair-" + uuid.uuid4().hex, "password": PASSWORD} if kind == "user" else None
        self.token = self.call("POST", "/v1/users" if body else "/v1/guests", body)["token"]
        self.client.headers = bearer(self.token)
        store = self.call("GET", "/v1/me")["store"]
        self.path = "/couch/" + urllib.parse.quote(store, safe="")

    def call(self, method, path, value=None):
        """One request and its answer in JSON; raises OSError if it fails."""
        return self.client.call(method, path, value)

    def newcomer(self):
        """Another person without an account, at a new address."""
        return Person(self.url, "newcomer")


class Clocked:
    """A thread that repeats a step and records how long each took, in milliseconds."""

    def __init__(self, step, pause):
        self.step, self.pause, self.taken, self.failed = step, pause, [], []
        self.ended, self.began = threading.Event(), None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        for number in itertools.count():
            if self.ended.wait(self.pause):
                return
            self.began = time.perf_counter()
            try:
                self.step(number)
            except (OSError, http.client.HTTPException) as problem:
                self.failed.append(str(problem)[:120])
            self.taken.append((time.perf_counter() - self.began) * 1000)
            self.began = None

    def forget(self):
        """Deletes the records; only later steps count."""
        self.taken, self.failed = [], []

    def told(self):
        """The time of each step (of a running one, its time so far), the failures, the number of successful steps."""
        began, taken = self.began, list(self.taken)
        done = len(taken) - len(self.failed)
        if began:
            taken.append((time.perf_counter() - began) * 1000)
        return taken, list(self.failed), done

    def end(self):
        """Ends the thread after its present step. To end several at once, set `ended` of each first."""
        self.ended.set()
        self.thread.join(timeout=130)


class Crowd:
    """Clients that repeat requests on their own connections, in a process of their own. Each element of `asking` is a
    person, a number of connections, a function that makes the request of a number, and the way (hostile.py) they ask.
    `hang_up` ends all at once."""

    def __init__(self, asking, core=None):
        context = multiprocessing.get_context("fork")
        self.process = context.Process(target=_ask, args=(asking, core), daemon=True)
        self.process.start()

    def hang_up(self):
        self.process.kill()
        self.process.join()


def _ask(asking, core):
    if core is not None:
        os.sched_setaffinity(0, {core})
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    threading.stack_size(256 << 10)
    threads = []
    for person, at_once, request, way in asking:
        if way == "wait":
            given = [(_ask_again, (person, request, first, at_once)) for first in range(at_once)]
        elif way == "pipeline":
            given = [(_ask_on, (person, _written(person, request)))] * at_once
        else:
            given = [(_ask_only, (person, _opening(person, request)))] * at_once
        threads += [threading.Thread(target=step, args=arguments, daemon=True) for step, arguments in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _ask_again(person, request, first, step):
    client = connection(urllib.parse.urlsplit(person.url), person.source)
    for number in itertools.count(first, step):
        asked = request(number)
        try:
            client.request(asked.method, asked.path, asked.body, {**bearer(person.token), **asked.fields})
            answer = client.getresponse()
            answer.read()
            refused = answer.status in (429, 503)
        except (OSError, http.client.HTTPException):
            client.close()
            refused = True
        if refused:
            time.sleep(REFUSED)


def _written(person, request):
    """The bytes of a hundred requests, one behind the other, or of one that is long. They are made once, as below."""
    written = b""
    for number in range(STREAMS):
        asked = request(number)
        fields = {"Host": "localhost", **bearer(person.token), **asked.fields}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        written += f"{asked.method} {asked.path} HTTP/1.1\r\n{head}\r\n".encode() + (asked.body or b"")
        if len(written) > LONG:
            break
    return written


def _ask_on(person, sent):
    """Sends these bytes on a connection again and again, whatever the answers are."""
    parts = urllib.parse.urlsplit(person.url)
    while True:
        try:
            with socket.create_connection((parts.hostname, parts.port), 120, (person.source, 0)) as client:
                threading.Thread(target=_discard, args=(client,), daemon=True).start()
                while True:
                    client.sendall(sent)
        except OSError:
            time.sleep(REFUSED)


def _discard(client):
    try:
        while client.recv(1 << 16):
            pass
    except OSError:
        pass


def _opening(person, request):
    """The bytes that ask on as many streams as a connection may have. They are made once for all connections: their
    library is slow, and would take the processors from the server and from the honest."""
    # Its library is in the tests' own environment only, in which `Scripts/bench fair` runs.
    import secure
    fields = [(name.lower(), value) for name, value in bearer(person.token).items()]
    asked = [request(number) for number in range(STREAMS)]
    return secure.opening([(each.method, each.path, fields) for each in asked])


def _ask_only(person, sent):
    """Sends these bytes on a connection, and reads nothing until the server closes it."""
    import secure
    while True:
        try:
            with secure.connect(person, "h2", source=person.source) as client:
                client.sendall(sent)
                while True:
                    time.sleep(10)
                    client.sendall(secure.PING)
        except OSError:
            time.sleep(REFUSED)
