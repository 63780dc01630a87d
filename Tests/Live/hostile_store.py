"""A person's store that is as hostile as the quotas allow, for expensive requests.

`part` is the share of the data to store: a debug build takes long to store all.
"""
import json

import hostile
from hostile_list import HostileList

SMALL, TOMBSTONES, BRANCHES, LEAVES, INDEXES, HOTELS, NAMESAKES, LISTED, NAMED = (
    20_000, 2000, 200, 64, 16, 200, 900, 60_000, 100)


class HostileStore:
    """The store's `path`, the `ids` of its documents, the `revs` of those with many branches, and the person's `list`."""

    def __init__(self, person, part):
        self.person, self.path = person, person.path
        self.ids, self.revs = [], []
        self._small(int(SMALL * part))
        self._trees(max(8, int(BRANCHES * part)), max(8, int(LEAVES * part)))
        self._shapes()
        self._gone(int(TOMBSTONES * part))
        self._indexes(INDEXES)
        self._bookmarks(HOTELS, int(LISTED * part))
        self._attachments(int(NAMED * part))
        self._namesakes(int(NAMESAKES * part))
        self.list = HostileList(person, part)
        self.since = self.person.call("GET", self.path + "/_changes?limit=1")["last_seq"]

    def _bulk(self, documents, **more):
        for start in range(0, len(documents), 1000):
            body = {"docs": documents[start:start + 1000], **more}
            self.person.call("POST", self.path + "/_bulk_docs", body)

    def _small(self, count):
        """Many small documents whose members are indexed. Groups of documents have equal values."""
        self.ids += [f"s{number}" for number in range(min(count, 200))]
        self._bulk([{"_id": f"s{number}", "a": number % 100, "b": "x" * (number % 40), "c": [number, {"d": None}]}
                    for number in range(count)])

    def _trees(self, branches, leaves):
        """Tombstone branches without a common history, conflicts with a long common history, and one long history."""
        self.ids += ["tree", "torn", "old"]
        for leaf in hostile.branches(self.person, branches):
            self.revs.append(leaf["_rev"])
            self.revs += [f"{1000 - index}-{id}" for index, id in enumerate(leaf["_revisions"]["ids"][:50])]
        torn = [hostile.branch("torn", number, 1000, deleted=False, trunk=999, text="x" * 1000)
                for number in range(leaves)]
        for leaf in torn:
            self._bulk([leaf], new_edits=False)
        self.revs += [leaf["_rev"] for leaf in torn]
        self._bulk([hostile.branch("old", 0, 1000, deleted=False)], new_edits=False)

    def _shapes(self):
        """Long strings, deep and wide values, numbers of many digits, texts that are slow for regular expressions."""
        deep = json.loads('{"d":' * 60 + "0" + "}" * 60)
        shapes = {
            "string": {"text": "\u00e9" * 200_000}, "deep": {"value": deep},
            "wide": {f"m{number}": number for number in range(9000)},
            "array": {"value": [[number] for number in range(100_000)]},
            "words": {"text": " ".join([hostile.LETTERS * 2] * 9000)},
            "keys": {hostile.digest(number): {"a": {"a": {"a": number}}} for number in range(4000)}}
        self.ids += shapes
        for name, members in shapes.items():
            self._bulk([{"_id": name, **members}])

    def _gone(self, count):
        documents = [{"_id": f"g{number}", "_rev": "1-" + hostile.digest(number), "_deleted": True}
                     for number in range(count)]
        self._bulk(documents, new_edits=False)

    def _indexes(self, count):
        for number in range(count):
            fields = [["a"], ["b", "a"], ["text"], ["c"]][number % 4] + [f"f{each}" for each in range(number % 12)]
            self.person.call("POST", self.path + "/_index", {"index": {"fields": fields}, "name": f"i{number}"})

    def _bookmarks(self, count, listed):
        """Bookmarks behind many ids whose hotels have not arrived."""
        hotels = [{"id": f"h{number}", "name": "x" * 500} for number in range(count)]
        self.person.call("POST", "/v1/bookmarks", {"add": hotels})
        bookmarks = self.person.call("GET", self.path + "/bookmarkedhotels")
        bookmarks["hotels"] = [f"gone{number}" for number in range(listed)] + bookmarks["hotels"]
        self.person.call("PUT", self.path + "/bookmarkedhotels", bookmarks)

    def _attachments(self, leaves):
        """Conflicts that name a hundred attachments each, some of them the same."""
        self.ids.append("attached")
        for leaf in range(leaves):
            names = {f"f{leaf % 10}-{number}": {"data": "AAAA"} for number in range(100)}
            self._bulk([{**hostile.branch("attached", leaf, 2, deleted=False), "_attachments": names}], new_edits=False)

    def _namesakes(self, count):
        """Tombstones of the list of bookmarks, and revisions of it that have the same name: a tombstone names the revision
        into which its branch was merged. The next conflicting list is merged among them."""
        def branch(number, length):
            ids = ["ab" * 8 + hostile.digest(number, generation)[:16] for generation in range(length)]
            return {"_id": "bookmarkedhotels", "_rev": f"{length}-{ids[0]}", "_deleted": True,
                    "_revisions": {"start": length, "ids": ids}}

        self._bulk([branch(number, 2) for number in range(count)], new_edits=False)
        for number in range(count // 30):
            self._bulk([branch(("long", number), 1000)], new_edits=False)
