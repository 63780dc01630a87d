"""F13: damaged values in a closed store. The server corrects one wrong byte; worse damage affects nothing else."""
import shutil
import sqlite3
import subprocess

import pytest

from faults import file_of, listed, metric, put, refused, store_file
from server import BINARY, Server
from slices import first
from test_sweep import next_round, swept
from waiting import PATIENCE

HOTELS = [f"n{number}" for number in range(10)]


def changed(value, bytes_wrong):
    """The value with `bytes_wrong` wrong bytes."""
    if isinstance(value, int):
        return value ^ (0x40 if bytes_wrong == 1 else 0x4040)
    data = bytearray(value.encode() if isinstance(value, str) else value)
    for index in range(bytes_wrong):
        data[(index + 1) * len(data) // (bytes_wrong + 1)] ^= 0x10 if isinstance(value, str) else 0x55
    return data.decode() if isinstance(value, str) else bytes(data)


def rot(file, table, column, where, bytes_wrong=1):
    """Changes values in a closed file without their checksums. Returns how many rows it changed."""
    with sqlite3.connect(file) as base:
        rows = base.execute(f"SELECT rowid, {column} FROM {table} WHERE {where}").fetchall() \
            if table != "locals" else base.execute(f"SELECT id, {column} FROM locals WHERE {where}").fetchall()
        key = "id" if table == "locals" else "rowid"
        for row, value in rows:
            if value is not None:
                base.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (changed(value, bytes_wrong), row))
    base.close()
    return len(rows)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """The data of a stopped server: bookmarks, one of them edited, one in conflict, a checkpoint, an index."""
    server = Server(tmp_path_factory.mktemp("rotten") / "data")
    token, other = server.guest(), server.guest()
    for hotel in HOTELS:
        assert put(server, token, hotel, f"Hotel {hotel}").status_code == 201
    assert put(server, token, "n4", "Hotel n4, renamed").status_code == 200
    assert put(server, other, "theirs").status_code == 201
    store = "/couch/" + server.call("GET", "/v1/me", token).json()["store"]
    # The branch has another type, because the server merges conflicts of hotels.
    branch = {"_id": "n5", "_rev": "1-00", "type": "note", "id": "n5", "name": "the other n5"}
    for method, path, body in [
            ("POST", "/_bulk_docs", {"new_edits": False, "docs": [branch]}),
            ("PUT", "/_local/checkpoint", {"seq": 7}),
            ("POST", "/_index", {"index": {"fields": ["name"]}, "name": "by-name", "ddoc": "by-name"})]:
        answer = server.call(method, store + path, token, json=body)
        assert answer.status_code in (200, 201), answer.text
    find = {"selector": {"name": {"$gt": None}}, "use_index": "by-name"}
    assert len(server.call("POST", store + "/_find", token, json=find).json()["docs"]) == 10
    file, told = store_file(server, token).relative_to(server.data), everything(server, token, store)
    assert server.stop() == 0
    return server.data, token, other, file, store, told


@pytest.fixture
def rotten(prepared, tmp_path):
    """A copy of the prepared data for one test."""
    data, token, other, file, store, _ = prepared
    shutil.copytree(data, tmp_path / "data", ignore=shutil.ignore_patterns("reserve", "control", "replications"))
    return token, other, tmp_path / "data" / file, store


def everything(server, token, store):
    """All responses about a person's store, without members that depend on the store's state."""
    def get(path, method="GET", **options):
        answer = server.call(method, path, token, **options)
        assert answer.status_code == 200, (path, answer.text)
        return answer.json()
    bookmarks = get("/v1/bookmarks?limit=100")
    mirror = get("/v1/mirror")
    changes = get(store + "/_changes?include_docs=true&conflicts=true")
    find = {"selector": {"name": {"$gt": None}}, "use_index": "by-name"}
    return {
        "bookmarks": bookmarks["bookmarks"], "damaged": bookmarks.get("damaged", []),
        "mirror": (mirror["hotels"], mirror["order"]),
        "all": get(store + "/_all_docs?include_docs=true&conflicts=true")["rows"],
        "changes": [(row["id"], row["changes"], row.get("doc")) for row in changes["results"]],
        "found": sorted(doc["_id"] for doc in get(store + "/_find", "POST", json=find)["docs"]),
        "local": server.call("GET", store + "/_local/checkpoint", token).json(),
        "info": {name: value for name, value in get(store).items() if name.startswith("doc_")},
        "history": [get(f"/v1/documents/{id}/revisions") for id in ("n3", "n4", "n5", "bookmarkedhotels")],
        "revisions": get(store + "/n4?revs=true&revs_info=true"),
        "branches": [server.call("GET", f"{store}/n5?rev={rev}", token).json()
                     for rev in ["1-00", *get(store + "/n5?conflicts=true").get("_conflicts", [])]],
    }


DOCUMENT = "id = 'n3'"
ONE_BYTE = [
    *[("documents", column, where) for where in (DOCUMENT, "id = 'n5'", "id = 'bookmarkedhotels'")
      for column in ("digest", "generation", "type", "created", "updated", "body_checksum", "checksum", "body",
                     "arrival")],
    ("documents", "first", DOCUMENT),
    *[("documents", column, "id = 'n5'") for column in ("tree_checksum", "tree")],
    *[("bodies", column, "number = (SELECT max(number) FROM bodies)")
      for column in ("generation", "digest", "body_checksum", "body", "arrival")],
    *[("locals", column, "id = '_local/checkpoint'") for column in ("revision", "checksum", "body")],
    *[("header", column, "one = 1")
      for column in ("store", "epoch", "last_sequence", "live", "deleted", "bytes", "checksum")],
]


@pytest.mark.fault("F13")
@pytest.mark.parametrize("table,column,where", first(12, ONE_BYTE[::4] + [case for at, case in enumerate(ONE_BYTE) if at % 4]))
def test_one_wrong_byte_anywhere_is_computed_back(start, prepared, rotten, table, column, where):
    token, _, file, store = rotten
    assert rot(file, table, column, where) == 1
    server = start()
    assert everything(server, token, store) == prepared[-1]
    assert server.call("DELETE", "/v1/bookmarks/n3", token).status_code == 204
    assert put(server, token, "new").status_code == 201
    assert server.stop() == 0
    assert subprocess.run([BINARY, "verify", server.data], timeout=PATIENCE).returncode == 0


@pytest.mark.fault("F13")
def test_lost_document_takes_nothing_else_with_it(start, rotten):
    token, other, file, store = rotten
    assert rot(file, "documents", "body", DOCUMENT, bytes_wrong=3) == 1
    server = start()
    rest = set(HOTELS) - {"n3"}
    assert listed(server, token) == rest
    for path in ("/v1/bookmarks?limit=100", "/v1/mirror"):
        damaged = server.call("GET", path, token).json()["damaged"]
        assert [loss["id"] for loss in damaged] == ["n3"] and "restored" not in damaged[0]
    assert server.call("GET", store, token).json()["damaged"] == ["n3"]
    rows = server.call("GET", store + "/_all_docs", token).json()["rows"]
    assert {row["id"] for row in rows} >= rest and "n3" not in {row["id"] for row in rows}
    changes = server.call("GET", store + "/_changes?include_docs=true", token)
    assert changes.status_code == 200 and rest <= {row["id"] for row in changes.json()["results"]}
    assert refused(server.call("GET", "/v1/bookmarks/n3", token))[0] == 404
    assert metric(server, "store_damage_total") == 1
    assert server.state("ready").json()["damaged"] == 1
    assert server.logged("damage was found", "set aside")
    assert listed(server, other) == {"theirs"}
    # A device that has the document pushes it again; the person may also bookmark it again.
    known = {"_id": "n3", "_rev": "1-" + "a" * 32, "type": "hotel", "id": "n3", "name": "from a phone"}
    answer = server.call(
        "POST", store + "/_bulk_docs", token, json={"new_edits": False, "docs": [known]})
    assert answer.json() == []
    assert listed(server, token) == set(HOTELS)
    assert "damaged" not in server.call("GET", "/v1/bookmarks", token).json()
    assert put(server, token, "n3", "by hand").status_code == 200


@pytest.mark.fault("F13")
@pytest.mark.parametrize("method,status", [("PUT", 201), ("DELETE", 404)])
def test_the_person_can_write_or_delete_what_is_lost_at_once(start, rotten, method, status):
    token, _, file, _ = rotten
    rot(file, "documents", "body", DOCUMENT, bytes_wrong=3)
    server = start()
    body = {"name": "anew"} if method == "PUT" else None
    answer = server.call(method, "/v1/bookmarks/n3", token, json=body)
    assert answer.status_code == status, answer.text
    assert listed(server, token) == set(HOTELS) - ({"n3"} if method == "DELETE" else set())


@pytest.mark.fault("F13")
def test_an_older_body_stands_for_one_that_is_lost(start, rotten):
    token, _, file, store = rotten
    rot(file, "documents", "body", "id = 'n4'", bytes_wrong=3)
    server = start()
    answer = server.call("GET", "/v1/bookmarks/n4", token).json()
    assert answer["hotel"]["name"] == "Hotel n4" and answer["rev"].startswith("1-")
    damaged = server.call("GET", "/v1/bookmarks", token).json()["damaged"]
    assert [(loss["id"], loss["restored"]) for loss in damaged] == [("n4", answer["rev"])]
    assert damaged[0]["rev"].startswith("2-")
    assert listed(server, token) == set(HOTELS)
    assert put(server, token, "n4", "a third time").status_code == 200
    assert "damaged" not in server.call("GET", "/v1/bookmarks", token).json()


@pytest.mark.fault("F13")
def test_another_branch_stands_for_one_that_is_lost(start, rotten):
    token, _, file, store = rotten
    rot(file, "documents", "body", "id = 'n5'", bytes_wrong=3)
    server = start()
    assert server.call("GET", store + "/n5", token).json()["name"] == "the other n5"
    assert listed(server, token) == set(HOTELS) - {"n5"}, "what is left of it is no hotel"


@pytest.mark.fault("F13")
def test_a_lost_history_leaves_the_winner(start, rotten):
    token, _, file, store = rotten
    rot(file, "documents", "tree", "id = 'n5'", bytes_wrong=3)
    server = start()
    assert server.call("GET", "/v1/bookmarks/n5", token).json()["hotel"]["name"] == "Hotel n5"
    assert listed(server, token) == set(HOTELS)
    assert put(server, token, "n5", "goes on").status_code == 200


@pytest.mark.fault("F13")
def test_the_list_is_put_together_from_the_hotels(start, rotten):
    token, _, file, store = rotten
    server = start()
    before = [row["id"] for row in server.call("GET", "/v1/bookmarks?limit=100", token).json()["bookmarks"]]
    assert server.stop() == 0
    rot(file, "documents", "body", "id = 'bookmarkedhotels'", bytes_wrong=3)
    server = start()
    assert [row["id"] for row in
            server.call("GET", "/v1/bookmarks?limit=100", token).json()["bookmarks"]] == before
    order = server.call("GET", "/v1/mirror", token).json()["order"]
    assert order == before
    assert server.call("DELETE", "/v1/bookmarks/n3", token).status_code == 204


@pytest.mark.fault("F13")
def test_lost_notes_and_indexes_are_made_anew(start, rotten):
    token, _, file, store = rotten
    rot(file, "locals", "body", "1", bytes_wrong=3)
    rot(file, "indexes", "sequence", "1", bytes_wrong=2)
    server = start()
    assert listed(server, token) == set(HOTELS)
    assert server.call("GET", store + "/_local/checkpoint", token).status_code == 404
    assert server.call(
        "PUT", store + "/_local/checkpoint", token, json={"seq": 8}).status_code == 201
    find = {"selector": {"name": {"$gt": None}}, "use_index": "by-name"}
    assert len(server.call("POST", store + "/_find", token, json=find).json()["docs"]) == 10


@pytest.mark.fault("F13")
def test_index_whose_entries_rotted_is_made_anew_before_it_answers(start, rotten):
    token, _, file, store = rotten
    server = start()
    find = {"selector": {"name": {"$gt": None}}, "fields": ["_id", "name"], "use_index": "by-name",
            "execution_stats": True}
    expected = server.call("POST", store + "/_find", token, json=find).json()
    assert expected["execution_stats"]["total_docs_examined"] == 0 and len(expected["docs"]) == 10
    assert server.stop() == 0
    with sqlite3.connect(file) as base:
        changed = base.execute(
            "UPDATE entries SET content = CAST(replace(content, 'Hotel', 'Motel') AS BLOB) WHERE id = 'n3'")
        assert changed.rowcount == 1
    base.close()
    server = start()
    for _ in range(2):
        answer = server.call("POST", store + "/_find", token, json=find)
        assert answer.status_code == 200 and answer.json()["docs"] == expected["docs"]
    assert server.stop() == 0
    assert subprocess.run([BINARY, "verify", server.data], timeout=PATIENCE).returncode == 0


@pytest.mark.fault("F13")
def test_any_byte_of_a_page_of_an_index_is_made_anew(start, rotten):
    token, _, file, store = rotten
    sound = file.read_bytes()
    with sqlite3.connect(f"file:{file}?immutable=1", uri=True) as base:
        pages = dict(base.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'index'"))
    base.close()
    for name in ("sqlite_autoindex_documents_1", "entries_by_document"):
        start_of_page = (pages[name] - 1) * 4_096
        offset = sound.index(b"n3", start_of_page, start_of_page + 4_096)
        data = bytearray(sound)
        data[offset] ^= 2
        file.write_bytes(data)
        server = start()
        assert listed(server, token) == set(HOTELS), name
        assert put(server, token, "new").status_code == 201
        assert server.stop() == 0
        assert subprocess.run([BINARY, "verify", server.data], timeout=PATIENCE).returncode == 0, name


def run(*arguments, status):
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_backup_restore_and_repair_name_damage(start, rotten, tmp_path):
    token, _, file, _ = rotten
    rot(file, "documents", "body", DOCUMENT, bytes_wrong=3)
    data = tmp_path / "data"
    assert "fails its checksum" in run("backup", tmp_path / "backup", "--data", data, status=65)
    run("verify", tmp_path / "backup", status=65)
    assert "fails its checksum" in run(
        "restore", tmp_path / "backup", "--data", tmp_path / "restored", status=65)
    assert "1 damaged revisions were set aside" in run("repair", "--data", data, status=65)
    assert "nothing was damaged" in run("repair", "--data", data, status=0)
    run("verify", data, status=0)
    run("backup", tmp_path / "second", "--data", data, status=0)
    server = start(data=tmp_path / "restored")
    assert listed(server, token) == set(HOTELS) - {"n3"}


def test_repair_works_on_a_running_server(start, rotten, tmp_path):
    token, _, file, _ = rotten
    rot(file, "documents", "body", DOCUMENT)
    server = start()
    assert "1 damaged values were computed back" in run("repair", "--data", server.data, status=0)
    assert listed(server, token) == set(HOTELS)


def test_a_damaged_account_keeps_nobody_from_starting_or_logging_in(start, tmp_path):
    server = start()
    for name in ("anna", "otto"):
        answer = server.call("POST", "/v1/users", json={"username": name, "password": "a good password"})
        assert answer.status_code == 201
    assert server.stop() == 0
    system = file_of(server.data, "system")
    with sqlite3.connect(system) as base:
        anna = base.execute("SELECT min(sequence) FROM documents WHERE type = 'user'").fetchone()[0]
    base.close()
    rot(system, "documents", "body", f"sequence = {anna}")
    run("repair", "--data", server.data, status=0)
    rot(system, "documents", "body", f"sequence = {anna}", bytes_wrong=3)
    assert "can't be repaired" in run("repair", "--data", server.data, status=65)
    server = start()
    login = [server.call("POST", "/v1/sessions", json={"username": name, "password": "a good password"})
             for name in ("anna", "otto")]
    assert [refused(login[0]), login[1].status_code] == [(500, "integrity_error"), 200]
    # No other user can take the name meanwhile.
    taken = server.call("POST", "/v1/users", json={"username": "anna", "password": "an evil password"})
    assert taken.status_code >= 400


@pytest.mark.fault("F13")
def test_damaged_records_of_accounts_stop_no_start_no_erasure_and_no_sweep(start):
    server = start()
    tokens, files = {}, {}
    for name in ("anna", "otto"):
        guest = server.guest()
        assert put(server, guest, name).status_code == 201
        body = {"username": name, "password": "a good password"}
        assert server.call("POST", "/v1/users", json=body).status_code == 201
        answer = server.call("POST", "/v1/sessions", json={**body, "guestToken": guest})
        assert answer.status_code in (200, 201), answer.text
        tokens[name] = answer.json()["token"]
        files[name] = store_file(server, tokens[name])
        assert server.stop() == 0
        if name == "anna":
            with sqlite3.connect(file_of(server.data, "system")) as base:
                hers = [row for row, in base.execute("SELECT id FROM documents")]
            base.close()
            server = start()
    system = file_of(server.data, "system")
    assert {id.split(":")[0] for id in hers} == {"user", "guest"}
    assert rot(system, "documents", "body", f"id IN {tuple(hers)}", bytes_wrong=3) == 2
    with sqlite3.connect(system) as base:
        for prefix in ("adoption-undo", "guest-rest", "list-drafts", "list-ended", "list-ends/" + "0" * 32,
                       "list-import", "list-stale", "publishing/" + "0" * 32):
            base.execute("INSERT INTO locals(id, revision, checksum, body) VALUES (?, 1, 1, ?)",
                         (f"receipt/{prefix}/{'0' * 32}", b"{}"))
    base.close()
    server = start()
    assert server.logged("interrupted work can't be finished yet", "a local document fails its checksum")
    assert listed(server, tokens["otto"]) == {"otto"}
    assert server.call("DELETE", "/v1/me", tokens["otto"]).status_code == 204
    assert not files["otto"].exists() and files["anna"].exists()
    # His record stays, because her guest's, which can't be read, may be his. The tombstone of his account goes.
    next_round(server)
    assert swept(server, "removed_total", "names") > 0
    assert server.logged("records of accounts can't be read", "detail=2")
    assert server.stop() == 0
    with sqlite3.connect(system) as base:
        erasures = base.execute("SELECT body FROM documents WHERE id LIKE 'erasure:%' AND is_deleted = 0").fetchall()
    base.close()
    assert [b'"rest":true' in body for body, in erasures] == [True]
