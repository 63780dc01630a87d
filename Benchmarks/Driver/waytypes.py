"""Counts our own types on the way of a first bookmark: those whose code a profiler sees while guests save one hotel each.

    Scripts/bench types [--guests 5000] [--list]

perf(1) samples the stacks of a release build, whose functions keep frame pointers. A function that the compiler has
copied into its caller is not seen; one that runs for some microseconds is, if there are thousands of bookmarks. Stacks
of what the server does by itself meanwhile, such as sweeps and metrics, begin in the composition root and do not count.
"""
import argparse
import pathlib
import re
import shutil
import signal
import subprocess
import time

import sites
from processes import BookmarkServer, Client, bearer

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = 4_000
"""Samples a second."""
MODULES = [folder.name for folder in (ROOT / "Sources").iterdir() if not folder.name.startswith("C")
           or folder.name in ("Catalogue", "CouchQuery", "CouchSync")]
TYPE = re.compile(r"\b(" + "|".join(MODULES) + r")\.((?:\([A-Z]\w* in \w+\)|[A-Z]\w*)(?:\.[A-Z]\w*)*)")


def owner(symbol):
    """The type to which a function belongs; None for one that is not ours or belongs to none."""
    found = TYPE.search(symbol.split(" in conformance ")[0].split(" -> ")[0])
    return f"{found.group(1)}.{found.group(2)}" if found else None


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench types", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--guests", type=int, default=5_000, help="who save a hotel each")
    parser.add_argument("--list", action="store_true", help="also prints the types")
    parser.add_argument("--directory", default=".build/types", help="for the data")
    options = parser.parse_args()
    if not shutil.which("perf"):
        raise SystemExit("perf is needed, of Debian's package linux-perf")
    directory = pathlib.Path(options.directory)
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "data").mkdir(parents=True, mode=0o700)
    server, profile = BookmarkServer(options.binary, directory / "data"), directory / "profile"
    try:
        client, hotel = Client(server.url), sites.hotel().encode()
        tokens = [client.call("POST", "/v1/guests")["token"] for _ in range(options.guests)]
        profiler = subprocess.Popen(["perf", "record", "--quiet", "--freq", str(SAMPLES), "-g", "--pid", str(server.pid),
                                     "--output", str(profile)], stderr=subprocess.DEVNULL)
        time.sleep(1)
        for token in tokens:
            client.headers = bearer(token)
            client.raw("PUT", "/v1/bookmarks/hotel_1", hotel)
        profiler.send_signal(signal.SIGINT)
        profiler.wait(timeout=60)
        stacks = subprocess.run(["perf", "script", "--fields", "ip,sym", "--input", str(profile)], check=True,
                                capture_output=True, text=True).stdout
    finally:
        server.stop()
    demangled = subprocess.run(["swift", "demangle"], input=stacks, check=True, capture_output=True, text=True).stdout
    found = [{owner(line) for line in stack.splitlines()} - {None} for stack in demangled.split("\n\n")]
    types = sorted(set().union(*(
        stack for stack in found if not any(name.startswith("HotelBookmarks.") for name in stack))))
    if options.list:
        print("\n".join(types))
    print(f"{len(types)} types in {options.guests} first bookmarks")


if __name__ == "__main__":
    main()
