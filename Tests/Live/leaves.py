"""The complete content of a database, read to be compared: every leaf and tombstone, byte by byte."""
import socket

from peer import quoted
from rawjson import elements, members, raw_members
from waiting import PATIENCE

_DEPTH = 50
"""How many requests are sent before the first response is read."""


def listed(peer):
    """Each document's leaves as `_changes` lists them, the winner first, and whether it is deleted."""
    rows = peer.get("/_changes?style=all_docs")["results"]
    found = {row["id"]: ([change["rev"] for change in row["changes"]], row.get("deleted", False))
             for row in rows}
    assert len(found) == len(rows), "a document is listed twice"
    return found


def counts(peer):
    """The number of documents, the number of tombstones, and the number of the last change."""
    information = peer.get()
    sequence = int(information["update_seq"].split("-")[0])
    return information["doc_count"], information["doc_del_count"], sequence


def bodies(peer, names):
    """The bytes of each document's response to `open_revs=all&revs=true`. The requests are pipelined."""
    found = {}
    with socket.create_connection(peer.address, timeout=PATIENCE) as connection:
        stream = connection.makefile("rb")
        for start in range(0, len(names), _DEPTH):
            part = names[start:start + _DEPTH]
            connection.sendall(b"".join(
                f"GET {peer.prefix}/{quoted(name)}?open_revs=all&revs=true HTTP/1.1\r\nHost: test\r\n"
                f"Authorization: {peer.authorization}\r\nAccept: application/json\r\n\r\n".encode()
                for name in part))
            for name in part:
                found[name] = _body(stream, name)
    return found


def _body(stream, name):
    status, length = stream.readline(), None
    for line in iter(stream.readline, b"\r\n"):
        key, _, value = line.partition(b":")
        if key.lower() == b"content-length":
            length = int(value)
    body = stream.read(length)
    assert status.split()[1] == b"200", (name, status, body)
    return body


class Replica:
    """The content of a database at the time when it was read."""

    def __init__(self, peer):
        self.listed = listed(peer)
        self.counts = counts(peer)[:2]
        self.bodies = bodies(peer, list(self.listed))

    def assert_equals(self, other):
        """Asserts that both list the same leaves in the same order and answer the same bytes for each."""
        assert self.counts == other.counts
        assert_same(self.listed, other.listed)
        assert_same(self.bodies, other.bodies)

    def assert_holds(self, trees):
        """Asserts that the database holds exactly the documents of `trees`."""
        wanted = {name: ([leaf.rev for leaf in leaves], leaves[0].deleted)
                  for name, leaves in trees.leaves.items()}
        shown = {name: ([revs[0], *sorted(revs[1:])], gone)
                 for name, (revs, gone) in self.listed.items()}
        assert_same(shown, {name: ([revs[0], *sorted(revs[1:])], gone)
                            for name, (revs, gone) in wanted.items()})
        for name, leaves in trees.leaves.items():
            text = self.bodies[name].decode()
            answered = [raw_members(text, members(text, start)["ok"][0]) for start, _ in elements(text)]
            wanted = [raw_members(leaf.json()) for leaf in leaves]
            assert _by_rev(answered) == _by_rev(wanted), (name, trees.shape[name], answered, wanted)


def _by_rev(documents):
    return {document["_rev"]: document for document in documents}


def assert_same(left, right):
    """Asserts that both are equal. A failure shows the first few differences only."""
    if left != right:
        differing = [key for key in {**left, **right} if left.get(key) != right.get(key)]
        shown = [(key, left.get(key), right.get(key)) for key in sorted(differing)[:3]]
        raise AssertionError(f"{len(differing)} differ: {str(shown)[:2000]}")
