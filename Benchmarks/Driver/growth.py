"""How costs grow: reads and writes with more and more documents, revisions, stores and feeds, and a plot of each.

    Scripts/bench growth [--smoke] [--only documents revisions stores people feeds] [--plots DIRECTORY] [--json FILE]
    Scripts/bench growth --database    the same over a PostgreSQL server of its own; draws nothing
"""
import argparse
import concurrent.futures
import contextlib
import itertools
import json
import pathlib
import shutil
import sqlite3
import statistics
import sys
import time

import flows
import plot
from crowds import Person
from processes import PASSWORD, BookmarkServer, Client, bearer
from sites import Bookmarks, document

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Tests/Live"))
import postgres  # noqa: E402


REAL = 100_000
"""Stores that have files."""


def timed(count, call):
    """The median time of this many calls, in milliseconds."""
    taken = []
    for number in range(count):
        started = time.perf_counter()
        call(number)
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


class Growing:
    """A server on an empty directory, for one kind of growth."""

    def __init__(self, options):
        self.binary, self.directory = options.binary, pathlib.Path(options.directory)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        self.database = postgres.Postgres(durable=True) if options.database else None
        self.start()

    def start(self):
        """Starts the server, and returns the milliseconds until it is ready."""
        stores = ["--database", self.database.url] if self.database else []
        self.server = BookmarkServer(self.binary, self.directory / "data", *stores)
        self.site = Bookmarks(self.server.url)
        Client(self.server.url).call("GET", "/readyz")
        return (time.perf_counter() - self.server.started) * 1000

    def stop(self):
        self.server.stop()

    def close(self):
        self.stop()
        if self.database:
            self.database.close()
        shutil.rmtree(self.directory)


def documents(growing, sizes):
    """A read and a write of one document, the first 100 changes, the newest 100 changes."""
    site = growing.site
    target = site.target()
    client, path, there = site.client(target), target["path"], 0
    for size in sizes:
        while there < size:
            batch = [document(n, _id=f"doc-{n:06d}") for n in range(there, min(size, there + 1000))]
            client.call("POST", path + "/_bulk_docs", {"docs": batch})
            there += len(batch)
        newest = client.call("GET", path + "/_changes?limit=1&descending=true")["last_seq"]
        place = str(newest).split("-", maxsplit=1)
        since = "-".join([str(max(0, int(place[0]) - 100)), *place[1:]])
        yield size, {
            "read": timed(200, lambda n: client.raw("GET", f"{path}/doc-{n * 7919 % size:06d}")),
            "write": timed(50, lambda n: client.call("PUT", f"{path}/w-{size}-{n}", document(n))),
            "first 100 changes": timed(30, lambda n: client.raw("GET", path + "/_changes?limit=100")),
            "newest 100 changes": timed(
                30, lambda n: client.raw("GET", f"{path}/_changes?limit=100&since={since}"))}


def revisions(growing, sizes):
    """A read, a read with the history, a write of the next revision."""
    target = growing.site.target()
    client, path = growing.site.client(target), target["path"] + "/one"
    revision, there = client.call("PUT", path, document(0))["rev"], 1

    def write(number):
        nonlocal revision, there
        revision = client.call("PUT", path, document(number, _rev=revision))["rev"]
        there += 1
    for size in sizes:
        while there < size:
            write(there)
        yield size, {"read": timed(200, lambda n: client.raw("GET", path)),
                     "read with history": timed(
                         200, lambda n: client.raw("GET", path + "?revs=true")),
                     "write": timed(10 if size < 100 else 40, write)}


def stores(growing, sizes):
    """A start, the first read of a store, a read of an open store, a write to it, the creation of a store. Stores beyond
    REAL are registered and have no files, because a million files take an hour and 74 GB."""
    names = []
    for total in sizes:
        size = min(total, REAL)
        if total > size:
            if growing.database:
                return
            growing.stop()
            register(growing.directory / "data/registry.sqlite", total - size)
            growing.start()
        with concurrent.futures.ThreadPoolExecutor(4) as workers:
            wanted = [f"/couch/store-{number:06d}" for number in range(len(names), size)]
            makers = [Client(growing.server.url, growing.site.root_target()["headers"])
                      for _ in range(4)]
            parts = [wanted[number::4] for number in range(4)]
            list(workers.map(lambda maker, part: [maker.call("PUT", one) for one in part],
                             makers, parts))
            names += wanted
        starts = []
        for _ in range(3):
            growing.stop()
            starts.append(growing.start())
        client = growing.site.admin
        client.raw("GET", "/couch/_all_dbs?limit=1")
        chosen = [names[number * 7919 % size] for number in range(min(size, 50))]
        yield total, {
            "start": statistics.median(starts),
            "first read of a store": timed(len(chosen), lambda n: client.raw("GET", chosen[n])),
            "read": timed(200, lambda n: client.raw("GET", chosen[0])),
            "write": timed(50, lambda n: client.call("PUT", f"{chosen[0]}/w-{total}-{n}", document(n))),
            "a new store": timed(20, lambda n: client.raw("PUT", f"/couch/new-{total}-{n}"))}


OWNERS = 100
"""One user with a list comes with this many guests."""


def people(growing, sizes):
    """Guests with one bookmark each, and one user with a list of twenty hotels for each hundred of them: what they take
    on the disk and in memory, a first read, and a new guest's bookmark."""
    url, here = growing.server.url, []
    hotel = {"name": "The Growing", "city": "Bergen", "country": "Norway", "description": "x" * 400}

    def come(number):
        person = Person(url, "newcomer")
        body = {"username": f"grow-{number}", "password": PASSWORD} if number % OWNERS == 0 else None
        person.client.headers = bearer(person.call("POST", "/v1/users" if body else "/v1/guests", body)["token"])
        person.call("PUT", "/v1/bookmarks/first", hotel)
        if body:
            path = "/v1/lists/" + person.call("POST", "/v1/lists", {"title": "Twenty"})["id"]
            for each in range(20):
                person.call("PUT", f"{path}/bookmarks/h{each}", hotel)
        person.client.connection.close()
        return person

    for size in sizes:
        with concurrent.futures.ThreadPoolExecutor(4) as workers:
            here += workers.map(come, range(len(here), size))
        full = growing.server.resident()
        chosen = [here[number * 7919 % size] for number in range(50)]
        read = timed(len(chosen), lambda n: chosen[n].call("GET", "/v1/bookmarks"))
        bookmark = timed(50, lambda n: come(1 + (size + n) * OWNERS))
        growing.stop()
        disk = sum(file.stat().st_blocks for file in (growing.directory / "data").rglob("*")) * 512
        growing.start()
        url = growing.server.url
        for person in here:
            person.client = Client(url, person.client.headers)
        yield size, {"kB of disk each": disk / size / 1e3, "MB of memory": full / 1e6,
                     "ms for a first read": read, "ms for a new guest's bookmark": bookmark}


def register(registry, count):
    """Adds stores to the registry that have no files. None of them is read."""
    with contextlib.closing(sqlite3.connect(registry)) as rows, rows:
        rows.executemany("INSERT INTO stores VALUES (?, ?, 0, 0)",
                         ((f"named/sparse-{number:07d}", f"{number:032x}") for number in range(count)))


def feeds(growing, sizes):
    """A read and a write in a store without feeds, and the time until ten feeds of another store report a change."""
    site = growing.site
    target, waiting = site.filled(1), []
    client, path = site.client(target), target["path"]
    numbers = itertools.count()

    def wait(person):
        number = next(numbers)
        return [flows.feed(site.url, number, person) for _ in range(10)]
    for size in sizes:
        while len(waiting) < size:
            waiting += wait(site.guest())
        people = [site.guest() for _ in range(10)]
        told = [wait(person) for person in people]
        yield size, {
            "read": timed(200, lambda n: client.raw("GET", path + "/doc-000000")),
            "write": timed(50, lambda n: client.call("PUT", f"{path}/f-{size}-{n}", document(n))),
            "a change to ten feeds": statistics.median(
                max(flows.wake(site, person, ten)) for person, ten in zip(people, told))}
    for one in waiting:
        one.close()


KINDS = {
    "documents": ("Documents of one store", "documents, 1.1 KB each", documents,
                  [100, 1_000, 10_000, 49_000]),
    "revisions": ("Revisions of one document", "revisions", revisions, [1, 10, 100, 1_000]),
    "stores": ("Stores of one server", "stores", stores,
               [10, 100, 1_000, 10_000, REAL, 1_000_000]),
    "people": ("Guests with a bookmark, and users with lists", "guests; one in a hundred is a user with a list", people,
               [100, 1_000, 10_000, 100_000]),
    "feeds": ("Feeds that wait", "long polls", feeds, [0, 20, 200, 2_000, 9_800]),
}


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench growth", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--plots", type=pathlib.Path, help="where the SVG files go")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--directory", default=".build/growth", help="for the data, on a disk")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--smoke", action="store_true", help="the first two sizes only")
    parser.add_argument("--database", action="store_true", help="over PostgreSQL")
    options = parser.parse_args()
    measured = {}
    for name in options.only:
        title, axis, measure, sizes = KINDS[name]
        growing = Growing(options)
        try:
            points = []
            for size, costs in measure(growing, sizes[:2] if options.smoke else sizes):
                points.append((size, costs))
                unit = "" if name == "people" else " ms"
                told = ", ".join(f"{kind} {cost:.2f}{unit}" for kind, cost in costs.items())
                print(f"{size:,} {name}: {told}", flush=True)
        finally:
            growing.close()
        measured[name] = points
        svg = plot.drawn(title, axis, points, unit)
        if options.plots and not options.database:
            options.plots.mkdir(parents=True, exist_ok=True)
            (options.plots / f"growth-{name}.svg").write_text(svg, encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
