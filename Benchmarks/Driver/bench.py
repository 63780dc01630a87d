"""Measures a release build of the server on real files; `Scripts/bench` builds it and starts this.

Each line is measured in several rounds, in turn with its ceiling and with a CouchDB where one is
given, so that whatever else the machine does meets all of them. What is printed is medians.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

import flows
import lines
import report
from processes import BookmarkServer, Process
from sites import Bookmarks, Couch

HERE = pathlib.Path(__file__).parent


class Run:
    """One run: its processes, its directory, its rounds."""

    def __init__(self, options):
        self.options = options
        self.directory = pathlib.Path(options.directory)
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        self.server = BookmarkServer(options.binary, self.directory / "data")
        self.sites = {"ours": Bookmarks(self.server.url)}
        if options.couchdb:
            self.sites["couch"] = Couch(options.couchdb)
        self.empty = self.proxy = None

    def size(self, count):
        """How many of something: few when smoking."""
        return max(1, count // 50) if self.options.smoke else count

    def close(self):
        for process in (self.server, self.empty, self.proxy):
            if process:
                process.stop()
        shutil.rmtree(self.directory, ignore_errors=True)

    def line(self, line):
        """Measures one line."""
        rounds, plans = {who: [] for who in ("ours", "ceiling", "couch")}, {}
        for number in range(self.options.rounds):
            if line.ceiling:
                rounds["ceiling"].append(self.ceiling(line))
            for who, site in (self.proxied() if line.proxied else self.sites).items():
                if who == "couch" and not line.couch:
                    continue
                if line.fresh or who not in plans:
                    plans[who] = lines.prepared(line, site, self.size, self.threads(line), number)
                plan = lines.renamed(plans[who])
                rounds[who].append(self.load(site.url, plan, line))
            if line.fresh and "couch" in self.sites:
                self.sites["couch"].clear()
        if "couch" in self.sites:
            self.sites["couch"].clear()
        return report.row(line, rounds)

    def proxied(self):
        """A second server, whose upstream is the first."""
        if not self.proxy:
            directory = self.directory / "proxy"
            directory.mkdir()
            self.proxy = BookmarkServer(
                self.options.binary, directory / "data", "--upstream", self.server.url)
        return {"ours": Bookmarks(self.proxy.url)}

    def threads(self, line):
        return min(2, line.connections)

    def load(self, url, plan, line):
        """Drives a server with wrk."""
        path = self.directory / "plan.lua"
        path.write_text("return " + lines.lua(plan))
        command = [
            "wrk", "-t", str(self.threads(line)), "-c", str(line.connections), "-d",
            f"{self.options.seconds}s", "--timeout", "30s", "-s", str(HERE / "load.lua"), url, "--",
            str(path)]
        return sample(command, line.items)

    def ceiling(self, line):
        if line.ceiling == "empty":
            if not self.empty:
                command = [self.options.empty, "0", "1150"]
                self.empty = Process(command, self.directory / "empty.log")
            plan = {"kind": "get", "targets": [{"path": "/couch/db", "headers": {
                "Authorization": "Bearer " + "x" * 400}}], "count": 1_000, "seed": 1}
            return self.load(self.empty.url, plan, line)
        command = [self.options.ceilings, line.ceiling, str(self.directory / "ceiling"),
                   str(self.options.seconds)]
        return sample(command, 1)


def sample(command, items):
    """Runs a command that prints one line of JSON at its end."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stdout}{done.stderr}")
    found = json.loads(done.stdout.strip().splitlines()[-1])
    found["rate"] = (found["requests"] - found["refused"]) * items * 1e6 / found["microseconds"]
    return found


def machine():
    """What it was measured on."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return {"processor": models[0] if models else platform.machine(), "cores": os.cpu_count(),
            "kernel": platform.release(), "load": os.getloadavg()[0]}


def measure(options):
    """The whole run: its result."""
    # Processes that measure on their own come first, while nothing else runs.
    measured = flows.alone(options) if options.wants("facts") else []
    run, rows = Run(options), []
    try:
        for line in lines.LINES:
            if options.wants(line.name):
                rows.append(run.line(line))
                print(f"{line.name}: {rows[-1]['rate']:,.0f} {line.unit} a second", file=sys.stderr)
        if options.wants("facts"):
            measured += flows.beside(run)
    finally:
        run.close()
    return {"machine": machine(), "rounds": options.rounds, "seconds": options.seconds,
            "lines": rows, "facts": measured}


def arguments():
    parser = argparse.ArgumentParser(prog="Scripts/bench", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="all of it for a moment")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each line")
    parser.add_argument("--seconds", type=int, default=3, help="seconds of each round")
    parser.add_argument("--only", nargs="+", metavar="LINE", help="these, `facts` for the rest")
    parser.add_argument("--couchdb", metavar="URL", help="with a name and password")
    parser.add_argument("--json", metavar="FILE", help="where the result goes")
    parser.add_argument("--compare", metavar="FILE", help="the result of an earlier run")
    parser.add_argument("--directory", default=".build/bench", help="for the data, on a disk")
    for name in ("binary", "empty", "ceilings"):
        parser.add_argument("--" + name, required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.smoke:
        options.rounds, options.seconds = 1, 1
    options.wants = lambda name: not options.only or name in options.only
    return options


def main():
    options = arguments()
    result = measure(options)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    print(report.table(result["lines"]))
    if result["facts"]:
        print(report.facts(result["facts"]))
    if options.compare:
        print(report.comparison(report.read(options.compare), result))
    if any(one["broken"] for one in result["lines"]):
        raise SystemExit("connections broke")


if __name__ == "__main__":
    main()
