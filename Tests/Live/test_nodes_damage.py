"""A damaged row of a database that several servers use."""
import pytest

import postgres
from backups import run
from server import Server
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
    assert "made anew" in run("repair", "--database", nodes.url)
    assert bookmarks(first, token) == ["h"]
    # Whoever has a copy reads it again.
    assert len(changes(first, store, token, since=since)["results"]) == 2
