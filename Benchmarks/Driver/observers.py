"""The memory of the observers of a shared list, and how soon they receive a change."""
import selectors
import socket
import time
import urllib.parse
import uuid

import flows
from processes import Client, bearer


def observers(run):
    """Measures a list that all members observe while its owner writes."""
    site = run.sites["ours"]
    count, writes = (5, 2) if run.options.smoke else (100, 30)
    owner = site.client(site.target())
    path = "/v1/lists/" + owner.call("POST", "/v1/lists", {"title": "Observed"})["id"]
    members = []
    for number in range(count):
        # Each signs up from another address, because sign-ups per address are limited.
        person = Client(site.url, source=f"127.2.0.{number + 1}")
        name = "member-" + uuid.uuid4().hex
        person.headers = bearer(person.call(
            "POST", "/v1/users", {"username": name, "password": "a good password"})["token"])
        token = owner.call("POST", path + "/invitations", {"role": "reader"})["token"]
        person.call("POST", f"/v1/invitations/{token}/accept")
        members.append(person)
    time.sleep(1)
    before = run.server.memory()
    streams = [stream(site.url, person) for person in members]
    try:
        time.sleep(1)
        taken = (run.server.memory() - before) / count / 1024
        told = []
        for number in range(writes):
            told += write(owner, path, number, streams)
    finally:
        for one in streams:
            one.close()
    return [flows.fact(f"{count} observers, memory of each", [taken], "KiB"),
            flows.fact(f"a change of a list is with each of {count} members after", told, "ms", most=10)]


def stream(url, person):
    """An observer that has received its first position in the stream."""
    parts = urllib.parse.urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port))
    fields = "".join(f"{name}: {value}\r\n" for name, value in person.headers.items())
    connection.sendall(f"GET /v1/changes HTTP/1.1\r\nHost: bench\r\n{fields}\r\n".encode())
    seen = b""
    while b"\nid: " not in seen:
        seen += connection.recv(1 << 16)
    connection.setblocking(False)
    return connection


def write(owner, path, number, streams):
    """The milliseconds from a write to its event at each observer."""
    mark, seen, taken = f'"observed-{number}"'.encode(), {}, []
    with selectors.DefaultSelector() as waiting:
        for one in streams:
            waiting.register(one, selectors.EVENT_READ)
            seen[one] = b""
        started = time.perf_counter()
        owner.call("PUT", f"{path}/bookmarks/observed-{number}", {"name": "Observed"})
        while len(taken) < len(streams):
            ready = waiting.select(30)
            if not ready:
                raise OSError("an observer was not told of a change")
            for key, _ in ready:
                seen[key.fileobj] += key.fileobj.recv(1 << 16)
                # The event about the list document follows; it is read now or with the next change.
                if mark in seen[key.fileobj]:
                    taken.append((time.perf_counter() - started) * 1000)
                    waiting.unregister(key.fileobj)
    return taken
