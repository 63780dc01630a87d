"""Attacks that once overloaded the server, as requests: one for each row of the table on the book's page *Fairness*.

This module does not send requests itself, so the live tests and `Scripts/bench fair` send the same ones.
"""
import dataclasses
import gzip
import hashlib
import itertools
import json
import time
import typing

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Request(typing.NamedTuple):
    """One request. Its body is bytes, an iterator of bytes, or None."""

    method: str
    path: str
    body: bytes | typing.Iterator[bytes] | None = None
    fields: dict = {}


@dataclasses.dataclass(frozen=True)
class Attack:
    """One row of the table: `at_once` requests at the same time, repeated.

    `prepare` takes a person (`call(method, path, value)`, which returns JSON, and `path` of the person's own database)
    and the share of the table's data to store: a debug build takes long to store all. It returns a function that makes
    request `number`. `body_bytes` is the size of an unpacked body where that is large. `overdraws` tells whether the
    attack costs enough to overdraw an account. `way` tells how its clients ask: "wait" for each answer; "pipeline", which
    sends requests on and on and reads what comes; or "ignore", over HTTP/2, with as many streams as a connection may
    have, and reads nothing. `by` tells who can make it.
    """

    name: str
    at_once: int
    prepare: typing.Callable
    body_bytes: int = 0
    overdraws: bool = True
    way: str = "wait"
    by: tuple = ("guest", "user")


def posted(path, value):
    """A POST of JSON."""
    return Request("POST", path, json.dumps(value).encode(), {"Content-Type": "application/json"})


def digest(*parts):
    """A revision's digest: the same parts give the same digest."""
    return hashlib.md5(repr(parts).encode()).hexdigest()


def branch(name, number, length, deleted=True, trunk=0, **members):
    """A branch as a peer sends it: `length` revisions. All branches of the document share the oldest `trunk` ones."""
    ids = [digest(name, generation, number if generation > trunk else None) for generation in range(length, 0, -1)]
    return {"_id": name, "_rev": f"{length}-{ids[0]}", "_revisions": {"start": length, "ids": ids},
            **({"_deleted": True} if deleted else {}), **members}


def same(*requests):
    """Makes these requests in turn."""
    return lambda number: requests[number % len(requests)]


def _queries(person, part):
    """190 documents of 4 KB and thirty patterns that match none of them. To test one text takes long."""
    text = " ".join([LETTERS + LETTERS] * 75)
    # A fifth of the documents would cost a debug build too little. A user's quota allows many more.
    documents = [{"_id": f"q{number}", "text": text} for number in range(190 * max(1, int(part)))]
    for start in range(0, len(documents), 50):
        person.call("POST", person.path + "/_bulk_docs", {"docs": documents[start:start + 50]})
    patterns = [{"text": {"$regex": f"[a-z]+{number}$"}} for number in range(30)]
    query = {"selector": {"$nor": patterns}, "limit": 1, "skip": 1_000_000}
    return same(posted(person.path + "/_find", query))


def branches(person, count, length=1000):
    """Stores `count` long branches of one document, or as many as the quota allows. Returns their leaves."""
    leaves = []
    for number in range(count):
        leaf = branch("tree", number, length)
        refused = person.call("POST", person.path + "/_bulk_docs", {"docs": [leaf], "new_edits": False})
        if refused:
            break
        leaves.append(leaf)
    return leaves


def _tree_reads(person, part):
    """Requests that name one document with long branches thousands of times."""
    leaves = branches(person, int(200 * part))
    ids = leaves[0]["_revisions"]["ids"]
    inner = [f"{len(ids) - index}-{id}" for index, id in enumerate(ids)]
    asked = list(itertools.islice(itertools.cycle(inner), 9000))
    return same(
        posted(person.path + "/_all_docs?conflicts=true&include_docs=true", {"keys": ["tree"] * 3000}),
        posted(person.path + "/_bulk_get?revs=true",
               {"docs": [{"id": "tree", "rev": rev} for rev in inner[:500]]}),
        posted(person.path + "/_revs_diff", {"tree": asked}))


def _tree_writes(person, part):
    """A hundred short branches per request, for a document that has many long ones."""
    branches(person, int(200 * part))

    def request(number):
        short = [branch("tree", (number, each), 2) for each in range(100)]
        return posted(person.path + "/_bulk_docs", {"docs": short, "new_edits": False})
    return request


def _words(*_):
    """As many words as a search allows, and more. Nearly every hotel contains each of them."""
    texts = [" ".join(["a"] * 255), " ".join(LETTERS[:26]), " ".join(["a", "s", "th", "ho"] * 40)]
    return same(*(Request("GET", "/v1/hotels?description=" + text.replace(" ", "+")) for text in texts))


def _packed(person, _):
    """15 MiB of empty keys, packed into 15 KB; and a body of the same kind that is packed less densely."""
    dense = b'{"keys":[' + b'"",' * (5 << 20) + b'""]}'
    texts = [json.dumps(digest(number)) for number in range(64)]
    loose = ('{"keys":[' + ",".join(
        texts[number * 7 % 64] + ',""' * 20 for number in range(150_000)) + "]}").encode()
    fields = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    return same(*(
        Request("POST", person.path + "/_all_docs", gzip.compress(body, 9, mtime=0), fields)
        for body in (dense, loose)))


HOTELS = [{"id": f"hotel-{hotel}", "name": "The Receipt", "text": "".join(digest(hotel, part) for part in range(109))}
          for hotel in range(200)]
"""200 hotels of 3.5 KB each, which compress badly."""


def batch(number, key):
    """A batch with an idempotency key that adds 200 hotels; the next batch removes them. Both receipts hold all
    hotels, so that the batch can be undone."""
    body = {"remove": [hotel["id"] for hotel in HOTELS]} if number % 2 else {"add": HOTELS}
    fields = {"Content-Type": "application/json", "Idempotency-Key": digest(key, number)}
    return Request("POST", "/v1/bookmarks", json.dumps(body).encode(), fields)


def _receipts(person, _):
    """Batches, each with its own idempotency key."""
    return lambda number: batch(number, person.path)


def _readiness(*_):
    """Readiness probes, which any client may send."""
    return same(*(Request("GET", path) for path in ("/readyz", "/couch/_up")))


def conflict(number):
    """A conflicting list of bookmarks with a long history. All conflicts share the history except the last revision."""
    return branch("bookmarkedhotels", number, 1000, deleted=False, trunk=999, type="bookmarkedhotels",
                  hotels=[f"h{number % 50}"])


def merged(person, numbers):
    """Pushes these conflicts of the list of bookmarks one by one. The server merges each at once."""
    for number in numbers:
        body = {"docs": [conflict(number)], "new_edits": False}
        person.call("POST", person.path + "/_bulk_docs", body)


def _merges(person, part):
    """Reads of a list that was merged often, with all its branches."""
    merged(person, range(int(1760 * part)))
    return same(
        Request("GET", person.path + "/bookmarkedhotels?open_revs=all&revs=true"),
        posted(person.path + "/_bulk_get?revs=true&latest=true", {"docs": [{"id": "bookmarkedhotels"}] * 20}),
        Request("GET", person.path + "/bookmarkedhotels?conflicts=true&revs_info=true"))


def _drafts(person, part):
    """Drafts that conflict with a note of 500 lines, of which each differs in its last bytes only."""
    path = "/v1/lists/" + person.call("POST", "/v1/lists", {"title": "Lines"})["id"] + "/notes/"
    lines = max(10, int(500 * part))

    def text(number, side):
        return "\n".join("x" * 100 + f" {number}-{side}-{line}" for line in range(lines))

    def request(number):
        # Two connections work on two notes, and take all numbers of one parity each.
        turn, note = number // 6, f"note-{number % 2}"
        match number // 2 % 3:
            case 0: return put(f"{path}{note}?draft=true", {"markdown": text(turn, "mine")})
            case 1: return put(path + note, {"markdown": text(turn, "theirs")})
            case _: return Request("POST", f"{path}{note}/publish")
    return request


def put(path, value):
    """A PUT of JSON."""
    return Request("PUT", path, json.dumps(value).encode(), {"Content-Type": "application/json"})


def accounts(person, count):
    """The field `Authorization` of this many new users."""
    made = [person.newcomer().call("POST", "/v1/users", {"username": "h-" + digest(person.path, number)[:20],
                                                         "password": "a hostile password"})
            for number in range(count)]
    return [{"Authorization": "Bearer " + one["token"]} for one in made]


def _feeds(person, part):
    """Idle feeds: as many as eleven users may have."""
    users = accounts(person, max(1, int(11 * part)))
    me = [{**users[number], "Accept": "text/event-stream"} for number in range(len(users))]
    return lambda number: Request("GET", "/v1/changes", None, me[number // 256 % len(me)])


def _imports(person, part):
    """Imports that send as few bytes as they may."""
    users = accounts(person, max(1, int(16 * part)))

    def drip():
        while True:
            yield b"\n" * 1_100
            time.sleep(1)
    return lambda number: Request(
        "POST", "/v1/me/import", drip(), {**users[number % len(users)], "Content-Type": "application/x-ndjson"})


def _window(person, _):
    """Answers of 60 KB, none of which is taken."""
    hotel = {"name": "The Window", "description": "w" * 60_000}
    person.call("PUT", "/v1/bookmarks/window", hotel)
    return same(Request("GET", "/v1/bookmarks/window"))


def _pipelining(*_):
    """Short requests with short answers, of paths that are none."""
    return same(Request("GET", "/v1/bookmarks"), Request("GET", "/x" * 20), Request("OPTIONS", "/v1/none"))


def _chunks(person, _):
    """A body of blanks in chunks of one byte, as long as a body may be."""
    chunks = b"1\r\n \r\n" * (1 << 20) + b"0\r\n\r\n"
    fields = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
    return same(Request("POST", person.path + "/_bulk_docs", chunks, fields))


ATTACKS = [
    Attack("queries", 24, _queries),
    Attack("a tree's reads", 8, _tree_reads),
    Attack("a tree's writes", 8, _tree_writes),
    Attack("words", 10, _words),
    Attack("packed bodies", 16, _packed, 16 << 20),
    Attack("receipts", 4, _receipts),
    Attack("readiness", 256, _readiness, overdraws=False),
    Attack("merges", 8, _merges),
    Attack("drafts", 2, _drafts, by=("user",)),
    Attack("feeds", 2_600, _feeds, overdraws=False),
    Attack("imports", 16, _imports, overdraws=False),
    Attack("window", 400, _window, overdraws=False, way="ignore"),
    Attack("pipelining", 16, _pipelining, overdraws=False, way="pipeline"),
    Attack("chunks", 16, _chunks, way="pipeline"),
]
"""In the order of the book's table."""


def named(name):
    """The attack of this name."""
    return next(attack for attack in ATTACKS if attack.name == name)
