"""A person's own remote: a database on another server with which the own store is kept equal."""
import json

import pytest
import requests

from attachments import inline
from couch import Account, Administrator, Database
from server import Server
from test_replicator import LOOPBACK, content
from waiting import PATIENCE, wait_until


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two servers that may reach each other."""
    ends = [Administrator(tmp_path_factory.mktemp(name), *LOOPBACK) for name in ("here", "there")]
    yield ends
    for end in ends:
        assert end.server.stop() == 0, "".join(end.server.log[-20:])


class Person:
    """A user here who has a store there, too."""

    def __init__(self, here, there):
        self.account, self.other = Account(here.server), Account(there.server)
        self.server = here.server
        self.own = Database(here.server, self.account.token)
        self.far = Database(there.server, self.other.token)
        self.remote = {"url": f"{there.server.url}/couch/{self.other.store}",
                       "auth": {"basic": {"username": self.other.name, "password": self.other.password}}}

    def call(self, method, path="/v1/sync", **options):
        return self.server.call(method, path, self.account.token, **options)

    def set(self, **members):
        answer = self.call("PUT", json={**self.remote, **members})
        assert answer.status_code == 200, answer.text
        return answer.json()

    def state(self, direction, *wanted):
        return wait_until(lambda: (
            found := self.call("GET").json()[direction]) and found["state"] in wanted and found, f"not {wanted}")


def jobs(here, person):
    """The replications of the person that run or wait."""
    listed = here.call("GET", "/_scheduler/jobs?limit=1000").json()["jobs"]
    return [job for job in listed if person.account.store in (job["source"], job["target"])]


def test_both_ways_all_the_time(pair):
    person = Person(*pair)
    person.own.put("a", n=1, _attachments={"f": inline(b"file" * 100)})
    person.far.put("b", n=2)
    answer = person.set()
    assert answer["direction"] == "both" and answer["continuous"] is True and answer["hasCredentials"] is True
    assert answer["url"] == person.remote["url"]
    wait_until(lambda: person.far.call("GET", "/a").status_code == 200 and person.own.call("GET", "/b").status_code == 200)
    person.own.put("c", n=3)
    wait_until(lambda: person.far.call("GET", "/c").status_code == 200)
    assert content(person.far) == content(person.own)
    pushed = wait_until(lambda: (found := person.state("push", "running")).get("done", 0) >= 2 and found)
    assert pushed["total"] == pushed["done"] and pushed["refused"] == 0 and pushed["bytes"] > 300
    assert len(jobs(pair[0], person)) == 2
    assert person.call("DELETE").status_code == 204
    assert person.call("GET").status_code == 404 and person.call("DELETE").status_code == 404
    wait_until(lambda: not jobs(pair[0], person))
    person.own.put("d", n=4)
    # Another remote, of the other direction, copies a marker: had the push gone on, it would have copied meanwhile.
    person.far.put("marker", n=5)
    person.set(direction="pull")
    wait_until(lambda: person.own.call("GET", "/marker").status_code == 200)
    assert person.far.call("GET", "/d").status_code == 404


def test_by_hand_and_one_way(pair):
    person = Person(*pair)
    person.own.bulk(*({"_id": f"d{n}"} for n in range(30)))
    person.far.put("theirs", n=1)
    assert person.set(direction="push", continuous=False)["push"]["state"] == "idle"
    assert person.far.call("GET", "").json()["doc_count"] == 1
    for times in (1, 2):
        answer = person.call("POST", "/v1/sync/now")
        assert answer.status_code == 200 and "pull" not in answer.json()
        done = wait_until(lambda: (found := person.call("GET").json()["push"])["state"] == "completed" and found)
        wait_until(lambda: person.far.call("GET", "").json()["doc_count"] == 30 + times)
        assert done["refused"] == 0
        person.own.put(f"more{times}", n=1)
    assert person.own.call("GET", "/theirs").status_code == 404


def test_errors_have_plain_words(pair):
    person = Person(*pair)
    person.remote["auth"]["basic"]["password"] = "wrong password"
    person.set(direction="pull")
    failed = person.state("pull", "crashing")
    assert failed["error"] == "The other server does not accept the user name or the password."
    assert failed["reason"].startswith("unauthorized: ")
    for url, words in ((pair[1].server.url + "/couch/absent", "There is no database at this address."),
                       # A phone's keyboard begins it with a capital letter.
                       ("Http://127.0.0.1:1/x", "can't be reached")):
        person.set(url=url, auth={"basic": {"username": person.other.name, "password": person.other.password}})
        assert words in wait_until(lambda: person.call("GET").json()["pull"].get("error"))
    # Nothing tells a person which ports of the server's own network are open.
    assert person.call("GET").json()["pull"]["reason"] == "http_request_failed: http://127.0.0.1:1/x/: it can't be reached"
    assert person.set(direction="pull", auth={}, headers={})["hasCredentials"] is False
    for wrong in ({"url": "plans"}, {"url": "ftp://h/x"}, {"direction": "up"}, {"continuous": 1}, {"auth": 7},
                  {"url": "http://10.0.0.1/x"}, {"url": "https://[fd00::1]:6984/x"}):
        assert person.call("PUT", json={**person.remote, **wrong}).status_code == 400, wrong
    basic = person.remote["auth"]["basic"]
    for wrong in ({"username": "ada"}, {"auth": basic}, {"auth": {"basic": {**basic, "username2": "x"}}}):
        answer = person.call("PUT", json={**person.remote, **wrong})
        assert answer.status_code == 400 and "`username" in answer.json()["reason"], answer.text
        assert "`auth.basic.password`" in answer.json()["reason"]
    guest = pair[0].server.guest()
    refused = pair[0].server.call("PUT", "/v1/sync", guest, json=person.remote)
    assert (refused.status_code, refused.json()["error"]) == (403, "account_needed")
    assert pair[0].server.call("GET", "/v1/sync", guest).status_code == 404
    assert pair[0].server.call("POST", "/v1/sync/now", guest).status_code == 404


def test_nobody_else_reaches_the_remote(pair):
    person, other = Person(*pair), Person(*pair)
    secret = person.other.password
    person.set()
    other.set()
    person.own.put("mine", n=1)
    wait_until(lambda: person.far.call("GET", "/mine").status_code == 200)
    wait_until(lambda: other.call("GET").json()["push"]["state"] == "running")
    assert other.far.call("GET", "/mine").status_code == 404 and other.own.call("GET", "/mine").status_code == 404
    here = pair[0]
    assert "_remotes" not in here.call("GET", "/_all_dbs").json()
    for method, path in (("GET", ""), ("GET", "/_all_docs"), ("GET", "/_changes"), ("PUT", ""), ("DELETE", ""), ("PUT", "/x")):
        assert here.call(method, "/_remotes" + path, json={}).status_code in (400, 404), path
    assert here.call("POST", "/_dbs_info", json={"keys": ["_remotes"]}).json()[0]["error"] == "not_found"
    assert here.call("POST", "/_replicate", json={"source": "_remotes", "target": "x", "create_target": True}).status_code >= 400
    for text in (person.call("GET").text, here.call("GET", "/_scheduler/jobs").text, here.call("GET", "/_active_tasks").text):
        assert secret not in text


def test_progress_comes_as_events_until_the_remote_is_forgotten(pair):
    person = Person(*pair)
    person.set(direction="push")
    headers = {"Accept": "text/event-stream", "Authorization": "Bearer " + person.account.token}
    with requests.get(person.server.url + "/v1/sync", headers=headers, stream=True, timeout=PATIENCE) as stream:
        assert stream.status_code == 200 and stream.headers["Content-Type"] == "text/event-stream"
        found = (json.loads(line[6:]) for line in stream.iter_lines() if line.startswith(b"data: "))
        assert next(found)["url"] == person.remote["url"]
        person.own.put("a", n=1)
        assert next(event for event in found if event["push"].get("done", 0) >= 1)["push"]["state"] == "running"
        assert person.call("DELETE").status_code == 204
        for _ in found:  # It ends.
            pass


def test_limits_of_the_administrators_databases_are_not_those_of_remotes(tmp_path, pair):
    """Regression: a few people's remotes filled the database in which all of them are."""
    here = Administrator(tmp_path, *LOOPBACK, "--database-documents", "1", "--database-bytes", "100")
    try:
        for _ in range(2):
            person = Person(here, pair[1])
            person.set()
            person.own.put("a", n=1)
            wait_until(lambda: person.far.call("GET", "/a").status_code == 200)
    finally:
        here.server.stop()


def test_remote_goes_on_after_a_kill_and_goes_with_the_account(tmp_path):
    for name in ("here", "there"):
        tmp_path.joinpath(name).mkdir()
    here, there = (Administrator(tmp_path / name, *LOOPBACK) for name in ("here", "there"))
    person = Person(here, there)
    person.set()
    person.state("push", "running")
    here.server.kill()
    here.server = Server(here.server.data, *LOOPBACK)
    person.server, person.own = here.server, Database(here.server, person.account.token)
    person.own.put("a", n=1)
    wait_until(lambda: person.far.call("GET", "/a").status_code == 200)
    assert person.call("PUT", "/v1/me/password", json={"currentPassword": person.account.password, "password": "another password"}).status_code == 204
    person.account.token = here.server.call(
        "POST", "/v1/sessions", json={"username": person.account.name, "password": "another password"}).json()["token"]
    person.own = Database(here.server, person.account.token)
    person.own.put("b", n=1)
    person.call("POST", "/v1/sync/now")
    wait_until(lambda: person.far.call("GET", "/b").status_code == 200)
    assert person.call("DELETE", "/v1/me").status_code == 204
    wait_until(lambda: "replications_running 0" in here.server.metrics())
    for end in (here, there):
        assert end.server.stop() == 0
