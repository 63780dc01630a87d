"""What is no steady load: starts, memory, feeds that wait, replication."""
import pathlib
import shutil
import socket
import statistics
import time
import urllib.parse

import lines
from processes import BookmarkServer, Client
from sites import Bookmarks, document

MEBIBYTE = 1 << 20


def fact(name, value, unit, digits=1):
    return {"name": name, "value": value, "unit": unit, "digits": digits}


def alone(options):
    """Starts and memory, each with a server of its own."""
    directory = pathlib.Path(options.directory)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    count = 40 if options.smoke else 10_000
    return idle(options, directory / "idle") + stores(options, directory / "many", count)


def idle(options, directory):
    """Memory of a server that nobody uses."""
    directory.mkdir()
    server = BookmarkServer(options.binary, directory / "data")
    try:
        time.sleep(1)
        return [fact("idle, resident", server.resident() / MEBIBYTE, "MiB"),
                fact("idle, private", server.memory() / MEBIBYTE, "MiB")]
    finally:
        server.stop()


def stores(options, directory, count):
    """Starts over many stores, and memory with 500 of them open."""
    directory.mkdir()
    data = directory / "data"
    server = BookmarkServer(options.binary, data)
    site = Bookmarks(server.url)
    try:
        people = [site.guest() for _ in range(count)]
    finally:
        server.stop()
    starts = []
    for _ in range(1 if options.smoke else 5):
        server = BookmarkServer(options.binary, data)
        Client(server.url).call("GET", "/readyz")
        starts.append((time.perf_counter() - server.started) * 1000)
        server.stop()
    server = BookmarkServer(options.binary, data)
    try:
        opened = people[:500]
        for person in opened:
            Client(server.url, person["headers"]).call("GET", person["path"] + "/doc-000000")
        resident = server.resident() / MEBIBYTE
    finally:
        server.stop()
        shutil.rmtree(directory)
    return [fact(f"ready after start, {count} stores", statistics.median(starts), "ms"),
            fact(f"{len(opened)} open stores, resident", resident, "MiB")]


def beside(run):
    """Feeds and replication, with the run's server."""
    return feeds(run) + replication(run)


def feeds(run):
    """Many feeds that wait, what they take, and what a read costs beside them."""
    site = run.sites["ours"]
    count = 20 if run.options.smoke else 2_000
    people = [site.guest() for _ in range(max(1, count // 10))]
    line = lines.Line("", "", 32, None)
    target = site.filled(100)
    plan = {"kind": "get", "targets": [target], "count": 100, "seed": 1, "threads": 2}
    without = run.load(site.url, plan, line)["rate"]
    before = run.server.memory()
    waiting = [feed(site.url, people[n % len(people)]) for n in range(count)]
    try:
        time.sleep(1)
        taken = (run.server.memory() - before) / count / 1024
        beside = run.load(site.url, plan, line)["rate"]
        slowest = wake(site, people[0], waiting[::len(people)])
    finally:
        for one in waiting:
            one.close()
    return [fact(f"{count} idle feeds, memory of each", taken, "KiB"),
            fact(f"reads beside {count} idle feeds, of those without",
                 100 * beside / without if without else 0, "%"),
            fact(f"last of {len(waiting[::len(people)])} feeds is told of a write after",
                 slowest, "ms")]


def feed(url, person):
    """A long poll for what comes after now, sent and waiting."""
    parts = urllib.parse.urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port))
    fields = "".join(f"{name}: {value}\r\n" for name, value in person["headers"].items())
    path = person["path"] + "/_changes?feed=longpoll&since=now&heartbeat=30000"
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: bench\r\n{fields}\r\n".encode())
    return connection


def wake(site, person, waiting):
    """Milliseconds from a write to the last answer of these feeds."""
    client = site.client(person)
    started = time.perf_counter()
    client.call("PUT", person["path"] + "/wake", document(1))
    for one in waiting:
        one.settimeout(30)
        seen = b""
        while b'"wake"' not in seen:
            part = one.recv(1 << 16)
            if not part:
                raise OSError("a feed ended without its change")
            seen += part
    return (time.perf_counter() - started) * 1000


def replication(run):
    """Documents a second from one of our servers to another, in batches of 500."""
    count = 500 if run.options.smoke else 10_000
    directory = run.directory / "other"
    directory.mkdir()
    other = BookmarkServer(run.options.binary, directory / "data")
    try:
        source, target = run.sites["ours"].filled(count), Bookmarks(other.url).target()
        started = time.perf_counter()
        carried = replicate(run.sites["ours"].client(source), source["path"],
                            Bookmarks(other.url).client(target), target["path"])
        rate = carried / (time.perf_counter() - started)
    finally:
        other.stop()
    return [fact(f"replication of {count} documents", rate, "documents a second", 0)]


def replicate(source, here, target, there):
    """Pulls every leaf; documents go on as the bytes that came."""
    since, carried = "0", 0
    while True:
        quoted = urllib.parse.quote(str(since))
        page = source.call("GET", f"{here}/_changes?style=all_docs&limit=500&since={quoted}")
        if not page["results"]:
            return carried
        leaves = {row["id"]: [one["rev"] for one in row["changes"]] for row in page["results"]}
        missing = target.call("POST", there + "/_revs_diff", leaves)
        asked = [{"id": id, "rev": rev} for id, one in missing.items() for rev in one["missing"]]
        answer = source.call("POST", here + "/_bulk_get?revs=true&latest=true", {"docs": asked})
        found = [one["ok"] for row in answer["results"] for one in row["docs"]]
        target.call("POST", there + "/_bulk_docs", {"docs": found, "new_edits": False})
        carried += len(found)
        since = page["last_seq"]
