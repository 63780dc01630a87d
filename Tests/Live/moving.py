"""What the tests of moves share: a PostgreSQL of their own, servers that end with their test, and what owners see."""
import contextlib
import subprocess
import time

import pytest

import postgres
from server import BINARY, Server
from sites import NIGHTLY
from waiting import PATIENCE, wait_until

COMMANDS = "application_name = 'hotel-bookmarks move'"
"""The condition for the sessions of moves in `pg_stat_activity`."""


@pytest.fixture(scope="module")
def database():
    """A PostgreSQL server that no other test uses: a move is refused while servers use the database."""
    database = postgres.Postgres()
    yield database
    database.close()


@pytest.fixture
def start(database):
    """Starts servers, and commands if the first argument is no directory's path. Kills at the end those that still run:
    a node that a failed test leaves would make the later tests fail."""
    servers, commands = [], []

    def begin(*arguments):
        servers.append(Server(*arguments))
        return servers[-1]

    def command(*arguments):
        commands.append(subprocess.Popen(
            [BINARY, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return commands[-1]

    begin.command = command
    yield begin
    for command in commands:
        if command.poll() is None:
            command.kill()
            command.communicate()
    for server in servers:
        if server.process.poll() is None:
            server.kill()
    forget_sessions(database.url)


def fill(server, guests=3):
    """Makes a user and guests with bookmarks, edits, a tombstone and checkpoints. Returns for each the token and a
    sequence from the middle."""
    tokens = [server.guest() for _ in range(guests)]
    answer = server.call("POST", "/v1/users", json={"username": "ada", "password": "correct horse battery"})
    assert answer.status_code == 201, answer.text
    tokens.append(answer.json()["token"])
    owners = []
    for token in tokens:
        name = store_of(server, token)
        for first, end in ((0, 5), (5, 12)):
            if first:
                owners.append((token, server.call("GET", f"/couch/{name}", token).json()["update_seq"]))
            hotels = [{"id": f"hotel-{number}", "name": f"N{number}"} for number in range(first, end)]
            answer = server.call("POST", "/v1/bookmarks", token, json={"add": hotels})
            assert answer.status_code == 200, answer.text
            assert {it["status"] for it in answer.json()["results"]} == {201}
        assert server.call("DELETE", "/v1/bookmarks/hotel-3", token).status_code < 300
        answer = server.call(
            "PUT", f"/couch/{name}/_local/checkpoint", token, json={"last_seq": 5})
        assert answer.status_code == 201, answer.text
    return owners


def store_of(server, token):
    return server.call("GET", "/v1/me", token).json()["store"]


def told(server, owners):
    """All that owners can see."""
    found = []
    for token, since in owners:
        name = store_of(server, token)
        for path in ["/v1/bookmarks", f"/couch/{name}/_changes?include_docs=true&style=all_docs",
                     f"/couch/{name}/_changes?since={since}", f"/couch/{name}/_local/checkpoint"]:
            answer = server.call("GET", path, token)
            assert answer.status_code == 200, answer.text
            found.append((path, answer.text, answer.headers.get("ETag")))
        info = server.call("GET", f"/couch/{name}", token).json()
        found.append((name, info["update_seq"], info["doc_count"], info["doc_del_count"]))
    return found


def refusal(*arguments):
    """The exit status and the error of a command that does not start."""
    done = subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    return done.returncode, done.stderr


def later(attempt):
    """Seconds until the attempt is killed: each time more, so that the last ones are late enough on any machine. The
    nightly run kills at five times as many moments."""
    return 0.05 * 1.12 ** attempt if NIGHTLY else 0.1 * 1.7 ** attempt


def forget_sessions(url):
    """Waits until the database has noticed that a killed command is gone."""
    deadline = time.monotonic() + 20
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'hotel-bookmarks%'"
    while postgres.sql(url, query) != "0" and time.monotonic() < deadline:
        time.sleep(0.05)


def is_begun(url):
    """Whether a move into a database has begun and not ended."""
    return postgres.sql(url, "SELECT to_regclass('names') IS NOT NULL") == "t" and postgres.sql(
        url, "SELECT count(*) FROM names WHERE key = 'unfinished-move'") == "1"


@contextlib.contextmanager
def accounts_held(url):
    """Makes the copy of the accounts, the last one of a move, wait in the database. Yields a function that waits until
    the copy waits."""
    postgres.sql(url, """
        CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_advisory_xact_lock_shared(7); RETURN NEW; END';
        CREATE TRIGGER hold BEFORE INSERT ON names FOR EACH ROW WHEN (NEW.key = 'staged/system')
          EXECUTE FUNCTION hold();""")
    holder = subprocess.Popen(["psql", "-XAtq", "-d", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        holder.stdin.write("SELECT pg_advisory_lock(7), 'held';\n")
        holder.stdin.flush()
        assert "held" in holder.stdout.readline()
        waiting = f"SELECT count(*) FROM pg_stat_activity WHERE {COMMANDS} AND wait_event = 'advisory'"
        yield lambda: wait_until(lambda: postgres.sql(url, waiting) != "0", "the copy does not wait")
    finally:
        holder.stdin.close()
        holder.wait()
        postgres.sql(url, "DROP TRIGGER hold ON names; DROP FUNCTION hold;")
