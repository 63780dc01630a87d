"""A mirror on a device, kept as the book's Mirror page describes, during changes and restarts of both sides."""
import json
import random

import pytest

from slices import first


class Copy:
    """What a device stores on its disk: every page together with its token."""

    def __init__(self, path):
        self.path, self.pages = path, 0
        self.restart()

    def restart(self):
        """Reads the state from the disk, as a device does after it was switched off."""
        kept = json.loads(self.path.read_text()) if self.path.exists() else {}
        self.hotels, self.order = kept.get("hotels", {}), kept.get("order", [])
        self.token = kept.get("token")

    def forget(self):
        self.hotels, self.order, self.token = {}, [], None

    def page(self, server, who):
        """Sends one request. Returns whether there are more pages."""
        path = "/v1/mirror" + (f"?since={self.token}" if self.token else "")
        tag = {"If-None-Match": f'"{self.token}"'} if self.token else {}
        reply = server.call("GET", path, token=who, headers=tag)
        if reply.status_code == 304:
            return False
        if reply.status_code == 410:
            self.forget()
            return True
        assert reply.status_code == 200
        page = reply.json()
        if page["reset"]:
            self.hotels, self.order = {}, []
        self.hotels.update({hotel["id"]: hotel for hotel in page["hotels"]})
        for gone in page["removed"]:
            self.hotels.pop(gone["id"], None)
        self.order, self.token = page.get("order", self.order), page["token"]
        self.path.write_text(json.dumps(
            {"hotels": self.hotels, "order": self.order, "token": self.token}))
        self.pages += 1
        return page.get("more", False)

    def update(self, server, who):
        while self.page(server, who):
            pass

    @property
    def bookmarks(self):
        return [self.hotels[id] for id in self.order if id in self.hotels]


def listed(server, who):
    """All bookmarks, read page by page."""
    rows, after = [], None
    while True:
        parameters = {"limit": 100, **({"after": after} if after else {})}
        page = server.call("GET", "/v1/bookmarks", token=who, params=parameters).json()
        rows += page["bookmarks"]
        after = page.get("next")
        if not after:
            return rows


def change(server, who, store, chance, step):
    """Makes one random change of those that may happen to a store."""
    name, draw = f"h{chance.randrange(15)}", chance.random()
    if draw < 0.55:
        server.call("PUT", f"/v1/bookmarks/{name}", token=who, json={"step": step})
    elif draw < 0.8:
        server.call("DELETE", f"/v1/bookmarks/{name}", token=who)
    elif draw < 0.9:
        added = [{"id": f"h{number}", "step": step} for number in chance.sample(range(15), 3)]
        server.call("POST", "/v1/bookmarks", token=who, json={
            "add": added, "remove": [f"h{chance.randrange(15, 20)}"]})
    else:
        # A sync client may delete a hotel's document without a change of the list, or write another document.
        found = server.call("GET", f"/couch/{store}/{name}", token=who)
        if found.status_code == 200:
            server.call("DELETE", f"/couch/{store}/{name}?rev={found.json()['_rev']}", token=who)
        else:
            server.call("PUT", f"/couch/{store}/{name}-note", token=who, json={"note": step})


@pytest.mark.parametrize("seed", first(1, range(2)))
def test_copy_equals_the_store_through_random_changes_and_restarts(start, rounds, tmp_path, seed):
    chance = random.Random(seed)
    server = start()
    who = server.guest()
    store = server.call("GET", "/v1/me", token=who).json()["store"]
    copy = Copy(tmp_path / "copy.json")
    restarts = 0
    for step in range(75 * rounds):
        draw = chance.random()
        if draw < 0.7:
            change(server, who, store, chance, step)
        elif draw < 0.71:
            server.kill() if chance.random() < 0.7 else server.stop()
            server, restarts = start(), restarts + 1
        elif draw < 0.75:
            copy.page(server, who)
            copy.restart()
        else:
            copy.update(server, who)
            assert copy.bookmarks == listed(server, who), f"step {step}"
    copy.update(server, who)
    assert copy.bookmarks == listed(server, who)
    print(f"\n{75 * rounds} steps, {restarts} restarts, {copy.pages} pages")
    assert copy.pages > 10


def test_copy_of_more_than_a_page_is_whole(start, tmp_path):
    server = start()
    body = {"username": "copyist", "password": "a good password"}
    who = server.call("POST", "/v1/users", json=body).json()["token"]
    for part in range(13):
        added = [{"id": f"h{part * 100 + number}", "n": number} for number in range(100)]
        reply = server.call("POST", "/v1/bookmarks", token=who, json={"add": added})
        assert reply.status_code == 200, reply.text
    copy = Copy(tmp_path / "copy.json")
    assert copy.page(server, who)
    server.kill()
    server = start()
    copy.restart()
    copy.update(server, who)
    assert copy.bookmarks == listed(server, who) and len(copy.bookmarks) == 1_300
