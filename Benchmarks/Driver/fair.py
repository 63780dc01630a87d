"""Measures fairness: how long honest clients wait during each known attack, and how much of the server they get
beside 200 hostile guests and users.

    Scripts/bench fair [--seconds 20] [--only queries words …] [--as guest user] [--smoke]

The attacks are those of the live tests (Tests/Live/hostile.py), by a guest and by a user at another address, where two
honest people are, too (an office behind one address). The exit status is 1 if a line
misses an aim: the honest p99 is at most 20 times the quiet p99 of the same run, and at most 250 ms; the p99 of
`/healthz` is at most 100 ms; no honest request fails; and the server does no work one second after the attackers
close their connections. All connections are on loopback.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import flows
import report
from crowds import Clocked, Crowd, Person
from processes import BookmarkServer, Client

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Live"))
import honest  # noqa: E402  from Tests/Live, as are the next two
import hostile  # noqa: E402
import secure  # noqa: E402

TIMES, LONGEST, LIFE = 20, 250, 100
"""The limits: an honest p99 as a multiple of its quiet p99, and in ms; the p99 of `/healthz` in ms."""
SHARE = 0.8
"""The part of their quiet throughput that honest people must get beside the crowd."""
HOTELS = 50_000
PAUSES = {"sign-up": 0.5}
PAUSE = 0.02
RESTING = 0.1
"""The processor time that an idle server may use in a second, in seconds."""


class Trial:
    """A server on an empty directory, and its honest clients."""

    def __init__(self, options, hotels=0, through=(), is_secure=False):
        self.options, directory = options, pathlib.Path(options.directory)
        shutil.rmtree(directory, ignore_errors=True)
        (directory / "data").mkdir(parents=True, mode=0o700)
        if hotels:
            BookmarkServer(options.binary, directory / "data").stop()
            catalogue(options.binary, directory, hotels)
        pair = secure.certificate(directory, "fair") if is_secure else None
        tls = ["--tls-certificate-file", str(pair[0]), "--tls-key-file", str(pair[1])] if pair else []
        self.server = BookmarkServer(options.binary, directory / "data", *tls, through=through)
        self.url, self.directory = self.server.url, directory

    def close(self):
        self.server.stop()
        shutil.rmtree(self.directory)

    def clients(self, beside):
        """One client of each kind, two users at the address `beside`, and one that requests `/healthz`, by name."""
        found = {kind: Clocked(prepare(Person(self.url)), PAUSES.get(kind, PAUSE))
                 for kind, prepare in honest.KINDS.items()}
        found |= {f"{kind} beside": Clocked(honest.KINDS[kind](Person(self.url, "user", beside)), PAUSE)
                  for kind in ("read", "bookmark")}
        life = Person(self.url, "newcomer")
        return {**found, "/healthz": Clocked(lambda _: life.client.raw("GET", "/healthz"), PAUSE)}

    def measured(self, clients, seconds):
        """The results of each client over these seconds: milliseconds, failures, successful steps."""
        for client in clients.values():
            client.forget()
        time.sleep(seconds)
        return {name: client.told() for name, client in clients.items()}

    def processor(self):
        """The processor time that the server has used, in seconds."""
        fields = pathlib.Path(f"/proc/{self.server.pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def catalogue(binary, directory, count):
    """Imports this many hotels. Each has all words that the attack searches for."""
    words = " ".join([*hostile.LETTERS, "the", "hotel", "south", "about", "pool", "breakfast", "garden"])
    with open(directory / "hotels.ndjson", "w", encoding="utf-8") as file:
        for number in range(count):
            file.write(json.dumps({"id": f"h{number}", "type": "hotel", "name": f"Hotel {number}",
                                   "city": "London", "country": "United Kingdom",
                                   "description": words}) + "\n")
    subprocess.run([binary, "catalogue", "import", str(directory / "hotels.ndjson"), "--data",
                    str(directory / "data")], check=True, stdout=subprocess.DEVNULL)


def end(clients, wait=True):
    """Ends all clients and, if `wait`, waits for their last steps."""
    for client in clients.values():
        client.ended.set()
    for client in clients.values() if wait else ():
        client.end()


def p99(taken):
    return flows.percentile(taken, 99) if taken else float("inf")


def attacked(options, attack, kind):
    """The rows of one attack by a guest or a user, and the aims that it misses."""
    hotels = int(HOTELS * options.part) if attack.name == "words" else 0
    trial = Trial(options, hotels, is_secure=attack.way == "ignore")
    try:
        attacker = Person(trial.url, kind, source="127.0.0.2")
        request = attack.prepare(attacker, options.part)
        clients = trial.clients(attacker.source)
        trial.measured(clients, options.seconds / 10)
        quiet = trial.measured(clients, options.seconds)
        crowd = Crowd([(attacker, attack.at_once, request, attack.way)])
        trial.measured(clients, options.seconds / 4)
        beside = trial.measured(clients, options.seconds)
        crowd.hang_up()
        end(clients, wait=False)
        time.sleep(1)
        before = trial.processor()
        time.sleep(1)
        rest = trial.processor() - before
        end(clients)
    finally:
        trial.close()
    return rows(f"{attack.name}, {kind}", quiet, beside, rest)


def rows(name, quiet, beside, rest):
    """A row for each client, with the p99 before and during the attack in milliseconds, and the missed aims."""
    body, missed = [], []
    for client, (taken, failed, done) in beside.items():
        before, after = p99(quiet[client][0]), p99(taken)
        most = LIFE if client == "/healthz" else min(LONGEST, TIMES * before)
        wrong = [word for word, holds in (("slow", after <= most), ("failed", not failed)) if not holds]
        missed += [f"{name}: {client} {word}" for word in wrong]
        body.append([name, client, str(done), report.number(before, 1), report.number(after, 1),
                     report.number(most, 0), str(len(failed)), report.number(rest, 2)])
    if rest > RESTING:
        missed.append(f"{name}: work goes on after the hang-up")
    return body, missed


def crowded(options):
    """20 honest users and 20 honest guests beside 100 hostile guests and 100 hostile users at four addresses; the server
    has one core.

    An honest guest at each hostile address must get an equal share of the processor time that an address may use.
    """
    trial = Trial(options, through=("taskset", "-c", "0"))
    os.sched_setaffinity(0, {os.cpu_count() - 1})
    try:
        count = 2 if options.smoke else 20
        limits = {row["name"]: row["value"] for row in Client(trial.url).call("GET", "/v1/limits")["limits"]}
        people = [Person(trial.url, kind) for kind in ("user", "guest") for _ in range(count)]
        spots = [f"127.0.0.{number}" for number in range(2, 6)]
        beside = [Person(trial.url, source=spot) for spot in spots]
        hostiles = [Person(trial.url, ("user", "guest")[number // 4 % 2], spots[number % 4])
                    for number in range(10 * count)]
        asking = [(person, 1, hostile.named("queries").prepare(person, options.part), "wait") for person in hostiles]
        readers = {f"honest {number}": Clocked(honest.read(person), 2.5 * PAUSE)
                   for number, person in enumerate(people)}
        trial.measured(readers, options.seconds / 10)
        began = trial.processor()
        alone = total(trial.measured(readers, options.seconds))
        cost = (trial.processor() - began) / max(1, alone)
        readers |= {f"at {person.source}": Clocked(honest.read(person), 2.5 * PAUSE) for person in beside}
        crowd = Crowd(asking, os.cpu_count() - 1)
        trial.measured(readers, options.seconds / 4)
        found = trial.measured(readers, options.seconds)
        crowd.hang_up()
        end(readers)
    finally:
        trial.close()
    share = limits.get("processorPercent", 10) / 100 * options.seconds / (len(hostiles) / 4 + 1) / cost
    return shares(alone, found, min(share, options.seconds / (2.5 * PAUSE) * SHARE))


def total(measured):
    """The number of successful steps of all clients."""
    return sum(done for _, _, done in measured.values())


def shares(alone, found, share):
    """The rows of the crowd, and the missed aims."""
    others = total({name: one for name, one in found.items() if name.startswith("honest")})
    body = [["honest, 200 hostile beside", str(alone), str(others), report.percent(others / max(1, alone)),
             report.percent(SHARE)]]
    missed = [] if others >= SHARE * alone else ["the honest get less beside the crowd"]
    for name, one in found.items():
        if name.startswith("at "):
            body.append([f"honest guest {name}", "", str(one[2]), "", f"{share:.0f} steps"])
            if one[2] < share:
                missed.append(f"an honest guest {name} gets less than its share")
    return body, missed


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench fair", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    names = [attack.name for attack in hostile.ATTACKS] + ["crowd"]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="ATTACK",
                        help=", ".join(names))
    parser.add_argument("--as", nargs="+", dest="kinds", choices=["guest", "user"], default=["guest", "user"],
                        metavar="KIND", help="who attacks: guest, user")
    parser.add_argument("--seconds", type=float, default=20, help="of each part of each line")
    parser.add_argument("--directory", default=".build/fair", help="for the data, on a disk")
    parser.add_argument("--smoke", action="store_true", help="a moment of some; no aims")
    options = parser.parse_args()
    options.part = 0.02 if options.smoke else 1
    if options.smoke:
        options.seconds, options.only = 1, ["queries", "readiness", "crowd"]
    missed = []
    columns = ["attack", "client", "steps", "quiet p99 ms", "p99 ms", "at most", "failed", "processor s after"]
    for attack in hostile.ATTACKS:
        for kind in options.kinds if attack.name in options.only else ():
            if kind in attack.by:
                body, lines = attacked(options, attack, kind)
                missed += lines
                print(report.markdown(columns, body) + "\n", flush=True)
    if "crowd" in options.only:
        body, lines = crowded(options)
        missed += lines
        print("\n" + report.markdown(["who", "steps alone", "steps", "share", "at least"], body))
    if not options.smoke:
        print("\n" + (f"Not reached: {'; '.join(missed)}." if missed else "Every aim is reached."))
        sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
