"""Moves of all stores from a data directory to a database and back. Clients notice nothing."""
import json
import os
import signal
import subprocess
import time

import pytest

import postgres
from backups import run
from waiting import wait_until
from server import BINARY, Server
from test_backup import Numbered

pytestmark = [
    pytest.mark.files, pytest.mark.skipif(not postgres.programs(), reason="there is no PostgreSQL")]


@pytest.fixture(scope="module")
def database():
    """A PostgreSQL server that no other test uses: a move is refused while servers use the database."""
    database = postgres.Postgres()
    yield database
    database.close()


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
        for number in range(12):
            if number == 5:
                owners.append((token, server.call("GET", f"/couch/{name}", token).json()["update_seq"]))
            answer = server.call("PUT", f"/v1/bookmarks/hotel-{number}", token, json={"name": f"N{number}"})
            assert answer.status_code == 201, answer.text
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


def password_of(directory):
    """The hash of the administrator's password."""
    return json.loads((directory / "administrator.json").read_text())["password"]


def refusal(*arguments):
    """The exit status and the error of a command that does not start."""
    done = subprocess.run(
        [BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


def test_clients_notice_nothing_of_a_move_there_and_back(tmp_path, database):
    url = postgres.schema(database.url, tmp_path)
    data, back = tmp_path / "data", tmp_path / "back"
    server = Server(data)
    owners = fill(server)
    before = told(server, owners)
    assert server.stop() == 0
    line = run("move", "--from", data, "--to", url)
    assert "moved 5 stores" in line and str(data) in line
    assert (data / "moved").read_text().startswith("to postgres://")

    code, words = refusal("serve", "--port", "0", "--data", data)
    assert code == 78 and "moved to postgres://" in words and f"remove the file {data}/moved" in words
    code, words = refusal("move", "--from", data, "--to", url)
    assert code == 78 and "move --undo" in words
    code, words = refusal("backup", tmp_path / "backup", "--data", data)
    assert code == 78 and "were moved" in words

    # The old directory may serve as the node's own.
    node = Server(data, "--database", url)
    assert told(node, owners) == before
    answer = node.call("PUT", "/v1/bookmarks/hotel-99", owners[0][0], json={"name": "new"})
    assert answer.status_code == 201, answer.text
    after = told(node, owners)
    code, words = refusal("move", "--from", url, "--to", back)
    assert code == 78 and "stop them first" in words
    assert node.stop() == 0

    run("move", "--from", url, "--to", back)
    code, words = refusal("serve", "--port", "0", "--data", tmp_path / "other", "--database", url)
    assert code == 78 and "were moved to" in words
    server = Server(back)
    assert told(server, owners) == after
    assert server.stop() == 0
    assert "sound" in run("verify", back)
    assert sorted(path.name for path in back.glob("*move*")) == []
    assert (back / "keys.json").read_bytes() == (data / "keys.json").read_bytes()
    assert password_of(back) == password_of(data)

    code, words = refusal("move", "--from", back, "--to", url)
    assert code == 78 and "were moved to" in words

    # The database may be used again after the mark is removed.
    assert "may use" in run("move", "--undo", url)
    code, words = refusal("move", "--from", back, "--to", url)
    assert code == 78 and "move into an empty place" in words
    node = Server(tmp_path / "other", "--database", url)
    assert told(node, owners) == after
    assert node.stop() == 0


def test_a_move_that_is_killed_goes_on_and_nothing_serves_half_of_it(tmp_path, database):
    url = postgres.schema(database.url, tmp_path)
    data, back = tmp_path / "data", tmp_path / "back"
    server = Server(data)
    owners = fill(server, guests=60)
    before = told(server, owners)
    code, words = refusal("move", "--from", data, "--to", url)
    assert code == 78 and "stop it first" in words
    assert server.stop() == 0

    def is_begun():
        return postgres.sql(url, "SELECT to_regclass('names') IS NOT NULL") == "t" and postgres.sql(
            url, "SELECT count(*) FROM names WHERE key = 'unfinished-move'") == "1"

    killed_until_done(data, url, url, is_begun, ["--data", tmp_path / "node", "--database", url])
    assert (data / "moved").exists()
    assert postgres.sql(url, "SELECT count(*) FROM names WHERE convert_from(key, 'UTF8') LIKE 'staged%'") == "0"
    node = Server(tmp_path / "node", "--database", url)
    assert told(node, owners) == before
    assert node.stop() == 0
    killed_until_done(url, back, url, (back / "unfinished-move").exists, ["--data", back])
    server = Server(back)
    assert told(server, owners) == before
    assert server.stop() == 0
    assert "sound" in run("verify", back)


def killed_until_done(source, target, url, is_begun, serving):
    """Moves, and kills the command later each time until it is done. After each kill that left a move begun, no server
    starts on the target."""
    refused = 0
    for attempt in range(60):
        move = subprocess.Popen([BINARY, "move", "--from", str(source), "--to", str(target)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            words = move.communicate(timeout=0.05 + 0.05 * attempt)[1]
            assert move.returncode == 0, words
            assert refused > 0
            return
        except subprocess.TimeoutExpired:
            move.send_signal(signal.SIGKILL)
            move.communicate()
            forget_sessions(url)
            if refused > 0 and not is_begun():
                # It was killed after its last step.
                return
            if is_begun():
                code, words = refusal("serve", "--port", "0", *serving)
                assert code == 78 and "has not ended" in words, words
                forget_sessions(url)
                refused += 1
    raise AssertionError("the move never ended")


def forget_sessions(url):
    """Waits until the database has noticed that a killed command is gone."""
    deadline = time.monotonic() + 20
    query = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'hotel-bookmarks%'"
    while postgres.sql(url, query) != "0" and time.monotonic() < deadline:
        time.sleep(0.05)


def test_a_damaged_store_is_named_and_nothing_is_marked(tmp_path, database):
    url = postgres.schema(database.url, tmp_path)
    data = tmp_path / "data"
    server = Server(data)
    fill(server, guests=1)
    assert server.stop() == 0
    largest = max((data / "stores").rglob("*.sqlite"), key=lambda path: path.stat().st_mtime)
    largest.write_bytes(b"")
    code, words = refusal("move", "--from", data, "--to", url)
    assert code == 65 and not (data / "moved").exists(), words
    assert os.path.exists(data / "keys.json")


def test_database_in_use_is_backed_up_and_the_backup_moves_into_another(tmp_path, database):
    url, other = postgres.schema(database.url, tmp_path), postgres.schema(database.url, tmp_path / "other")
    backup, restored = tmp_path / "backup", tmp_path / "restored"
    node = Server(tmp_path / "node", "--database", url)
    owners = fill(node)
    before = told(node, owners)
    numbered = Numbered(node)
    numbered.thread.start()
    wait_until(lambda: numbered.answered > 5)
    answered = numbered.answered
    line = run("backup", backup, "--database", url)
    assert "5 stores" in line or "files" in line, line
    assert not (tmp_path / "backup.stores").exists()
    assert "sound: 6 stores" in run("verify", "--database", url)
    numbered.stop.set()
    numbered.thread.join()
    assert told(node, owners) == before
    assert node.stop() == 0
    assert "sound" in run("verify", backup)
    run("restore", backup, "--data", restored)
    run("move", "--from", restored, "--to", other)
    node = Server(tmp_path / "node2", "--database", other)
    assert numbered.found(node)[:answered] == list(range(answered))
    found = [[row for row in node.call("GET", "/v1/bookmarks", token).json()["bookmarks"]] for token, _ in owners]
    assert all(len(rows) == 11 for rows in found)
    assert node.stop() == 0
    postgres.sql(url, "UPDATE documents SET body = '{}' WHERE sequence = 3")
    code, words = refusal("verify", "--database", url)
    assert code == 65
    code, words = refusal("backup", tmp_path / "second", "--database", url)
    assert code == 65 and "fails its checksum" in words
