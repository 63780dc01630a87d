"""Calls every operation of the contract below a list, with and without membership. Only documented calls succeed, and
a list of others gets the same bytes as an absent list.
"""
import re

import pytest

from couch import Account
from server import Server

ABSENT = "0" * 32
CONTRACT = Server.contract.document
OPERATIONS = [
    (method.upper(), path) for path, operations in CONTRACT["paths"].items()
    if path.startswith("/v1/lists/{listID}") for method in operations if method != "parameters"]
DATABASE = [
    ("GET", ""), ("GET", "/_all_docs"), ("GET", "/_changes"), ("POST", "/_bulk_docs"), ("PUT", "/a"),
    ("GET", "/h1"), ("POST", "/_find"), ("GET", "/_security"), ("POST", "/_bulk_get"),
    ("GET", "/_local/x"), ("PUT", "/_local/x"), ("POST", "/_revs_diff"), ("POST", "/_compact")] + [
        ("GET", f"/_changes?feed={feed}&timeout=50") for feed in ("longpoll", "eventsource")]
OUTSIDE = ("invited", "removed", "stranger", "guest", "other guest", "administrator", "nobody", "expired")
BODIES = {
    "/members/{username}": {"role": "reader"}, "/invitations": {"role": "reader"},
    "/notes/{title}": {"markdown": "x"}, "": {"markdown": "y"}, "/bookmarks": {"remove": []},
    "/bookmarks/{hotelID}": {"name": "h"}, "/_bulk_docs": {"docs": []}, "/a": {},
    "/_find": {"selector": {}}, "/_bulk_get": {"docs": []}, "/_revs_diff": {}, "/_local/x": {},
    "/_compact": {}}
OWNERS = {("PUT", "/members/{username}"), ("DELETE", "/members/{username}"), ("GET", "/invitations"),
          ("POST", "/invitations"), ("DELETE", "/invitations/{invitationID}"), ("DELETE", ""),
          ("GET", "/links"), ("POST", "/links"), ("DELETE", "/links/{linkID}")}


@pytest.fixture(scope="module")
def shared(administrator):
    """A server with a known administrator's password, for the tests of this file."""
    return administrator.server


@pytest.fixture(scope="module")
def people(shared, administrator):
    """The list's path, and one token for each kind of caller."""
    people = {role: Account(shared) for role in ("owner", "editor", "reader", "invited", "removed", "stranger")}
    owner = people["owner"]
    path = "/v1/lists/" + shared.call(
        "POST", "/v1/lists", owner.token, json={"title": "Rome"}).json()["id"]
    for role in ("editor", "reader", "removed", "invited"):
        token = shared.call("POST", path + "/invitations", owner.token,
                            json={"role": "reader" if role == "reader" else "editor"}).json()["token"]
        if role != "invited":
            assert shared.call(
                "POST", f"/v1/invitations/{token}/accept", people[role].token).status_code == 200
    shared.call("DELETE", f"{path}/members/{people['removed'].name}", owner.token)
    shared.call("PUT", path + "/bookmarks/h1", owner.token, json={"name": "One"})
    shared.call("PUT", path + "/notes/Plan", owner.token, json={"markdown": "Go"})
    tokens = {role: person.token for role, person in people.items()}
    tokens["guest"], tokens["other guest"], tokens["nobody"] = shared.guest(), shared.guest(), None
    tokens["expired"] = tokens["stranger"][:-4] + "AAAA"
    tokens["administrator"] = administrator.auth
    return path[10:], tokens, people


def filled(path, people):
    values = {"username": people["owner"].name, "invitationID": ABSENT, "linkID": ABSENT, "hotelID": "h1", "name": "p",
              "title": "Plan", "documentID": "h1", "rev": "1-" + ABSENT}
    return re.sub(r"{(\w+)}", lambda match: values[match[1]], path)


def ask(server, method, family, suffix, which, token, people):
    body = BODIES.get(suffix) if method in ("PUT", "POST", "PATCH") else None
    options = {} if body is None else {"json": body}
    if isinstance(token, tuple):
        token, options["auth"] = None, token
    return server.call(method, family + which + filled(suffix, people), token, **options)


def told(answer, which):
    """What a response tells, without the list's name and the request id."""
    text = re.sub(r'"requestId":"[^"]*"', "", answer.text).replace(which, "")
    return answer.status_code, text, answer.headers.get("Content-Type"), answer.headers.get("ETag")


@pytest.mark.parametrize("method,path", OPERATIONS + [(method, "db:" + path) for method, path in DATABASE])
def test_whoever_is_not_on_a_list_can_not_tell_it_from_an_absent_one(shared, people, method, path):
    which, tokens, accounts = people
    family = "/couch/list-" if path.startswith("db:") else "/v1/lists/"
    suffix = path[3:] if path.startswith("db:") else path[len("/v1/lists/{listID}"):]
    for role in OUTSIDE:
        there = ask(shared, method, family, suffix, which, tokens[role], accounts)
        absent = ask(shared, method, family, suffix, ABSENT, tokens[role], accounts)
        if role == "removed" and path.startswith("db:"):
            # PouchDB stops syncing at this, and would ask for an absent database for ever.
            assert (there.status_code, there.json()["error"]) == (403, "forbidden"), there.text
            assert absent.status_code == 404, absent.text
            continue
        assert told(there, which) == told(absent, ABSENT), role
        # The administrator may use no path of a list in /v1.
        known = (403,) if role == "administrator" and not path.startswith("db:") else (401, 404)
        assert there.status_code in known or role in ("nobody", "expired"), (role, there.text)
    reader = ask(shared, method, family, suffix, which, tokens["reader"], accounts)
    if method != "GET" and path not in ("db:/_find", "db:/_bulk_get", "db:/_revs_diff", "db:/_local/x",
                                        "db:/_bulk_docs"):
        known = (403, 404) if suffix.endswith(("/draft", "/publish")) else (403,)
        assert reader.status_code in known, reader.text
    elif (method, suffix) in OWNERS:
        assert reader.status_code == 403
    if (method, suffix) in OWNERS:
        editor = ask(shared, method, family, suffix, which, tokens["editor"], accounts)
        assert editor.status_code == 403, editor.text


@pytest.mark.parametrize("role", OUTSIDE)
def test_whoever_is_not_on_a_list_can_not_observe_it(shared, people, role):
    which, tokens, accounts = people
    there, absent = (
        ask(shared, "GET", "/v1/changes?list=", "", each, tokens[role], accounts) for each in (which, ABSENT))
    assert told(there, which) == told(absent, ABSENT)
    assert there.status_code in (401, 403, 404), there.text


def test_the_list_is_as_it_was(shared, people):
    which, tokens, accounts = people
    answer = shared.call("GET", "/v1/lists/" + which, tokens["owner"]).json()
    assert [member["role"] for member in answer["members"]] == ["owner", "editor", "reader"]
    page = shared.call("GET", f"/v1/lists/{which}/bookmarks", tokens["reader"]).json()
    assert [each["id"] for each in page["bookmarks"]] == ["h1"]
    own = shared.call("GET", "/v1/changes?list=" + which, tokens["removed"])
    assert own.status_code == 404
