"""How costs grow: draws measurements of reads and writes over ever more of something.

    python3 Benchmarks/Driver/growth.py --binary .build/release/hotel-bookmarks --svg FILE [--smoke]
"""
import argparse
import math
import pathlib
import shutil
import statistics
import time

import flows
from processes import BookmarkServer
from sites import Bookmarks, document

WIDTH, HEIGHT, LEFT, TOP = 320, 220, 52, 34


def timed(count, call):
    """The median of so many calls, in microseconds."""
    taken = []
    for number in range(count):
        started = time.perf_counter()
        call(number)
        taken.append((time.perf_counter() - started) * 1e6)
    return statistics.median(taken)


def documents(site, sizes):
    """Documents in a store: a read of one, a write of one, a page of 100 changes."""
    target = site.target()
    client, path, there = site.client(target), target["path"], 0
    for size in sizes:
        while there < size:
            batch = [document(n, _id=f"doc-{n:06d}") for n in range(there, min(size, there + 1000))]
            client.call("POST", path + "/_bulk_docs", {"docs": batch})
            there += len(batch)
        yield size, {
            "read": timed(200, lambda n: client.raw("GET", f"{path}/doc-{n * 7919 % size:06d}")),
            "write": timed(50, lambda n: client.call("PUT", f"{path}/w-{size}-{n}", document(n))),
            "100 changes": timed(20, lambda n: client.raw("GET", path + "/_changes?limit=100"))}


def revisions(site, sizes):
    """Revisions of a document: a read, a read of its history, a write of the next one."""
    target = site.target()
    client, path = site.client(target), target["path"] + "/one"
    revision, there = client.call("PUT", path, document(0))["rev"], 1
    for size in sizes:
        for there in range(there, size):
            revision = client.call("PUT", path, document(there, _rev=revision))["rev"]
        there = size
        costs = {"read": timed(100, lambda n: client.raw("GET", path)),
                 "with history": timed(100, lambda n: client.raw("GET", path + "?revs=true"))}

        def write(number):
            nonlocal revision
            revision = client.call("PUT", path, document(number, _rev=revision))["rev"]
        costs["write"] = timed(20, write)
        there += 20
        yield size, costs


def stores(site, sizes):
    """Stores there are: a read in one that was used before, and the first use of another."""
    people = []
    for size in sizes:
        while len(people) < size:
            people.append(site.guest())
        client, path = site.client(people[-1]), people[-1]["path"] + "/doc-000000"
        yield size, {"read": timed(200, lambda n: client.raw("GET", path)),
                     "a new store": timed(10, lambda n: site.guest())}


def feeds(site, sizes):
    """Feeds that wait: a read and a write in a store without any."""
    target, waiting, people = site.filled(1), [], []
    client, path = site.client(target), target["path"]
    for size in sizes:
        while len(waiting) < size:
            if len(waiting) % 10 == 0:
                people.append(site.guest())
            waiting.append(flows.feed(site.url, people[-1]))
        yield size, {
            "read": timed(200, lambda n: client.raw("GET", path + "/doc-000000")),
            "write": timed(50, lambda n: client.call("PUT", f"{path}/f-{size}-{n}", document(n)))}
    for one in waiting:
        one.close()


PLOTS = [
    ("documents in a store", documents, [100, 1_000, 10_000, 40_000]),
    ("revisions of a document", revisions, [1, 10, 100, 900]),
    ("stores", stores, [10, 100, 1_000, 10_000]),
    ("feeds that wait", feeds, [1, 20, 200, 2_000]),
]
COLOURS = ["#1f6feb", "#d1242f", "#1a7f37"]


def plot(title, points, left):
    """One plot, both axes logarithmic, as SVG."""
    costs = [cost for _, named in points for cost in named.values()]
    low, high = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs)) + 1e-9)
    first, last = math.log10(points[0][0]), math.log10(points[-1][0]) or 1

    def x(size):
        share = (math.log10(size) - first) / max(last - first, 0.1)
        return left + LEFT + share * (WIDTH - LEFT - 20)

    def y(cost):
        return HEIGHT - 40 - (math.log10(cost) - low) / max(high - low, 1) * (HEIGHT - 40 - TOP)

    parts = [f'<text x="{left + LEFT}" y="18" font-weight="bold">{title}</text>']
    for power in range(low, high + 1):
        height = y(10 ** power)
        parts.append(
            f'<path d="M{left + LEFT} {height:.0f}h{WIDTH - LEFT - 20}" stroke="#ddd"/>'
            f'<text x="{left + 4}" y="{height + 4:.0f}">{10 ** power / 1000:g} ms</text>')
    for size, _ in points:
        parts.append(f'<text x="{x(size) - 10:.0f}" y="{HEIGHT - 22}">{size:,}</text>')
    for place, name in enumerate(points[0][1]):
        line = " ".join(f"{x(size):.0f},{y(named[name]):.0f}" for size, named in points)
        colour = COLOURS[place]
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{left + LEFT + place * 88}" y="{HEIGHT - 4}" fill="{colour}">{name}</text>')
    return "".join(parts)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--svg", required=True)
    parser.add_argument("--directory", default=".build/growth")
    parser.add_argument("--smoke", action="store_true")
    options = parser.parse_args()
    drawn = []
    for place, (title, measure, sizes) in enumerate(PLOTS):
        directory = pathlib.Path(options.directory)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        server = BookmarkServer(options.binary, directory / "data")
        try:
            points = list(measure(Bookmarks(server.url), sizes[:2] if options.smoke else sizes))
        finally:
            server.stop()
            shutil.rmtree(directory)
        for size, costs in points:
            named = ", ".join(f"{name} {cost:,.0f} µs" for name, cost in costs.items())
            print(f"{size:,} {title}: {named}")
        drawn.append(plot(title, points, place * WIDTH))
    style = 'font-family="sans-serif" font-size="11"'
    pathlib.Path(options.svg).write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(PLOTS) * WIDTH}" height="{HEIGHT}" '
        f'{style}><rect width="100%" height="100%" fill="#fff"/>{"".join(drawn)}</svg>\n',
        encoding="utf-8")


if __name__ == "__main__":
    main()
