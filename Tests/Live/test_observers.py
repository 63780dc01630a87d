"""Observers, `GET /v1/changes`: one stream for a person's own store and all lists of which the person is a member."""
import json
import threading
import time

import requests

from couch import Account, Database
from test_couch_feeds import open_feed
from waiting import PATIENCE, wait_until


class Stream:
    """An open event stream, read by a thread."""

    def __init__(self, account, query="", last=None):
        headers = {"Authorization": "Bearer " + account.token}
        if last:
            headers["Last-Event-ID"] = last
        session = requests.Session()
        session.trust_env = False
        self.answer = session.get(
            account.server.url + "/v1/changes" + query, headers=headers, stream=True, timeout=PATIENCE)
        assert self.answer.status_code == 200, self.answer.text
        self.events, self.last, self.ended = [], last, threading.Event()
        threading.Thread(target=self._read, daemon=True).start()
        wait_until(lambda: self.last is not None)

    def _read(self):
        name, data = None, None
        try:
            for line in self.answer.iter_lines(chunk_size=1):
                text = line.decode()
                if text.startswith("event: "):
                    name = text[7:]
                elif text.startswith("data: "):
                    data = json.loads(text[6:])
                elif text.startswith("id: "):
                    self.last = text[4:]
                elif not text and name:
                    self.events.append((name, data))
                    name, data = None, None
        except (requests.RequestException, AttributeError):
            pass
        self.ended.set()

    def told(self):
        return [(name, data.get("id") or data.get("role")) for name, data in self.events]


def make_list(owner, *members):
    answer = owner.server.call("POST", "/v1/lists", owner.token, json={"title": "Rome"})
    assert answer.status_code == 201, answer.text
    path = "/v1/lists/" + answer.json()["id"]
    for member, role in members:
        token = owner.server.call(
            "POST", path + "/invitations", owner.token, json={"role": role}).json()["token"]
        answer = owner.server.call("POST", f"/v1/invitations/{token}/accept", member.token)
        assert answer.status_code == 200, answer.text
    return path


def bookmark(account, hotel, path="/v1"):
    answer = account.server.call(
        "PUT", f"{path}/bookmarks/{hotel}", account.token, json={"name": hotel})
    assert answer.status_code in (200, 201), answer.text


def test_a_change_is_told_at_once_with_what_it_says(shared):
    person = Account(shared)
    stream = Stream(person, "?type=hotel")
    bookmark(person, "h1")
    wait_until(lambda: stream.told() == [("change", "h1")])
    assert stream.events[0][1]["document"]["name"] == "h1"
    shared.call("DELETE", "/v1/bookmarks/h1", person.token)
    wait_until(lambda: len(stream.events) == 2)
    assert stream.events[1][1]["deleted"] is True


def test_one_stream_has_ones_own_store_and_all_lists(shared):
    owner, friend = Account(shared), Account(shared)
    stream = Stream(friend)
    path = make_list(owner, (friend, "reader"))
    wait_until(lambda: ("joined", "reader") in stream.told())
    bookmark(owner, "h2", path)
    wait_until(lambda: ("change", "h2") in stream.told())
    assert [data["list"] for name, data in stream.events if data.get("id") == "h2"] == [path[10:]]
    assert shared.call("DELETE", f"{path}/members/{friend.name}", owner.token).status_code == 204
    wait_until(lambda: stream.told()[-1:] == [("left", None)])
    bookmark(owner, "h3", path)
    bookmark(friend, "mine")
    wait_until(lambda: ("change", "mine") in stream.told())
    assert ("change", "h3") not in stream.told()


def test_removed_members_feed_of_the_lists_database_ends(shared):
    owner, friend = Account(shared), Account(shared)
    path = make_list(owner, (friend, "editor"))
    database = Database(shared, friend.token, "list-" + path[10:])
    feed, lines = open_feed(database, "continuous")
    with feed:
        assert shared.call("DELETE", f"{path}/members/{friend.name}", owner.token).status_code == 204
        assert b"last_seq" in b"".join(lines)
    # The protocol tells a former member so, for some time.
    assert database.call("GET", "/_all_docs").status_code == 403


def test_nothing_is_missed_or_told_twice_over_breaks_and_a_restart(start):
    server = start()
    owner, friend = Account(server), Account(server)
    path = make_list(owner, (friend, "editor"))
    told, last = [], Stream(friend).last
    for number in range(6):
        bookmark(friend, f"own{number}")
        bookmark(owner, f"list{number}", path)
        if number == 3:
            server.kill()
            server = start(port=server.port) if hasattr(server, "port") else start()
            owner.server = friend.server = server
        stream = Stream(friend, "?type=hotel", last)
        wait_until(lambda: len(stream.events) >= 2)
        time.sleep(0.05)
        told += [data["id"] for _, data in stream.events]
        last = stream.last
    assert sorted(told) == sorted([f"{kind}{n}" for kind in ("own", "list") for n in range(6)])


def test_a_token_that_is_none_is_refused(shared):
    person = Account(shared)
    answer = shared.call("GET", "/v1/changes?since=nonsense", person.token)
    assert answer.status_code == 400
    assert shared.call("GET", "/v1/changes?list=" + "0" * 32, person.token).status_code == 404
