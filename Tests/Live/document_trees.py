"""Documents with revision trees of every shape that sync may bring, made from a seed.

The tests know the expected leaves from here, without a request to the server.
"""
import dataclasses
import json
import random

HISTORY = 1_000
"""The number of revision ids that a branch keeps: the server's `_revs_limit`."""

ODD_NAMES = [
    "a/b", "a%2Fb", "a%252Fb", "caf\u00e9", "cafe\u0301", "\u0001\u0002", "line\r\nbreak", "tab\there",
    'quote"d', "back\\slash", "?a=b&c=d#e", "+ plus", " ", "  two  ", "/", "//", "/\u0338", "a//b/",
    "\U0001f3e8 hotel", "\u202eright to left", "zero\u200dwidth", "\ud7ff\ue000", "x" * 512,
    "\u00e9" * 256, "{}", "[]", "null", "0", "-1", "'", "<b>", "_design/app", "_design/a b/c", "a_b",
    "user::guest", "\u2028\u2029", ";", ":", "@", "*", "~", "!", "$", "(", "=", ",", "%", "%%", "%zz",
]
"""Ids that may break a part of a path, a query or a header."""

ODD_MEMBERS = [
    '"n":1.0', '"n":-0', '"n":-0.0', '"n":1e2', '"n":1E+2', '"n":12345678901234567890', '"n":1.10',
    '"n":0.10000000000000000555111512312578270211815834045410', '"n":1e-308', '"s":"\\u0000"',
    '"s":"\\/"', '"s":"\\u00e9"', '"s":"\u00e9"', '"s":"e\u0301"', '"s":"\\ud83c\\udfe8"',
    '"s":"\U0001f3e8"', '"":null', '"\\u0061":1', '"b":1,"a":2', '"o":{"z":1,"y":{"x":[]}}',
    '"l":[[[[1,2],[]],{}],null,true]', '"s":"\u2028\\n\\t\\b\\f\\r\\\\\\""', '"e\u0301":1,"\u00e9":2',
    '"type":"thing"', '"deleted":true', '"a":{"_id":1,"_rev":2}',
]
"""Members whose bytes change when they are decoded and encoded again."""


@dataclasses.dataclass(frozen=True)
class Leaf:
    """A leaf: its history, newest first, as `_revisions` has it, and its members as JSON text."""

    name: str
    start: int
    ids: tuple
    deleted: bool
    body: str

    @property
    def rev(self):
        return f"{self.start}-{self.ids[0]}"

    def json(self):
        """The document as a replicator sends it."""
        head = (f'{{"_id":{json.dumps(self.name, ensure_ascii=False)},"_rev":"{self.rev}","_revisions":'
                f'{json.dumps({"start": self.start, "ids": list(self.ids)}, separators=(",", ":"))}')
        deleted = ',"_deleted":true' if self.deleted else ""
        return head + deleted + ("," + self.body if self.body else "") + "}"

    def order(self):
        """The winner has the greatest key: live before deleted, then generation, then the id by its bytes."""
        return (not self.deleted, self.start, self.ids[0])


class DocumentTrees:
    """`count` documents made from `seed`. `leaves` has the leaves by document name, the winner first.

    The names are `ODD_NAMES` and then numbered ones. `first` skips that many names, so that two objects can have no
    document in common. Without `long`, no history is long, which makes the documents cheaper.
    """

    shapes = {
        # About how many of a hundred documents have each shape.
        "plain": 50, "edited": 20, "conflict": 10, "gone": 6, "gone with fields": 4, "made again": 4,
        "gone leaf": 3, "all gone": 2, "many leaves": 0.1, "long": 0.3, "too long": 0.2,
        "long fork": 0.02,
    }

    def __init__(self, seed, count, first=0, long=True):
        self.chance, self.leaves, self.shape = random.Random(seed), {}, {}
        self.ancestors = []
        names = ODD_NAMES + [f"doc-{number:06}" for number in range(len(ODD_NAMES), first + count)]
        names = names[first:first + count]
        shapes = {shape: share for shape, share in self.shapes.items() if long or "long" not in shape}
        drawn = self.chance.choices(list(shapes), list(shapes.values()), k=count)
        # Each shape occurs at least once, even among few documents.
        drawn[:len(shapes)] = shapes
        self.chance.shuffle(names)
        for name, shape in zip(names, drawn):
            make = getattr(self, "_" + shape.replace(" ", "_"))
            self.leaves[name] = sorted(make(name), key=Leaf.order, reverse=True)
            self.shape[name] = shape

    def documents(self):
        """All leaves and some ancestors as JSON texts, in a random order made from the seed."""
        found = [leaf.json() for leaves in [*self.leaves.values(), self.ancestors] for leaf in leaves]
        self.chance.shuffle(found)
        return found

    def _rev(self):
        """A revision id: usually 32 hexadecimal digits, sometimes a text that only another server writes."""
        if self.chance.random() < 0.02:
            start = self.chance.choice(["a", "abc", "00", "zz9", "REV", "deadbeef" * 5])
            return f"{start}{self.chance.getrandbits(32):x}"
        return f"{self.chance.getrandbits(128):032x}"

    def _ids(self, count, onto=()):
        found = tuple(f"{self.chance.getrandbits(128):032x}" for _ in range(count - 1))
        return (self._rev(), *found, *onto)

    def _body(self):
        odd = self.chance.choice(ODD_MEMBERS) + "," if self.chance.random() < 0.3 else ""
        return f'{odd}"at":{self.chance.getrandbits(40)},"text":"{"x" * self.chance.randint(0, 400)}"'

    def _leaf(self, name, ids, deleted=False, body=None):
        body = self._body() if body is None else body
        return Leaf(name, len(ids), ids[:HISTORY], deleted, body)

    def _plain(self, name):
        return [self._leaf(name, self._ids(1))]

    def _edited(self, name):
        return [self._leaf(name, self._ids(self.chance.randint(2, 9)))]

    def _conflict(self, name):
        """Branches with one common ancestor, or with none."""
        trunk = self._ids(self.chance.randint(1, 4)) if self.chance.random() < 0.8 else ()
        return [self._leaf(name, self._ids(self.chance.randint(1, 4), trunk))
                for _ in range(self.chance.randint(2, 5))]

    def _gone(self, name):
        return [self._leaf(name, self._ids(self.chance.randint(1, 5)), True, "")]

    def _gone_with_fields(self, name):
        return [self._leaf(name, self._ids(self.chance.randint(1, 5)), True)]

    def _made_again(self, name):
        """A live leaf whose parent is a tombstone."""
        before = self._ids(self.chance.choice([2, 4]))
        self.ancestors.append(self._leaf(name, before, True))
        return [self._leaf(name, self._ids(1, before))]

    def _gone_leaf(self, name):
        trunk = self._ids(2)
        return [self._leaf(name, self._ids(1, trunk)), self._leaf(name, self._ids(4, trunk), True)]

    def _all_gone(self, name):
        trunk = self._ids(1)
        return [self._leaf(name, self._ids(length, trunk), True, "") for length in (1, 1, 3)]

    def _many_leaves(self, name):
        trunk = self._ids(1)
        return [self._leaf(name, self._ids(1, trunk), number % 7 == 0) for number in range(40)]

    def _long(self, name):
        return [self._leaf(name, self._ids(self.chance.randint(200, HISTORY)))]

    def _too_long(self, name):
        """A history that is longer than the limit, so its oldest part was dropped."""
        return [self._leaf(name, self._ids(HISTORY + self.chance.randint(1, 400)))]

    def _long_fork(self, name):
        """A long and a short branch. The short branch keeps their common part, so the long one has it, too."""
        trunk = self._ids(HISTORY // 2)
        short = self._leaf(name, self._ids(HISTORY // 10, trunk))
        ids = self._ids(HISTORY - 100, trunk)
        return [short, Leaf(name, len(ids), ids, False, self._body())]
