"""Backups of a server in use, and a recovery exercise: crash, restore into an empty directory, continue."""
import fcntl
import itertools
import os
import pathlib
import shutil
import subprocess
import threading
import time

import pytest
import requests

from backups import manifest, run, secrets_of
from couch import Account
from faults import SmallDisk, file_of, traced
from leaves import Replica
from waiting import PATIENCE, wait_until
from replicator import Replicator
from server import BINARY
from sites import site_pair


class Numbered:
    """A guest who writes documents 0, 1, 2, … in order and records which were acknowledged."""

    def __init__(self, server):
        self.server, self.token = server, server.guest()
        self.name = server.call("GET", "/v1/me", self.token).json()["store"]
        self.answered, self.sent, self.stop = 0, 0, threading.Event()
        self.thread = threading.Thread(target=self._write, daemon=True)

    def _write(self):
        session = requests.Session()
        while not self.stop.is_set() and self.sent < 180:
            self.sent += 1
            try:
                answer = session.put(
                    f"{self.server.url}/couch/{self.name}/{self.sent - 1}", json={"x": "y" * 2000},
                    headers={"Authorization": "Bearer " + self.token}, timeout=PATIENCE)
            except requests.RequestException:
                return
            assert answer.status_code == 201, answer.text
            self.answered = self.sent
            time.sleep(0.01)

    def found(self, server):
        """The numbers of the documents that a server has."""
        rows = server.call("GET", f"/couch/{self.name}/_all_docs", self.token).json()["rows"]
        return sorted(int(row["id"]) for row in rows)


def fill(server, count=20):
    """Makes guests with one bookmark each. Returns their tokens."""
    tokens = [server.guest() for _ in range(count)]
    for number, token in enumerate(tokens):
        answer = server.call("PUT", f"/v1/bookmarks/hotel-{number}", token, json={"name": "N"})
        assert answer.status_code == 201, answer.text
    return tokens


@pytest.mark.fault("F25")
def test_drill_backup_under_load_crash_restore_and_sync_goes_on(tmp_path_factory, capsys):
    directory = tmp_path_factory.mktemp("drill")
    with site_pair(tmp_path_factory) as (here, there):
        source, target = here.user(), there.user()
        for number in range(300):
            source.edit(f"doc-{number}", number=number)
        Replicator(source.near(), target.near(), "drill").run()
        writers = [Numbered(here.server) for _ in range(6)]
        for writer in writers:
            writer.thread.start()
        feed = Replicator(source.near(), target.near(), "drill", feed="continuous")
        with feed.following():
            time.sleep(1)
            before = [writer.answered for writer in writers]
            source.edit("before", number=1)
            run("backup", directory / "backup", "--data", here.directory)
            source.edit("after", number=2)
            wait_until(lambda: "after" in Replica(target.near()).listed)
        old = source.near().get()["update_seq"]

        def restore():
            run("verify", directory / "backup")
            here.started = time.monotonic()
            run("restore", directory / "backup", "--data", directory / "data")
            here.directory = directory / "data"

        here.restart(meanwhile=restore)
        server = here.server
        assert server.call("GET", "/readyz").status_code == 200
        with capsys.disabled():
            print(f"\nrestored and ready after {time.monotonic() - here.started:.2f} s (RTO)")
        for writer, answered in zip(writers, before):
            writer.stop.set()
            writer.thread.join(timeout=PATIENCE)
            found = writer.found(server)
            # The backup is of one moment: it has all documents up to one number, and none after it.
            assert found == list(range(len(found)))
            assert answered <= len(found) <= writer.sent
        assert "before" in Replica(source.near()).listed
        # A sequence from before the restore means nothing now: the feed starts at the beginning and skips nothing.
        again = source.near().get(f"/_changes?since={old}")["results"]
        assert len(again) == len(source.near().get("/_changes")["results"])
        source.edit("restored", number=3)
        Replicator(source.near(), target.near(), "drill").run()
        Replicator(target.near(), source.near(), "back").run()
        Replica(source.near()).assert_equals(Replica(target.near()))
        assert {"before", "after", "restored"} <= set(Replica(source.near()).listed)
        here.server.stop()
        run("verify", directory / "data")


def test_backup_holds_all_and_is_its_owners_alone(start, tmp_path):
    server = start()
    tokens = fill(server)
    out = run("backup", tmp_path / "backup", "--data", server.data)
    assert "backed up" in out
    lines = manifest(tmp_path / "backup")
    assert sum("store" in line for line in lines) == len(tokens)
    assert {line["file"] for line in lines if "file" in line} >= {
        "keys.json", "administrator.json", "catalogue.sqlite"}
    assert secrets_of(tmp_path / "backup") == []
    assert (server.data / "control").stat().st_mode & 0o777 == 0o600
    server.stop()
    assert not (server.data / "control").exists()
    run("restore", tmp_path / "backup", "--data", tmp_path / "new")
    assert secrets_of(tmp_path / "new") == []
    server = start(data=tmp_path / "new")
    for number, token in enumerate(tokens):
        assert server.call("GET", f"/v1/bookmarks/hotel-{number}", token).status_code == 200


def test_backup_without_a_server_is_the_same(start, tmp_path):
    server = start()
    [token] = fill(server, 1)
    server.kill()
    run("backup", tmp_path / "backup", "--data", server.data)
    run("restore", tmp_path / "backup", "--data", tmp_path / "new")
    server = start(data=tmp_path / "new")
    assert server.call("GET", "/v1/bookmarks/hotel-0", token).status_code == 200


@pytest.mark.fault("F08")
def test_restoration_of_which_a_write_fails_says_so(start, tmp_path):
    """Each write to a database fails in turn. The last ones count, too: closing the file would not report them."""
    server = start()
    fill(server, 2)
    run("backup", tmp_path / "backup", "--data", server.data)
    for number in itertools.count(1):
        directory, log = tmp_path / f"new-{number}", tmp_path / "calls"
        restored = traced(
            log, f"pwrite64:error=EIO:when={number}",
            "restore", tmp_path / "backup", "--data", directory)
        if "INJECTED" not in log.read_text():
            break
        assert restored.returncode != 0, f"write {number}: {restored.stdout}"
    assert number > 3 and restored.returncode == 0
    assert ": sound: 2 stores" in run("verify", directory)


def test_what_stands_in_the_way_is_left_alone(start, tmp_path):
    server = start()
    fill(server, 1)
    run("backup", tmp_path / "backup", "--data", server.data)
    before = (tmp_path / "backup" / "manifest.ndjson").read_bytes()
    assert "already" in run("backup", tmp_path / "backup", "--data", server.data, expect=1)
    assert (tmp_path / "backup" / "manifest.ndjson").read_bytes() == before
    assert "not empty" in run(
        "restore", tmp_path / "backup", "--data", tmp_path / "backup", expect=1)
    (tmp_path / "link").symlink_to(server.data / "stores")
    for inside in (server.data / "copy", tmp_path / "link/copy"):
        assert "data directory" in run("backup", inside, "--data", server.data, expect=1)
        assert not inside.exists()
    run("backup", tmp_path / "other", "--data", tmp_path / "nowhere", expect=78)
    assert not (tmp_path / "nowhere").exists()
    assert list(tmp_path.glob("*.partial-*")) == []
    (tmp_path / "empty").mkdir()
    run("backup", tmp_path / "empty", "--data", server.data)


def begun(server, target):
    """Starts a backup and returns the command while it runs. If it ends too early, the backup is started again."""
    for _ in range(20):
        command = subprocess.Popen(
            [BINARY, "backup", str(target), "--data", str(server.data)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        while command.poll() is None:
            if list(target.parent.glob(target.name + ".partial-*/stores/*/*.sqlite")):
                return command
        assert command.returncode == 0, command.stdout.read()
        shutil.rmtree(target)
    raise AssertionError("no backup was seen on its way")


def drafts(directory):
    return {path.name for path in directory.glob("*.partial-*")}


@pytest.mark.fault("F08")
@pytest.mark.parametrize("victim", ["server", "command"])
def test_kill_in_the_middle_leaves_no_backup_under_the_final_name(start, tmp_path, victim):
    server = start()
    fill(server, 150)
    target = tmp_path / "backup"
    command = begun(server, target)
    if victim == "server":
        server.kill()
        status = command.wait(timeout=PATIENCE)
        # The backup may have been complete before the kill, and the command may not have heard of it.
        assert status == 1 or status == 0 and target.exists(), command.stdout.read()
        server = start()
    else:
        command.kill()
        command.wait(timeout=PATIENCE)
        wait_until(lambda: not drafts(tmp_path), "the server goes on for nobody")
    if target.exists():
        run("verify", target)
        shutil.rmtree(target)
    run("backup", target, "--data", server.data)
    run("verify", target, server.data)
    assert not drafts(tmp_path)


@pytest.mark.fault("F08")
def test_drafts_of_a_killed_backup_go_with_the_next_one_and_nothing_else_does(start, tmp_path):
    server = start()
    fill(server, 150)
    for _ in range(20):
        command = begun(server, tmp_path / "first")
        server.kill()
        command.wait(timeout=PATIENCE)
        if drafts(tmp_path):
            break
        shutil.rmtree(tmp_path / "first")
        server = start()
    [left] = drafts(tmp_path)
    # One draft that another process is writing, and directories with similar names that are no backups.
    running, foreign, empty, other = (
        tmp_path / name for name in (
            "one.partial-00000001", "two.partial-00000002", "three.partial-00000003",
            "four.partial-0000000x"))
    for directory in (running, foreign, other):
        shutil.copytree(tmp_path / left, directory)
    (foreign / "mine").write_text("mine")
    empty.mkdir()
    (tmp_path / "five.partial-00000005").symlink_to(tmp_path / left)
    others = drafts(tmp_path) - {left}
    lock = os.open(running, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    run("backup", tmp_path / "second", "--data", server.data)
    assert drafts(tmp_path) == others
    os.close(lock)
    run("backup", tmp_path / "third", "--data", server.data)
    assert drafts(tmp_path) == others - {running.name}


@pytest.mark.fault("F08")
def test_disk_full_during_a_backup_leaves_nothing(start, tmp_path):
    server = start()
    tokens = fill(server, 30)
    small = SmallDisk(tmp_path / "small", "600k")
    try:
        run("backup", small.path / "backup", "--data", server.data, expect=1)
        assert list(small.path.iterdir()) == []
        # The server still accepts writes.
        assert server.call("PUT", "/v1/bookmarks/x", tokens[0], json={"name": "X"}).status_code == 201
    finally:
        small.close()


@pytest.mark.fault("F26")
def test_erased_stays_erased_where_the_log_of_erasures_is_given(start, tmp_path):
    server = start()
    owner, member = Account(server), Account(server)
    user, ada = {"username": owner.name, "password": owner.password}, owner.token
    guest, other = server.guest(), server.guest()
    for token in (ada, guest, other):
        server.call("PUT", "/v1/bookmarks/one", token, json={"name": "One"})
    # One list is deleted with its owner. The other one was handed on before.
    lists = [owner.share(member, title) for title in ("Deleted", "Kept")]
    run("backup", tmp_path / "backup", "--data", server.data)
    assert server.call("PATCH", lists[1], ada, json={"owner": member.name}).status_code == 202
    [offer] = server.call("GET", "/v1/invitations", member.token).json()["invitations"]
    assert server.call("POST", f"/v1/invitations/{offer['id']}/accept", member.token).status_code == 200
    for token in (ada, guest):
        assert server.call("DELETE", "/v1/me", token).status_code == 204
    run("backup", tmp_path / "later", "--data", server.data)
    server.stop()
    data = server.data
    out = run("restore", tmp_path / "backup", "--data", tmp_path / "back")
    assert "no log of erasures" in out
    server = start(data=tmp_path / "back")
    assert server.call("GET", "/v1/bookmarks/one", ada).status_code == 200
    server.stop()
    for number, log in enumerate([data, data / "erasures.log", tmp_path / "later"]):
        restored = tmp_path / f"erased-{number}"
        run("restore", tmp_path / "backup", "--data", restored, "--erasures", log)
        run("verify", restored)
        server = start(data=restored)
        assert server.call("GET", "/v1/bookmarks", ada).status_code == 401
        assert server.call("POST", "/v1/sessions", json=user).status_code == 401
        assert server.call("GET", "/v1/bookmarks", guest).status_code == 410
        assert server.call("GET", "/v1/bookmarks/one", other).status_code == 200
        # The other guest's store, the accounts, and the list that was handed on, which the member may take again.
        assert len(list((restored / "stores").rglob("*.sqlite"))) == 3
        assert server.call("GET", lists[0], member.token).status_code == 404
        kept = server.call("GET", lists[1], member.token).json()
        assert [each["username"] for each in kept["members"]] == [member.name] and kept.get("owner") != owner.name
        [offer] = server.call("GET", "/v1/invitations", member.token).json()["invitations"]
        assert server.call("POST", f"/v1/invitations/{offer['id']}/accept", member.token).json()["owner"] == member.name
        assert server.call("POST", "/v1/users", json=user).status_code == 201
        server.stop()


@pytest.mark.fault("F27")
def test_other_formats_are_refused(start, tmp_path):
    server = start()
    fill(server, 1)
    run("backup", tmp_path / "backup", "--data", server.data)
    server.stop()
    file = tmp_path / "backup" / "manifest.ndjson"
    file.write_text(file.read_text().replace('{"backup":1', '{"backup":2', 1))
    assert "a newer version" in run(
        "restore", tmp_path / "backup", "--data", tmp_path / "new", expect=78)
    assert "a newer version" in run("verify", tmp_path / "backup", expect=78)
    version = int((server.data / "format").read_text())
    # Version 9 is brought to the present one.
    for other, said in ((version + 1, "a newer version"), (8, "an earlier version")):
        (server.data / "format").write_text(f"{other}\n")
        said += f" of this service: its format is {other}, this version needs {version}."
        assert said in run("serve", "--port", 0, "--data", server.data, expect=78)
        assert said in run("verify", server.data, expect=78)
        assert said in run("backup", tmp_path / "b", "--data", server.data, expect=78)
        assert (server.data / "format").read_text() == f"{other}\n"


def damage(server, token):
    """Stops the server and changes one bit of a stored body."""
    name = server.call("GET", "/v1/me", token).json()["store"]
    server.stop()
    file = file_of(server.data, name.replace("-", "/", 1))
    file.write_bytes(file.read_bytes().replace(b'"name":"N"', b'"name":"O"'))
    return file


@pytest.mark.fault("F13")
def test_verify_finds_damage_offline_and_through_the_server(start, tmp_path):
    server = start()
    tokens = fill(server, 5)
    assert ": sound: 5 stores" in run("verify", server.data)
    file = damage(server, tokens[2])
    for live in (False, True):
        server = start() if live else server
        lines = run("verify", server.data, expect=65).splitlines()
        assert len(lines) == 2 and file.name in lines[0] and "checksum" in lines[0], lines
    run("verify", tmp_path / "nowhere", expect=78)
    # The backup copies the damaged row as it is. It leaves out a store that cannot be opened, and reports it.
    file = file_of(server.data, server.call(
        "GET", "/v1/me", tokens[3]).json()["store"].replace("-", "/", 1))
    server.stop()
    file.write_bytes(b"")
    server = start()
    assert file.name in run("backup", tmp_path / "backup", "--data", server.data, expect=65)
    assert file.name in run("verify", tmp_path / "backup", expect=65)
    server.stop()
    run("restore", tmp_path / "backup", "--data", tmp_path / "new", expect=65)
    server = start(data=tmp_path / "new")
    answers = [server.call("GET", "/v1/bookmarks", token).status_code for token in tokens]
    # The server corrects a single wrong byte.
    assert answers == [200, 200, 200, 503, 200]


def test_verify_leaves_no_trace_and_takes_many_directories(start, tmp_path):
    server = start()
    tokens = fill(server, 3)
    server.call("PUT", "/v1/bookmarks/y", tokens[0], json={"name": "Y"})
    server.kill()
    def state():
        return sorted((str(path), path.stat().st_size, path.stat().st_mtime_ns)
                      for path in pathlib.Path(server.data).rglob("*"))
    before = state()
    assert any(name.endswith("-wal") for name, _, _ in before)
    out = run("verify", server.data, server.data)
    assert out.count(": sound: 3 stores") == 2
    assert state() == before
