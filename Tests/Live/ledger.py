"""Records what was written to one store and which writes were acknowledged, and compares this with what the store
shows later.

Each document has attempts, numbered from 0: the states that one writer tried to give it, in order. A body contains
its own number and filling that depends on it. So a state that is found tells which attempt it is, and whether its
bytes are those that were sent.
"""
import dataclasses
import hashlib

LIST = "bookmarkedhotels"
"""The document that lists a store's bookmarks."""


@dataclasses.dataclass(eq=False)
class Attempt:
    """One state of one document that was sent. `due` identifies the 2xx response to it."""

    name: str
    number: int
    live: bool
    due: object = None


@dataclasses.dataclass(frozen=True)
class Problem:
    """`lost`: an acknowledged state is missing. `damaged`: the store has a state that nobody wrote."""

    kind: str
    text: str


def filling(name, number, size):
    """The text that attempt `number` of a document contains."""
    seed = hashlib.sha256(f"{name} {number}".encode()).hexdigest()
    return (seed * (size // len(seed) + 1))[:size]


def body(attempt, size):
    """The members that an attempt gives its document."""
    return {"n": attempt.number, "size": size, "name": filling(attempt.name, attempt.number, size)}


class Ledger:
    """One store's attempts."""

    def __init__(self, store, token):
        """`store` is its name as a database. `token` gives access to it."""
        self.store, self.token = store, token
        self.documents, self.carried = {}, {}
        self.counts = True
        """Whether the last sequence equals the number of all revisions: true without purges and branches."""

    @property
    def key(self):
        """The store's name in the registry."""
        kind, rest = self.store.split("-", 1)
        return f"{kind}/{rest}" if kind in ("guest", "user") else f"named/{self.store}"

    def attempt(self, name, live=True):
        """Records that a state is about to be sent."""
        attempts = self.documents.setdefault(name, [])
        attempts.append(Attempt(name, len(attempts), live))
        return attempts[-1]

    def take_over(self, guest):
        """Records that this store is about to adopt the live documents of a guest's store, each with its revisions
        but as one change. They are due when the adoption is acknowledged."""
        taken = []
        for name, attempts in guest.documents.items():
            if attempts[-1].live:
                self.documents[name] = [
                    Attempt(name, attempt.number, attempt.live) for attempt in attempts]
                self.carried[name] = len(attempts)
                taken.append(self.documents[name][-1])
        return taken

    def problems(self, rows, last, is_due):
        """Compares a store's feed with the attempts: `rows` with documents, up to the sequence number `last`.

        `is_due(attempt)` tells whether the attempt was acknowledged by the moment in question.
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
        # Each revision took one sequence number. If none is missing, the sum of the generations is the last number.
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
    """The number at the start of a sequence or a revision."""
    return int(token.split("-")[0])
