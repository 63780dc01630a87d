"""Where the slowest requests spend their time: one client writes while strace records the server's fsyncs.

    Scripts/bench stalls [put update bookmark database] [--seconds 20]

For the slowest 1 % of all requests it reports the shares of their time in which the server waited for the disk (for
the log, and for the stores' files), in which some process of the machine waited for a processor (/proc/pressure/cpu),
and which the machine's host took (steal time). The rest is work.
"""
import argparse
import pathlib
import re
import shutil
import time

import flows
import report
import sites
from processes import BookmarkServer, Client

CALLS = "fdatasync,fsync,ftruncate,rename,unlink"


class Clocks:
    """The time that the machine has lost so far, in seconds: waits for a processor, and steal time."""

    def __init__(self):
        self.pressure = pathlib.Path("/proc/pressure/cpu")

    def read(self):
        waited = 0.0
        if self.pressure.exists():
            waited = int(re.search(r"total=(\d+)", self.pressure.read_text("ascii")).group(1)) / 1e6
        with open("/proc/stat", encoding="ascii") as file:
            taken = int(file.readline().split()[8]) / 100
        return waited, taken


def update(site, target):
    """Updates one document repeatedly."""
    client, path, revision = site.client(target), target["path"] + "/one", None

    def step(number):
        nonlocal revision
        more = {"_rev": revision} if revision else {}
        revision = client.call("PUT", path, sites.document(number, **more))["rev"]
    return step


def put(site, target):
    """Writes new documents."""
    client, path = site.client(target), target["path"]
    return lambda number: client.call("PUT", f"{path}/doc-{number}", sites.document(number))


def bookmark(site, target):
    """Bookmarks 50 hotels, then removes the bookmarks, repeatedly."""
    client, hotel = site.client(target), sites.hotel().encode()

    def step(number):
        method = "DELETE" if number // 50 % 2 else "PUT"
        path = f"/v1/bookmarks/bench-{number % 50}"
        client.call(method, path, None if number // 50 % 2 else hotel)
    return step


def database(site, _):
    """Creates new databases."""
    client = Client(site.url, site.root_target()["headers"])
    return lambda number: client.call("PUT", f"/couch/bench-{number}")


KINDS = {"put": put, "update": update, "bookmark": bookmark, "database": database}


def requests(step, seconds):
    """Sends requests one after the other; returns the start, the end and the lost time of each."""
    clocks, found, end = Clocks(), [], time.time() + seconds
    while time.time() < end:
        before, start = clocks.read(), time.time()
        step(len(found))
        stop = time.time()
        after = clocks.read()
        found.append((start, stop, after[0] - before[0], after[1] - before[1]))
    return found


def traced(path):
    """The start, end and kind (`log` or `file`) of the calls that strace recorded."""
    begun, found = {}, []
    for line in path.read_text("utf-8", errors="replace").splitlines():
        number, at, rest = line.split(maxsplit=2)
        if "<unfinished" in rest:
            begun[number] = (float(at), rest)
            continue
        taken = re.search(r"<(\d+\.\d+)>$", rest)
        if not taken:
            continue
        start, call = float(at), rest
        if "resumed>" in rest:
            start, call = begun.pop(number, (start, rest))
        # The time in brackets is that of the whole call, also of a resumed one.
        found.append((start, start + float(taken.group(1)), "log" if "-wal" in call else "file"))
    return found


def measured(options, kind):
    """A row of the table."""
    directory = pathlib.Path(options.directory)
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    trace = directory / "trace"
    # -D: strace runs as a grandchild, so that the started process is the server. --seccomp-bpf: the kernel filters
    # the calls, so that other calls cost nothing.
    strace = ["strace", "-D", "-f", "--seccomp-bpf", "-y", "-ttt", "-T", "-e", f"trace={CALLS}",
              "-o", str(trace)]
    server = BookmarkServer(options.binary, directory / "data", through=strace)
    try:
        site = sites.Bookmarks(server.url)
        found = requests(KINDS[kind](site, site.target()), options.seconds)
    finally:
        server.stop()
    time.sleep(0.5)
    calls = traced(trace)
    shutil.rmtree(directory)
    return row(kind, found, calls)


def row(kind, found, calls):
    times = [1000 * (stop - start) for start, stop, _, _ in found]
    slowest = sorted(found, key=lambda one: one[1] - one[0])[-max(1, len(found) // 100):]
    whole = sum(stop - start for start, stop, _, _ in slowest)
    overlaps = {"log": 0.0, "file": 0.0}
    for start, stop, _, _ in slowest:
        for began, ended, place in calls:
            overlaps[place] += max(0.0, min(stop, ended) - max(start, began))
    parts = [overlaps["log"], overlaps["file"], sum(one[2] for one in slowest),
             sum(one[3] for one in slowest)]
    return [kind, str(len(found)), report.number(flows.percentile(times, 50), 2),
            report.number(flows.percentile(times, 99), 2), report.number(max(times), 1),
            report.number(1000 * whole), *(report.percent(part / whole) for part in parts)]


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench stalls", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND",
                        help="put, update, bookmark, database")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--directory", default=".build/stalls", help="for the data, on a disk")
    options = parser.parse_args()
    head = ["line", "requests", "p50 ms", "p99 ms", "longest ms", "slowest 1 %, ms", "disk: log",
            "disk: files", "a processor", "the host"]
    print(report.markdown(head, [measured(options, kind) for kind in options.kinds]))


if __name__ == "__main__":
    main()
