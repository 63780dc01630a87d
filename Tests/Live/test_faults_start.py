"""F10, F19, F20, F27: reasons why a server does not start, and its exclusive use of its files."""
import collections
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import threading

import pytest

from backups import run
from faults import listed, put, store_file
from waiting import PATIENCE, wait_until
from server import BINARY


def refusal(data, **options):
    """The one line that a server writes when it refuses to start."""
    done = subprocess.run(
        [BINARY, "serve", "--port", "0", "--data", str(data)], capture_output=True, text=True, timeout=PATIENCE,
        **options)
    assert done.returncode == 78, (done.returncode, done.stderr)
    assert not done.stdout
    [line] = done.stderr.strip().splitlines()
    return line


@pytest.mark.fault("F10")
def test_directory_that_cannot_be_made(tmp_path):
    assert "can't be used: No such file or directory" in refusal(tmp_path / "absent" / "data")


@pytest.mark.fault("F10")
def test_directory_that_is_a_file(tmp_path):
    (tmp_path / "data").write_text("")
    assert "is not a directory" in refusal(tmp_path / "data")


@pytest.mark.fault("F10")
def test_directory_of_another_user(tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root gives a directory to another user")
    data = tmp_path / "data"
    data.mkdir()
    os.chown(data, 12_345, 12_345)
    assert "belongs to user 12345" in refusal(data)
    # Another user does not use root's directory either.
    os.chown(data, 0, 0)
    data.chmod(0o777)
    for parent in data.parents:
        if os.stat(parent).st_uid == 0 and parent != pathlib.Path("/tmp"):
            parent.chmod(parent.stat().st_mode | 0o055)
    if os.access(BINARY, os.X_OK):
        assert "belongs to user 0" in refusal(data, user=12_345, cwd="/")


@pytest.mark.fault("F10")
def test_data_that_moves_away_is_an_error_and_never_absent(start):
    server = start()
    token, other = server.guest(), server.guest()
    for person in (token, other):
        assert put(server, person, "one").status_code == 201
    server.stop()
    server = start()
    stores = server.data / "stores"
    stores.rename(server.data / "elsewhere")
    answer = server.call("GET", "/v1/bookmarks", token)
    assert answer.status_code == 503, answer.text
    assert put(server, token, "two").status_code == 503
    (server.data / "elsewhere").rename(stores)
    server.stop()
    server = start()
    assert listed(server, token) == {"one"} == listed(server, other)


@pytest.mark.fault("F19")
def test_second_process_is_refused_and_the_first_goes_on(start):
    server = start()
    token = server.guest()
    assert put(server, token, "one").status_code == 201
    for _ in range(3):
        assert "Another process uses" in refusal(server.data)
    assert put(server, token, "two").status_code == 201
    server.kill()
    server = start()
    assert listed(server, token) == {"one", "two"}


def writers(server):
    """The files that a server has open for writing: a name and an inode for each descriptor.

    The server is suspended meanwhile, so that a file that is renamed is not counted under both names.
    """
    found = []
    server.pause()
    try:
        os.waitid(os.P_PID, server.process.pid, os.WSTOPPED)
        for descriptor in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir():
            target = os.readlink(descriptor)
            status = pathlib.Path(f"/proc/{server.process.pid}/fdinfo/{descriptor.name}").read_text()
            access = int(re.search(r"flags:\s+(\d+)", status).group(1), 8) & 3
            if access and ".sqlite" in target:
                found.append((target, descriptor.stat().st_ino))
    finally:
        server.resume()
    return found


@pytest.mark.fault("F20")
def test_one_connection_writes_a_file_whatever_is_going_on(start, tmp_path):
    """Observed from outside during openings, evictions, erasures, compactions, backups and `verify`."""
    server = start("--open-stores", "4", "--guests-per-hour", "1000000")
    tokens = [server.guest() for _ in range(12)]
    turns = itertools.count()
    stop = threading.Event()

    def write():
        turn = next(turns)
        assert put(server, tokens[turn * 7 % 12], f"n{turn % 20}").status_code in (200, 201)

    def erase():
        token = server.guest()
        assert put(server, token, "one").status_code == 201
        assert server.call("DELETE", "/v1/me", token).status_code == 204

    def compact():
        file = store_file(server, tokens[0])
        for number in range(8):
            assert put(server, tokens[0], f"b{number}", "x" * 60_000).status_code == 201
        for number in range(8):
            assert server.call("DELETE", f"/v1/bookmarks/b{number}", tokens[0]).status_code == 204
        store, before = server.call("GET", "/v1/me", tokens[0]).json()["store"], file.stat().st_ino
        answer = server.call("POST", f"/couch/{store}/_compact", tokens[0], json={})
        assert answer.status_code == 202 and file.stat().st_ino != before, "it is not written anew"

    def back_up():
        run("backup", tmp_path / f"backup-{next(turns)}", "--data", server.data)

    def verify():
        assert ": sound" in run("verify", server.data)

    done = collections.Counter()

    def again_and_again(work):
        while not stop.is_set():
            work()
            done[work.__name__] += 1

    seen = set()
    works = [write, write, erase, compact, back_up, verify]
    with concurrent.futures.ThreadPoolExecutor(len(works)) as pool:
        running = [pool.submit(again_and_again, work) for work in works]
        try:
            def looked():
                found = writers(server)
                assert max(collections.Counter(inode for _, inode in found).values(), default=0) <= 1, found
                seen.update(name for name, _ in found)
                return any(work.done() for work in running) or min(
                    done[work.__name__] for work in works) >= 3

            for _ in range(150):
                looked()
            wait_until(looked)
        finally:
            stop.set()
        for work in running:
            work.result()
    stores = [name for name in seen if "/stores/" in name and name.endswith(".sqlite")]
    assert len(stores) > 4 and any(name.endswith("-wal") for name in seen)
    assert not [name for name in seen if name.endswith("-shm") and "/stores/" in name]


@pytest.mark.fault("F20")
def test_shell_that_reads_beside_the_server_is_refused_and_harms_nothing(start):
    server = start()
    token = server.guest()
    assert put(server, token, "one").status_code == 201
    file = store_file(server, token)
    for statement in ("SELECT count(*) FROM documents", "DELETE FROM documents",
                      "PRAGMA wal_checkpoint(TRUNCATE)"):
        done = subprocess.run(["sqlite3", str(file), statement], capture_output=True, text=True, timeout=PATIENCE)
        assert "locked" in done.stderr or done.stdout.startswith("1|"), (statement, done)
        assert put(server, token, "two").status_code in (200, 201)
    server.kill()
    assert listed(start(), token) == {"one", "two"}


OTHER_VERSIONS = pytest.mark.parametrize(("step", "said"), [
    (1, "a newer version of this service: its format is {found}, this version needs {known}. "
        "Start the version that wrote it, or a later one"),
    (-2, "an earlier version of this service: its format is {found}, this version needs {known}. "
         "Export each account with the version that wrote it, and import it here")])


@pytest.mark.fault("F27")
@OTHER_VERSIONS
def test_store_of_another_schema_is_refused_with_a_clear_message_and_kept(start, step, said):
    server = start()
    token, other = server.guest(), server.guest()
    for person in (token, other):
        assert put(server, person, "one").status_code == 201
    file = store_file(server, token)
    server.stop()
    version = int(shell(file, "PRAGMA user_version"))
    shell(file, f"PRAGMA user_version = {version + step}")
    before = file.read_bytes()
    server = start()
    answer = server.call("GET", "/v1/bookmarks", token)
    assert answer.status_code == 503
    reason = "The database was written by " + said.format(found=version + step, known=version)
    assert answer.json()["reason"] == reason
    assert put(server, token, "two").status_code == 503
    assert listed(server, other) == {"one"}
    server.stop()
    assert file.read_bytes() == before
    shell(file, f"PRAGMA user_version = {version}")
    assert listed(start(), token) == {"one"}


@pytest.mark.fault("F27")
@OTHER_VERSIONS
def test_registry_of_another_schema_refuses_to_start(start, step, said):
    server = start()
    put(server, server.guest(), "one")
    server.stop()
    registry = server.data / "registry.sqlite"
    version = int(shell(registry, "PRAGMA user_version"))
    shell(registry, f"PRAGMA user_version = {version + step}")
    assert "The database was written by " + said.format(found=version + step, known=version) in refusal(server.data)
    shell(registry, f"PRAGMA user_version = {version}")
    start()


def shell(file, statement):
    """The output of the sqlite3 shell. The server has stopped, so the file has no log."""
    done = subprocess.run(["sqlite3", str(file), statement], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def test_an_address_that_cannot_be_listened_at_is_named(start, tmp_path):
    server = start()
    port = server.url.rpartition(":")[2]
    for flags, reason in ((["--port", port], f"127.0.0.1:{port}: another program listens there"),
                          (["--port", "0", "--operations-port", port], f"127.0.0.1:{port}: another program listens there"),
                          (["--port", "0", "--couch-port", port], f"127.0.0.1:{port}: another program listens there"),
                          (["--port", "0", "--hostname", "192.0.2.1"], "192.0.2.1:0: this machine does not have this address"),
                          (["--port", "0", "--hostname", "300.1.1.1"], "300.1.1.1:0: there is no address of this name")):
        done = subprocess.run([BINARY, "serve", "--data", str(tmp_path / "other"), *flags], capture_output=True, text=True,
                              timeout=PATIENCE)
        assert done.returncode == 1 and reason in done.stderr.strip().splitlines()[-1], (flags, done.stderr)


def test_a_url_or_an_origin_that_no_browser_sends_is_named(tmp_path):
    for flags in (["--public-url", "hotels.example"], ["--origins", "https://a.example,https://b.example/page"]):
        done = subprocess.run([BINARY, "serve", "--data", str(tmp_path / "data"), *flags], capture_output=True, text=True,
                              timeout=PATIENCE)
        assert done.returncode == 78 and flags[1].rpartition(",")[2] in done.stderr, done.stderr
