"""_session, the root, _up and _uuids, and which callers may use which paths under /couch."""
import concurrent.futures
import re
import uuid

import pytest
import requests

from couch import PASSWORD, Account, Database, failed, with_credentials
from waiting import PATIENCE


@pytest.fixture
def credentials(account):
    return {"name": account.name, "password": account.password}


def cookie(answer):
    return {"Cookie": answer.headers["Set-Cookie"].split(";")[0]}


@pytest.mark.parametrize("form,member", [("data", "name"), ("json", "username")])
def test_login_by_form_or_json_under_either_word(shared, account, form, member):
    body = {member: account.name, "password": account.password}
    answer = shared.call("POST", "/couch/_session", **{form: body})
    assert (
        answer.status_code, answer.json()) == (200, {"ok": True, "name": account.name, "roles": []})
    parts = [part.strip().lower() for part in answer.headers["Set-Cookie"].split(";")]
    assert parts[0].startswith("authsession=") and {"httponly", "path=/"} <= set(parts)
    assert any(part.startswith("samesite=") for part in parts)
    who = shared.call("GET", "/couch/_session", headers=cookie(answer)).json()
    assert who["userCtx"] == {"name": account.name, "roles": []}
    assert who["info"]["authenticated"] == "cookie"
    assert "cookie" in who["info"]["authentication_handlers"]
    assert shared.call("GET", "/couch/_session?basic=true", headers=cookie(answer)).json() == who
    nobody = shared.call("GET", "/couch/_session?basic=true")
    assert (nobody.status_code, nobody.json()) == (401, {"error": "unauthorized", "reason": "Please login."})


def test_form_is_divided_at_semicolons_too_and_both_words_may_name_the_same(shared, account):
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for body in (f"name={account.name};password={PASSWORD}", f"name={account.name};username={account.name}&password={PASSWORD}"):
        answer = shared.call("POST", "/couch/_session", data=body.replace(" ", "+"), headers=form)
        assert answer.json() == {"ok": True, "name": account.name, "roles": []}


@pytest.mark.parametrize("body,status,reason", [
    ({"name": "x"}, 401, "Name or password is incorrect."), ({"password": "x"}, 400, "request body must contain a username"),
    ({}, 400, "request body must contain a username"),
    ({"name": "a", "username": "b", "password": "x"}, 400, "request body contains different usernames")], ids=str)
def test_login_with_less_or_more_has_couchdbs_words(shared, body, status, reason):
    """Source: CouchDB 3.5, `couch_httpd_auth:handle_session_req/2`."""
    for form in ("data", "json"):
        sent = {form: body or ({} if form == "json" else "x=1")}
        answer = shared.call("POST", "/couch/_session", **sent, headers={"Content-Type": {
            "json": "application/json", "data": "application/x-www-form-urlencoded"}[form]})
        word = "unauthorized" if status == 401 else "bad_request"
        assert (answer.status_code, answer.json()) == (status, {"error": word, "reason": reason})


@pytest.mark.parametrize("body,status", [
    ([], 400), ({"name": 1, "password": "x"}, 400),
    ({"name": "", "password": PASSWORD}, 401),
    ({"name": "nobody-" + "x" * 8, "password": PASSWORD}, 401),
    ({"name": "a\0b", "password": PASSWORD}, 401),
    ({"name": "x" * 5000, "password": PASSWORD}, 401), ({"name": "guest", "password": ""}, 401)],
    ids=str)
def test_login_that_fails_is_told_why(shared, body, status):
    answer = shared.call("POST", "/couch/_session", json=body)
    assert answer.status_code in ((400, 401) if status == 401 else (status,)), answer.text
    assert answer.json()["reason"] and "Set-Cookie" not in answer.headers


def test_wrong_password_and_unknown_name_are_the_same_answer(shared, credentials):
    wrong = shared.call(
        "POST", "/couch/_session", json={**credentials, "password": "another password"})
    unknown = shared.call("POST", "/couch/_session", json={**credentials, "name": uuid.uuid4().hex})
    assert failed(wrong) == failed(unknown) == (401, "unauthorized")
    assert wrong.content == unknown.content


def test_session_says_how_one_came(shared, account):
    nobody = shared.call("GET", "/couch/_session").json()
    assert nobody["ok"] is True and nobody["userCtx"] == {"name": None, "roles": []}
    basic = shared.call("GET", "/couch/_session", auth=(account.name, account.password)).json()
    assert (basic["userCtx"]["name"], basic["info"]["authenticated"]) == (account.name, "default")
    guest = shared.guest()
    assert shared.call("GET", "/couch/_session", guest).json()["userCtx"]["name"]
    wrong = shared.call("GET", "/couch/_session", auth=(account.name, "another password"))
    assert failed(wrong) == (401, "unauthorized")
    assert wrong.headers["WWW-Authenticate"] == 'Bearer realm="hotel-bookmarks"', "a browser would ask for a password"


def test_logout_ends_the_cookie_and_nobody_may_log_out(shared, account, credentials):
    answer = shared.call("POST", "/couch/_session", json=credentials)
    assert shared.call("GET", f"/couch/{account.store}", headers=cookie(answer)).status_code == 200
    out = shared.call("DELETE", "/couch/_session", headers=cookie(answer))
    assert out.json() == {"ok": True}
    # Both names: a client that kept an ended cookie would send it before a later one.
    for name in ("AuthSession", "SyncGatewaySession"):
        assert f"{name}=; Path=/; Max-Age=0" in out.headers["Set-Cookie"]
    assert shared.call("GET", f"/couch/{account.store}", headers=cookie(answer)).status_code == 401
    assert shared.call("DELETE", "/couch/_session").json() == {"ok": True}


def test_cookie_from_another_page_writes_nothing(shared, account, credentials):
    headers = {"Origin": "http://elsewhere.example"}
    assert shared.call(
        "POST", "/couch/_session", data=credentials, headers=headers).status_code == 403
    session = cookie(shared.call("POST", "/couch/_session", json=credentials))
    for origin, status in ((
        "http://elsewhere.example", 403), ("null", 403), (shared.url + ".evil.example", 403),
                           (shared.url, 201), (None, 201)):
        headers = {**session, **({"Origin": origin} if origin else {})}
        path = f"/couch/{account.store}/from-{uuid.uuid4().hex}"
        assert shared.call("PUT", path, json={}, headers=headers).status_code == status, origin


@pytest.mark.parametrize("way", ["bearer", "basic", "cookie", "address"])
def test_each_way_of_saying_who_one_is_works(shared, account, way):
    options = {"bearer": {"headers": {"Authorization": "Bearer " + account.token}},
               "basic": {"auth": (account.name, account.password)},
               "cookie": {"headers": {"Cookie": "AuthSession=" + account.token}},
               "address": {}}[way]
    base = with_credentials(
        shared.url, account.name, account.password) if way == "address" else shared.url
    address = f"{base}/couch/{account.store}/by-{way}"
    assert requests.put(address, json={}, timeout=PATIENCE, **options).status_code == 201
    assert requests.get(address, timeout=PATIENCE, **options).status_code == 200


@pytest.mark.parametrize("header", [
    "Basic", "Basic !", "Basic bm9jb2xvbg==", "Bearer", "Bearer x", "Digest x", "",
    "Basic " + "A" * 9000])
def test_credentials_that_are_none_are_401(database, header):
    answer = requests.get(
        f"{database.server.url}/couch/{database.name}", headers={"Authorization": header},
        timeout=PATIENCE)
    assert answer.status_code in (401, 431) and answer.json()["error"]
    if answer.status_code == 401:
        assert answer.json()["error"] == "unauthorized" and "WWW-Authenticate" in answer.headers


def test_root_is_the_same_for_everybody_and_ever(shared):
    first = shared.call("GET", "/couch")
    assert first.json()["couchdb"] == "Welcome"
    assert re.match(r"3\.\d+\.\d+$", first.json()["version"])
    assert first.json()["vendor"]["name"] and isinstance(first.json()["features"], list)
    for path in ("/couch/", "/couch"):
        assert shared.call("GET", path, shared.guest()).json() == first.json()
    assert shared.call("GET", "/couch/_up").json() == {"status": "ok", "seeds": {}}


@pytest.mark.parametrize(
    "query,count", [("", 1), ("?count=1", 1), ("?count=1000", 1000), ("?count=0", 0)])
def test_uuids_are_as_many_as_asked_for(shared, query, count):
    answer = shared.call("GET", "/couch/_uuids" + query)
    found = answer.json()["uuids"]
    assert len(set(found)) == count and all(re.fullmatch("[0-9a-f]{32}", one) for one in found)
    times = [one[:16] for one in found]
    assert times == sorted(times)
    assert answer.headers["Cache-Control"] in ("must-revalidate, no-cache", "no-cache", "no-store")
    assert found != shared.call("GET", "/couch/_uuids" + query).json()["uuids"] or not count


@pytest.mark.fault("H16")
@pytest.mark.parametrize(
    "count", ["1001", "-1", "x", "1.5", "9223372036854775808", "1000000000", ""])
def test_count_of_uuids_is_bounded(shared, count):
    refused = shared.call("GET", "/couch/_uuids?count=" + count)
    assert refused.status_code in (400, 403) and "count" in refused.json()["reason"]


def test_anothers_database_is_an_absent_one(shared):
    mine, other = Database(shared), Database(shared)
    other.put("secret")
    answers = set()
    for name in (other.name, "guest-" + "0" * 32, "user-" + "0" * 32, "no-such", other.name.upper()):
        for path in ("", "/secret", "/_changes", "/_all_docs", "/_security", "/_local/x", "/_index"):
            answer = shared.call("GET", f"/couch/{name}{path}", mine.token)
            answers.add((answer.status_code, answer.text.rstrip("\n")))
        for path, body in (("/_bulk_docs", {
            "docs": []}), ("/_find", {"selector": {}}), ("/_revs_diff", {}), ("", {})):
            answer = shared.call("POST", f"/couch/{name}{path}", mine.token, json=body)
            answers.add((answer.status_code, answer.text.rstrip("\n")))
    assert answers == {(404, '{"error":"not_found","reason":"Database does not exist."}')}


def operations(server):
    """Every operation on a database, with its names filled in."""
    for method, template in sorted(server.contract.operations()):
        if template.startswith("/couch/{db}"):
            yield method, re.sub(r"\{(?!db)\w+\}", "x", template)


def test_every_operation_is_closed_to_strangers(shared):
    mine, other = Database(shared), Database(shared)
    other.put("x")
    other.call("PUT", "/_local/x", json={})
    # A session is of an account, whatever the database.
    for method, template in operations(shared):
        if template == "/couch/{db}/_session":
            continue
        body = {"json": {}} if method in ("PUT", "POST") else {}
        theirs, absent = (
            shared.call(method, template.replace("{db}", name), mine.token, **body)
            for name in (other.name, "user-" + uuid.uuid4().hex))
        assert theirs.status_code in (403, 404), (method, template)
        assert failed(theirs) == failed(absent), (method, template)
        assert theirs.content == absent.content, (method, template)
        for path in (other.name, "no-such"):
            nobody = shared.call(method, template.replace("{db}", path), **body)
            assert failed(nobody) == (401, "unauthorized"), (method, template)
    assert other.call("GET", "/x").status_code == 200
    assert other.call("GET", "/_local/x").status_code == 200


def test_guest_who_became_a_user_is_told(shared):
    database = Database(shared)
    database.call_v1("PUT", "/v1/bookmarks/h1", json={"name": "One"})
    user = {"username": "former-guest-" + uuid.uuid4().hex, "password": PASSWORD}
    token = shared.call("POST", "/v1/users", database.token, json=user).json()["token"]
    refused = database.call("GET", "/h1")
    assert failed(refused) == (401, "unauthorized") and refused.json()["reason"]
    assert failed(shared.call("GET", "/v1/me", database.token)) == (410, "guest_spent")
    assert Database(shared, token).call("GET", "/h1").json()["name"] == "One"


def test_lockout_after_many_wrong_passwords_is_429(shared):
    person = Account(shared)
    attempt = lambda number: shared.call(
        "POST", "/couch/_session", json={"name": person.name, "password": f"guess number {number}"})
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert {answer.status_code for answer in pool.map(attempt, range(6))} <= {401, 429}
    locked = attempt(7)
    assert locked.status_code == 429 and locked.headers["Retry-After"] and locked.json()["reason"]
    assert shared.call("GET", f"/couch/{person.store}", person.token).status_code == 200
