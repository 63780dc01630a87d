"""No caller can access others' data. Each operation of openapi.yaml on another person's store gets the same response
as on a store that never existed, with and without credentials.

S05 and S06 in names are rows of the catalogue of faults."""
import re
import uuid

import pytest
import requests

from couch import Account, Database
from operations import OPERATIONS
from waiting import PATIENCE

# A session is the account's, whatever the name of the database.
STORED = [operation for operation in OPERATIONS
          if "{db}" in operation.template and operation.template != "/couch/{db}/_session"]
SIGNED_IN = [operation for operation in OPERATIONS if operation.needs_credentials]
# Headers that differ in every response.
OWN = {"date", "x-request-id", "x-couch-request-id", "x-couchdb-body-time", "request-id"}


def seen(answer, *names):
    """A response to compare, without the names of the request."""
    body = re.sub(r'"requestId":"[0-9a-f]+"', "", answer.text)
    for name in names:
        body = body.replace(name, "NAME")
    headers = {name.lower(): value for name, value in answer.headers.items()}
    return answer.status_code, {n: v for n, v in headers.items() if n not in OWN}, body


@pytest.fixture(scope="module")
def people(shared):
    """A victim, whose store has something for each path, and an intruder."""
    victim, intruder = Database(shared), Account(shared)
    for name in ("x", "_design/x", "bookmarkedhotels"):
        victim.rev(name, secret="of the victim")
    assert victim.call("PUT", "/_local/x", json={"secret": 1}).status_code == 201
    victim.call("POST", "/_index", json={"index": {"fields": ["secret"]}, "ddoc": "x", "name": "x"})
    before = victim.documents()
    yield victim, intruder
    assert victim.documents() == before


@pytest.mark.fault("S05")
@pytest.mark.parametrize("operation", STORED, ids=repr)
def test_anothers_store_is_an_absent_one(shared, people, operation):
    victim, intruder = people
    absent = "guest-" + uuid.uuid4().hex
    for token in (intruder.token, shared.guest(), None):
        there, nowhere = (
            shared.call(
                operation.method, operation.path({"db": name, "type": "json"}), token,
                json=operation.body())
            for name in (victim.name, absent))
        assert there.status_code in ((401,) if token is None else (403, 404)), there.text
        assert seen(there, victim.name, absent) == seen(nowhere, victim.name, absent)
        assert "of the victim" not in there.text


@pytest.mark.fault("S05")
def test_a_session_says_nothing_of_the_database(shared, people):
    victim, intruder = people
    wrong = {"name": intruder.name, "password": "another password"}
    for method, token, body, status in (
            ("GET", intruder.token, None, 200), ("GET", shared.guest(), None, 200), ("GET", None, None, 200),
            ("DELETE", None, None, 200), ("POST", None, {}, 400), ("POST", None, wrong, 401)):
        there, nowhere = (
            shared.call(method, f"/couch/{name}/_session", token, json=body)
            for name in (victim.name, "guest-" + uuid.uuid4().hex))
        assert there.status_code == status, there.text
        assert seen(there) == seen(nowhere)


@pytest.mark.fault("S05")
@pytest.mark.parametrize("operation", SIGNED_IN, ids=repr)
def test_nothing_is_done_without_credentials(shared, operation):
    bad = {"Authorization": "Bearer " + "x" * 200}
    for headers in ({}, bad, {"Cookie": "AuthSession=" + "x" * 200}):
        answer = shared.call(
            operation.method, operation.path({}), headers=headers, json=operation.body())
        if operation.path({}).startswith("/v1/admin/"):
            # Only the administrator learns that the path exists.
            absent = requests.request(
                operation.method, shared.url + "/v1/absent", headers=headers, json=operation.body(), timeout=PATIENCE)
            assert answer.status_code == absent.status_code == 404
            assert seen(answer) == seen(absent)
            continue
        assert answer.status_code in (401, 403), answer.text
        if answer.status_code == 401:
            assert "WWW-Authenticate" in answer.headers
        else:  # A write by cookie is refused for its origin before the cookie is checked.
            assert "Cookie" in headers and operation.method != "GET"


@pytest.mark.fault("S05")
def test_owner_and_intruder_are_told_apart(shared, people):
    """Shows that the comparison above can fail."""
    victim, intruder = people
    mine, foreign = (
        shared.call("GET", f"/couch/{victim.name}/x", person.token)
        for person in (victim, intruder))
    assert mine.status_code == 200 and "of the victim" in mine.text
    assert seen(mine, victim.name) != seen(foreign, victim.name)


@pytest.mark.fault("S05")
def test_every_operation_was_asked():
    open_ones = {
        operation.name for operation in OPERATIONS if not operation.needs_credentials}
    assert {operation.name for operation in SIGNED_IN} | open_ones == {
        operation.name for operation in OPERATIONS}
    assert len(STORED) > 50 and len(SIGNED_IN) > 60


@pytest.mark.fault("S06")
def test_places_in_anothers_store_are_of_no_use(shared, people):
    victim, intruder = people
    since = victim.changes()["last_seq"]
    own = Database(shared, intruder.token)
    own.rev("mine")
    for answer in (
            own.call("GET", f"/_changes?since={since}"),
            own.call("GET", f"/_changes?feed=eventsource&timeout=0&last-event-id={since}"),
            own.call(
                "GET", "/_changes?feed=eventsource&timeout=0", headers={"Last-Event-ID": since})):
        assert answer.status_code == 200 and '"mine"' in answer.text, answer.text
        assert "of the victim" not in answer.text
    token = shared.call("GET", "/v1/mirror", victim.token).json()["token"]
    assert shared.call("GET", f"/v1/mirror?since={token}", intruder.token).status_code == 410


@pytest.mark.fault("S06")
def test_anothers_idempotency_key_replays_nothing(shared):
    one, other = shared.guest(), shared.guest()
    headers = {"Idempotency-Key": "the same key of both"}
    body = {"add": [{"id": "a", "name": "of the first"}]}
    assert shared.call("POST", "/v1/bookmarks", one, json=body, headers=headers).status_code == 200
    answer = shared.call("POST", "/v1/bookmarks", other, json={"remove": ["a"]}, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.json()["results"][0]["status"] == 404
    assert shared.call("GET", "/v1/bookmarks", other).json()["bookmarks"] == []


@pytest.mark.fault("S06")
def test_a_store_named_in_a_body_or_query_is_not_gone_to(shared, people):
    victim, intruder = people
    own = Database(shared, intruder.token)
    for name in (victim.name, "../" + victim.name, f"{own.name}/../{victim.name}"):
        wrong = own.raw("GET", f"?db={name}")
        assert wrong.status_code in (200, 400) and "of the victim" not in wrong.text
        if wrong.status_code == 200:
            assert wrong.json()["db_name"] == own.name
        copied = own.copy("/x", f"/couch/{name}/x")
        assert copied.status_code in (400, 404)
        found = own.call("POST", "/_find", json={"selector": {}, "db": name})
        assert "of the victim" not in found.text


@pytest.mark.fault("S06")
def test_anothers_revisions_in_a_batch_lead_nowhere(shared, people):
    victim, _ = people
    own, before = Database(shared), victim.documents()
    rev = before["x"]["_rev"]
    invented = rev[:2] + "0" * len(rev[2:])
    for name in ("x", f"{victim.name}/x", f"../{victim.name}/x", f"{victim.name}%2Fx"):
        for path, element in (
                ("/_bulk_get?revs=true&latest=true", lambda rev: {"id": name, "rev": rev}),
                ("/_bulk_docs", lambda rev: {"_id": name, "_rev": rev, "db": victim.name}),
                ("/_bulk_docs", lambda rev: {"_id": name, "_rev": rev, "_deleted": True})):
            there, nowhere = (
                own.call("POST", path, json={"db": victim.name, "docs": [element(rev)]})
                for rev in (rev, invented))
            assert there.status_code < 300 and '"ok"' not in there.text, there.text
            assert seen(there, rev) == seen(nowhere, invented)
    assert own.call("POST", "/_revs_diff", json={"x": [rev]}).json()["x"]["missing"] == [rev]
    # A person who knows a revision's id may write a revision with that id, but only with their own content.
    assert own.bulk({"_id": "x", "_rev": rev, "mine": 1}, new_edits=False) == []
    assert own.documents() == {"x": {"_id": "x", "_rev": rev, "mine": 1}}
    assert victim.documents() == before


@pytest.mark.fault("S06")
def test_a_cookie_opens_its_owners_store_alone_and_goes_after_authorization(shared, people):
    victim, intruder = people
    own, absent = Database(shared, intruder.token), "guest-" + uuid.uuid4().hex
    rev = victim.call("GET", "/x").json()["_rev"]
    cookie = {"Cookie": "AuthSession=" + intruder.token}
    assert shared.call("GET", "/v1/me", headers=cookie).json()["store"] == own.name
    for method, path in (("GET", "x"), ("PUT", "x"), ("DELETE", f"x?rev={rev}"), ("GET", "_changes")):
        there, nowhere = (
            shared.call(method, f"/couch/{name}/{path}", headers=cookie,
                        json={"_rev": rev} if method == "PUT" else None)
            for name in (victim.name, absent))
        assert there.status_code in (403, 404), there.text
        assert seen(there, victim.name) == seen(nowhere, absent)
        # If a request has the victim's token and the intruder's cookie, the token counts.
        foreign = shared.call(method, f"/couch/{own.name}/{path}", victim.token, headers=cookie)
        assert foreign.status_code in (403, 404), foreign.text
    assert shared.call("GET", "/v1/me", victim.token, headers=cookie).json()["store"] == victim.name
    mine = shared.call("GET", f"/couch/{victim.name}/x", victim.token, headers=cookie)
    assert mine.status_code == 200 and mine.json()["_rev"] == rev
    # If the Authorization field is invalid, the server does not use the cookie instead.
    for wrong in ("Bearer " + "x" * 200, "Basic eDp5", "Digest x"):
        answer = shared.call("GET", "/v1/me", headers={**cookie, "Authorization": wrong})
        assert answer.status_code == 401, answer.text
