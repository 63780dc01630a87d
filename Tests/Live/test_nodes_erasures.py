"""Several servers on one database: what was ended on one of them is ended on all."""
import concurrent.futures
import time

import pytest

import postgres
from test_nodes import ADMIN, database, log_in, nodes, sign_up  # noqa: F401

pytestmark = pytest.mark.skipif(postgres.programs() is None, reason="Scripts/setup --tests installs PostgreSQL")


@pytest.mark.parametrize("has_store", [True, False])
def test_an_erased_user_leaves_no_store_although_another_node_still_takes_writes(nodes, has_store):
    first, second = nodes(2)
    token = sign_up(first, "anna")
    for server, hotel in ((first, "before"), (second, "also")) if has_store else ():
        assert server.call("PUT", f"/v1/bookmarks/{hotel}", token, json={"name": "X"}).status_code == 201
    assert second.call("GET", "/v1/bookmarks", token).status_code == 200
    assert first.call("DELETE", "/v1/me", token).status_code in (200, 204)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        answer = second.call("PUT", "/v1/bookmarks/late", token, json={"name": "X"})
        assert answer.status_code == 401, answer.text
        time.sleep(0.02)
    admin = log_in(first, "admin", ADMIN).json()["token"]
    assert first.call("GET", "/v1/admin/stores?kind=user", admin).json()["stores"] == []


def test_an_erased_user_gets_no_write_acknowledged_by_any_of_several_nodes(nodes):
    """A store that one of them is about to refuse is found by no other one."""
    first, *others = nodes(3)
    token = sign_up(first, "anna")
    for server in others:
        assert server.call("PUT", "/v1/bookmarks/before", token, json={"name": "X"}).status_code in (200, 201)
    assert first.call("DELETE", "/v1/me", token).status_code in (200, 204)
    end = time.monotonic() + 1.2

    def write(server):
        found = set()
        while time.monotonic() < end:
            found.add(server.call("PUT", "/v1/bookmarks/late", token, json={"name": "X"}).status_code)
        return found

    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert set().union(*pool.map(write, others * 3)) == {401}
    admin = log_in(first, "admin", ADMIN).json()["token"]
    assert first.call("GET", "/v1/admin/stores?kind=user", admin).json()["stores"] == []


def test_an_erased_user_writes_into_no_shared_database_through_another_node(nodes):
    first, second = nodes(2)
    token, admin = sign_up(first, "anna"), log_in(first, "admin", ADMIN).json()["token"]
    assert first.call("PUT", "/couch/shared", admin).status_code == 201
    members = {"admins": {"names": [], "roles": []}, "members": {"names": ["anna"], "roles": []}}
    assert first.call("PUT", "/couch/shared/_security", admin, json=members).status_code == 200
    assert second.call("PUT", "/couch/shared/before", token, json={}).status_code == 201
    assert first.call("DELETE", "/v1/me", token).status_code in (200, 204)
    assert second.call("PUT", "/couch/shared/late", token, json={}).status_code == 401


def test_a_link_shows_a_list_on_every_node_until_it_is_withdrawn(nodes):
    first, second = nodes(2)
    token = sign_up(first, "anna")
    path = "/v1/lists/" + first.call("POST", "/v1/lists", token, json={"title": "Rome"}).json()["id"]
    link = first.call("POST", path + "/links", token).json()
    for server in (first, second):
        shown = server.call("GET", "/v1/links/" + link["secret"])
        assert (shown.status_code, shown.json()["title"]) == (200, "Rome")
    assert first.call("PUT", path + "/notes/Plan", token, json={"markdown": "one"}).status_code == 201
    assert second.call("GET", "/v1/links/" + link["secret"]).json()["notes"][0]["markdown"] == "one"
    assert second.call("DELETE", f"{path}/links/{link['id']}", token).status_code == 204
    assert first.call("GET", "/v1/links/" + link["secret"]).status_code == 404
    link = first.call("POST", path + "/links", token).json()
    assert second.call("DELETE", path, token).status_code == 204
    assert first.call("GET", "/v1/links/" + link["secret"]).status_code == 404
