"""Moves of the stores of a running server, which goes on answering. No acknowledged change is lost."""
import itertools
import signal
import threading
import time

import pytest
import requests

import postgres
from backups import run
from faults import file_of
from moving import accounts_held, database, fill, forget_sessions, is_begun, later, refusal, start, store_of, told  # noqa: F401
from waiting import wait_until

pytestmark = [
    pytest.mark.files, pytest.mark.skipif(not postgres.programs(), reason="there is no PostgreSQL")]

PASSWORD = "correct horse battery"
MOST = 150
"""The most documents that a guest writes."""


class Writers:
    """Clients that write until they are stopped or the server ends. They record what was acknowledged, and wait while
    the stores are moved."""

    def __init__(self, server, clients=3):
        self.server, self.stop, self.refused = server, threading.Event(), threading.Event()
        self.wrong, self.users, self.count = [], [], 0
        self.written = {server.guest(): [] for _ in range(clients)}
        self.threads = [threading.Thread(target=self._run, args=(self._write, token)) for token in self.written]
        self.threads.append(threading.Thread(target=self._run, args=(self._sign_up,)))
        for thread in self.threads:
            thread.start()

    def _run(self, work, *arguments):
        with requests.Session() as session:
            try:
                work(session, *arguments)
            except requests.RequestException:
                # The server was killed.
                pass
            except Exception as problem:  # pylint: disable=broad-except
                self.wrong.append(problem)

    def _send(self, session, method, path, token, json, may_be_half_done=False):
        """Sends a change until it is acknowledged. Returns nothing if it was not.

        With `may_be_half_done` a change in several stores may be refused after its first one; then it is given up.
        """
        first = True
        while not self.stop.is_set():
            answer = self.server.call(method, path, token, session=session, json=json)
            if answer.status_code < 300:
                return answer
            if may_be_half_done and not first and answer.status_code in (401, 409, 410):
                return None
            first = False
            assert (answer.status_code, answer.json()["error"]) == (503, "stores_moved"), answer.text
            assert int(answer.headers["Retry-After"]) > 0
            self.refused.set()
            time.sleep(0.1)
        return None

    def _write(self, session, token):
        name, revisions = store_of(self.server, token), self.written[token]
        for count in itertools.count():
            # A guest has 200 documents, so the last one is written again and again.
            number = min(count, MOST)
            base = {"_rev": revisions.pop()} if count > MOST else {}
            answer = self._send(session, "PUT", f"/couch/{name}/{number}", token, {"n": count, **base})
            if not answer:
                return
            revisions.append(answer.json()["rev"])
            self.count += 1
            # A checkpoint has no sequence number.
            if count <= MOST and not self._send(
                    session, "PUT", f"/couch/{name}/_local/{number}", token, {"last_seq": number}):
                return
            time.sleep(0.02)

    def _sign_up(self, session):
        """Guests bookmark a hotel and become users, who keep it."""
        number = 0
        while not self.stop.is_set():
            number += 1
            answer = self._send(session, "POST", "/v1/guests", None, None)
            token = answer and answer.json()["token"]
            if not token or not self._send(session, "PUT", "/v1/bookmarks/inn", token, {"name": "Inn"}):
                continue
            name = f"user-{id(self)}-{number}"
            if self._send(session, "POST", "/v1/users", token, {"username": name, "password": PASSWORD}, True):
                self.users.append(name)
            # A password costs as much as hundreds of other requests.
            self.stop.wait(1)

    def end(self):
        """Stops the writers."""
        self.stop.set()
        for thread in self.threads:
            thread.join()
        assert not self.wrong, self.wrong

    def grow(self):
        """Waits until more changes were acknowledged."""
        before = self.count
        wait_until(lambda: self.count > before + 5, "nothing is acknowledged")

    def check(self, node):
        """Checks that a server has all that was acknowledged. At most the last change of each was not answered."""
        for token, revisions in self.written.items():
            name = store_of(node, token)
            rows = node.call("GET", f"/couch/{name}/_all_docs", token).json()["rows"]
            found = {row["id"]: row["value"]["rev"] for row in rows}
            for number, revision in enumerate(revisions):
                assert found[str(number)] == revision
            for number in range(len(revisions) - 1):
                answer = node.call("GET", f"/couch/{name}/_local/{number}", token)
                assert answer.json()["last_seq"] == number, answer.text
        for name in self.users:
            answer = node.call("POST", "/v1/sessions", json={"username": name, "password": PASSWORD})
            assert answer.status_code == 200, answer.text
            answer = node.call("GET", "/v1/bookmarks", answer.json()["token"])
            assert [hotel["id"] for hotel in answer.json()["bookmarks"]] == ["inn"], answer.text


def test_a_running_server_moves_its_stores_and_loses_nothing(tmp_path, database, start):
    url, data = postgres.schema(database.url, tmp_path), tmp_path / "data"
    server = start(data)
    owners = fill(server, guests=20)
    token, name = owners[0][0], store_of(server, owners[0][0])
    writers = Writers(server)
    writers.grow()
    lines = run("move", "--from", data, "--to", url)
    assert "stores from" in lines and "stop it, and start servers with --database" in lines
    wait_until(writers.refused.is_set)
    writers.end()

    # The server reads what it has and refuses every change, also of what is not there yet.
    before = told(server, owners)
    for method, path, body in [
            ("PUT", "/v1/bookmarks/late", {"name": "Late"}), ("DELETE", "/v1/bookmarks/hotel-1", None),
            ("PUT", f"/couch/{name}/late", {}), ("PUT", f"/couch/{name}/_local/late", {}),
            ("POST", "/v1/users", {"username": "late", "password": PASSWORD}), ("DELETE", "/v1/me", None)]:
        answer = server.call(method, path, token, json=body)
        assert (answer.status_code, answer.json()["error"]) == (503, "stores_moved"), (path, answer.text)
        assert int(answer.headers["Retry-After"]) > 0
    assert told(server, owners) == before
    for command in [["move", "--from", data, "--to", url], ["keys", "rotate", "--data", data]]:
        code, words = refusal(*command)
        assert code == 78 and "were moved to postgres://" in words, words
    server.logged("the stores were moved")
    assert server.stop() == 0
    code, words = refusal("serve", "--port", "0", "--data", data)
    assert code == 78 and "were moved to postgres://" in words

    node = start(data, "--database", url)
    assert told(node, owners) == before
    writers.check(node)
    assert node.call("PUT", "/v1/bookmarks/late", token, json={"name": "Late"}).status_code == 201
    code, words = refusal("move", "--from", data, "--to", url)
    assert code == 78 and "stores in a database" in words
    assert node.stop() == 0


@pytest.mark.parametrize("end", [
    "kill", "database", *(pytest.param(end, marks=pytest.mark.nightly) for end in ("server", "interrupt", "hang up"))])
def test_a_move_that_ends_before_its_last_step_lets_the_server_go_on(tmp_path, database, start, end):
    url, data = postgres.schema(database.url, tmp_path), tmp_path / "data"
    run("verify", "--database", url)
    server = start(data)
    owners = fill(server)
    writers = [Writers(server)]
    with accounts_held(url) as wait_until_held:
        move = start.command("move", "--from", data, "--to", url)
        wait_until_held()
        wait_until(writers[0].refused.is_set)
        assert told(server, owners)
        if end == "server":
            server.kill()
            writers[0].end()
            server = start(data)
            writers.append(Writers(server))
        elif end != "database":
            move.send_signal({"kill": signal.SIGKILL, "interrupt": signal.SIGINT, "hang up": signal.SIGHUP}[end])
        # The database gives up because the copy waits for too long.
        words = move.communicate()[1]
        assert move.returncode != 0, words
        # Changes are accepted again, although the copy may still wait.
        writers[-1].grow()
    assert not (data / "moved").exists()
    code, words = refusal("serve", "--port", "0", "--data", tmp_path / "node", "--database", url)
    assert code == 78 and "has not ended" in words
    forget_nodes(url)
    run("move", "--from", data, "--to", url)
    writers[-1].end()
    before = told(server, owners)
    assert server.stop() == 0
    node = start(tmp_path / "node", "--database", url)
    assert told(node, owners) == before
    for group in writers:
        group.check(node)
    assert node.stop() == 0


def forget_nodes(url):
    """Waits until the database has noticed that a node that did not start is gone."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hotel-bookmarks'"
    wait_until(lambda: postgres.sql(url, query) == "0")


def test_a_server_that_is_killed_at_any_moment_of_a_move_loses_nothing(tmp_path, database, start):
    url, data = postgres.schema(database.url, tmp_path), tmp_path / "data"
    server = start(data)
    owners = fill(server, guests=30)
    everybody, kills = [], 0
    for attempt in range(40):
        writers = Writers(server, clients=2)
        everybody.append(writers)
        writers.grow()
        move = start.command("move", "--from", data, "--to", url)
        # A different moment each time, and in the end late enough.
        time.sleep(2 * later(attempt))
        if move.poll() is None:
            server.kill()
            kills += 1
        words = move.communicate()[1]
        writers.end()
        if (data / "moved").exists():
            break
        assert move.returncode != 0 and "The server ended before it was done" in words, words
        forget_sessions(database.url)
        server = start(data)
    assert kills > 0
    if is_begun(url):
        # It was killed between its two marks.
        run("move", "--from", data, "--to", url)
    server.stop()
    node = start(tmp_path / "node", "--database", url)
    assert told(node, owners)
    for writers in everybody:
        writers.check(node)
    assert node.stop() == 0


def test_while_the_end_is_not_known_nothing_is_changed(tmp_path, database, start):
    url, data = postgres.schema(database.url, tmp_path), tmp_path / "data"
    run("verify", "--database", url)
    server = start(data)
    owners = fill(server)
    postgres.sql(url, """
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full; END';
        CREATE TRIGGER refuse BEFORE DELETE ON names FOR EACH ROW WHEN (OLD.key = 'unfinished-move')
          EXECUTE FUNCTION refuse();""")
    code, words = refusal("move", "--from", data, "--to", url)
    assert code == 78 and "not known whether the move has ended" in words, words
    answer = server.call("PUT", "/v1/bookmarks/late", owners[0][0], json={"name": "Late"})
    assert (answer.status_code, answer.json()["error"]) == (503, "stores_moved")
    before = told(server, owners)
    postgres.sql(url, "DROP TRIGGER refuse ON names")
    run("move", "--from", data, "--to", url)
    assert server.stop() == 0
    node = start(tmp_path / "node", "--database", url)
    assert told(node, owners) == before
    assert node.stop() == 0


def test_a_damaged_store_is_named_and_the_server_goes_on(tmp_path, database, start):
    url, data = postgres.schema(database.url, tmp_path), tmp_path / "data"
    server = start(data)
    name = store_of(server, fill(server, guests=1)[0][0])
    assert server.stop() == 0
    file_of(data, name.replace("-", "/", 1)).write_bytes(b"")
    server = start(data)
    code, words = refusal("move", "--from", data, "--to", url)
    assert code == 65 and "needs to be restored" in words, words
    assert not (data / "moved").exists()
    token = server.guest()
    assert server.call("PUT", "/v1/bookmarks/hotel-1", token, json={"name": "N"}).status_code == 201
    assert server.stop() == 0
