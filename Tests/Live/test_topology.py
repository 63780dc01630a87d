"""Four servers in a random network of replications. Two are killed and one is cut off again and again; all end equal."""
import random
import time

import pytest

import postgres
from attachments import inline, some
from couch import Administrator, Database, with_credentials
from faulty_proxy import FaultyProxy
from server import Server
from sites import NIGHTLY
from test_replicator import LOOPBACK, content
from waiting import wait_until

NAME = "shared"
SERVERS = 4
TURNS = 8 if NIGHTLY else 2


class Node:
    """A server with its replications, at an address that stays."""

    def __init__(self, directory, number, database):
        directory.mkdir()
        self.arguments = [*LOOPBACK, "--admin-password-file", str(directory / "password")]
        if database:
            self.arguments += ["--database", postgres.schema(database.url, directory)]
        administrator = Administrator(directory, *self.arguments[:2], *self.arguments[4:])
        self.auth, self.server, self.number = administrator.auth, administrator.server, number
        self.proxy = FaultyProxy(self.server.url)
        assert administrator.call("PUT", "/_replicator").status_code == 201
        administrator.create(NAME)

    @property
    def database(self):
        return Database(self.server, name=NAME, auth=self.auth)

    @property
    def far(self):
        return with_credentials(self.proxy.url, *self.auth) + "/couch/" + NAME

    def call(self, method, path, **options):
        return self.server.call(method, "/couch" + path, auth=self.auth, **options)

    def kill(self):
        self.server.kill()
        self.server = Server(self.server.data, *self.arguments)
        self.proxy.aim(self.server.url)

    def replicate(self, name, source, target):
        answer = self.call("PUT", "/_replicator/" + name, json={
            "source": source, "target": target, "continuous": True, "checkpoint_interval": 200})
        assert answer.status_code == 201, answer.text

    def touch(self):
        """Begins the replications again, so that a test need not wait until those are that have failed."""
        for row in self.call("GET", "/_replicator/_all_docs?include_docs=true").json()["rows"]:
            if not row["id"].startswith("_design/"):
                answer = self.call("PUT", "/_replicator/" + row["id"], json={**row["doc"], "touched": time.time()})
                assert answer.status_code in (201, 409), answer.text

    def leaves(self):
        rows = self.database.call("GET", "/_changes?style=all_docs").json()["results"]
        return {(row["id"], change["rev"]) for row in rows for change in row["changes"]}

    def close(self):
        self.proxy.close()
        assert self.server.stop() == 0, "".join(self.server.log[-20:])


def connect(nodes, chance):
    """A ring in a random order, so that each server hears of each other one, and some more."""
    order = chance.sample(nodes, len(nodes))
    edges = [(one, order[(index + 1) % len(order)]) for index, one in enumerate(order)]
    edges += [tuple(chance.sample(nodes, 2)) for _ in range(2)]
    for number, (source, target) in enumerate(dict.fromkeys(edges)):
        name = f"{number}-from-{source.number}-to-{target.number}"
        if chance.random() < 0.5:
            source.replicate(name, NAME, target.far)
        else:
            target.replicate(name, source.far, NAME)


def write(node, chance, turn):
    """Edits, conflicts, deletions and attachments."""
    database = node.database
    new = [{"_id": f"{node.number}-{turn}-{n}", "n": chance.random()} for n in range(20)]
    new += [{"_id": f"{node.number}-{turn}-file", "_attachments": {
        "f": inline(some(chance.randint(0, 60_000), turn), "image/png")}}]
    database.bulk(*new)
    for name in chance.sample([f"both{n}" for n in range(8)], 4):
        found = database.call("GET", "/" + name)
        base = {"_rev": found.json()["_rev"]} if found.status_code == 200 else {}
        if base and chance.random() < 0.25:
            status = database.call("DELETE", f"/{name}?rev={base['_rev']}").status_code
        else:
            kept = {"_attachments": found.json()["_attachments"]} if "_attachments" in found.json() else {}
            if chance.random() < 0.3:
                kept = {"_attachments": {"g": inline(some(chance.randint(0, 20_000), turn))}}
            status = database.call("PUT", "/" + name, json={**base, **kept, "by": node.number, "turn": turn}).status_code
        assert status in (200, 201, 409), status


@pytest.fixture(scope="module")
def database():
    """A PostgreSQL server for half of the servers; None without its programs."""
    server = postgres.Postgres() if postgres.programs() else None
    yield server
    if server:
        server.close()


@pytest.mark.parametrize("seed", range(100) if NIGHTLY else [0])
def test_all_end_equal(tmp_path, database, seed):
    chance = random.Random(seed)
    nodes = [Node(tmp_path / f"s{n}", n, database if n % 2 else None) for n in range(SERVERS)]
    victims = chance.sample(nodes, 3)
    lonely = victims.pop()
    connect(nodes, chance)
    for turn in range(TURNS):
        for node in nodes:
            write(node, chance, turn)
        if chance.random() < 0.7:
            lonely.proxy.unplug()
        victims[turn % 2].kill()
        write(chance.choice(nodes), chance, 100 + turn)
        lonely.proxy.listen()
    if not NIGHTLY:
        for node in nodes:
            node.touch()
    first = nodes[0]
    wait_until(lambda: all(node.leaves() == first.leaves() for node in nodes[1:]), "they do not become equal")
    whole = content(first.database)
    assert len({name for name, _ in whole}) >= SERVERS * TURNS * 21
    for node in nodes[1:]:
        assert content(node.database) == whole
    for node in nodes:
        node.close()


def test_job_survives_kills_of_either_end(tmp_path):
    here, there = (Node(tmp_path / name, number, None) for number, name in enumerate(("here", "there")))
    here.replicate("pull", there.far, NAME)
    kills = 100 if NIGHTLY else 4
    chance = random.Random(kills)
    for turn in range(kills):
        there.database.bulk(*({"_id": f"{turn}-{n}", "n": n} for n in range(40)), *(
            {"_id": f"{turn}-f{n}", "_attachments": {"f": inline(some(10_000, n))}} for n in range(3)))
        if chance.random() < 0.5:
            # The job is in the midst of these documents when an end is killed.
            wait_until(lambda: here.database.call("GET", f"/{turn}-0").status_code == 200)
        (here, there)[turn % 2].kill()
    wait_until(lambda: here.leaves() == there.leaves(), "something is lost")
    assert content(here.database) == content(there.database) and len(there.leaves()) == 43 * kills
    shown = here.call("GET", "/_scheduler/docs/_replicator/pull").json()
    assert shown["state"] == "running" and shown["info"]["doc_write_failures"] == 0
    for node in (here, there):
        node.close()
