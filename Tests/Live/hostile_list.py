"""A person's shared lists that are as hostile as the quotas allow: texts that belong together, histories, members.

`part` is the share of the data to store, as for a `HostileStore`.
"""
import random

import hostile
from conftest import NIGHTLY
from people import Person

LINES, LEAVES, DEPTH, EDITS, MEMBERS, LISTS = 500, 512, 40, 30, 499 if NIGHTLY else 60, 30
WIDTH = 500
"""The bytes of a long line. `LINES` of them are as long as a text may be."""


class HostileList:
    """A list, its `id`, the `titles` of its notes, the name of a `member`, and `ending`, a list that may end."""

    def __init__(self, person, part):
        self.person = person
        self.id, self.ending = (self._list(title) for title in ("Costly", "Ending"))
        self.path = f"/v1/lists/{self.id}"
        self._texts(max(20, int(LINES * part)))
        self._history(max(3, int(EDITS * part)))
        self._leaves(max(8, int(LEAVES * part)))
        self._members(max(2, int(MEMBERS * part)))
        for number in range(max(2, int(LISTS * part))):
            self._list(f"Long {number}", "é" * 131_000)

    def _list(self, title, markdown=""):
        return self.person.call("POST", "/v1/lists", {"title": title, "markdown": markdown})["id"]

    def _texts(self, count):
        """Notes of which the person has a draft, and which others have changed since: the base, the published text and the
        draft differ in the last bytes of each line, in every other line, or in the order of their lines."""
        def lines(mark, every=1):
            return [f"{number} ".ljust(WIDTH - 10, "x") + (mark if number % every == 0 else "base")
                    for number in range(count)]

        short = [str(number) for number in range(count * 20)]
        mixed = [random.Random(seed).sample(short, len(short)) for seed in range(2)]
        texts = {"last": (lines("base"), lines("mine"), lines("theirs")),
                 "every": (lines("base"), lines("mine", 2), ["", *lines("base")]),
                 "order": (short, *mixed)}
        self.titles = [*texts, "history", "leaves"]
        for title, (base, mine, theirs) in texts.items():
            path = f"{self.path}/notes/{title}"
            for query, text in (("", base), ("?draft=true", mine), ("", theirs)):
                self.person.call("PUT", path + query, {"markdown": "\n".join(text)})

    def _history(self, count):
        for number in range(count):
            self.person.call("PUT", f"{self.path}/notes/history", {"markdown": f"{number} " + "x" * 250_000})

    def _leaves(self, count):
        """A note with many live branches, each with a history of its own."""
        name = f"{self.id}:leaves"
        for number in range(count):
            leaf = hostile.branch(name, number, DEPTH, deleted=False, type="page", wiki_id=self.id, title="leaves",
                                  markdown="x")
            answer = self.person.call("POST", f"/couch/list-{self.id}/_bulk_docs", {"docs": [leaf], "new_edits": False})
            assert answer == [], answer

    def _members(self, count):
        """Members of both lists, and as many users who have not accepted."""
        for number in range(2 * count):
            member = Person(self.person.server, kind="user")
            self.member = member.call("GET", "/v1/me")["username"]
            for each in (self.id, self.ending):
                self.person.call("PUT", f"/v1/lists/{each}/members/{self.member}", {"role": "editor"})
            for invitation in member.call("GET", "/v1/invitations")["invitations"] if number < count else ():
                member.call("POST", f"/v1/invitations/{invitation['id']}/accept")
