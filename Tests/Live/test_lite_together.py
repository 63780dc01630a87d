"""A phone with Couchbase Lite, a browser with PouchDB and the page's REST edit one store, each offline for a while, and the
server is killed in between: all end with the same documents, and no bookmark is lost."""
import random
import threading
import uuid

import pytest
import requests

from blip_client import Closed, CutWebSocket
from conftest import NIGHTLY
from couch import Database
from phone import Phone
from pouch import Pouch, Stopped

SEEDS = 100 if NIGHTLY else 3
EDITS = 10
"""The edits of each before they first sync."""
LIST = "bookmarkedhotels"


class App(Phone):
    """The travel-sample app: it pushes what was edited, pulls, and resolves conflicts as Couchbase Lite does by itself."""

    edited = ()

    def change(self, name, body, deleted=False):
        self.edit(name, body, deleted)
        self.edited = {*self.edited, name}

    def hotels(self):
        return self.live().get(LIST, {}).get("hotels", [])

    def _confirm(self, name, number, errors):
        super()._confirm(name, number, errors)
        if name not in errors:
            self.edited.discard(name)

    def sync(self):
        self.connect()
        names = sorted(self.edited)
        mine = {name: self.documents[name] for name in names}
        refused = self.push(*names) if names else {}
        self.edited = {name for name in self.edited if name in refused}
        self.pull()
        for name in refused:
            # A deletion wins; otherwise the server's revision, which has a higher generation.
            self.edited.discard(name)
            if mine[name][2] and not self.documents[name][2]:
                self.change(name, {}, deleted=True)
        self.close()


class Browser(Pouch):
    """A web app with PouchDB."""

    def change(self, name, body, deleted=False):
        if not deleted:
            self.put(name, **body)
        elif former := self.winner(name):
            number = int(former[0][0].split("-")[0]) + 1
            self._take(name, [f"{number}-{uuid.uuid4().hex}", *former[0]], {"_id": name}, True)

    def hotels(self):
        found = self.winner(LIST)
        return found[1]["hotels"] if found and not found[2] else []


class Together:
    def __init__(self, start, seed):
        self.start, self.random = start, random.Random(seed)
        self.server = start()
        self.token = self.server.guest()
        self.database = Database(self.server, self.token)
        self.app = App(self.server, token=self.token)
        self.browser = Browser(self.server, self.token, self.database.name)
        self.added, self.removed, self.kills = set(), set(), 0

    def edit(self, device):
        """Bookmarks a hotel, or removes a bookmark, or edits one."""
        hotels, name = device.hotels(), f"hotel_{len(self.added)}"
        choice = self.random.random()
        if choice < 0.6 or not hotels:
            self.added.add(name)
            hotels = [*hotels, name]
            device.change(name, {"type": "hotel", "name": name})
        elif choice < 0.8:
            name = self.random.choice(hotels)
            self.removed.add(name)
            device.change(name, {}, deleted=True)
            hotels = [hotel for hotel in hotels if hotel != name]
        else:
            return device.change(self.random.choice(hotels), {"type": "hotel", f"note{self.random.randrange(3)}": "x"})
        return device.change(LIST, {"type": LIST, "hotels": hotels})

    def post(self):
        """One edit of the page."""
        if self.random.random() < 0.7:
            name = f"hotel_{len(self.added)}"
            self.added.add(name)
            answer = self.server.call("PUT", f"/v1/bookmarks/{name}", self.token, json={"name": name})
            assert answer.status_code == 201, answer.text
        else:
            page = self.server.call("GET", "/v1/bookmarks", self.token).json()["bookmarks"]
            if page:
                name = self.random.choice(page)["id"]
                self.removed.add(name)
                assert self.server.call("DELETE", f"/v1/bookmarks/{name}", self.token).status_code in (200, 204)

    def kill(self):
        self.kills += 1
        self.server.kill()

    def sync(self, device, kills):
        """Syncs a device, perhaps with a server that is killed meanwhile."""
        try:
            if device is self.app:
                frames = self.random.randint(2, 60) if kills else 1_000_000
                device.transport = lambda *arguments: CutWebSocket(
                    *arguments, frames=frames, within=frames % 2 == 0, end=self.kill)
                device.sync()
            else:
                moment = self.random.random() * 0.15
                if kills:
                    threading.Timer(moment, self.server.process.kill).start()
                device.sync()
        except (Closed, Stopped, requests.RequestException):
            assert kills
        if kills:
            self.server.kill()
            self.server = self.start()
            self.app.server = self.server
            self.browser.aim(self.server.url, self.database.name)
            self.database = Database(self.server, self.token)

    def check(self):
        for _ in range(3):
            for device in (self.app, self.browser):
                self.sync(device, kills=False)
        stored = self.database.documents()
        listed = stored[LIST]["hotels"]
        assert self.added - self.removed <= set(listed) and len(listed) == len(set(listed))
        assert {name for name in listed if name not in stored} <= self.removed
        revisions = {name: body["_rev"] for name, body in stored.items()}
        assert self.browser.documents() == revisions
        assert {name: history[0] for name, (history, _, deleted) in self.app.documents.items() if not deleted} == revisions
        for name, body in self.app.live().items():
            assert {key: value for key, value in stored[name].items() if key not in ("_id", "_rev")} == body


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_phone_a_browser_and_the_page_end_equal(start, seed):
    together = Together(start, seed)
    for edits in (EDITS, 3, 3):
        for device in (together.app, together.browser):
            for _ in range(edits):
                together.edit(device)
        for _ in range(edits):
            together.post()
        for device in together.random.sample([together.app, together.browser] * 2, 4):
            together.sync(device, kills=together.random.random() < 0.4)
    together.check()
