"""An attack at the same time as honest clients, and the guarantees to these clients."""
import collections
import contextlib
import http.client
import itertools
import os
import socket
import struct
import threading
import urllib.parse

import honest
import hostile
import watched
from waiting import PATIENCE, wait_until
from people import HOSTILE, Person

PART = 1 if os.environ.get("BOOKMARKS_RELEASE") else 0.2
"""The share of the table's branches, merges and hotels to store: a debug build takes long to store all."""
PAUSE = 0.2
"""Seconds between two steps of an honest client. No honest client sends requests without a pause, and a debug build's
requests cost ten times what a bucket is made for."""
STEPS = 3
"""Steps that honest clients of each kind must complete during an attack."""


class HostileLoad:
    """Sends an attack's requests again and again on many connections. `stop` resets all of them at once.

    `statuses` counts the responses by status. `last` has the fields and body of the last response of each status.
    """

    def __init__(self, person, at_once, request):
        parts = urllib.parse.urlsplit(person.server.url)
        self.person, self.request, self.numbers = person, request, itertools.count()
        self.ended, self.statuses, self.last = threading.Event(), collections.Counter(), {}
        self.connections = [
            http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE, source_address=(person.source, 0))
            for _ in range(at_once)]
        self.threads = [
            threading.Thread(target=self._run, args=(connection,), daemon=True) for connection in self.connections]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def _run(self, connection):
        while not self.ended.is_set():
            asked = self.request(next(self.numbers))
            fields = {**asked.fields, "Authorization": "Bearer " + self.person.token}
            try:
                connection.request(asked.method, asked.path, asked.body, fields)
                answer = connection.getresponse()
                self.last[answer.status] = answer.headers, answer.read()
                self.statuses[answer.status] += 1
            except (OSError, http.client.HTTPException):
                if not self.ended.is_set():
                    self.statuses["cut"] += 1
                    connection.close()
                    self.ended.wait(0.05)
        with contextlib.suppress(OSError, AttributeError):
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def stop(self):
        """Closes all connections during their requests."""
        self.ended.set()
        for connection in self.connections:
            # A thread that is reading returns from the read and resets its connection.
            with contextlib.suppress(OSError, AttributeError):
                connection.sock.shutdown(socket.SHUT_RDWR)
        for thread in self.threads:
            thread.join(timeout=PATIENCE)
        assert not any(thread.is_alive() for thread in self.threads)


class HonestClients:
    """One client of each kind, each with its own address. `steps` counts the completed steps."""

    def __init__(self, server, kinds=tuple(honest.KINDS), **options):
        self.kinds, self.steps, self.failed = kinds, collections.Counter(), []
        self.ended = threading.Event()
        ready = {kind: honest.KINDS[kind](Person(server, **options)) for kind in kinds}
        self.threads = [
            threading.Thread(target=self._run, args=each, daemon=True) for each in ready.items()]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, kind, *_):
        self.ended.set()
        for thread in self.threads:
            thread.join(timeout=PATIENCE)
        if kind is None:
            self.lost_nothing()

    def _run(self, kind, step):
        for number in itertools.count():
            if self.ended.wait(PAUSE):
                return
            try:
                step(number)
            except Exception as problem:  # pylint: disable=broad-except
                self.failed.append((kind, number, repr(problem)[:300]))
                return
            self.steps[kind] += 1

    def lost_nothing(self):
        """Asserts that every request of every client succeeded."""
        assert not self.failed, self.failed

    def get_on(self, steps=STEPS):
        """Waits until each kind has completed `steps` more steps."""
        wanted = {kind: self.steps[kind] + steps for kind in self.kinds}
        wait_until(lambda: self.failed or all(self.steps[kind] >= count for kind, count in wanted.items()),
              "honest clients wait")
        self.lost_nothing()


def run_hostile_load(server, name, part=PART):
    """Runs one attack while honest clients work. The clients lose nothing and are served first, memory stays bounded,
    and the work ends when the attacker disconnects. Returns the statuses of the attack's responses."""
    attack = hostile.named(name)
    attacker = Person(server, HOSTILE)
    request = attack.prepare(attacker, part)
    with HonestClients(server) as clients:
        clients.get_on(1)
        with HostileLoad(attacker, attack.at_once, request) as load:
            if attack.overdraws:
                before = watched.work(server, "served_before_overdrawn_total")
                wait_until(lambda: clients.failed or (
                    watched.work(server, "processor_seconds_total", account="overdrawn") > 0
                    and watched.work(server, "served_before_overdrawn_total") > before),
                    "nobody was served before the overdrawn")
            clients.get_on()
            wait_until(lambda: sum(load.statuses.values()) >= min(8, attack.at_once), "no attack")
        clients.get_on(1)
    watched.rests(server)
    assert watched.peak(server) <= watched.allowed(server, attack.at_once * attack.body_bytes)
    assert server.process.poll() is None
    return load.statuses
