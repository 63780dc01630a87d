"""Shared lists with `kill -9`: whenever a server is killed, the state after a restart and a retry is the same as
without a kill.

`BOOKMARKS_SEED` sets the seed that a failure prints, `BOOKMARKS_KILLS` the number of kills.
"""
import os
import random
import threading

import pytest
import requests

from conftest import NIGHTLY
from couch import Account
from waiting import wait_until

KILLS = int(os.environ.get("BOOKMARKS_KILLS") or (200 if NIGHTLY else 3))
SEED = int(os.environ.get("BOOKMARKS_SEED") or (random.randrange(1_000_000) if NIGHTLY else 1))


class Run:
    """Servers, one after the other, over the same directory, and their users."""

    def __init__(self, start, chance):
        self.start, self.chance = start, chance
        self.server = start()
        self.people = []

    def person(self):
        person = Account(self.server)
        self.people.append(person)
        return person

    def restart(self):
        self.server.kill()
        self.server = self.start()
        for person in self.people:
            person.server = self.server

    def call(self, person, method, path, value=None, expected=None):
        options = {} if value is None else {"json": value}
        answer = self.server.call(method, path, person.token, **options)
        if expected is not None:
            assert answer.status_code in expected, (method, path, answer.status_code, answer.text)
        return answer

    def killed(self, person, method, path, value=None, retry=(200,)):
        """Sends a request, kills the server at a random moment of it, starts it again and repeats the request."""
        request = threading.Thread(target=self._try, args=(person, method, path, value))
        request.start()
        request.join(self.chance.expovariate(1 / 0.004))
        self.restart()
        request.join()
        return self.call(person, method, path, value, retry)

    def _try(self, person, method, path, value):
        try:
            self.call(person, method, path, value)
        except requests.RequestException:
            pass


@pytest.fixture
def run(start):
    print("seed", SEED)
    return Run(start, random.Random(SEED))


def make_list(run, owner, title="Rome"):
    return "/v1/lists/" + run.call(owner, "POST", "/v1/lists", {"title": title}, [201]).json()["id"]


def invite(run, owner, path, role="editor"):
    return run.call(owner, "POST", path + "/invitations", {"role": role}, [201]).json()["token"]


def own_documents(run, person):
    rows = run.call(person, "GET", f"/couch/{person.store}/_all_docs", None, [200]).json()["rows"]
    return [row["id"] for row in rows]


def wiki(run, person, path):
    return run.call(person, "GET", f"/couch/list-{path[10:]}/{path[10:]}", None, [200]).json()


def test_publishing_is_one_step(run):
    owner, editor = run.person(), run.person()
    path = make_list(run, owner)
    run.call(editor, "POST", f"/v1/invitations/{invite(run, owner, path)}/accept", None, [200])
    for number in range(KILLS):
        title = f"note{number}"
        run.call(editor, "PUT", f"{path}/notes/{title}?draft=true", {"markdown": title}, [201])
        # If the first request was carried out, the retry finds no draft.
        run.killed(editor, "POST", f"{path}/notes/{title}/publish", None, [200, 404])
        note = run.call(owner, "GET", f"{path}/notes/{title}", None, [200]).json()
        assert note["markdown"] == title
        assert run.call(editor, "GET", path + "/drafts", None, [200]).json()["drafts"] == []
        assert own_documents(run, editor) == []


def test_an_invitation_makes_one_member_and_the_list_shows_them(run):
    owner = run.person()
    path = make_list(run, owner)
    for number in range(KILLS):
        friend = run.person()
        token = invite(run, owner, path, "reader")
        run.killed(friend, "POST", f"/v1/invitations/{token}/accept", None, [200])
        names = [member["username"] for member in
                 run.call(owner, "GET", path, None, [200]).json()["members"]]
        assert names.count(friend.name) == 1
        assert wiki(run, owner, path)["members"].count(friend.name) == 1
        stranger = run.person()
        run.call(stranger, "POST", f"/v1/invitations/{token}/accept", None, [410])


def test_leaving_takes_drafts_along(run):
    owner = run.person()
    path = make_list(run, owner)
    for _ in range(KILLS):
        friend = run.person()
        run.call(friend, "POST", f"/v1/invitations/{invite(run, owner, path)}/accept", None, [200])
        run.call(friend, "PUT", f"{path}/bookmarks/h1?draft=true", {"name": "One"}, [201])
        run.killed(friend, "DELETE", f"{path}/members/{friend.name}", None, [204, 404])
        run.call(friend, "GET", path, None, [404])
        assert friend.name not in wiki(run, owner, path)["members"]
        assert own_documents(run, friend) == []


def test_ending_a_list_ends_all_of_it(run):
    owner, friend = run.person(), run.person()
    for _ in range(KILLS):
        path = make_list(run, owner)
        token = invite(run, owner, path)
        run.call(friend, "POST", f"/v1/invitations/{invite(run, owner, path)}/accept", None, [200])
        run.call(friend, "PUT", f"{path}/bookmarks/h1?draft=true", {"name": "One"}, [201])
        run.killed(owner, "DELETE", path, None, [204, 404])
        for person in (owner, friend):
            run.call(person, "GET", path, None, [404])
            run.call(person, "GET", f"/couch/list-{path[10:]}", None, [403])
            assert run.call(person, "GET", "/v1/lists", None, [200]).json()["lists"] == []
        run.call(run.person(), "POST", f"/v1/invitations/{token}/accept", None, [404, 410])
    # The server removes others' drafts soon after the response to the owner.
    wait_until(lambda: own_documents(run, friend) == [])


def test_erasing_an_owner_hands_on_or_ends_lists(run):
    for number in range(KILLS):
        owner, friend = run.person(), run.person()
        wish = "handOn" if number % 2 else "delete"
        path = make_list(run, owner)
        run.call(friend, "POST", f"/v1/invitations/{invite(run, owner, path)}/accept", None, [200])
        run.killed(owner, "DELETE", "/v1/me?lists=" + wish, None, [204, 401])
        run.people.remove(owner)
        answer = run.call(friend, "GET", path)
        if wish == "delete":
            assert answer.status_code == 404
            continue
        assert answer.json()["owner"] == "" and owner.name not in answer.text
        answer = run.call(friend, "POST", f"/v1/invitations/{path[10:]}/accept", None, [200])
        assert answer.json()["owner"] == friend.name
        assert wiki(run, friend, path)["owner_id"] == friend.name


def test_an_import_brings_all_lists_or_none(run):
    owner = run.person()
    for number in range(3):
        path = make_list(run, owner, f"list{number}")
        run.call(owner, "PUT", f"{path}/notes/Plan", {"markdown": "Go"}, [201])
    run.call(owner, "PUT", "/v1/bookmarks/h1", {"name": "One"}, [201])
    export = run.call(owner, "GET", "/v1/me/export", None, [200]).content
    for _ in range(KILLS):
        other = run.person()

        def read_in():
            try:
                return run.server.call("POST", "/v1/me/import", other.token, data=export)
            except requests.RequestException:
                return None

        request = threading.Thread(target=read_in)
        request.start()
        request.join(run.chance.uniform(0, 0.08))
        run.restart()
        request.join()
        lists = run.call(other, "GET", "/v1/lists", None, [200]).json()["lists"]
        documents = own_documents(run, other)
        assert (len(lists), bool(documents)) in ((0, False), (3, True)), (lists, documents)
        if not documents:
            assert read_in().status_code == 200
        lists = run.call(other, "GET", "/v1/lists", None, [200]).json()["lists"]
        assert sorted(each["title"] for each in lists) == ["list0", "list1", "list2"]
        assert {each["owner"] for each in lists} == {other.name}
