"""Opens a rebuilt data directory with the real server and compares what it shows with what people were told."""
import asyncio
import hashlib
import threading

from faults import file_of
from ledger import LIST, Problem, number_of
from server import Server
from writers import Client

CLIENTS = 8
"""The number of connections to one server at the same time."""
WRITTEN = 8
"""One in this many states of stores also gets a write."""


class StateChecker:
    """Finds problems in what servers show of a recording's stores.

    If two states of a store have the same last sequence number, they must be equal, whichever cuts they come from.
    """

    def __init__(self, recording):
        self.recording = recording
        self.seen, self.known, self.turn, self.opened = {}, {}, threading.Lock(), 0

    @property
    def read(self):
        """The number of different states of stores that were read through a server."""
        return len(self.known)

    def problems(self, directory, due, digests=None):
        """The problems of a directory. `due` is {person: step}: which people to check, and in the state of which step.

        With `digests` of the stores' files, the whole directory with the accounts is in the state of that step. If a
        store's files are the same as in another directory, the known response is used.
        """
        try:
            server = Server(directory)
        except AssertionError as error:
            return [Problem("damaged", f"the server did not start: {error}")]
        try:
            self.opened += 1
            return asyncio.run(self.check_people(server, due, digests))
        finally:
            server.kill()

    async def check_people(self, server, due, digests=None):
        """The problems that a running server shows."""
        waiting, problems = list(due.items()), []

        async def work():
            async with Client(server.url, None) as client:
                while waiting:
                    person, index = waiting.pop()
                    digest = digests[person] if digests else object()
                    check = PersonCheck(self, server, client, person, index, digest)
                    found = await (check.person_problems() if digests else check.store_problems())
                    problems.extend(
                        Problem(problem.kind, f"{person.ledger.store} at {index}: {problem.text}")
                        for problem in found)

        await asyncio.gather(*(work() for _ in range(CLIENTS)))
        return problems

    def differs(self, person, rows, last):
        """Whether another state of the store with the same last number had different rows."""
        shown = [(row["seq"], row["id"], row["changes"], row.get("deleted")) for row in rows]
        digest = hashlib.sha256(repr(shown).encode()).digest()
        with self.turn:
            return self.seen.setdefault((person.ledger.store, last), digest) != digest


class PersonCheck:
    """One person's requests after the power cut."""

    def __init__(self, checker, server, client, person, index, digest):
        self.checker, self.server, self.client, self.digest = checker, server, client, digest
        self.person, self.index = person, index
        self.is_due = checker.recording.is_due(index)

    def _knows(self, receipt):
        return receipt is not None and self.checker.recording.answered[receipt] <= self.index

    async def store_problems(self):
        """The problems of a store that certainly exists."""
        status, answer = await self._changes()
        if status != 200:
            return [self._unanswered(status, answer)]
        problems = self._compare(answer)
        if self.index % WRITTEN == 0:
            path = f"/couch/{self.person.ledger.store}/afterwards"
            status, answer = await self.client.patient("PUT", path, {})
            if status != 201:
                problems.append(Problem("damaged", f"a write is answered {status} {answer}"))
        return problems

    async def person_problems(self):
        """The problems of a person who may be arriving or leaving at this step."""
        person = self.person
        if person.since is not None and not self._knows(person.since):
            return []
        status, answer = await self._changes()
        if self._knows(person.due):
            if status not in (401, 410):
                return [Problem("lost", f"{person.end}, but the token is answered {status}")]
            # The user's own store shows whether the bookmarks were adopted.
            return self._residue() if person.end == "erased" else []
        elif status == 200:
            return self._compare(answer)
        elif not person.end or status not in (401, 410):
            return [self._unanswered(status, answer)]
        return self._residue() if person.end == "erased" else await self._arrival()

    @staticmethod
    def _unanswered(status, answer):
        """The problem of a feed that answers an error: `lost` if the account or store is unknown, `damaged`
        otherwise."""
        kind = "lost" if status in (401, 404, 410) else "damaged"
        return Problem(kind, f"the feed answers {status} {answer}")

    async def _changes(self):
        known = self.checker.known.get((self.person, self.digest))
        if known and not self.person.end:
            return known
        self.client.authorization = "Bearer " + self.person.ledger.token
        answer = await self.client.patient(
            "GET", f"/couch/{self.person.ledger.store}/_changes?style=all_docs&include_docs=true")
        self.checker.known[self.person, self.digest] = answer
        return answer

    def _compare(self, answer):
        rows, last = answer["results"], number_of(answer["last_seq"])
        problems = list(self.person.ledger.problems(rows, last, self.is_due))
        if self.checker.differs(self.person, rows, last):
            problems.append(Problem("damaged", f"two states end at {last}"))
        return problems

    def _residue(self):
        left = file_of(self.server.data, self.person.ledger.key)
        return [Problem("damaged", "erased, but the file is there")] if left.exists() else []

    async def _arrival(self):
        """The problems of a guest's bookmarks during adoption: the user must have all of them, in their
        order."""
        if not self.person.carried:
            return []
        self.client.authorization = ""
        status, session = await self.client.patient("POST", "/v1/sessions", self.person.into)
        if status != 200:
            return [Problem("lost", f"the guest is spent, and the user's log-in answers {status}")]
        self.client.authorization = "Bearer " + session["token"]
        status, document = await self.client.patient("GET", f"/couch/user-{session['id']}/{LIST}")
        listed = document.get("hotels", []) if status == 200 else []
        there = [name for name in listed if name in self.person.carried]
        if there != list(self.person.carried):
            return [Problem("lost", f"{self.person.carried} went over, {there} arrived")]
        return []

