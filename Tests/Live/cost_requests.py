"""Expensive requests for every operation of openapi.yaml, and small random changes to them."""
import copy
import dataclasses
import json
import urllib.parse

import hostile
from operations import OPERATIONS

LONGEST = 1 << 20
"""The largest request body in bytes. Larger bodies are not sent."""
QUERIES = {
    "limit": ["0", "1", "50", "100", "1000000"], "skip": ["1000000", "999999999"], "include_docs": ["true"],
    "conflicts": ["true"], "descending": ["true"], "revs": ["true"], "revs_info": ["true"], "open_revs": ["all"],
    "style": ["all_docs"], "attachments": ["true"], "update_seq": ["true"], "latest": ["true"],
    "deleted_conflicts": ["true"], "local_seq": ["true"], "meta": ["true"], "inclusive_end": ["false"],
    "feed": ["normal"], "since": ["0"], "timeout": ["10"], "offset": ["0", "10000"],
    "description": ["a", " ".join(["a"] * 200), " ".join(hostile.LETTERS), "pool"],
    "location": ["l", " ".join(hostile.LETTERS), "london"], "count": ["1000"],
}
"""Values of query parameters. Waiting feeds are left out: they do work only when a change wakes them."""
ENDLESS = {"observeChanges"}
"""Operations whose response ends only at a timeout."""
PATTERNS = ["[a-z]+[0-9]$", "(a|b|ab)*c", "(x+x+)+y", "\\w{1,200}z", ".*.*.*=", "(?i)" + "(é|É)*" * 20]


@dataclasses.dataclass
class Call:
    """One request of an operation, in parts."""

    operation: object
    values: dict
    query: dict
    body: object = None
    fields: dict = dataclasses.field(default_factory=dict)

    def path(self):
        return self.operation.path(self.values, self.query)

    def bytes(self):
        """The body as it is sent. None if there is no body."""
        return None if self.body is None else json.dumps(self.body, separators=(",", ":")).encode()


def _keyed(store):
    """By operation: bodies that name documents and revisions of the store."""
    revs, tree = store.revs, "tree"
    return {
        "couchQueryDocuments": {"keys": [tree, "torn"] * 20},
        "couchRunDocumentQueries": {"queries": [{"keys": [tree], "include_docs": True}] * 5},
        "couchBulkGet": {"docs": [{"id": tree, "rev": rev} for rev in revs[:20]]},
        "couchRevsDiff": {tree: revs[:40], "torn": revs[-20:]},
        "couchMissingRevs": {tree: revs[:40]},
        "couchBulkDocs": {"new_edits": False, "docs": [
            hostile.branch(tree, ("n", 0), 2),
            hostile.branch("bookmarkedhotels", ("n", 0), 1, deleted=False, type="bookmarkedhotels", hotels=["other"])]},
        "couchPostChanges": {"doc_ids": store.ids[:50], "selector": {"text": {"$regex": PATTERNS[0]}}},
        "couchFind": {"selector": {"$nor": [{"text": {"$regex": each}} for each in PATTERNS[:2]]}, "limit": 1,
                      "skip": 1000},
        "couchExplain": {"selector": {"$or": [{"a": {"$gt": number}} for number in range(8)]}},
        "couchPostIndex": {"index": {"fields": ["c.d", "a"]}, "name": "costly"},
        "couchPurge": {tree: revs[:5]},
        "changeBookmarks": {"add": [{"id": f"n{number}", "name": "x" * 50} for number in range(20)]},
        "couchPostDocument": {"value": [[[0]]] * 20}, "couchPutDocument": {"value": [[[0]]] * 20},
        "putBookmark": {"name": "x" * 500},
    }


def seeds(store, person):
    """The first requests. For each operation: one with the contract's sample values, one that names stored
    documents, and one with every query parameter; for those about notes each for every note. What removes something comes
    last."""
    keyed, found = _keyed(store), []
    name = urllib.parse.unquote(person.path.rsplit("/", 1)[1])
    shared = store.list
    for operation, title in ((operation, title) for operation in OPERATIONS
                             for title in (shared.titles if "title" in operation.names("path") else ["n"])):
        values = {"db": name, "docid": "tree", "hotelID": "h1", "description": "a", "location": "london",
                  "listID": shared.ending if operation.name == "endList" else shared.id, "title": title,
                  "documentID": f"{shared.id}:history" if operation.name.startswith("list") else "tree",
                  "username": shared.member}
        full = {key: QUERIES[key][0] for key in operation.names("query") if key in QUERIES}
        least = {"timeout": "10"} if operation.name in ENDLESS else {}
        bodies = [operation.body()] + ([keyed[operation.name]] if operation.name in keyed else [])
        for body in bodies:
            found.append(Call(operation, values, dict(least), body))
            found.append(Call(operation, values, full, body))
    return sorted(found, key=lambda call: call.operation.method == "DELETE")


def mutated(call, store, random):
    """A copy of the request with one to three small changes."""
    new = copy.deepcopy(dataclasses.replace(call, operation=None))
    new.operation = call.operation
    for _ in range(random.randint(1, 3)):
        random.choice([_query, _value, _body, _body, _body])(new, store, random)
    return new


def _query(call, store, random):
    names = [name for name in call.operation.names("query") if name in QUERIES or name in ("keys", "key", "rev")]
    if not names:
        return
    name = random.choice(names)
    if name in call.query and random.random() < 0.3 and call.operation.name not in ENDLESS:
        del call.query[name]
    elif name in QUERIES:
        call.query[name] = random.choice(QUERIES[name])
    elif name == "rev":
        call.query[name] = random.choice(store.revs)
    else:
        call.query[name] = json.dumps([random.choice(store.ids)] * random.choice([1, 20, 200]))


def _value(call, store, random):
    call.values["docid"] = random.choice(store.ids)
    call.values["title"] = random.choice(store.list.titles)


def _body(call, store, random):
    """Changes one value in the body. If the body becomes too long, the change is taken back."""
    if call.body is None:
        return
    before = copy.deepcopy(call.body)
    holder = {"body": call.body}
    members = list(_members(holder))
    container, key = random.choice(members[:2000])
    container[key] = _changed(container[key], store, random)
    call.body = holder["body"]
    if len(call.bytes()) > LONGEST:
        call.body = before


def _members(value):
    """Yields (container, key) of every member and element, breadth first."""
    waiting = [value]
    while waiting:
        here = waiting.pop(0)
        for key, child in list(here.items() if isinstance(here, dict) else enumerate(here)):
            yield here, key
            if isinstance(child, (dict, list)) and len(waiting) < 500:
                waiting.append(child)


def _changed(value, store, random):
    """A more expensive replacement for a value: longer, repeated, nested deeper, or the name of something stored."""
    if isinstance(value, list) and value and random.random() < 0.8:
        return (value * random.choice([2, 3, 10]))[:20_000]
    if isinstance(value, dict) and value and random.random() < 0.6:
        key = random.choice(list(value))
        more = {f"{key}{number}": value[key] for number in range(random.choice([1, 10, 100]))}
        return {**value, **(more if not key.startswith(("$", "_")) else {key: [value[key]] * 3})}
    if isinstance(value, str) and random.random() < 0.3:
        return (value * random.choice([2, 10, 100]))[:100_000]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int) and random.random() < 0.7:
        return random.choice([0, 1, value * 10, 1_000_000])
    deeper = {"value": value}
    for _ in range(random.choice([1, 5, 12])):
        deeper = {"$not": deeper} if random.random() < 0.2 else {"d": deeper}
    return random.choice([
        random.choice(store.ids), random.choice(store.revs), {"$regex": random.choice(PATTERNS)}, deeper,
        [value, value], hostile.branch(random.choice(["tree", "torn"]), random.random(), random.choice([2, 200]))])
