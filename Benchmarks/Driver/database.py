"""Measures a node over PostgreSQL beside the same server over files, and beside a loop of the same statements.

The loop is pgbench(1): libpq with prepared statements and pipelines, and nothing else. Its statements are those that the
node has sent for one request, as PostgreSQL logs them, so that they are always the engine's own. Each client of the loop
has a store of its own, which is the best case: nobody waits for another's lock.
"""
import argparse
import dataclasses
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time

import bench
import lines
import nodes
from processes import BookmarkServer, processor_seconds
from sites import Bookmarks, document, hotel

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Tests/Live"))
import postgres  # noqa: E402

ENTRY = re.compile(r"^\S+ \S+ \S+ \[(\d+)\] (LOG|DETAIL):  (?:execute (\S+): |parameters: )(.*)$", re.S)
PARAMETER = re.compile(r"\$(\d+) = (NULL|'(?:[^']|'')*')")
RANDOM = "convert_to('loop-' || :n::text, 'UTF8')"


@dataclasses.dataclass
class Measured:
    """A line of the table, what one request of it is, and the part of the loop's rate that is wanted."""

    name: str
    request: str
    wanted: float = 0


LINES = [
    Measured("get 1", "read"), Measured("get 32", "read", 0.6), Measured("put 1", "write"),
    Measured("put 32", "write", 0.6), Measured("bookmark 1", "bookmark"), Measured("bookmark 16", "bookmark", 0.5)]


class Database:
    """A PostgreSQL server that syncs its log, and the statements that it was sent."""

    def __init__(self):
        self.server = postgres.Postgres(durable=True)
        self.url, self.bin = self.server.url, self.server.bin

    def close(self):
        self.server.close()

    def latest_store(self):
        """The number of the user's store that was changed last."""
        return postgres.sql(self.url, "SELECT number FROM stores WHERE convert_from(key, 'UTF8') LIKE 'user/%' "
                                      "ORDER BY changed DESC LIMIT 1")

    def log(self, statements):
        postgres.sql(self.url, f"ALTER SYSTEM SET log_statement = '{statements}';")
        postgres.sql(self.url, "SELECT pg_reload_conf();")
        time.sleep(1)

    def sent(self, number, request):
        """The statements about a store that a request sends: name, text and parameters. Those of its transaction are
        in order between `begin` and `commit`."""
        self.log("all")
        path = self.server.directory / "log"
        start = path.stat().st_size
        request()
        time.sleep(0.5)
        text = path.read_bytes()[start:].decode()
        self.log("none")
        found, latest, bounds = [], {}, ("begin", "commit")
        for entry in re.split(r"\n(?!\t)", text):
            match = ENTRY.match(entry)
            if not match:
                continue
            process, kind, name, rest = match.groups()
            if kind == "LOG":
                found.append([name, rest.replace("\n\t", "\n"), {}])
                latest[process] = found[-1]
            elif process in latest:
                latest[process][2] = dict(PARAMETER.findall(rest.replace("\n\t", "\n")))
        own = [index for index, (_, _, given) in enumerate(found) if given.get("1") == f"'{number}'"]
        if not own:
            raise SystemExit(f"the log says nothing of store {number}: {text[:2_000]}")
        return [one for index, one in enumerate(found) if index in own or (
            one[0] in bounds and own[0] - 1 <= index <= own[-1] + 1)]


def script(statements, numbers):
    """pgbench's script for statements: in each client's own store, for a new document each time."""
    choice = " ".join(f"when :client_id = {client} then {number}" for client, number in enumerate(numbers))
    body = ["\\set n random(1000000, 1000000000000)", f"\\set store case {choice} end"]
    writes, inserted = any(name == "commit" for name, _, _ in statements), 0
    body += ["\\startpipeline"] if writes else []
    for name, text, given in statements:
        values = dict(given)
        if "1" in values:
            values["1"] = ":store"
        if name == "put_document":
            if not inserted:
                body += ["\\endpipeline", "\\startpipeline"]
            if "'\\x626f6f6b" not in values["2"]:
                values["2"] = RANDOM
            values["3"] = values["4"] = f"(:n::int8 + {inserted})"
            inserted += 1
        if name == "update_store":
            # Another store keeps its name.
            values["2"] = "key"
        one = re.sub(r"\$(\d+)", lambda match: values[match.group(1)], text)
        body.append(" ".join(one.split()) + ";")
    return "\n".join(body + (["\\endpipeline"] if writes else [])) + "\n"


class DatabaseRun(bench.Run):
    """A run with two servers: over files and over a database."""

    def __init__(self, options):
        super().__init__(options)
        self.database = Database()
        (self.directory / "node").mkdir()
        self.node = BookmarkServer(
            options.binary, self.directory / "node/data", "--database", self.database.url)
        self.over = {"files": self.sites["ours"], "database": Bookmarks(self.node.url)}

    def close(self):
        self.node.stop()
        self.database.close()
        super().close()

    def person(self):
        """A new person with a document and a bookmark, their client, and the number of their store."""
        target = self.over["database"].target()
        client = self.over["database"].client(target)
        client.call("PUT", target["path"] + "/doc-000000", document(0))
        client.call("PUT", "/v1/bookmarks/bench-0", hotel().encode())
        return target, client, self.database.latest_store()

    def loop(self, measured, clients):
        """The rate of the loop of a line's statements."""
        people = [self.person() for _ in range(clients)]
        target, client, number = people[0]
        act = {
            "read": lambda: client.call("GET", target["path"] + "/doc-000000"),
            "write": lambda: client.call("PUT", target["path"] + "/loop", document(1)),
            "bookmark": lambda: client.call("PUT", "/v1/bookmarks/loop", hotel().encode())}[measured.request]
        path = self.directory / f"loop-{measured.request}.sql"
        path.write_text(script(self.database.sent(number, act), [number for _, _, number in people]))
        done = subprocess.run(
            [self.database.bin / "pgbench", "-n", "-M", "prepared", "-c", str(clients), "-j", "2", "-T",
             str(self.options.seconds), "-f", str(path), self.database.url],
            capture_output=True, text=True, check=False)
        found = re.search(r"tps = ([\d.]+)", done.stdout)
        if not found or "0 (0.000%)" not in done.stdout:
            raise SystemExit(f"pgbench: {done.stdout}{done.stderr}\n{path.read_text()}")
        return float(found.group(1))

    def used(self):
        """The processor time in seconds of the node, of PostgreSQL, and of the load drivers that have ended."""
        driver = resource.getrusage(resource.RUSAGE_CHILDREN)
        return [processor_seconds(self.node.pid), processor_seconds(self.database.server.process.pid),
                driver.ru_utime + driver.ru_stime]

    def line(self, measured):
        """The medians of a line: the rates over files, over the database, and of the loop; and the processor time of
        one request over the database, in microseconds, as `used` lists it."""
        line = next(line for line in lines.LINES if line.name == measured.name)
        rounds, times = {"files": [], "database": [], "loop": []}, []
        for number in range(self.options.rounds):
            for who, site in self.over.items():
                plan, before = lines.prepared(line, site, self.size, number), self.used()
                found = self.load(site.url, lines.renamed(plan), line.connections)
                if who == "database":
                    times.append([1e6 * (after - first) / found["requests"]
                                  for first, after in zip(before, self.used())])
                if found["refused"]:
                    reason = self.reason(site.url, plan, line.connections)
                    raise SystemExit(f"{line.name}: {who} refused {found['refused']} requests: {reason}")
                rounds[who].append(found["rate"])
            rounds["loop"].append(self.loop(measured, line.connections))
        return {**{who: statistics.median(rates) for who, rates in rounds.items()},
                "times": [statistics.median(each) for each in zip(*times)]}


def main():
    parser = argparse.ArgumentParser(prog="Scripts/bench database", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each line")
    parser.add_argument("--seconds", type=int, default=3, help="seconds of each round")
    parser.add_argument("--only", nargs="+", metavar="LINE", help="these lines")
    parser.add_argument("--nodes", action="store_true", help="instead: two nodes beside one, with a quarter of a core each")
    parser.add_argument("--directory", default=".build/bench", help="for the data of the server over files")
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.smoke, options.couchdb = False, None
    if not shutil.which("psql"):
        raise SystemExit("there is no PostgreSQL: Scripts/setup --cluster installs it")
    if options.nodes:
        database = Database()
        try:
            return nodes.compare(options, database.url)
        finally:
            database.close()
    run, missed = DatabaseRun(options), []
    print("| line | files | database | database / files | loop | database / loop | wanted | µs: node + database + driver |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    try:
        for measured in LINES:
            if options.only and measured.name not in options.only:
                continue
            found = run.line(measured)
            share = found["database"] / found["loop"]
            cells = [
                measured.name, f"{found['files']:,.0f}", f"{found['database']:,.0f}",
                f"{found['database'] / found['files']:.0%}", f"{found['loop']:,.0f}", f"{share:.0%}",
                f"{measured.wanted:.0%}" if measured.wanted else "", " + ".join(f"{time:.0f}" for time in found["times"])]
            print("| " + " | ".join(cells) + " |", flush=True)
            if share < measured.wanted:
                missed.append(measured.name)
    finally:
        run.close()
    print("\nNot reached: " + (", ".join(missed) or "nothing"))


if __name__ == "__main__":
    main()
