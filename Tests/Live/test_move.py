"""Moves of all stores from a data directory to a database and back. Clients notice nothing."""
import json
import os
import shutil
import signal
import subprocess

import pytest

import postgres
from backups import run
from faults import file_of, traced
from moving import database, fill, forget_sessions, is_begun, later, refusal, start, store_of, told  # noqa: F401
from waiting import wait_until
from server import BINARY
from test_backup import Numbered

pytestmark = [
    pytest.mark.files, pytest.mark.skipif(not postgres.programs(), reason="there is no PostgreSQL")]


def password_of(directory):
    """The hash of the administrator's password."""
    return json.loads((directory / "administrator.json").read_text())["password"]


def bookmarks(server, token):
    """The ids of a person's bookmarks."""
    return sorted(row["id"] for row in server.call("GET", "/v1/bookmarks", token).json()["bookmarks"])


@pytest.mark.nightly
def test_clients_notice_nothing_of_a_move_there_and_back(tmp_path, database, start):
    url = postgres.schema(database.url, tmp_path)
    data, back = tmp_path / "data", tmp_path / "back"
    server = start(data)
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
    node = start(data, "--database", url)
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
    server = start(back)
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
    node = start(tmp_path / "other", "--database", url)
    assert told(node, owners) == after
    assert node.stop() == 0


def test_a_link_shows_its_list_after_a_move_and_after_a_kill(tmp_path, database, start):
    url, data = postgres.schema(database.url, tmp_path), tmp_path / "data"
    server = start(data)
    token = server.call("POST", "/v1/users", json={"username": "ada", "password": "correct horse battery"}).json()["token"]
    path = "/v1/lists/" + server.call("POST", "/v1/lists", token, json={"title": "Rome", "from": "2026-05-01"}).json()["id"]
    assert server.call("PUT", path + "/notes/Plan", token, json={"markdown": "one"}).status_code == 201
    kept, withdrawn = (server.call("POST", path + "/links", token).json() for _ in range(2))
    assert server.call("DELETE", f"{path}/links/{withdrawn['id']}", token).status_code == 204

    def shown(server):
        assert server.call("GET", "/v1/links/" + withdrawn["secret"]).status_code == 404
        answer = server.call("GET", "/v1/links/" + kept["secret"])
        assert answer.status_code == 200 and answer.json()["notes"][0]["markdown"] == "one", answer.text
        return answer.text

    before = shown(server)
    server.kill()
    server = start(data)
    assert shown(server) == before
    assert server.stop() == 0
    run("move", "--from", data, "--to", url)
    node = start(tmp_path / "node", "--database", url)
    assert shown(node) == before
    assert [it["id"] for it in node.call("GET", path + "/links", token).json()["links"]] == [kept["id"]]
    assert node.call("DELETE", f"{path}/links/{kept['id']}", token).status_code == 204
    assert node.call("GET", "/v1/links/" + kept["secret"]).status_code == 404
    assert node.stop() == 0


def test_a_move_that_is_killed_goes_on_and_nothing_serves_half_of_it(tmp_path, database, start):
    url = postgres.schema(database.url, tmp_path)
    data, back = tmp_path / "data", tmp_path / "back"
    server = start(data)
    owners = fill(server, guests=60)
    before = told(server, owners)
    assert server.stop() == 0
    killed_until_done(data, url, url, lambda: is_begun(url), ["--data", tmp_path / "node", "--database", url])
    assert (data / "moved").exists()
    assert postgres.sql(url, "SELECT count(*) FROM names WHERE convert_from(key, 'UTF8') LIKE 'staged%'") == "0"
    node = start(tmp_path / "node", "--database", url)
    assert told(node, owners) == before
    assert node.stop() == 0
    killed_until_done(url, back, url, (back / "unfinished-move").exists, ["--data", back])
    server = start(back)
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
            words = move.communicate(timeout=later(attempt))[1]
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


def test_a_damaged_store_is_named_and_nothing_is_marked(tmp_path, database, start):
    url = postgres.schema(database.url, tmp_path)
    data = tmp_path / "data"
    server = start(data)
    fill(server, guests=1)
    assert server.stop() == 0
    largest = max((data / "stores").rglob("*.sqlite"), key=lambda path: path.stat().st_mtime)
    largest.write_bytes(b"")
    code, words = refusal("move", "--from", data, "--to", url)
    assert code == 65 and not (data / "moved").exists(), words
    assert os.path.exists(data / "keys.json")


def test_a_store_on_a_bad_sector_is_named_and_all_others_are_copied(tmp_path, database, start):
    """Regression: an error of the disk below one file ended a move at that store, each time it was run again."""
    url, data = postgres.schema(database.url, tmp_path), tmp_path / "data"
    server = start(data)
    owners = fill(server, guests=3)
    before = told(server, owners)
    name = store_of(server, owners[0][0]).replace("-", "/", 1)
    assert server.stop() == 0
    done = traced("/dev/null", "pread64:error=EIO", "move", "--from", str(data), "--to", url, paths=[file_of(data, name)])
    words = done.stdout + done.stderr
    assert done.returncode == 65 and name in words and "1 stores can't be read" in words, words
    assert not (data / "moved").exists()
    line = run("move", "--from", data, "--to", url)
    # Only that store and the accounts are copied now.
    assert "moved 2 stores" in line, line
    node = start(tmp_path / "node", "--database", url)
    assert told(node, owners) == before
    assert node.stop() == 0


def test_database_in_use_is_backed_up_and_restored_into_another(tmp_path, database, start):
    url, other = postgres.schema(database.url, tmp_path), postgres.schema(database.url, tmp_path / "other")
    backup = tmp_path / "backup"
    node = start(tmp_path / "node", "--database", url)
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
    lines = run("restore", backup, "--database", other)
    assert "restored 6 stores" in lines and "moved 6 stores" in lines
    assert not (tmp_path / "backup.restored").exists()
    code, words = refusal("restore", backup, "--database", other)
    assert code == 78 and "has stores already" in words
    node = start(tmp_path / "node2", "--database", other)
    assert numbered.found(node)[:answered] == list(range(answered))
    found = [[row for row in node.call("GET", "/v1/bookmarks", token).json()["bookmarks"]] for token, _ in owners]
    assert all(len(rows) == 11 for rows in found)
    assert node.stop() == 0
    postgres.sql(url, "UPDATE documents SET body = '{}' WHERE sequence = 3")
    code, words = refusal("verify", "--database", url)
    assert code == 65
    code, words = refusal("backup", tmp_path / "second", "--database", url)
    assert code == 65 and "fails its checksum" in words


def test_who_was_erased_stays_erased_after_a_restoration(tmp_path, database, start):
    """The log of erasures is in the database, moves with the stores, and is in backups."""
    url, other = postgres.schema(database.url, tmp_path), postgres.schema(database.url, tmp_path / "other")
    data, backup = tmp_path / "data", tmp_path / "backup"
    server = start(data)
    before, after, stays = [token for token, _ in fill(server)[:3]]
    assert server.call("DELETE", "/v1/me", before).status_code == 204
    assert server.stop() == 0
    run("move", "--from", data, "--to", url)
    node = start(tmp_path / "node", "--database", url)
    run("backup", backup, "--database", url)
    assert len((backup / "erasures.log").read_text().split()) == 1
    assert node.call("DELETE", "/v1/me", after).status_code == 204
    # Another schema of the same database counts as the same database.
    assert node.stop() == 0
    lines = run("restore", backup, "--database", other, "--erasures", url)
    assert "erased again: 1 stores of 2" in lines
    node = start(tmp_path / "node2", "--database", other)
    assert [node.call("GET", "/v1/bookmarks", token).status_code for token in (before, after, stays)] == [410, 410, 200]
    assert node.stop() == 0
    assert postgres.sql(other, "SELECT count(*) FROM erasures") == "2"


def test_a_restoration_into_a_database_goes_on_after_it_was_killed(tmp_path, database, start):
    url = postgres.schema(database.url, tmp_path)
    data, backup, restored = tmp_path / "data", tmp_path / "backup", tmp_path / "backup.restored"
    server = start(data)
    owners = fill(server, 40)
    before = [bookmarks(server, token) for token, _ in owners]
    run("backup", backup, "--data", data)
    assert server.stop() == 0
    # At the first attempts the directory is restored, at later ones its stores are moved.
    for attempt in range(1, 60):
        command = start.command("restore", backup, "--database", url)
        try:
            said = command.communicate(timeout=later(attempt))
        except subprocess.TimeoutExpired:
            command.kill()
            command.communicate()
            forget_sessions(database.url)
            continue
        break
    if command.returncode == 78 and "has stores already" in said[1]:
        shutil.rmtree(restored, ignore_errors=True)  # The last kill came after the end of the move.
    else:
        assert command.returncode == 0, said
    assert attempt > 3 and not restored.exists()
    node = start(tmp_path / "node", "--database", url)
    assert [bookmarks(node, token) for token, _ in owners] == before
    assert node.stop() == 0
