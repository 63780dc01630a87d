"""A damaged row of a database that several servers use."""
import json
import pathlib
import secrets

import pytest

import postgres
from backups import run
from server import Server
from slices import first
from test_nodes import bookmarks, changes, database, log_in, nodes, sign_up  # noqa: F401

pytestmark = pytest.mark.skipif(postgres.programs() is None, reason="Scripts/setup --tests installs PostgreSQL")


def test_one_damaged_row_takes_nothing_else_along(nodes, tmp_path):
    """Feeds, backups and exports have all that is sound, the owner is told, and `repair` works on a database."""
    first, second = nodes(2)
    token, other = sign_up(first, "anna"), sign_up(first, "bert")
    for number in range(5):
        path = f"/v1/bookmarks/h{number}"
        assert first.call("PUT", path, token, json={"name": f"House {number}"}).status_code == 201
        assert first.call("PUT", path, other, json={"name": f"House {number}"}).status_code == 201
    stores = [first.call("GET", "/v1/me", token).json()["store"] for token in (token, other)]

    def damage(store):
        postgres.sql(nodes.url, f"""UPDATE documents SET body = 'nothing' WHERE id = 'h3' AND store =
            (SELECT number FROM names WHERE key = '{store.replace("-", "/", 1)}')""")

    damage(stores[0])
    damage(stores[1])
    # Nobody has read them: the backup names both, and has all else.
    words = run("backup", tmp_path / "backup", "--database", nodes.url, expect=65)
    assert all(store.replace("-", "/", 1) + ": the body of change" in words for store in stores)
    run("restore", tmp_path / "backup", "--data", tmp_path / "restored")
    restored = Server(tmp_path / "restored")
    try:
        token_there = log_in(restored, "bert").json()["token"]
        assert sorted(bookmarks(restored, token_there)) == ["h0", "h1", "h2", "h4"]
    finally:
        assert restored.stop() == 0

    # A reader repairs.
    assert "h3" not in [row["id"] for row in changes(second, stores[0], token, include_docs="true")["results"]
                        if not row.get("deleted")]
    assert {"h0", "h1", "h2", "h4"} <= set(bookmarks(second, token))
    words = run("repair", "--database", nodes.url, expect=65)
    assert stores[1].replace("-", "/", 1) in words and stores[0].replace("-", "/", 1) not in words
    assert "nothing was damaged" in run("repair", "--database", nodes.url)
    assert "sound" in run("verify", "--database", nodes.url)
    run("backup", tmp_path / "second", "--database", nodes.url)
    assert second.call("PUT", "/v1/bookmarks/h3", other, json={"name": "House 3"}).status_code in (200, 201)


def test_the_row_of_a_store_is_made_anew_by_repair(nodes):
    first, = nodes(1)
    token = sign_up(first, "anna")
    assert first.call("PUT", "/v1/bookmarks/h", token, json={"name": "House"}).status_code == 201
    store = first.call("GET", "/v1/me", token).json()["store"]
    since = changes(first, store, token)["last_seq"]
    postgres.sql(nodes.url, f"UPDATE stores SET live = 70 WHERE key = '{store.replace('-', '/', 1)}'")
    assert first.call("GET", "/v1/bookmarks", token).status_code == 503
    assert "written again" in run("repair", "--database", nodes.url)
    assert bookmarks(first, token) == ["h"]
    # Whoever has a copy reads it again.
    assert len(changes(first, store, token, since=since)["results"]) == 2


def test_a_damaged_list_leaves_the_others_readable(nodes):
    first, = nodes(1)
    token = sign_up(first, "anna")
    rome, oslo = [first.call("POST", "/v1/lists", token, json={"title": title}).json()["id"] for title in ("Rome", "Oslo")]
    postgres.sql(nodes.url, f"UPDATE stores SET live = 70 WHERE key = 'list/{rome}'")
    answer = first.call("GET", "/v1/lists", token).json()
    assert [each["id"] for each in answer["lists"]] == [oslo] and answer["damaged"] == [rome]
    assert first.call("GET", f"/v1/lists/{rome}", token).json()["error"] == "store_damaged"
    lines = [json.loads(line) for line in first.call("GET", "/v1/me/export", token).text.splitlines()]
    assert lines[-1]["manifest"]["unreadable"] == [f"list/{rome}"]
    assert {"section": f"list/{oslo}"}.items() <= next(
        line for line in lines if line.get("section", "").startswith("list/")).items()
    told = first.call("GET", "/v1/changes?since=0&timeout=0", token)
    assert told.status_code == 200 and oslo in told.text, told.text


PAGE = 8_192


@pytest.mark.parametrize("damage", first(1, ["zeros", "garbage"]))
def test_long_values_that_postgresql_cannot_read_take_nothing_else_along(tmp_path, damage):
    """PostgreSQL keeps long values apart, in pages of their own. A page of zeros lacks the pieces of a value; of any other
    garbage PostgreSQL refuses to read anything."""
    database = postgres.Postgres(durable=True)
    servers = []
    try:
        url = postgres.schema(database.url, tmp_path)

        def start():
            servers.append(Server(tmp_path / f"node{len(servers)}", "--database", url))
            return servers[-1]

        node = start()
        token, text = sign_up(node, "anna"), secrets.token_hex(30_000)
        for number in range(4):
            body = {"name": f"House {number}", "description": text if number == 2 else "short"}
            assert node.call("PUT", f"/v1/bookmarks/h{number}", token, json=body).status_code == 201
        store = node.call("GET", "/v1/me", token).json()["store"]
        kept = node.call("GET", f"/couch/{store}/h1", token).json()
        assert node.stop() == 0
        path = postgres.sql(url, "CHECKPOINT; SELECT pg_relation_filepath(reltoastrelid) FROM pg_class "
                                 "WHERE oid = 'documents'::regclass")
        database.close(keeps=True)
        file = pathlib.Path(database.directory) / "data" / path
        pages = file.read_bytes()
        at = pages.index(text[1_000:1_100].encode()) // PAGE * PAGE
        with file.open("r+b") as writer:
            writer.seek(at)
            writer.write(bytes(PAGE) if damage == "zeros" else b"\xa5" * PAGE)
        database.start()

        # Nobody has read it: the backup names the document's change, and has all else.
        words = run("backup", tmp_path / "backup", "--database", url, expect=65)
        assert store.replace("-", "/", 1) + ": the body of change" in words
        run("restore", tmp_path / "backup", "--data", tmp_path / "restored")
        restored = Server(tmp_path / "restored")
        servers.append(restored)
        assert sorted(bookmarks(restored, log_in(restored, "anna").json()["token"])) == ["h0", "h1", "h3"]

        node = start()
        token = log_in(node, "anna").json()["token"]
        told = changes(node, store, token, include_docs="true")["results"]
        assert {"h0", "h1", "h3"} <= {row["id"] for row in told if not row.get("deleted")} and "h2" not in [
            row["id"] for row in told if not row.get("deleted")]
        assert {"h0", "h1", "h3"} <= set(bookmarks(node, token))
        assert node.call("GET", f"/couch/{store}/h1", token).json() == kept
        assert [one["id"] for one in node.call("GET", "/v1/bookmarks", token).json()["damaged"]] == ["h2"]
        assert "nothing was damaged" in run("repair", "--database", url)
        run("backup", tmp_path / "second", "--database", url)
        assert node.call("PUT", "/v1/bookmarks/h2", token, json={"name": "House 2"}).status_code in (200, 201)
        assert node.call("DELETE", "/v1/me", token).status_code in (200, 204)
    finally:
        for server in servers:
            server.stop()
        database.close()


def test_a_damaged_row_of_the_registry_is_named_and_made_anew(nodes, tmp_path):
    first, = nodes(1)
    token, other = sign_up(first, "anna"), sign_up(first, "bert")
    for one in (token, other):
        assert first.call("PUT", "/v1/bookmarks/h", one, json={"name": "House"}).status_code == 201
    key = first.call("GET", "/v1/me", token).json()["store"].replace("-", "/", 1)
    postgres.sql(nodes.url, f"UPDATE names SET number = number + 1 WHERE key = '{key}'")
    words = run("backup", tmp_path / "backup", "--database", nodes.url, expect=65)
    assert key in words and "registry" in words, words
    run("restore", tmp_path / "backup", "--data", tmp_path / "restored")
    restored = Server(tmp_path / "restored")
    try:
        assert bookmarks(restored, log_in(restored, "bert").json()["token"]) == ["h"]
    finally:
        assert restored.stop() == 0
    assert bookmarks(first, other) == ["h"]
    assert f"{key}: it was registered again" in run("repair", "--database", nodes.url)
    run("backup", tmp_path / "second", "--database", nodes.url)
    assert bookmarks(first, token) == ["h"]


def test_a_store_that_the_registry_lost_is_named_and_registered_again(nodes, tmp_path):
    """Without its row in the registry a store is not among those that are read. An erasure that can't be read ends nothing.
    What its owner has erased meanwhile does not come back."""
    first, = nodes(1)
    keys = []
    for name in ("anna", "bert", "carl"):
        token = sign_up(first, name)
        assert first.call("PUT", "/v1/bookmarks/h", token, json={"name": "House"}).status_code == 201
        keys.append(first.call("GET", "/v1/me", token).json()["store"].replace("-", "/", 1))
    assert first.stop() == 0
    postgres.sql(nodes.url, f"DELETE FROM names WHERE key = '{keys[0]}'")
    postgres.sql(nodes.url, f"UPDATE names SET state = 1 WHERE key = '{keys[1]}'")
    postgres.sql(nodes.url, "INSERT INTO erasures VALUES ('\\xff00')")
    postgres.sql(nodes.url, f"DELETE FROM names WHERE key = '{keys[2]}'")
    postgres.sql(nodes.url, f"INSERT INTO erasures VALUES ('{keys[2]}')")
    for command in (["backup", tmp_path / "backup"], ["verify"]):
        words = run(*command, "--database", nodes.url, expect=65)
        assert all(f"{key}: the registry does not name its rows" in words for key in keys), words
        assert "1 entries of the log of erasures are no store's key" in words
    words = run("repair", "--database", nodes.url, expect=65)
    assert f"{keys[0]}: it was registered again" in words and f"{keys[1]}: it was registered again" in words
    assert f"{keys[2]}: it was erased before, so its rows were removed" in words
    assert "nothing was damaged" in run("repair", "--database", nodes.url)
    run("backup", tmp_path / "second", "--database", nodes.url)
    _, second = nodes(1)
    for name in ("anna", "bert"):
        assert bookmarks(second, log_in(second, name).json()["token"]) == ["h"]
