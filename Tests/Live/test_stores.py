"""Thousands of stores, and files that have changed."""
import resource
import subprocess

import pytest

from server import BINARY
from waiting import PATIENCE


def descriptors(count):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


@pytest.mark.nightly
def test_2000_stores_under_256_descriptors(start):
    server = start(limits=descriptors(256))
    import requests
    session = requests.Session()
    tokens = [server.guest() for _ in range(2000)]
    for turn, expected in ((0, 201), (1, 200)):
        for token in tokens:
            answer = server.call("PUT", "/v1/bookmarks/one", token, session=session, json={"name": "One"})
            assert answer.status_code == expected, answer.text


def test_second_process_is_refused(start):
    server = start()
    second = subprocess.run(
        [BINARY, "serve", "--port", "0", "--data", str(server.data)], capture_output=True, text=True,
        timeout=PATIENCE)
    assert second.returncode == 78
    assert len(second.stderr.strip().splitlines()) == 1


def store_files(server):
    return [path for path in (server.data / "stores").rglob("*.sqlite")]


def test_damaged_file_is_never_an_empty_store(start):
    server = start()
    token, other = server.guest(), server.guest()
    server.call("PUT", "/v1/bookmarks/one", token, json={"name": "One"})
    mine = set(store_files(server))
    server.call("PUT", "/v1/bookmarks/two", other, json={"name": "Two"})
    server.stop()
    [file] = [path for path in mine if b"One" in path.read_bytes()]
    [others] = [path for path in store_files(server) if b"Two" in path.read_bytes()]
    good = file.read_bytes()
    for damage in (b"", good[:4096], good[: len(good) // 2], b"\0" * len(good), others.read_bytes()):
        file.write_bytes(damage)
        server = start()
        answer = server.call("GET", "/v1/bookmarks", token)
        assert (answer.status_code, answer.json()["error"]) == (503, "store_damaged")
        assert server.call("PUT", "/v1/bookmarks/x", token, json={"name": "X"}).status_code == 503
        assert server.call("GET", "/v1/bookmarks/two", other).status_code == 200
        server.stop()
    file.unlink()
    server = start()
    assert server.call("GET", "/v1/bookmarks", token).status_code == 503
    server.stop()
    file.write_bytes(good)
    server = start()
    assert server.call("GET", "/v1/bookmarks/one", token).status_code == 200
