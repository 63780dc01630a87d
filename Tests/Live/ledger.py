"""What was written to one store and what of it was answered, held against what the store shows
later.

Each document has attempts, numbered from 0: the states that somebody tried to give it, in order, by
one writer. A body says its own number and carries filling that depends on it, so that a state which
is found tells which attempt it is and whether its bytes are those that were sent.
"""
import dataclasses
import hashlib

LIST = "bookmarkedhotels"
"""The document that lists a store's bookmarks."""


@dataclasses.dataclass(eq=False)
class Attempt:
    """One state of one document that was sent; `due` is whatever tells when its 2xx was sent
    back."""

    name: str
    number: int
    live: bool
    due: object = None


@dataclasses.dataclass(frozen=True)
class Problem:
    """`lost`: something acknowledged is not there; `damaged`: something is there that nobody
    wrote."""

    kind: str
    text: str


def filling(name, number, size):
    """The text that attempt `number` of a document carries."""
    seed = hashlib.sha256(f"{name} {number}".encode()).hexdigest()
    return (seed * (size // len(seed) + 1))[:size]


def body(attempt, size):
    """The members that an attempt gives its document."""
    return {"n": attempt.number, "size": size, "name": filling(attempt.name, attempt.number, size)}


class Ledger:
    """One store's attempts."""

    def __init__(self, store, token):
        """`store` is its name as a database, `token` opens it."""
        self.store, self.token = store, token
        self.documents, self.carried = {}, {}
        self.counts = True
        """Whether the last sequence is the number of all revisions: no purges, no branches."""

    @property
    def key(self):
        """The store's name in the registry."""
        kind, rest = self.store.split("-", 1)
        return f"{kind}/{rest}" if kind in ("guest", "user") else f"named/{self.store}"

    def attempt(self, name, live=True):
        """Notes that a state is about to be sent."""
        attempts = self.documents.setdefault(name, [])
        attempts.append(Attempt(name, len(attempts), live))
        return attempts[-1]

    def take_over(self, guest):
        """Notes that the live documents of a guest's store are about to come into this one, each
        with its revisions but under one number: what is due when that is answered."""
        taken = []
        for name, attempts in guest.documents.items():
            if attempts[-1].live:
                self.documents[name] = [
                    Attempt(name, attempt.number, attempt.live) for attempt in attempts]
                self.carried[name] = len(attempts)
                taken.append(self.documents[name][-1])
        return taken

    def problems(self, rows, last, is_due):
        """What is wrong with a store whose feed shows `rows`, with documents, up to number `last`.

        `is_due(attempt)` says whether the attempt was acknowledged by the moment that is looked at.
        """
        found = {row["id"]: row for row in rows}
        yield from self._feed(rows, last)
        for name, attempts in self.documents.items():
            due = [a.number for a in attempts if a.due is not None and is_due(a)]
            least = max(due, default=None)
            yield from self._document(name, attempts, least, found.get(name))
        for name in found.keys() - self.documents.keys() - {LIST}:
            yield Problem("damaged", f"{name}: nobody wrote it")
        yield from self._list(found)

    def _feed(self, rows, last):
        numbers = [number_of(row["seq"]) for row in rows]
        if numbers != sorted(set(numbers)) or (numbers and numbers[-1] > last):
            yield Problem("damaged", f"sequences {numbers} up to {last}")
        if len({row["id"] for row in rows}) != len(rows):
            yield Problem("damaged", "a document is in the feed twice")
        # Each revision took one number, so that with none left out the generations add up.
        revisions = sum(number_of(change["rev"]) for row in rows for change in row["changes"])
        together = sum(self.carried.get(row["id"], 1) - 1 for row in rows)
        if self.counts and revisions - together != last:
            yield Problem("damaged", f"{revisions} revisions, {together} carried, {last} numbers")

    def _document(self, name, attempts, least, row):
        if row is None:
            if least is not None:
                yield Problem("lost", f"{name}: attempt {least} was acknowledged")
            return
        document = row["doc"]
        if row.get("deleted"):
            now = max((a.number for a in attempts if not a.live), default=-1)
        else:
            now = document.get("n", -1)
            if not 0 <= now < len(attempts) or not attempts[now].live:
                yield Problem("damaged", f"{name}: no attempt {now}")
                return
            if document["name"] != filling(name, now, document["size"]):
                yield Problem("damaged", f"{name}: the body of attempt {now} is another")
        if least is not None and now < least:
            yield Problem("lost", f"{name}: {now} is there, {least} was acknowledged")

    def _list(self, found):
        listed = found.get(LIST, {}).get("doc", {}).get("hotels", [])
        hotels = {name for name, row in found.items()
                  if not row.get("deleted") and row["doc"].get("type") == "hotel"}
        if len(listed) != len(set(listed)) or set(listed) != hotels:
            yield Problem("damaged", f"the list says {listed}, hotels are {sorted(hotels)}")


def number_of(token):
    """The number that a sequence or a revision begins with."""
    return int(token.split("-")[0])
