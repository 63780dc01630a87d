"""Clients that each write to one store, at random by a seed, and record the responses."""
import asyncio
import json
import uuid

from async_http import Connection
from ledger import Ledger, body

LOST = (ConnectionError, EOFError, OSError)
"""What a client gets when the server is killed. asyncio's IncompleteReadError is an EOFError."""


PATIENCE = 600
"""How often a request is repeated while the server is overloaded: for about a minute."""


class Refused(AssertionError):
    """An error response where success is expected."""


class Client(Connection):
    """A connection that counts its responses."""

    def __init__(self, url, token):
        super().__init__(url, f"Bearer {token}" if token else "")
        self.answers = 0

    async def __aenter__(self):
        await super().__aenter__()
        self.port = self.writer.get_extra_info("sockname")[1]
        return self

    async def exchange(self, method, path, value=None):
        """(status, value) of one request. The value is None if the response has no JSON."""
        status, headers = await self._begin(method, path, value)
        if headers.get("transfer-encoding") == "chunked":
            content = b"".join([chunk async for chunk in self._chunks()])
        else:
            content = await self.reader.readexactly(int(headers.get("content-length", 0)))
        self.answers += 1
        return status, json.loads(content) if "json" in headers.get("content-type", "") else None

    async def patient(self, method, path, value=None):
        """(status, value) of a request, which is repeated for a while if the server is overloaded."""
        for _ in range(PATIENCE):
            status, answer = await self.exchange(method, path, value)
            if status != 429 and (status != 503 or answer["error"] != "overloaded"):
                break
            await asyncio.sleep(0.1)
        return status, answer

    async def succeed(self, method, path, value=None):
        """The value of a request that must succeed."""
        status, answer = await self.patient(method, path, value)
        if status >= 300:
            raise Refused(f"{method} {path}: {status} {answer}")
        return answer

    @property
    def receipt(self):
        """Identifies the latest response."""
        return (self.port, self.answers)


class Writer:
    """One device of a person. It sends one request at a time and records each in a ledger."""

    def __init__(self, client, ledger, chance, prefix="", most=150):
        """`prefix` begins the ids, so that a person's devices use different documents. `most` is the number of live
        documents."""
        self.client, self.ledger, self.chance = client, ledger, chance
        self.prefix, self.most = prefix, most
        self.bookmarks, self.revisions, self.made = [], {}, 0
        self.couch = f"/couch/{ledger.store}"

    async def step(self):
        """Sends one request of a random kind."""
        kinds = [self.bookmark, self.put, self.bulk, self.batch]
        if self.bookmarks:
            kinds += [self.unbookmark]
        if self.revisions:
            kinds += [self.update, self.update, self.remove]
        if len(self.bookmarks) + len(self.revisions) > self.most:
            kinds = [self.unbookmark if self.bookmarks else self.remove]
        await self.chance.choice(kinds)()

    def settle(self, *attempts):
        """Records that the latest response acknowledged these attempts."""
        for attempt in attempts:
            attempt.due = self.client.receipt

    def _new(self, kind):
        self.made += 1
        return self.ledger.attempt(f"{self.prefix}{kind}{self.made}")

    def _size(self):
        return self.chance.choice([20, 300, 3000])

    def _hotel(self):
        attempt = self._new("h")
        return attempt, {"id": attempt.name, **body(attempt, self._size())}

    async def bookmark(self):
        attempt, hotel = self._hotel()
        await self.client.succeed("PUT", f"/v1/bookmarks/{attempt.name}", hotel)
        self.settle(attempt)
        self.bookmarks.append(attempt.name)

    async def unbookmark(self):
        name = self.bookmarks.pop(self.chance.randrange(len(self.bookmarks)))
        attempt = self.ledger.attempt(name, live=False)
        await self.client.succeed("DELETE", f"/v1/bookmarks/{name}")
        self.settle(attempt)

    async def batch(self):
        """Adds some hotels and removes others in one request, all or none."""
        attempts, hotels = zip(*[self._hotel() for _ in range(self.chance.randint(1, 3))])
        self.chance.shuffle(self.bookmarks)
        count = self.chance.randint(0, 2)
        gone, self.bookmarks = self.bookmarks[:count], self.bookmarks[count:]
        removals = [self.ledger.attempt(name, live=False) for name in gone]
        await self.client.succeed("POST", "/v1/bookmarks", {"add": hotels, "remove": gone})
        self.settle(*attempts, *removals)
        self.bookmarks += [attempt.name for attempt in attempts]

    async def put(self, size=None):
        attempt = self._new("d")
        answer = await self.client.succeed(
            "PUT", f"{self.couch}/{attempt.name}", body(attempt, size or self._size()))
        self.settle(attempt)
        self.revisions[attempt.name] = answer["rev"]
        return attempt.name

    async def update(self, name=None, size=None):
        name = name or self.chance.choice(sorted(self.revisions))
        attempt = self.ledger.attempt(name)
        answer = await self.client.succeed(
            "PUT", f"{self.couch}/{name}",
            {**body(attempt, size or self._size()), "_rev": self.revisions[name]})
        self.settle(attempt)
        self.revisions[name] = answer["rev"]

    async def remove(self):
        name = self.chance.choice(sorted(self.revisions))
        attempt = self.ledger.attempt(name, live=False)
        await self.client.succeed("DELETE", f"{self.couch}/{name}?rev={self.revisions.pop(name)}")
        self.settle(attempt)

    async def bulk(self):
        """New documents, updates and deletions in one request."""
        documents, attempts = [], [self._new("b") for _ in range(self.chance.randint(1, 4))]
        documents += [{"_id": a.name, **body(a, self._size())} for a in attempts]
        for name in self.chance.sample(sorted(self.revisions), min(2, len(self.revisions))):
            live = self.chance.random() < 0.7
            attempts.append(self.ledger.attempt(name, live))
            members = body(attempts[-1], self._size()) if live else {"_deleted": True}
            documents.append({"_id": name, "_rev": self.revisions.pop(name), **members})
        answers = await self.client.succeed("POST", f"{self.couch}/_bulk_docs", {"docs": documents})
        if any("rev" not in answer for answer in answers):
            raise Refused(str(answers))
        self.settle(*attempts)
        for attempt, answer in zip(attempts, answers):
            if attempt.live:
                self.revisions[attempt.name] = answer["rev"]


async def new_guest(client):
    """Makes a guest and returns its ledger. The client then uses the guest's token."""
    guest = await client.succeed("POST", "/v1/guests")
    client.authorization = "Bearer " + guest["token"]
    return Ledger("guest-" + guest["id"], guest["token"])


def credentials():
    """A name that is not in use, and a password."""
    return {"username": "power-" + uuid.uuid4().hex, "password": "a good password"}


async def become_user(client, person):
    """Signs up with the name and password of `person` and the client's present token. Returns the new user's
    ledger."""
    user = await client.succeed("POST", "/v1/users", person)
    client.authorization = "Bearer " + user["token"]
    return Ledger("user-" + user["id"], user["token"])
