"""Imports into one account at several servers on one database."""
import concurrent.futures

from test_nodes import database, nodes, pytestmark, sign_up  # noqa: F401


def test_two_imports_into_one_account_leave_one_of_them_whole(nodes):
    """Two servers import at once, each with a list. One import wins, and the other one is told so."""
    servers = nodes(2)
    token = sign_up(servers[0], "anna")
    made = servers[0].call("POST", "/v1/lists", token, json={"title": "Trip"})
    assert made.status_code == 201, made.text
    for number in range(100):
        stored = servers[0].call("PUT", f"/v1/lists/{made.json()['id']}/bookmarks/x{number}", token, json={"name": "X"})
        assert stored.status_code == 201, stored.text
    assert servers[0].call("PUT", "/v1/bookmarks/own", token, json={"name": "Own"}).status_code == 201
    export = servers[0].call("GET", "/v1/me/export", token).content

    def fill(server, name, token):
        return server.call("POST", "/v1/me/import", token, data=export, headers={"Content-Type": "application/x-ndjson"})

    for name in ("ben", "cleo", "dora", "emil"):
        token = sign_up(servers[0], name)
        with concurrent.futures.ThreadPoolExecutor(2) as both:
            answers = list(both.map(lambda server: fill(server, name, token), servers))
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses == [200, 409], [answer.text for answer in answers]
        for server in servers:
            lists = server.call("GET", "/v1/lists", token).json()["lists"]
            assert [found["title"] for found in lists] == ["Trip"]
            page = server.call("GET", f"/v1/lists/{lists[0]['id']}/bookmarks?limit=100", token).json()
            assert len(page["bookmarks"]) == 100
            assert [found["id"] for found in server.call("GET", "/v1/bookmarks", token).json()["bookmarks"]] == ["own"]
