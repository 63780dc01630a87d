"""A pooler in front of the database that gives each transaction another session is refused at the start."""
import shutil
import signal
import subprocess

import pytest

import postgres
from backups import run
from cluster.network import free_ports
from server import Server
from waiting import PATIENCE, wait_until

pytestmark = [
    pytest.mark.fault("P16"), pytest.mark.skipif(
        postgres.programs() is None or not shutil.which("pgbouncer"),
        reason="Scripts/setup --tests and --cluster install what this needs")]


@pytest.fixture(scope="module")
def database():
    server = postgres.Postgres()
    yield server
    server.close()


class Pooler:
    """PgBouncer in front of a database."""

    def __init__(self, database, directory, mode, order):
        [port] = free_ports(1)
        self.url = f"postgres://postgres@127.0.0.1:{port}/postgres"
        settings = directory / "pgbouncer.ini"
        settings.write_text(f"""[databases]
postgres = host={database.directory} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
server_round_robin = {order}
""")
        # PgBouncer does not run as root.
        settings = database.directory / "pgbouncer.ini"
        shutil.copy(directory / "pgbouncer.ini", settings)
        if database.user:
            shutil.chown(settings, database.user)
        with open(directory / "log", "wb") as log:
            self.process = subprocess.Popen(
                database._as_user("pgbouncer", settings), stdout=log, stderr=log, cwd="/")
        wait_until(lambda: subprocess.run(
            [database.bin / "pg_isready", "-q", "-d", self.url], check=False, timeout=PATIENCE).returncode == 0,
            "PgBouncer does not answer")

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=PATIENCE)


@pytest.mark.parametrize("mode, order", [("transaction", 0), ("transaction", 1), ("statement", 0)])
def test_pooler_of_transactions_is_refused_with_the_reason(database, tmp_path, mode, order):
    pooler = Pooler(database, tmp_path, mode, order)
    try:
        for command in (["serve", "--port", 0, "--data", tmp_path / "node"], ["verify"]):
            words = run(*command, "--database", pooler.url, expect=1)
            assert "pool_mode=transaction; use pool_mode=session" in words, words
    finally:
        pooler.close()


def test_pooler_of_sessions_is_used(database, tmp_path):
    pooler = Pooler(database, tmp_path, "session", 0)
    try:
        node = Server(tmp_path / "node", "--database", pooler.url)
        try:
            token = node.call("POST", "/v1/guests").json()["token"]
            assert node.call("PUT", "/v1/bookmarks/h", token, json={"name": "House"}).status_code == 201
            assert [hotel["id"] for hotel in node.call("GET", "/v1/bookmarks", token).json()["bookmarks"]] == ["h"]
        finally:
            assert node.stop() == 0
    finally:
        pooler.close()
