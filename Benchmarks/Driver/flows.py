"""Measurements that are not a steady load: starts, memory, waiting feeds, replication."""
import concurrent.futures
import math
import pathlib
import shutil
import socket
import statistics
import time
import urllib.parse

import lite
import observers
import replicator
from processes import BookmarkServer, Client
from sites import Bookmarks, document

MEBIBYTE = 1 << 20


def fact(name, samples, unit, more=False, digits=1, most=None, least=None, couch=None, known=None, times=None):
    """The result of one or more samples. `more` says whether more is better. `most`, `least` and `times` are the aims:
    the largest value, the smallest value, and the smallest multiple of a CouchDB's value, `couch`, or of one measured
    elsewhere, `known`."""
    middle = statistics.median(samples)
    of_couch = statistics.median(couch) if couch else None
    ratio = middle / (of_couch or known) if of_couch or known else None
    wanted = {key: value for key, value in (("most", most), ("least", least), ("times", times)) if value}
    missed = ["most"] if most and middle > most else ["least"] if least and middle < least else []
    if times and ratio is not None and ratio < times:
        missed.append("times")
    return {"name": name, "unit": unit, "digits": digits, "more": more, "samples": samples,
            "p50": middle, "p99": percentile(samples, 99), "couch": of_couch, "known": known,
            "times": ratio,
            "wanted": wanted, "missed": missed}


def percentile(samples, percent):
    """The smallest sample that is not less than this percentage of the samples."""
    return sorted(samples)[max(0, math.ceil(len(samples) * percent / 100) - 1)]


def alone(options):
    """Starts and memory, each measured with its own server."""
    directory = pathlib.Path(options.directory)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    count = 40 if options.smoke else 10_000
    return idle(options, directory / "idle") + stores(options, directory / "many", count)


def idle(options, directory):
    """Memory of an idle server."""
    directory.mkdir()
    server = BookmarkServer(options.binary, directory / "data")
    try:
        time.sleep(1)
        return [fact("idle, resident", [server.resident() / MEBIBYTE], "MiB", most=30),
                fact("idle, private", [server.memory() / MEBIBYTE], "MiB")]
    finally:
        server.stop()


def stores(options, directory, count):
    """Starts with many stores, and memory with 500 of them open."""
    directory.mkdir()
    data = directory / "data"
    server = BookmarkServer(options.binary, data)
    try:
        people = many(Bookmarks(server.url), count)
    finally:
        server.stop()
    starts = []
    for _ in range(1 if options.smoke else 11):
        server = BookmarkServer(options.binary, data)
        Client(server.url).call("GET", "/readyz")
        starts.append((time.perf_counter() - server.started) * 1000)
        server.stop()
    server = BookmarkServer(options.binary, data)
    opened, first = people[:500], []
    try:
        for person in opened:
            client = Client(server.url, person["headers"])
            started = time.perf_counter()
            client.call("GET", person["path"] + "/doc-000000")
            first.append((time.perf_counter() - started) * 1000)
        resident = server.resident() / MEBIBYTE
    finally:
        server.stop()
        shutil.rmtree(directory)
    return [fact(f"ready after start, {count} stores", starts, "ms", most=200),
            fact("first read of a store that is closed", first, "ms", digits=2),
            fact(f"{len(opened)} open stores, resident", [resident], "MiB", most=50)]


def many(site, count):
    """Guests with one document each, made by four threads."""
    with concurrent.futures.ThreadPoolExecutor(4) as workers:
        return list(workers.map(lambda _: site.guest(), range(count)))


def beside(run):
    """Feeds, observers, devices and replication, with the run's server and others."""
    return (feeds(run) + observers.observers(run) + lite.lite(run) + replication(run)
            + replicator.replicator(run))


def feeds(run):
    """Many waiting feeds: their memory, the cost of a read beside them, and how soon they report a write."""
    site = run.sites["ours"]
    count = 20 if run.options.smoke else 2_000
    people = many(site, max(1, count // 10))
    plan = {"kind": "get", "targets": [site.filled(100)], "count": 100, "seed": 1, "threads": 2}
    rounds = 1 if run.options.smoke else 5
    without = [run.load(site.url, plan, 32) for _ in range(rounds)]
    before = run.server.memory()
    waiting = [feed(site.url, n % len(people), people[n % len(people)]) for n in range(count)]
    try:
        time.sleep(1)
        taken = (run.server.memory() - before) / count / 1024
        beside = [run.load(site.url, plan, 32) for _ in range(rounds)]
        told = []
        for place, person in enumerate(people[:50]):
            told += wake(site, person, waiting[place::len(people)])
    finally:
        for one in waiting:
            one.close()
    shares = [100 * one["rate"] / other["rate"] for one, other in zip(beside, without)]
    return [fact(f"{count} idle feeds, memory of each", [taken], "KiB", most=8),
            fact(f"reads beside {count} idle feeds, of those without", shares, "%", more=True),
            fact(f"reads beside {count} idle feeds, p50", [one["p50"] / 1e3 for one in beside],
                 "ms", digits=2),
            fact(f"reads beside {count} idle feeds, p99", [one["p99"] / 1e3 for one in beside],
                 "ms", digits=2),
            fact("each of 10 feeds is told of a write after", told, "ms")]


def feed(url, number, person):
    """A waiting long poll for changes after now."""
    parts = urllib.parse.urlsplit(url)
    connection = socket.create_connection((parts.hostname, parts.port), source_address=source(number))
    fields = "".join(f"{name}: {value}\r\n" for name, value in person["headers"].items())
    path = person["path"] + "/_changes?feed=longpoll&since=now&heartbeat=30000"
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: bench\r\n{fields}\r\n".encode())
    return connection


def source(number):
    """The address of a person: feeds per address are limited."""
    return f"127.1.{number // 250}.{number % 250 + 1}", 0


def wake(site, person, waiting):
    """The milliseconds from a write to the answer of each of these feeds. The answer ends the feed."""
    client = site.client(person)
    started, taken = time.perf_counter(), []
    client.call("PUT", person["path"] + "/wake", document(1))
    for one in waiting:
        one.settimeout(30)
        seen = b""
        while b'"wake"' not in seen:
            part = one.recv(1 << 16)
            if not part:
                raise OSError("a feed ended without its change")
            seen += part
            if not seen.startswith(b"HTTP/1.1 200 "[:len(seen)]):
                raise OSError(f"a feed was refused: {seen[:300]!r}")
        taken.append((time.perf_counter() - started) * 1000)
    return taken


def replication(run):
    """Documents a second from one server to another of the same kind, in batches of 500.

    There is only one CouchDB; it is both source and target.
    """
    count = 500 if run.options.smoke else 10_000
    directory = run.directory / "other"
    directory.mkdir()
    other = BookmarkServer(run.options.binary, directory / "data")
    pairs = {"ours": (run.sites["ours"], Bookmarks(other.url))}
    if "couch" in run.sites:
        pairs["couch"] = (run.sites["couch"], run.sites["couch"])
    rates, batches = {who: [] for who in pairs}, {who: [] for who in pairs}
    shares = []
    try:
        for _ in range(1 if run.options.smoke else 3):
            source, target = run.sites["ours"].filled(count), pairs["ours"][1].target()
            alone = moved(run.sites["ours"].client(source), source["path"],
                          pairs["ours"][1].client(target), target["path"])
            for who, (from_site, to_site) in pairs.items():
                source, target = from_site.filled(count), to_site.target()
                started = time.perf_counter()
                taken = replicate(from_site.client(source), source["path"],
                                  to_site.client(target), target["path"])
                rates[who].append(count / (time.perf_counter() - started))
                if who == "ours":
                    shares.append(100 * alone / (time.perf_counter() - started))
                batches[who] += taken
        if "couch" in run.sites:
            run.sites["couch"].clear()
    finally:
        other.stop()
    return [fact(f"replication of {count} documents", rates["ours"], "documents a second",
                 more=True, digits=0, couch=rates.get("couch"),
                 known=1_640, times=8),
            fact("replication, of reading and writing by bulk requests alone", shares, "%", more=True,
                 least=90),
            fact("replication, a batch of 500", batches["ours"], "ms")]


def moved(source, here, target, there):
    """The seconds for reading and writing all leaves by bulk requests, one after the other: what a replication cannot
    do without. That the leaves are known and missing is not asked for."""
    rows = source.call("GET", here + "/_changes")["results"]
    asked = [{"id": row["id"], "rev": row["changes"][0]["rev"]} for row in rows]
    started = time.perf_counter()
    for first in range(0, len(asked), 500):
        answer = source.call("POST", here + "/_bulk_get?revs=true", {"docs": asked[first:first + 500]})
        found = [one["ok"] for row in answer["results"] for one in row["docs"]]
        target.call("POST", there + "/_bulk_docs", {"docs": found, "new_edits": False})
    return time.perf_counter() - started


def replicate(source, here, target, there):
    """Copies all leaves to the target, and returns the milliseconds of each batch. It does not change the documents."""
    since, taken = "0", []
    while True:
        started = time.perf_counter()
        quoted = urllib.parse.quote(str(since))
        page = source.call("GET", f"{here}/_changes?style=all_docs&limit=500&since={quoted}")
        if not page["results"]:
            return taken
        leaves = {row["id"]: [one["rev"] for one in row["changes"]] for row in page["results"]}
        missing = target.call("POST", there + "/_revs_diff", leaves)
        asked = [{"id": id, "rev": rev} for id, one in missing.items() for rev in one["missing"]]
        answer = source.call("POST", here + "/_bulk_get?revs=true&latest=true", {"docs": asked})
        found = [one["ok"] for row in answer["results"] for one in row["docs"]]
        target.call("POST", there + "/_bulk_docs", {"docs": found, "new_edits": False})
        since = page["last_seq"]
        taken.append((time.perf_counter() - started) * 1000)
