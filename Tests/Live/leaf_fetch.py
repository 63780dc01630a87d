"""Leaves with their histories as raw JSON texts, fetched in each way that a replicator may use."""
import json
import urllib.parse

from peer import Refused, Unreachable, quoted
from rawjson import elements, members


class MissingRevision(Exception):
    """The source listed a revision that it cannot return."""


def bulk_get(peer, pairs):
    """Fetches the documents of (id, revision) pairs by one `_bulk_get`. Also returns the pairs to fetch one by one.

    The response must be what CouchDB's replicator accepts: one key, and an entry for each pair in the requested order.
    A pair whose entry does not have exactly one document must be fetched again.
    """
    asked = json.dumps({"docs": [{"id": name, "rev": rev} for name, rev in pairs]})
    text = peer.call("POST", "/_bulk_get?revs=true&latest=true", asked.encode()).text
    found, again = [], []
    try:
        outer = members(text)
        assert set(outer) == {"results"}, set(outer)
        entries = elements(text, outer["results"][0])
        for (start, _), pair in zip(entries, pairs, strict=True):
            entry = members(text, start)
            assert json.loads(text[slice(*entry["id"])]) == pair[0], (pair, text[slice(*entry["id"])])
            documents = elements(text, entry["docs"][0])
            parts = members(text, documents[0][0]) if len(documents) == 1 else {}
            if list(parts) == ["ok"]:
                found.append(text[slice(*parts["ok"])])
            else:
                again.append(pair)
    except ValueError as error:
        raise Unreachable(f"_bulk_get: {error}") from error
    return found, again


def one_by_one(peer, pairs, accept="application/json"):
    """Fetches the documents of (id, revision) pairs by one GET per document, which names all its wanted revisions."""
    wanted = {}
    for name, rev in pairs:
        wanted.setdefault(name, []).append(rev)
    found = []
    for name, revs in wanted.items():
        asked = urllib.parse.quote(json.dumps(revs))
        path = f"/{quoted(name)}?revs=true&latest=true&open_revs={asked}"
        answer = peer.call("GET", path, accept=accept)
        kind = answer.headers["Content-Type"]
        if kind.startswith("multipart/mixed"):
            found += [_document(part, error) for part, error in parts(answer.body, kind)]
        else:
            text = answer.text
            for start, end in elements(text):
                [(key, span)] = members(text, start).items()
                found.append(_document(text[slice(*span)], key != "ok"))
    return found


def _document(text, error):
    if error:
        raise MissingRevision(text)
    return text


def parts(body, kind):
    """The parts of a multipart/mixed body: (text, whether it is an error). RFC 2046, section 5.1.1."""
    boundary = b"--" + kind.split("boundary=")[1].split(";")[0].strip('" ').encode()
    first, *rest = (b"\r\n" + body).split(b"\r\n" + boundary)
    assert not first.strip() and rest and rest[-1].startswith(b"--"), body[:200]
    for part in rest[:-1]:
        head, _, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        assert head.lower().startswith(b"content-type: application/json"), head
        yield content.decode(), b"error=" in head.lower()


class LeafFetch:
    """Fetches leaves by `_bulk_get`. If a source does not offer that, it fetches one by one from then on."""

    def __init__(self, peer, way="bulk_get"):
        """`way` is bulk_get, json or multipart."""
        self.peer, self.way = peer, way

    def __call__(self, pairs):
        if self.way == "bulk_get":
            try:
                found, again = bulk_get(self.peer, pairs)
                return found + one_by_one(self.peer, again)
            except Refused:
                self.way = "multipart"
        accept = "multipart/mixed" if self.way == "multipart" else "application/json"
        return one_by_one(self.peer, pairs, accept)
