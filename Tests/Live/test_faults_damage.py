"""F11 to F15: a store with damaged files answers an error, never an empty list."""
import shutil

import pytest

from faults import listed, metric, put, refused, store_file
from server import Server

DAMAGED = (503, "store_damaged")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The data of a stopped server with two people's stores: directory, tokens, files, the first store's name."""
    server = Server(tmp_path_factory.mktemp("prepared") / "data")
    tokens = server.guest(), server.guest()
    for token in tokens:
        for number in range(12):
            assert put(server, token, f"n{number}", f"Hotel {number}").status_code == 201
    files = [store_file(server, token).relative_to(server.data) for token in tokens]
    store = server.call("GET", "/v1/me", tokens[0]).json()["store"]
    assert server.stop() == 0
    return server.data, tokens, files, store


@pytest.fixture
def two(prepared, tmp_path):
    """A copy of the prepared data for one test: the tokens, the files and the first store's name."""
    data, tokens, files, store = prepared
    shutil.copytree(data, tmp_path / "data", ignore=shutil.ignore_patterns("reserve", "control", "replications"))
    return tokens, [tmp_path / "data" / file for file in files], store


def assert_damaged(start, two, error=DAMAGED):
    """Asserts that the first store answers the error everywhere, and that the other one works."""
    (token, other), _, store = two
    server = start()
    for method, path, body in [
            ("GET", "/v1/bookmarks", None), ("GET", "/v1/bookmarks/n1", None),
            ("PUT", "/v1/bookmarks/new", {"name": "N"}), ("DELETE", "/v1/bookmarks/n1", None),
            ("POST", "/v1/bookmarks", {"add": [{"id": "x", "name": "N"}]}), ("GET", "/v1/mirror", None)]:
        answer = server.call(method, path, token, json=body)
        assert refused(answer) == error, (method, path, answer.text)
    for path in ("_all_docs", "_changes", "n1"):
        answer = server.call("GET", f"/couch/{store}/{path}", token)
        assert refused(answer) == error, answer.text
    assert listed(server, other) == {f"n{number}" for number in range(12)}
    assert metric(server, "store_failures_total") > 0
    assert server.logged("error=" + error[1])
    return server


@pytest.mark.fault("F11")
def test_empty_file(start, two):
    two[1][0].write_bytes(b"")
    assert_damaged(start, two)


@pytest.mark.fault("F11")
def test_missing_file(start, two):
    two[1][0].unlink()
    assert_damaged(start, two)


@pytest.mark.fault("F12")
@pytest.mark.parametrize("offset", [0, 4_096, 12_288])
def test_garbage(start, two, offset):
    file = two[1][0]
    data = bytearray(file.read_bytes())
    data[offset:offset + 4_096] = bytes(n * 7 % 256 for n in range(len(data[offset:offset + 4_096])))
    file.write_bytes(data)
    assert_damaged(start, two)


@pytest.mark.fault("F12")
def test_truncated_half(start, two):
    file = two[1][0]
    file.write_bytes(file.read_bytes()[:file.stat().st_size // 2])
    assert_damaged(start, two)


@pytest.mark.fault("F12")
def test_file_cut_short_while_it_is_open(start, two):
    """The server neither crashes (SIGBUS) nor answers an empty list. Other stores are not affected."""
    (token, other), (file, _), _ = two
    server = start()
    assert "n1" in listed(server, token)
    with open(file, "r+b") as opened:
        opened.truncate(4_096)
    for _ in range(3):
        answer = server.call("GET", "/v1/bookmarks?limit=100", token)
        assert answer.status_code in (200, 500, 503), answer.text
        if answer.status_code == 200:
            # Or the whole list, still from memory.
            assert len(answer.json()["bookmarks"]) == 12
    answer = put(server, token, "new")
    assert answer.status_code in (201, 500, 503), answer.text
    assert put(server, other, "unaffected").status_code == 201
    server.kill()
    server = start()
    assert refused(server.call("GET", "/v1/bookmarks", token)) == DAMAGED
    assert "unaffected" in listed(server, other)


@pytest.mark.fault("F13")
def test_turned_bit_in_a_body_is_turned_back(start, two):
    """test_damage.py tests damage of more than one byte."""
    (token, other), (file, _), _ = two
    data = bytearray(file.read_bytes())
    offset = data.index(b"Hotel 7")
    data[offset + 6] ^= 1
    file.write_bytes(data)
    server = start()
    answer = server.call("GET", "/v1/bookmarks/n7", token)
    assert answer.status_code == 200 and answer.json()["hotel"]["name"] == "Hotel 7"
    assert listed(server, token) == {f"n{number}" for number in range(12)}
    assert metric(server, "store_damage_total") == 1
    assert len(listed(server, other)) == 12


@pytest.mark.fault("F14")
def test_file_of_another_person_is_never_served(start, two):
    _, (file, theirs), _ = two
    shutil.copy(theirs, file)
    assert_damaged(start, two)


def with_log(start, two):
    """The first person's files after a kill, with the log. The server has ended."""
    (token, _), (file, _), _ = two
    server = start()
    assert put(server, token, "in-the-log").status_code == 201
    server.kill()
    log = file.with_name(file.name + "-wal")
    assert log.stat().st_size > 0
    return log


@pytest.mark.fault("F15")
def test_log_that_was_removed_leaves_an_earlier_state_whole(start, two):
    log = with_log(start, two)
    log.unlink()
    (token, other), _, _ = two
    server = start()
    assert listed(server, token) == {f"n{number}" for number in range(12)}
    assert put(server, token, "new").status_code == 201
    assert len(listed(server, other)) == 12


@pytest.mark.fault("F15")
def test_log_of_another_database_is_never_mixed_in(start, two):
    log = with_log(start, two)
    (_, other), (file, theirs), _ = two
    server = start()
    assert put(server, other, "secret").status_code == 201
    server.kill()
    shutil.copy(theirs.with_name(theirs.name + "-wal"), log)
    before = file.read_bytes()
    server = start()
    answer = server.call("GET", "/v1/bookmarks?limit=100", two[0][0])
    assert refused(answer) == DAMAGED
    assert "secret" in listed(server, other)
    assert file.read_bytes() == before


@pytest.mark.fault("F15")
@pytest.mark.parametrize("cut", [1, 5_000, 40])
def test_log_cut_short_leaves_a_state_of_before_or_after(start, two, cut):
    log = with_log(start, two)
    with open(log, "r+b") as file:
        file.truncate(max(0, log.stat().st_size - cut))
    old = {f"n{number}" for number in range(12)}
    assert listed(start(), two[0][0]) in (old, old | {"in-the-log"})


@pytest.mark.fault("F15")
def test_index_of_a_log_that_was_left_over_is_ignored(start, two):
    (token, _), (file, _), _ = two
    file.with_name(file.name + "-shm").write_bytes(b"\x5a" * 32_768)
    server = start()
    assert len(listed(server, token)) == 12
    assert put(server, token, "new").status_code == 201
