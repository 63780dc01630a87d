"""F12: files that SQLite cannot read, and how a backup or the operator's word replaces one of them."""
import hashlib
import shutil
import subprocess
import uuid

import pytest

from faults import file_of, listed, put, refused, store_file, traced
from peer import Peer
from replicator import Replicator
from server import BINARY, Server
from waiting import PATIENCE, wait_until

HOTELS = {f"n{number}" for number in range(40)}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The data of a stopped server: two people's bookmarks. The directory, their tokens, the first person's file."""
    server = Server(tmp_path_factory.mktemp("pages") / "data")
    token, other = server.guest(), server.guest()
    for hotel in sorted(HOTELS):
        assert put(server, token, hotel, f"Hotel {hotel}" + " of many words" * 30).status_code == 201
    assert put(server, other, "theirs").status_code == 201
    file = store_file(server, token).relative_to(server.data)
    assert server.stop() == 0
    return server.data, token, other, file


@pytest.fixture
def broken(prepared, tmp_path):
    """A copy of the prepared data for one test."""
    data, token, other, file = prepared
    shutil.copytree(data, tmp_path / "data", ignore=shutil.ignore_patterns("reserve", "control", "replications"))
    return token, other, tmp_path / "data", tmp_path / "data" / file


def overwrite(file, offset, data):
    """Overwrites bytes of a file."""
    with open(file, "r+b") as opened:
        opened.seek(offset)
        opened.write(data)


def command(*arguments):
    """Runs a command. Returns its exit status and its output."""
    run = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
    return run.returncode, run.stdout + run.stderr


def key(server, token):
    """The name of a person's store for the command line."""
    return server.call("GET", "/v1/me", token).json()["store"].replace("-", "/", 1)


def peer(server, token):
    """A person's store, as a device reaches it."""
    return Peer(f"{server.url}/couch/{server.call('GET', '/v1/me', token).json()['store']}", "Bearer " + token)


def sync(server, token, elsewhere, device, word):
    """Copies a person's store to a device's, in both directions."""
    Replicator(peer(server, token), peer(elsewhere, device), word + "-pull").run()
    Replicator(peer(elsewhere, device), peer(server, token), word + "-push").run()


def assert_damaged_alone(server, token, other):
    """Asserts that the store answers that it is damaged, also to a write, and that the other person's works."""
    for answer in (server.call("GET", "/v1/bookmarks", token), put(server, token, "new")):
        assert refused(answer) == (503, "store_damaged")
    assert listed(server, other) == {"theirs"}


@pytest.mark.fault("F12")
@pytest.mark.parametrize("is_running", [False, True])
def test_a_backup_and_a_device_bring_a_damaged_store_back(start, broken, tmp_path, is_running):
    token, other, data, file = broken
    server = start()
    name, theirs, backup = str(file.relative_to(data)), key(server, other), tmp_path / "backup"
    assert command("backup", backup, "--data", data)[0] == 0
    assert put(server, token, "n3", "renamed after the backup").status_code == 200
    assert put(server, token, "late").status_code == 201
    elsewhere = start(data=tmp_path / "device")
    device = elsewhere.guest()
    sync(server, token, elsewhere, device, "before")
    copy = server.call("GET", "/v1/mirror", other).json()["token"]
    assert server.stop() == 0
    overwrite(file, file.stat().st_size // 8192 * 4_096, b"\x5a" * 4_096)
    damaged = file.read_bytes()
    if is_running:
        server = start()
        assert_damaged_alone(server, token, other)
    status, words = command("repair", "--data", data)
    assert status == 65 and name in words and "restore them from a backup" in words, words
    assert file.read_bytes() == damaged
    status, words = command("restore", backup, "--store", theirs, "--data", data)
    assert status == 1 and "can be read" in words, words
    status, words = command("restore", backup, "--store", name, "--data", data)
    assert status == 0, words
    server = server if is_running else start()
    assert file.with_name(file.name + ".damaged").read_bytes() == damaged
    assert listed(server, token) == HOTELS
    sync(server, token, elsewhere, device, "before")
    assert listed(server, token) == HOTELS | {"late"}
    hotel = server.call("GET", "/v1/bookmarks/n3", token).json()["hotel"]
    assert hotel["name"] == "renamed after the backup"
    assert put(server, token, "new").status_code == 201
    assert server.call("GET", f"/v1/mirror?since={copy}", other).status_code == 200
    assert listed(server, other) == {"theirs"}
    assert command("verify", data)[0] == 0
    assert server.call("DELETE", "/v1/me", token).status_code == 204
    assert not list(file.parent.glob("*.damaged"))


@pytest.mark.fault("F12")
def test_a_list_from_a_backup_is_of_its_present_members(start, tmp_path):
    """Whoever had joined since the backup could not write, and devices got former members' names again."""
    server = start()
    tokens = {
        name: server.call("POST", "/v1/users", json={"username": name, "password": "correct horse"}).json()["token"]
        for name in ("ada", "bob", "eve")}
    path = "/v1/lists/" + server.call("POST", "/v1/lists", tokens["ada"], json={"title": "Plan"}).json()["id"]
    plan = path.rsplit("/", 1)[1]

    def join(name):
        link = server.call("POST", path + "/invitations", tokens["ada"], json={"role": "editor"}).json()["token"]
        assert server.call("POST", f"/v1/invitations/{link}/accept", tokens[name]).status_code == 200

    def write(name):
        headers = {"Idempotency-Key": uuid.uuid4().hex}
        return server.call("PUT", path + "/notes/Plan", tokens[name], json={"markdown": name}, headers=headers).status_code

    def shown():
        return server.call("GET", f"/couch/list-{plan}/{plan}", tokens["ada"]).json()["members"]

    join("bob")
    assert write("bob") == 201 and shown() == ["bob"]
    assert command("backup", tmp_path / "backup", "--data", server.data)[0] == 0
    join("eve")
    assert server.call("DELETE", path + "/members/bob", tokens["ada"]).status_code == 204
    assert server.stop() == 0
    file_of(server.data, "list/" + plan).write_bytes(b"")
    server = start()
    assert write("eve") == 503
    status, words = command("restore", tmp_path / "backup", "--store", "list/" + plan, "--data", server.data)
    assert status == 0, words
    assert [write(name) for name in ("eve", "bob", "ada")] == [200, 404, 200]
    assert server.stop() == 0
    server = start()
    wait_until(lambda: shown() == ["eve"])
    assert write("eve") == 200


@pytest.mark.fault("F12")
@pytest.mark.parametrize("is_missing", [False, True])
def test_without_a_backup_a_damaged_store_begins_anew_on_command_only(start, broken, tmp_path, is_missing):
    token, other, data, file = broken
    server, elsewhere = start(), start(data=tmp_path / "device")
    name, device = key(server, token), elsewhere.guest()
    sync(server, token, elsewhere, device, "before")
    status, words = command("repair", "--begin-anew", name, "--data", data)
    assert status == 1 and "can be read" in words, words
    assert listed(server, token) == HOTELS
    assert server.stop() == 0
    if is_missing:
        file.unlink()
    else:
        overwrite(file, 0, b"\x5a" * 4_096)
    server = start()
    assert_damaged_alone(server, token, other)
    assert command("repair", "--data", data)[0] == 65
    assert_damaged_alone(server, token, other)
    status, words = command("repair", "--begin-anew", name, "--data", data)
    assert status == 0, words
    assert listed(server, token) == set()
    sync(server, token, elsewhere, device, "before")
    assert listed(server, token) == HOTELS
    assert listed(server, other) == {"theirs"}
    assert file.with_name(file.name + ".damaged").exists() == (not is_missing)


@pytest.mark.fault("F12")
def test_a_file_whose_rows_can_all_be_read_is_written_again(start, broken):
    token, _, data, file = broken
    # The number of free pages in the file's header (https://sqlite.org/fileformat2.html#the_database_header).
    overwrite(file, 36, b"\0\0\0\x07")
    server = start()
    assert refused(server.call("GET", "/v1/bookmarks", token)) == (503, "store_damaged")
    status, words = command("repair", "--data", data)
    assert status == 0 and "nothing is lost" in words, words
    assert listed(server, token) == HOTELS
    assert server.stop() == 0
    assert command("verify", data)[0] == 0


def test_accounts_are_never_begun_anew(start, broken):
    _, _, data, _ = broken
    for arguments in (["repair", "--begin-anew", "system"], ["restore", data, "--store", "system"]):
        status, words = command(*arguments, "--data", data)
        assert status == 1 and "whole backup" in words, words


@pytest.mark.fault("F06")
def test_a_bad_sector_under_one_store_keeps_no_other_out_of_a_backup(start, broken, tmp_path):
    """Regression: one file that the disk could not read ended every backup, every repair and every scrub."""
    token, other, data, file = broken

    def failing(*arguments):
        done = traced("/dev/null", "pread64:error=EIO", *map(str, arguments), paths=[file])
        return done.returncode, done.stdout + done.stderr

    status, words = failing("backup", tmp_path / "backup", "--data", data)
    assert status == 65 and file.name in words and "1 damaged stores left out" in words, words
    status, words = failing("repair", "--data", data)
    assert status == 65 and "1 stores can't be repaired" in words, words
    assert command("verify", data)[0] == 0
    assert command("restore", tmp_path / "backup", "--data", tmp_path / "restored")[0] == 65
    server = start(data=tmp_path / "restored")
    assert listed(server, other) == {"theirs"}
    assert refused(server.call("GET", "/v1/bookmarks", token)) == (503, "store_damaged")


@pytest.mark.fault("F12")
@pytest.mark.parametrize("damaged", ["accounts", "registry", "keys"])
def test_a_start_that_damage_prevents_says_what_to_do(start, damaged):
    server = start()
    login = {"username": "ada", "password": "a good password"}
    assert server.call("POST", "/v1/users", json=login).status_code == 201
    assert server.stop() == 0
    data = server.data
    name = hashlib.sha256(b"system").hexdigest()
    file = {"accounts": data / "stores" / name[:2] / name[2:4] / f"{name}.sqlite", "registry": data / "registry.sqlite",
            "keys": data / "keys.json"}[damaged]
    overwrite(file, 0, b"\x5a" * file.stat().st_size)
    status, words = command("serve", "--data", data, "--port", "0")
    remedy = "Put keys.json of a backup in its place" if damaged == "keys" else f"hotel-bookmarks repair --data {data}"
    assert status == 78 and damaged in words and remedy in words, words
    assert damaged == "registry" or str(file) in words, words
    if damaged == "keys":
        file.unlink()
        server = start(data=data)
        server.logged("there was no key file")
    # Without the accounts an administrator gets a new password nevertheless.
    if damaged == "accounts":
        status, words = command("admin", "reset-password", "--data", data)
        assert status == 0 and "-" in words.split()[0], words


@pytest.mark.fault("F12")
@pytest.mark.parametrize("damage", ["garbage", "missing", "short"])
def test_a_damaged_registry_is_made_anew(start, broken, damage):
    token, other, data, _ = broken
    registry = data / "registry.sqlite"
    if damage == "garbage":
        overwrite(registry, 0, b"\x5a" * registry.stat().st_size)
    elif damage == "missing":
        registry.unlink()
    else:
        registry.write_bytes(registry.read_bytes()[:600])
    run = subprocess.run([BINARY, "serve", "--data", data, "--port", "0"], capture_output=True, timeout=PATIENCE)
    assert run.returncode != 0
    status, words = command("repair", "--data", data)
    assert status == 0 and "registry.sqlite" in words, words
    server = start()
    assert listed(server, token) == HOTELS
    assert listed(server, other) == {"theirs"}


@pytest.mark.fault("F14")
def test_repair_never_takes_another_persons_file(start, broken):
    token, other, data, file = broken
    server = start()
    theirs = store_file(server, other)
    assert server.stop() == 0
    shutil.copy(theirs, file)
    overwrite(file, 0, b"\x5a" * 64)
    status, words = command("repair", "--data", data)
    assert status == 65 and "can't be repaired" in words, words
    server = start()
    assert refused(server.call("GET", "/v1/bookmarks", token)) == (503, "store_damaged")
    assert listed(server, other) == {"theirs"}
