"""F12: files that SQLite cannot read, and how `repair` repairs them."""
import shutil
import subprocess

import pytest

from faults import listed, put, refused, store_file
from server import BINARY, Server
from waiting import PATIENCE

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
    shutil.copytree(data, tmp_path / "data", ignore=shutil.ignore_patterns("reserve", "control"))
    return token, other, tmp_path / "data", tmp_path / "data" / file


def overwrite(file, offset, data):
    """Overwrites bytes of a file."""
    with open(file, "r+b") as opened:
        opened.seek(offset)
        opened.write(data)


def repair(data):
    """Runs the command. Returns its exit status and its output."""
    run = subprocess.run([BINARY, "repair", "--data", data], capture_output=True, text=True, timeout=PATIENCE)
    return run.returncode, run.stdout + run.stderr


@pytest.mark.fault("F12")
@pytest.mark.parametrize("offset", [0, 16, 100, 103, 4_096 * 2, 4_096 * 2 + 3, 4_096 * 2 + 5, 4_096 * 5 + 8])
@pytest.mark.parametrize("is_running", [False, True])
def test_one_wrong_byte_in_a_page_loses_nothing(start, broken, offset, is_running):
    token, _, data, file = broken
    with open(file, "rb") as opened:
        found = opened.read()[offset]
    overwrite(file, offset, bytes([found ^ 0x5A]))
    server = start() if is_running else None
    status, words = repair(data)
    assert status == 0, words
    server = server or start()
    assert listed(server, token) == HOTELS
    assert "damaged" not in server.call("GET", "/v1/bookmarks", token).json()
    assert server.stop() == 0
    assert subprocess.run([BINARY, "verify", data], timeout=PATIENCE).returncode == 0


@pytest.mark.fault("F12")
def test_a_lost_page_takes_its_own_hotels_alone(start, broken):
    token, other, data, file = broken
    size = file.stat().st_size
    server = start()
    assert server.stop() == 0
    # The middle of the file contains documents.
    overwrite(file, size // 8192 * 4_096, b"\x5a" * 4_096)
    server = start()
    assert refused(server.call("GET", "/v1/bookmarks", token)) == (503, "store_damaged")
    token_of_copy = server.call("GET", "/v1/mirror", other).json()["token"]
    status, words = repair(data)
    assert status == 65 and "documents are lost" in words, words
    answer = server.call("GET", "/v1/bookmarks?limit=100", token).json()
    left = {bookmark["id"] for bookmark in answer["bookmarks"]}
    lost = {damage["id"] for damage in answer.get("damaged", [])}
    assert len(left) > len(HOTELS) / 2 and left | lost >= HOTELS and not left & lost
    assert file.with_name(file.name + ".damaged").stat().st_size == size
    for hotel in sorted(lost & HOTELS):
        assert put(server, token, hotel, "again").status_code == 201
    assert listed(server, token) == HOTELS
    assert server.call("GET", f"/v1/mirror?since={token_of_copy}", other).status_code == 200
    assert listed(server, other) == {"theirs"}
    assert server.call("DELETE", "/v1/me", token).status_code == 204
    assert not list(file.parent.glob("*.damaged"))


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
    status, words = repair(data)
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
    status, words = repair(data)
    assert status == 65 and "can't be repaired" in words, words
    server = start()
    assert refused(server.call("GET", "/v1/bookmarks", token)) == (503, "store_damaged")
    assert listed(server, other) == {"theirs"}
