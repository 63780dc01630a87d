"""What people do while the server's calls are recorded: everything that changes files, by many at the same time."""
import asyncio
import dataclasses
import random

from ledger import Ledger, body
from writers import Client, Writer, become_user, credentials, new_guest

GUESTS, ADOPTED, MERGED, ERASED, COMPACTED = 30, 4, 3, 4, 2
"""How many people only write, sign up with their bookmarks, log in with them, are erased, and compact their
store."""
AT_ONCE = 16
"""How many people act at the same time."""


@dataclasses.dataclass(eq=False)
class Person:
    """A person with a store. A person's `due` is when the end of the store was answered."""

    ledger: Ledger
    since: object = None
    """When the response said that the account or database exists. A guest needs no such response."""
    end: str = ""
    """How the store ended: "erased", or "adopted" by a user."""
    due: object = None
    into: object = None
    """The user's credentials."""
    carried: tuple = ()
    """The bookmarks that the user adopts."""


def run(url, password, chance):
    """Runs all people from beginning to end. `password` is the administrator's."""
    return asyncio.run(_everybody(url, password, chance))


async def _everybody(url, password, chance):
    async def purges(*rest):
        await keeps_plans(password, *rest)

    kinds = ([writes] * GUESTS + [signs_up] * ADOPTED + [logs_in] * MERGED + [goes] * ERASED
             + [compacts] * COMPACTED + [writes_much, purges])
    chance.shuffle(kinds)
    turn, people, clients = asyncio.Semaphore(AT_ONCE), [], []

    async def act(number, kind):
        async with turn:
            client = Client(url, None)
            clients.append(await client.__aenter__())
            await kind(client, random.Random(f"{chance.random()} {number}"), f"p{number}-", people)

    try:
        await asyncio.gather(*(act(number, kind) for number, kind in enumerate(kinds)))
    finally:
        # Connections close only now: a port that is used again would be mistaken for the earlier connection.
        for client in clients:
            await client.__aexit__()
    return people


async def _guest(client, chance, prefix, people, steps):
    ledger = await new_guest(client)
    person = Person(ledger)
    people.append(person)
    writer = Writer(client, ledger, chance, prefix)
    for _ in range(steps):
        await writer.step()
    return person, writer


async def writes(client, chance, prefix, people):
    await _guest(client, chance, prefix, people, chance.randint(6, 12))


async def goes(client, chance, prefix, people):
    """Writes and is then erased, as a guest or as a user."""
    person, _ = await _guest(client, chance, prefix, people, 4)
    if chance.random() < 0.5:
        guest = person
        person, _ = await _adopted(client, chance, prefix, people, guest)
        # Only people who are not erased are checked for the arrival of their bookmarks.
        guest.carried = ()
    person.end = "erased"
    await client.succeed("DELETE", "/v1/me")
    person.due = client.receipt


async def signs_up(client, chance, prefix, people):
    person, writer = await _guest(client, chance, prefix, people, 5)
    await writer.bookmark()
    _, writer = await _adopted(client, chance, prefix, people, person)
    for _ in range(4):
        await writer.step()


async def _adopted(client, chance, prefix, people, person):
    """The user that a guest becomes."""
    person.end, person.into = "adopted", credentials()
    person.carried = carried = _bookmarks(person.ledger)
    ledger = await become_user(client, person.into)
    person.due = client.receipt
    user = Person(ledger, since=client.receipt)
    people.append(user)
    writer = Writer(client, ledger, chance, prefix + "u-")
    writer.settle(*ledger.take_over(person.ledger))
    writer.bookmarks += carried
    return user, writer


def _bookmarks(ledger):
    return tuple(name for name, attempts in ledger.documents.items()
                 if name.split("-")[-1].startswith("h") and attempts[-1].live)


async def logs_in(client, chance, prefix, people):
    """A user who has bookmarks logs in with a guest's token."""
    into = credentials()
    user = await become_user(client, into)
    people.append(Person(user, since=client.receipt))
    writer = Writer(client, user, chance, prefix + "u-")
    await writer.bookmark()
    person, guest = await _guest(client, chance, prefix, people, 4)
    await guest.bookmark()
    person.end, person.into, person.carried = "adopted", into, _bookmarks(person.ledger)
    taken = user.take_over(person.ledger)
    session = await client.succeed(
        "POST", "/v1/sessions", {**into, "guestToken": person.ledger.token})
    person.due = client.receipt
    client.authorization = "Bearer " + session["token"]
    writer.settle(*taken)
    await writer.bookmark()


async def compacts(client, chance, prefix, people):
    """Many small bodies replace a large one. Then the store is compacted."""
    _, writer = await _guest(client, chance, prefix, people, 2)
    name = await writer.put(size=400_000)
    for _ in range(22):
        await writer.update(name, size=20)
    await client.succeed("POST", f"{writer.couch}/_compact", {})
    for _ in range(3):
        await writer.step()


async def keeps_plans(password, client, chance, prefix, people):
    """A database that the administrator creates for a user: a large document is purged, and the file is compacted.
    The user's token reads it later, because an administrator's token ends with the server."""
    name, database = credentials(), f"/couch/{prefix}plans"
    user = await become_user(client, name)
    member = client.authorization
    session = await client.succeed(
        "POST", "/v1/sessions", {"username": "admin", "password": password})
    administrator = "Bearer " + session["token"]
    client.authorization = administrator
    await client.succeed("PUT", database)
    await client.succeed("PUT", f"{database}/_security", {"members": {"names": [name["username"]]}})
    ledger = Ledger(f"{prefix}plans", user.token)
    ledger.counts = False
    people.append(Person(ledger, since=client.receipt))
    client.authorization = member
    writer = Writer(client, ledger, chance, prefix)
    for _ in range(2):
        await writer.put()
    # A purged document may exist or not: no attempt at it is ever due.
    document = body(ledger.attempt("purged"), 500_000)
    rev = (await client.succeed("PUT", f"{database}/purged", document))["rev"]
    client.authorization = administrator
    await client.succeed("POST", f"{database}/_purge", {"purged": [rev]})
    await client.succeed("POST", f"{database}/_compact", {})
    client.authorization = member
    await writer.put()


async def writes_much(client, chance, prefix, people):
    """Writes so much that the log is copied into the file and restarted during the writes."""
    ledger = await become_user(client, credentials())
    people.append(Person(ledger, since=client.receipt))
    writer = Writer(client, ledger, chance, prefix)
    names = [await writer.put(size=100_000) for _ in range(3)]
    for turn in range(40):
        await writer.update(names[turn % 3], size=100_000)
    for _ in range(4):
        await writer.step()

