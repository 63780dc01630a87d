"""Measures a release build of the server on real files. `Scripts/bench` builds it and runs this program.

Each line is measured in several rounds. In each round its ceilings, the server and, if given, a
CouchDB take turns, so that other load on the machine affects all of them. The table has medians.
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
from ceilings import Ceilings, sample
from processes import BookmarkServer, Process
from sites import Bookmarks, Couch

HERE = pathlib.Path(__file__).parent
# The bytes of the answer to a write.
ANSWERED = 95


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
        self.ceilings = Ceilings(options, self.directory, self.load)
        self.proxy = None

    def size(self, count):
        """A number of items: a fiftieth of it for `--smoke`."""
        return max(1, count // 50) if self.options.smoke else count

    def close(self):
        for process in (self.server, self.proxy):
            if process:
                process.stop()
        self.ceilings.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def line(self, line):
        """Measures one line: in each round its ceilings, our server and a CouchDB, one after the other."""
        sites = self.proxied() if line.proxied else self.sites
        rounds, plans, answered = {}, {}, None
        for number in range(self.options.rounds):
            for who, site in sites.items():
                if (who == "ours" or line.couch) and (line.fresh or who not in plans):
                    plans[who] = lines.prepared(line, site, self.size, number)
            if not answered and plans["ours"]["kind"] in ("get", "same"):
                answered = lines.answer(sites["ours"], plans["ours"])
            for ceiling in line.ceilings:
                rounds.setdefault(ceiling, []).append(self.ceilings.sample(ceiling, line, answered or ANSWERED))
            for who, plan in plans.items():
                items = line.items if who == "ours" else line.items / line.calls
                found = self.load(sites[who].url, lines.renamed(plan), line.connections, items)
                if found["refused"]:
                    reason = self.reason(sites[who].url, plan, line.connections)
                    raise Refused(f"{line.name}: {who} refused {found['refused']} of "
                                  f"{found['requests']} requests: {reason}")
                rounds.setdefault(who, []).append(found)
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

    def load(self, url, plan, connections, items=1):
        """Drives a server with wrk."""
        return sample(self.driver(url, plan, connections), items)

    def driver(self, url, plan, connections):
        path = self.directory / "plan.lua"
        path.write_text("return " + lines.lua(plan))
        return [
            "wrk", "-t", str(plan["threads"]), "-c", str(connections), "-d",
            f"{self.options.seconds}s", "--timeout", "30s", "-s", str(HERE / "load.lua"), url, "--",
            str(path)]

    def reason(self, url, plan, connections):
        """Why a server refuses requests of a plan; sends the plan once more to find out."""
        command = self.driver(url, {**lines.renamed(plan), "explains": 1}, connections)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.stderr.strip().split("\n")[0] or "no more when asked why"


class Refused(Exception):
    """A server refused requests of a line, so that its rate would be wrong."""


def machine():
    """The machine: processor, cores, kernel and load."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return {"processor": models[0] if models else platform.machine(), "cores": os.cpu_count(),
            "kernel": platform.release(), "load": os.getloadavg()[0]}


def measure(options):
    """Runs all measurements, and returns the result."""
    # Measurements with their own servers come first, while nothing else runs.
    measured = flows.alone(options) if options.wants("facts") else []
    run, rows, stopped = Run(options), [], []
    try:
        for line in lines.LINES:
            if options.wants(line.name):
                try:
                    rows.append(run.line(line))
                except Refused as refused:
                    stopped.append(str(refused))
                    print(f"stopped: {refused}", file=sys.stderr)
                    continue
                print(f"{line.name}: {rows[-1]['rate']:,.0f} {line.unit} a second", file=sys.stderr)
        if options.wants("facts"):
            measured += flows.beside(run)
    finally:
        run.close()
    return {"machine": machine(), "rounds": options.rounds, "seconds": options.seconds,
            "lines": rows, "facts": measured, "stopped": stopped}


def arguments():
    parser = argparse.ArgumentParser(prog="Scripts/bench", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="all of it for a moment")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each line")
    parser.add_argument("--seconds", type=int, default=3, help="seconds of each round")
    parser.add_argument("--only", nargs="+", metavar="LINE", help="these, `facts` for the rest")
    parser.add_argument("--couchdb", metavar="URL", help="with a name and password")
    parser.add_argument("--json", metavar="FILE", help="where the result goes, for `compare`")
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
        print("\n" + report.facts(result["facts"]))
    print("\n" + report.missed(result))
    if any(one["broken"] for one in result["lines"]):
        raise SystemExit("connections broke")
    if result["stopped"]:
        raise SystemExit("refused, and not measured:\n" + "\n".join(result["stopped"]))


if __name__ == "__main__":
    main()
