"""Receipts of accepted writes, asked of a server that did not accept them."""
import contextlib
import subprocess
import time

from test_nodes import database, nodes, pytestmark  # noqa: F401
from test_receipts import ASYNC, settled


@contextlib.contextmanager
def locked_stores(url):
    """While it lasts, no server can write."""
    with subprocess.Popen(["psql", "-XAtq", "-d", url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as psql:
        psql.stdin.write("BEGIN; SELECT 1 FROM stores FOR UPDATE; SELECT 'locked';\n")
        psql.stdin.flush()
        while psql.stdout.readline() != "locked\n":
            pass
        yield
        psql.stdin.close()


def guest(server):
    """A guest whose store is made."""
    token = server.guest()
    assert server.call("PUT", "/v1/bookmarks/made", token, json={"name": "Made"}).status_code == 201
    return token


def accepted(server, token):
    """The path of the receipt of a write that a server has accepted."""
    return server.call("PUT", "/v1/bookmarks/a", token, json={"name": "A"}, headers=ASYNC).headers["Location"]


def test_a_write_that_waits_at_another_server_is_pending_and_then_committed(nodes):
    first, second = nodes(2)
    token = guest(first)
    with locked_stores(nodes.url):
        path = accepted(first, token)
        for server in (first, second):
            assert server.call("GET", path, token).json()["status"] == "pending"
    assert settled(second, token, path)["status"] == "committed" == settled(first, token, path)["status"]
    assert second.call("GET", "/v1/bookmarks/a", token).status_code == 200


def test_a_write_that_waited_too_long_is_rejected_by_every_server(nodes):
    first, second = nodes(2)
    token = guest(first)
    with locked_stores(nodes.url):
        path = accepted(first, token)
        time.sleep(23)
        assert second.call("GET", path, token).json()["status"] == "pending"
    for server in (first, second):
        assert settled(server, token, path)["status"] == "rejected"
        assert server.call("GET", "/v1/bookmarks/a", token).status_code == 404
