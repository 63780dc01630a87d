"""S11, S16, S19: forged requests in another person's name, requests that only the administrator may send, and repeated
requests."""
import concurrent.futures
import json
import uuid

import pytest
import requests

from couch import Account, Database
from operations import OPERATIONS

FORGED = {
    "a form": ("application/x-www-form-urlencoded", "name=N"),
    "a form with a file": ("multipart/form-data; boundary=x", "--x\r\n\r\n{}\r\n--x--"),
    "JSON as text": ("text/plain", '{"name":"N"}'),
    "JSON": ("application/json", '{"name":"N"}'),
    "no type": (None, '{"name":"N"}'),
}
WRITES = [("PUT", "/v1/bookmarks/x"), ("POST", "/v1/bookmarks"), ("DELETE", "/v1/bookmarks/kept"),
          ("DELETE", "/v1/me"), ("DELETE", "/v1/sessions"), ("PUT", "/couch/{db}/x"), ("POST", "/couch/{db}"),
          ("POST", "/couch/{db}/_bulk_docs"), ("DELETE", "/couch/{db}/kept")]


@pytest.fixture(scope="module")
def browser(shared):
    """A session with a user's cookie and one bookmark; (session, store)."""
    session = requests.Session()
    body = {"username": "browser-" + uuid.uuid4().hex, "password": "long enough"}
    token = shared.call("POST", "/v1/users", session=session, json=body).json()["token"]
    assert shared.call("PUT", "/v1/bookmarks/kept", token, json={"name": "K"}).status_code == 201
    yield session, shared.call("GET", "/v1/me", token).json()["store"]
    assert shared.call("GET", "/v1/me", session=session).status_code == 200
    listed = shared.call("GET", "/v1/bookmarks", session=session).json()["bookmarks"]
    assert [bookmark["id"] for bookmark in listed] == ["kept"]


@pytest.mark.fault("S11")
@pytest.mark.parametrize("origin", [
    None, "null", "http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1"])
@pytest.mark.parametrize("form", FORGED)
def test_write_by_cookie_from_another_page_is_403(shared, browser, form, origin):
    session, store = browser
    kind, body = FORGED[form]
    headers = {name: value for name, value in (("Content-Type", kind), ("Origin", origin)) if value}
    for method, path in WRITES:
        # CouchDB clients that are no browsers send no Origin. Browsers send it with every write.
        if not origin and path.startswith("/couch"):
            continue
        answer = shared.call(method, path.format(db=store), session=session, data=body, headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden"), (method, path, answer.text)


@pytest.mark.fault("S11")
@pytest.mark.parametrize("form", ["a form", "a form with a file", "JSON as text"])
def test_form_from_this_page_is_no_json(shared, browser, form):
    session, store = browser
    kind, body = FORGED[form]
    for method, path in (("PUT", "/v1/bookmarks/x"), ("POST", "/v1/bookmarks"), ("POST", "/couch/{db}/_bulk_docs")):
        answer = shared.call(method, path.format(db=store), session=session, data=body,
                             headers={"Content-Type": kind, "Origin": shared.url})
        assert answer.status_code == 415, answer.text


ADMINISTRATION = [
    ("GET", "/_all_dbs", None), ("POST", "/_dbs_info", {"keys": ["d"]}), ("PUT", "/new-database", None),
    ("DELETE", "/{db}", None), ("POST", "/{db}/_purge", {"a": ["1-a"]}), ("PUT", "/{db}/_security", {}),
    ("PUT", "/{db}/_revs_limit", 5)]


@pytest.mark.fault("S16")
@pytest.mark.parametrize("who", ["nobody", "guest", "user", "wrong password", "wrong name"])
def test_administration_is_the_administrators_alone(administrator, who):
    """The administrator's operations have no interface of their own: they are among the other paths."""
    server, database = administrator.server, administrator.create()
    rev = database.rev("a")
    options = {}
    if who == "guest":
        options["token"] = server.guest()
    elif who == "user":
        options["token"] = Account(server).token
    elif who != "nobody":
        name, password = administrator.auth
        options["auth"] = (name, password + "x") if who == "wrong password" else (name + "x", password)
    for method, path, body in ADMINISTRATION:
        answer = server.call(method, "/couch" + path.format(db=database.name), json=body, **options)
        # After too many wrong attempts the status is 429 (S10).
        expected = (401, 403, 404, 429) if who.startswith("wrong") else (401, 403, 404)
        assert answer.status_code in expected, (method, path, answer.text)
    assert database.rev("a", _rev=rev).startswith("2-")
    assert database.call("GET", "/_security").status_code == 200
    assert "new-database" not in administrator.call("GET", "/_all_dbs").json()


@pytest.mark.fault("S16")
def test_no_credentials_lead_from_the_administrator_to_a_persons_store(administrator):
    server = administrator.server
    token = server.guest()
    store = server.call("GET", "/v1/me", token).json()["store"]
    assert server.call("PUT", "/v1/bookmarks/x", token, json={"name": "N"}).status_code == 201
    for path in ("", "/_all_docs", "/x", "/_changes"):
        answer = administrator.call("GET", f"/{store}{path}")
        assert answer.status_code in (403, 404), answer.text
    for operation in OPERATIONS:
        if operation.template in ("/v1/me", "/v1/bookmarks", "/v1/mirror"):
            answer = server.call(operation.method, operation.path({}), auth=administrator.auth,
                                 json=operation.body())
            assert answer.status_code in (400, 403, 404), (operation, answer.text)


def batch(server, token, key, **changes):
    return server.call("POST", "/v1/bookmarks", token, json=changes, headers={"Idempotency-Key": key})


ONE, OTHER = {"add": [{"id": "one", "name": "One"}]}, {"remove": ["one"]}


@pytest.mark.fault("S19")
def test_key_that_comes_again_with_the_same_body_replays(start):
    server = start()
    token = server.guest()
    first = batch(server, token, "k", **ONE)
    assert first.status_code == 200, first.text
    assert batch(server, token, "other", **OTHER).status_code == 200
    # A repeated key changes nothing, although the bookmarks have changed meanwhile. The key survives a kill, too.
    assert batch(server, token, "k", **ONE).content == first.content
    server.kill()
    server = start()
    assert batch(server, token, "k", **ONE).content == first.content
    assert server.call("GET", "/v1/bookmarks", token).json()["bookmarks"] == []


@pytest.mark.fault("S19")
def test_key_with_another_body_is_422_and_changes_nothing(shared):
    token = shared.guest()
    assert batch(shared, token, "k", **ONE).status_code == 200
    assert batch(shared, token, "k", **OTHER).status_code == 422
    assert [b["id"] for b in shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"]] == ["one"]


@pytest.mark.fault("S19")
def test_keys_of_two_people_are_two(shared):
    people = [shared.guest(), shared.guest()]
    assert [batch(shared, token, "k", **changes).status_code
            for token, changes in zip(people, (ONE, {"add": [{"id": "two", "name": "Two"}]}))] == [200, 200]
    for token, name in zip(people, ("one", "two")):
        listed = shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"]
        assert [bookmark["id"] for bookmark in listed] == [name]


@pytest.mark.fault("S19")
def test_same_key_at_once_is_done_once(shared):
    """No 409 for a key in use: the store carries out one request at a time, and later ones get the same response."""
    database = Database(shared)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: batch(shared, database.token, "k", **ONE), range(48)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    [document] = [row for row in database.call("GET", "/_all_docs?include_docs=true").json()["rows"]
                  if row["doc"].get("type") == "hotel"]
    assert document["value"]["rev"].startswith("1-"), json.dumps(document)
