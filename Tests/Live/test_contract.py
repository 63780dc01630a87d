"""Calls every operation of openapi.yaml on a live server. The contract documents each response."""
import pathlib
import uuid

import openapi_spec_validator
import yaml


# Every URL of the web page answers a browser that opens it directly.
PAGES = [
    "/", "/hotels/h", "/bookmarks", "/bookmarks/h/history", "/lists", "/lists/l", "/lists/l/notes/n",
    "/lists/l/members", "/lists/l/drafts", "/lists/l/history", "/invitations/t", "/shared/s", "/outbox", "/account", "/log-in", "/sign-up", "/reset", "/docs",
    "/admin", "/offline.js", "/offline.d.ts", "/worker.js", "/page/none/index.html", "/page/none/offline/none",
    "/shell.json"]


def below_a_list(guest):
    """The responses to a guest who is on no list. test_list_isolation.py sends these requests as all other callers."""
    path = "/v1/lists/" + "0" * 32
    for method, rest in (
            ("GET", ""), ("PATCH", ""), ("DELETE", ""), ("PUT", "/members/eve"), ("DELETE", "/members/eve"),
            ("GET", "/invitations"), ("POST", "/invitations"), ("DELETE", "/invitations/" + "0" * 32),
            ("GET", "/history"), ("GET", "/links"), ("POST", "/links"), ("DELETE", "/links/" + "0" * 32),
            ("GET", "/bookmarks"), ("POST", "/bookmarks"), ("GET", "/bookmarks/h"), ("PUT", "/bookmarks/h"),
            ("DELETE", "/bookmarks/h"), ("GET", "/bookmarks/h/photos/p"), ("PUT", "/bookmarks/h/photos/p"),
            ("DELETE", "/bookmarks/h/photos/p"), ("DELETE", "/bookmarks/h/draft"), ("POST", "/bookmarks/h/publish"),
            ("GET", "/mirror"), ("GET", "/drafts"), ("GET", "/notes"), ("GET", "/notes/n"), ("PUT", "/notes/n"),
            ("DELETE", "/notes/n"), ("DELETE", "/notes/n/draft"), ("POST", "/notes/n/publish"),
            ("GET", "/documents/h/revisions"), ("GET", "/documents/h/revisions/1-a"),
            ("POST", "/documents/h/restore")):
        yield method, path + rest, {"token": guest, "json": {}}


def administration():
    """The responses to callers that are not the administrator. test_administration.py tests as the administrator."""
    for name in ("stores", "users", "guests", "lists", "sessions", "upstreams", "connections", "history", "jobs", "audit",
                 "jobs/" + "0" * 32):
        yield "GET", "/v1/admin/" + name, {}
    for name in ("backups", "verifications", "catalogue", "catalogue/undo", "repairs", "replacements", "moves", "users",
                 "users/nobody/password-resets"):
        yield "POST", "/v1/admin/" + name, {}
    for name in ("server", "backups"):
        yield "GET", "/v1/admin/" + name, {}
    for name in ("users/nobody", "users/nobody/sessions", "backups/none", "jobs/" + "0" * 32):
        yield "DELETE", "/v1/admin/" + name, {}
    yield "POST", "/v1/admin/backups/none/verifications", {}
    yield "PUT", "/v1/admin/users/nobody/password", {}


def test_contract_is_valid(shared):
    openapi_spec_validator.validate(shared.contract.document)


def test_contract_as_json_says_the_same_in_the_same_order(shared):
    text = pathlib.Path(__file__).parents[2].joinpath("openapi.yaml").read_text()

    def ordered(value):
        if isinstance(value, dict):
            return [(str(name), ordered(member)) for name, member in value.items()]
        return [ordered(element) for element in value] if isinstance(value, list) else value

    # JSON is also YAML. This loader reads every scalar as a text.
    wanted = yaml.load(text, yaml.BaseLoader)
    found = shared.call("GET", "/openapi.json").text
    assert ordered(yaml.load(found, yaml.BaseLoader)) == ordered(wanted)


def test_every_operation_answers_as_documented(shared):
    guest = shared.guest()
    name = "contract-" + uuid.uuid4().hex
    user = {"username": name, "password": "a good password"}
    travel = {"user": "travel-" + uuid.uuid4().hex, "password": "a good password"}
    accepted = shared.call("PUT", "/v1/bookmarks/later", guest, json={"name": "Later"},
                           headers={"Prefer": "respond-async"})
    calls = [
        ("GET", accepted.headers["Location"], {"token": guest}),
        *((("GET", path, {}) for path in PAGES)), ("GET", "/healthz", {}), ("GET", "/readyz", {}), ("GET", "/metrics", {}),
        ("GET", "/openapi.yaml", {}), ("GET", "/openapi.json", {}), *administration(), ("GET", "/v1/limits", {}),
        ("POST", "/v1/guests", {"json": {"cookie": True}}), ("POST", "/v1/guests", {"json": {"cookie": 1}}),
        ("POST", "/v1/users", {"json": user}), ("POST", "/v1/users", {"json": user}),
        ("POST", "/v1/sessions", {"json": user}),
        ("POST", "/v1/sessions", {"json": {"idToken": "nobody's"}}),
        ("POST", "/v1/sessions", {"json": {"idToken": "nobody's", **user}}),
        ("GET", "/v1/me", {"token": guest}), ("GET", "/v1/me", {}),
        ("PATCH", "/v1/me", {"token": guest, "json": {"displayName": "Ann"}}),
        ("GET", "/couch/bookmarks/_blipsync", {"token": guest}), ("GET", "/couch/bookmarks/_blipsync", {}),
        ("GET", "/v1/me/export", {"token": guest}), ("GET", "/v1/me/export", {}),
        ("POST", "/v1/me/import", {"token": guest}), ("POST", "/v1/me/import", {}),
        ("PUT", "/v1/me/password", {"token": guest, "json": {"currentPassword": "one", "password": "another one"}}),
        ("PUT", "/v1/me/password", {"token": guest, "json": {}}),
        ("GET", "/v1/me/adoptions", {"token": guest}),
        ("DELETE", "/v1/me/adoptions/" + "0" * 32, {"token": guest}),
        ("POST", "/v1/password-resets", {"json": {"token": "nobody's", "password": "another one"}}),
        ("GET", "/v1/hotels?description=pool", {}), ("GET", "/v1/hotels?limit=0", {}),
        ("GET", "/v1/hotels/hotel_25510", {}), ("GET", "/v1/hotels/none", {}),
        ("GET", "/v1/hotels?description=pool+xyzzy", {}), ("GET", "/v1/places", {}),
        ("GET", "/v1/places?prefix=lond&limit=2", {}), ("GET", "/v1/places?limit=51", {}),
        ("PUT", "/v1/bookmarks/hotel_25510", {"token": guest}),
        ("GET", "/v1/bookmarks/hotel_25510", {"token": guest}),
        ("PUT", "/v1/bookmarks/hotel_25510/photos/p", {"token": guest, "data": b"no photo"}),
        ("GET", "/v1/bookmarks/hotel_25510/photos/p", {"token": guest}),
        ("DELETE", "/v1/bookmarks/hotel_25510/photos/p", {"token": guest}),
        ("GET", "/v1/bookmarks", {"token": guest}), ("GET", "/v1/mirror", {"token": guest}),
        ("POST", "/v1/bookmarks", {"token": guest, "json": {"add": [{"id": "a", "name": "A"}]}}),
        ("DELETE", "/v1/bookmarks/hotel_25510", {"token": guest}),
        ("GET", "/v1/documents/hotel_25510/revisions", {"token": guest}),
        ("GET", "/v1/documents/hotel_25510/revisions/1-a", {"token": guest}),
        ("POST", "/v1/documents/hotel_25510/restore", {"token": guest, "json": {"rev": "1-a"}}),
        ("GET", "/v1/changes?timeout=1", {"token": guest}),
        ("GET", "/v1/sync", {"token": guest}), ("PUT", "/v1/sync", {"token": guest, "json": {"url": "http://h/d"}}),
        ("DELETE", "/v1/sync", {"token": guest}), ("POST", "/v1/sync/now", {"token": guest}),
        ("GET", "/v1/sync/devices", {"token": guest}), ("GET", "/v1/sync/items?state=rejected", {"token": guest}),
        ("GET", "/v1/sync/items?state=pending", {"token": guest}),
        ("GET", "/v1/sync/explain?id=hotel_25510", {"token": guest}),
        ("POST", "/v1/sync/items/hotel_25510/retry", {"token": guest}),
        ("DELETE", "/v1/sync/items/hotel_25510", {"token": guest}),
        ("GET", "/v1/lists", {"token": guest}), ("POST", "/v1/lists", {"token": guest, "json": {"title": "Rome"}}),
        ("POST", "/v1/invitations/none/accept", {"token": guest}), ("GET", "/v1/invitations", {"token": guest}),
        ("POST", "/v1/invitations/none/decline", {"token": guest}),
        ("POST", "/v1/invitations/none/block", {"token": guest}),
        ("GET", "/v1/links/none", {}), ("GET", "/v1/links/none?limit=0", {}),
        ("GET", "/v1/blocked", {"token": guest}), ("DELETE", "/v1/blocked/nobody", {"token": guest}),
        *below_a_list(guest),
        ("GET", "/api/hotel/pool/San%20Francisco/", {}), ("GET", "/api/hotel/pool/", {}),
        ("GET", "/api/hotel/*/London", {}),
        ("GET", "/api/hotels/pool/San%20Francisco/", {}), ("GET", "/api/hotels/pool", {}),
        ("GET", "/api/hotels/", {}), ("GET", "/api/airports?search=SFO", {}),
        ("GET", "/api/flightPaths/SFO/LHR?leave=05/30/2026", {}), ("GET", "/api/user/anna/flights", {}),
        ("POST", "/api/user/anna/flights", {"json": {"flights": []}}),
        ("GET", "/api/tenants/tenant_agent_00/user/anna/flights", {}),
        ("PUT", "/api/tenants/tenant_agent_00/user/anna/flights", {"json": {"flights": []}}),
        ("POST", "/api/user/signup", {"json": travel}), ("POST", "/api/user/login", {"json": travel}),
        ("POST", "/api/tenants/tenant_agent_00/user/signup", {"json": travel}),
        ("POST", "/api/tenants/tenant_agent_00/user/login", {"json": travel}),
        ("DELETE", "/v1/me", {"token": guest}), ("DELETE", "/v1/sessions", {}),
    ]
    for method, path, options in calls:
        shared.call(method, path, **options)
    own = {operation for operation in shared.contract.operations()
           if not operation[1].startswith("/couch")}  # test_couch.py calls those.
    assert not own - shared.contract.seen


def test_another_method_is_told_which_are_allowed(shared):
    answer = shared.call("PATCH", "/v1/bookmarks")
    assert answer.status_code == 405
    assert {"GET", "POST"} <= set(answer.headers["Allow"].split(", "))


def test_served_contract_is_the_file(shared):
    from server import ROOT
    assert shared.call("GET", "/openapi.yaml").content == (ROOT / "openapi.yaml").read_bytes()
