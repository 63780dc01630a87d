"""Several servers on one database: what one of them has done holds on all of them."""
import concurrent.futures
import datetime
import glob
import json
import subprocess
import threading
import time
import uuid

import pytest
import requests

import postgres
from clocks import true_timers
from searching import answered
from waiting import PATIENCE, wait_until
from server import BINARY, Server

pytestmark = pytest.mark.skipif(postgres.programs() is None, reason="Scripts/setup --tests installs PostgreSQL")
PASSWORD, ADMIN = "correct horse battery", "long enough for an administrator"
HOTELS = ["hotel_40", "hotel_64", "hotel_25510"]


@pytest.fixture(scope="module")
def database():
    server = postgres.Postgres(durable=True)
    yield server
    server.close()


@pytest.fixture
def nodes(database, tmp_path):
    """Starts servers on one schema, each with a directory of its own."""
    url = postgres.schema(database.url, tmp_path)
    password = tmp_path / "admin-password"
    password.write_text(ADMIN)
    servers = []

    def start(count=2, *arguments):
        for _ in range(count):
            servers.append(Server(
                tmp_path / f"node{len(servers)}", "--database", url, "--admin-password-file", str(password), *arguments))
        return servers

    def without_password():
        """A server that has the administrator's password from the database."""
        servers.append(Server(tmp_path / f"node{len(servers)}", "--database", url))
        return servers[-1]

    start.url, start.without_password = url, without_password
    yield start
    for server in servers:
        server.stop()


def sign_up(server, name):
    answer = server.call("POST", "/v1/users", json={"username": name, "password": PASSWORD})
    assert answer.status_code == 201, answer.text
    return answer.json()["token"]


def log_in(server, name, password=PASSWORD):
    return server.call("POST", "/v1/sessions", json={"username": name, "password": password})


def bookmarks(server, token):
    answer = server.call("GET", "/v1/bookmarks", token)
    assert answer.status_code == 200, answer.text
    return [hotel["id"] for hotel in answer.json()["bookmarks"]]


def test_what_one_node_wrote_the_other_reads_at_once(nodes):
    first, second = nodes(2)
    token = sign_up(first, "anna")
    for number, hotel in enumerate(HOTELS):
        writer, reader = (first, second) if number % 2 else (second, first)
        assert writer.call("PUT", f"/v1/bookmarks/{hotel}", token).status_code in (200, 201)
        assert hotel in bookmarks(reader, token)
    assert first.call("DELETE", "/v1/bookmarks/hotel_40", token).status_code == 204
    assert "hotel_40" not in bookmarks(second, token)


def test_what_ends_a_right_soon_holds_on_every_node(nodes):
    first, second = nodes(2)

    def is_refused(token):
        return second.call("GET", "/v1/bookmarks", token).status_code == 401

    token = sign_up(first, "anna")
    assert not is_refused(token)
    first.call("DELETE", "/v1/sessions", token)
    wait_until(lambda: is_refused(token))

    old = log_in(first, "anna").json()["token"]
    assert not is_refused(old)
    changed = first.call("PUT", "/v1/me/password", log_in(first, "anna").json()["token"],
                         json={"currentPassword": PASSWORD, "password": "another " + PASSWORD})
    assert changed.status_code == 204, changed.text
    wait_until(lambda: is_refused(old))
    assert log_in(second, "anna").status_code == 401
    basic = ("anna", "another " + PASSWORD)
    everything = second.url + "/couch/_all_dbs"
    assert requests.get(everything, auth=basic, timeout=PATIENCE).status_code != 401

    live = log_in(second, "anna", basic[1]).json()["token"]
    assert first.call("DELETE", "/v1/me", live).status_code in (200, 204)
    wait_until(lambda: is_refused(live))
    # Each proof, of a token or of a password, is used for a second after its own check.
    wait_until(lambda: requests.get(everything, auth=basic, timeout=PATIENCE).status_code == 401)


def changes(server, store, token, **parameters):
    """What `_changes` of a store answers."""
    answer = requests.get(f"{server.url}/couch/{store}/_changes", params=parameters, timeout=PATIENCE,
                          headers={"Authorization": "Bearer " + token})
    assert answer.status_code == 200, answer.text
    return answer.json()


def put(server, store, token, name):
    answer = requests.put(f"{server.url}/couch/{store}/{name}", json={"name": name}, timeout=PATIENCE,
                          headers={"Authorization": "Bearer " + token})
    assert answer.status_code == 201, answer.text


def test_a_waiting_feed_hears_of_another_nodes_change(nodes):
    first, second = nodes(2)
    token = sign_up(first, "anna")
    store = first.call("GET", "/v1/me", token).json()["store"]
    put(first, store, token, "begin")
    since, waits = changes(second, store, token)["last_seq"], []
    for number in range(10):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            feed = pool.submit(changes, second, store, token, feed="longpoll", since=since, timeout=30_000)
            time.sleep(0.2)
            begun = time.monotonic()
            put(first, store, token, f"d{number}")
            answer = feed.result()
            waits.append(time.monotonic() - begun)
        assert [row["id"] for row in answer["results"]] == [f"d{number}"]
        # A client may go on at any node.
        assert changes(first, store, token, since=answer["last_seq"])["results"] == []
        since = answer["last_seq"]
    print(f"a change was heard of after {sorted(waits)[5] * 1000:.0f} ms at the median, the write included")


def test_a_feed_hears_of_changes_even_if_every_notice_is_lost(nodes, database):
    first, second = nodes(2)
    token = sign_up(first, "anna")
    store = first.call("GET", "/v1/me", token).json()["store"]
    put(first, store, token, "begin")
    since, stop = changes(second, store, token)["last_seq"], threading.Event()

    def deafen():
        while not stop.is_set():
            postgres.sql(database.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> "
                         "pg_backend_pid() AND (query LIKE 'LISTEN%' OR query = 'SELECT 1' OR query LIKE '%pg_notify%')")
            time.sleep(0.05)

    killer = threading.Thread(target=deafen)
    killer.start()
    try:
        with concurrent.futures.ThreadPoolExecutor() as pool:
            feed = pool.submit(changes, second, store, token, feed="longpoll", since=since, timeout=60_000)
            time.sleep(0.5)
            put(first, store, token, "d")
            assert [row["id"] for row in feed.result()["results"]] == ["d"]
    finally:
        stop.set()
        killer.join()


@pytest.mark.parametrize("what", ["session", "membership"])
def test_a_feed_ends_with_a_right_that_ends_on_another_node(nodes, what):
    first, second = nodes(2)
    owner, token = sign_up(first, "owner"), sign_up(first, "anna")
    store = first.call("GET", "/v1/me", token).json()["store"]
    path = "/v1/lists/" + first.call("POST", "/v1/lists", owner, json={"title": "Rome"}).json()["id"]
    invitation = first.call("POST", path + "/invitations", owner, json={"role": "reader"}).json()["token"]
    assert first.call("POST", f"/v1/invitations/{invitation}/accept", token).status_code == 200
    if what == "membership":
        store = "list-" + path[10:]
    feed = requests.get(
        f"{second.url}/couch/{store}/_changes", timeout=PATIENCE, stream=True,
        params={"feed": "continuous", "heartbeat": 100, "since": "now"}, headers={"Authorization": "Bearer " + token})
    with feed:
        lines = feed.iter_lines(chunk_size=1)
        # It has waited for longer than a proof is used without a look.
        assert [next(lines) for _ in range(15)] == [b""] * 15
        ending, by = (path + "/members/anna", owner) if what == "membership" else ("/v1/sessions", token)
        assert first.call("DELETE", ending, by).status_code == 204
        assert b"last_seq" in b"".join(lines)


def test_one_key_is_applied_once_whichever_node_gets_it(nodes):
    servers = nodes(3)
    token = sign_up(servers[0], "anna")
    for _ in range(8):
        key, name = str(uuid.uuid4()), "list " + str(uuid.uuid4())
        with concurrent.futures.ThreadPoolExecutor() as pool:
            answers = list(pool.map(
                lambda server: server.call(
                    "POST", "/v1/lists", token, json={"title": name}, headers={"Idempotency-Key": f'"{key}"'}),
                servers))
        assert {answer.status_code for answer in answers} <= {200, 201}, [answer.text for answer in answers]
        assert len({answer.json()["id"] for answer in answers}) == 1
    found = servers[1].call("GET", "/v1/lists", token).json()
    assert len(found["lists"]) == 8


def test_an_erased_and_recreated_database_is_the_new_one_on_every_node(nodes):
    first, second = nodes(2)
    auth = ("admin", ADMIN)

    def couch(server, method, path, **options):
        return requests.request(method, server.url + "/couch" + path, auth=auth, timeout=PATIENCE, **options)

    for number in range(5):
        assert couch(first, "PUT", "/things").status_code == 201
        assert couch(second, "PUT", "/things/a", json={"n": number}).status_code == 201
        assert couch(first, "GET", "/things/a").json()["n"] == number
        assert couch(first, "DELETE", "/things").status_code == 200
        assert couch(second, "GET", "/things/a").status_code == 404


def command(nodes, *arguments):
    done = subprocess.run([BINARY, *arguments, "--database", nodes.url], check=False, capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_administrators_session_and_rotated_keys_hold_on_every_node(nodes):
    first, second = nodes(2)
    admin = log_in(first, "admin", ADMIN).json()["token"]
    assert second.call("GET", "/v1/admin/history", admin).status_code == 200
    token = sign_up(first, "anna")
    command(nodes, "keys", "rotate")
    fresh = log_in(first, "anna").json()["token"]
    for server in (first, second):
        for each in (token, fresh):
            assert server.call("GET", "/v1/bookmarks", each).status_code == 200
    command(nodes, "keys", "rotate", "--end-tokens")
    wait_until(lambda: {server.call("GET", "/v1/bookmarks", each).status_code
                        for server in (first, second) for each in (token, fresh)} == {401}, "a token outlived the end of all")
    assert first.call("GET", "/v1/bookmarks", log_in(second, "anna").json()["token"]).status_code == 200
    assert "anna" in command(nodes, "user", "list")


def test_another_password_of_the_administrator_holds_on_every_node_within_a_second(nodes):
    first, second = (nodes.without_password() for _ in range(2))
    # Not by repeated tries, because wrong passwords lock the account.
    old = command(nodes, "admin", "reset-password")
    time.sleep(5)
    token = log_in(first, "admin", old).json()["token"]
    assert second.call("GET", "/v1/admin/history", token).status_code == 200
    new = command(nodes, "admin", "reset-password")
    for server in (first, second):
        wait_until(lambda: server.call("GET", "/v1/admin/history", token).status_code == 404)
        # To others than administrators the route does not exist.
        assert server.call("GET", "/v1/admin/history", token).status_code == 404
        assert log_in(server, "admin", old).status_code == 401
        assert log_in(server, "admin", new).status_code == 200


def test_nodes_outlive_a_crash_of_the_database(nodes, database):
    first, second = nodes(2)
    token = sign_up(first, "anna")
    hotels = [f"hotel_{990_000 + number}" for number in range(6)]
    for hotel in hotels[:3]:
        assert first.call("PUT", f"/v1/bookmarks/{hotel}", token, json={"name": hotel}).status_code == 201
    database.crash()
    try:
        for server in (first, second):
            assert "can't be reached" in server.state("unavailable").json()["stores"]
    finally:
        database.start()
    for server in (first, second):
        server.state("ready")
    assert sorted(bookmarks(second, token)) == sorted(hotels[:3])
    for hotel in hotels[3:]:
        assert second.call("PUT", f"/v1/bookmarks/{hotel}", token, json={"name": hotel}).status_code == 201
    assert sorted(bookmarks(first, token)) == sorted(hotels)


def test_a_killed_backend_costs_no_request_its_answer(nodes):
    first, second = nodes(2)
    token = sign_up(first, "anna")
    stop, wrong = threading.Event(), []

    def read(server):
        while not stop.is_set():
            answer = server.call("GET", "/v1/bookmarks", token)
            if answer.status_code != 200:
                wrong.append(answer.text)

    readers = [threading.Thread(target=read, args=(server,)) for server in (first, second)]
    for reader in readers:
        reader.start()
    for _ in range(20):
        postgres.sql(nodes.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                     "WHERE application_name = 'hotel-bookmarks'")
        time.sleep(0.1)
    stop.set()
    for reader in readers:
        reader.join()
    assert wrong == []


def test_a_directory_with_stores_of_its_own_is_refused(nodes, tmp_path):
    with_files = Server(tmp_path / "files")
    with_files.guest()
    assert with_files.stop() == 0
    done = subprocess.run([BINARY, "serve", "--port", "0", "--data", str(tmp_path / "files"), "--database", nodes.url],
                          check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 78 and "stores of its own" in done.stderr


@pytest.mark.parametrize("url, reason", [
    ("mysql://x/y", "postgres://"), ("postgres://nobody@127.0.0.1:1/none?connect_timeout=2", "can't be reached")])
def test_a_database_that_cannot_be_used_is_a_reason_not_to_start(tmp_path, url, reason):
    done = subprocess.run([BINARY, "serve", "--port", "0", "--data", str(tmp_path / "data"), "--database", url],
                          check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode in (1, 78) and reason in done.stderr, done.stderr


def test_events_resume_on_another_node(nodes):
    first, second = nodes(2)
    token = sign_up(first, "anna")
    headers = {"Authorization": "Bearer " + token, "Accept": "text/event-stream"}

    def events(server, last):
        """The hotels of a stream's events, and its last id, until it has been quiet for a moment."""
        answer = requests.get(server.url + "/v1/changes", timeout=PATIENCE, params={"timeout": 300},
                              headers=dict(headers, **{"Last-Event-ID": last}))
        assert answer.status_code == 200, answer.text
        ids = [line[3:].strip() for line in answer.text.splitlines() if line.startswith("id:")]
        return [hotel for hotel in HOTELS if f'"id":"{hotel}"' in answer.text], ids[-1]

    _, last = events(first, "0")
    for number, hotel in enumerate(HOTELS):
        second.call("PUT", f"/v1/bookmarks/{hotel}", token)
        told, last = events((first, second)[number % 2], last)
        assert told == [hotel]


def test_an_imported_catalogue_is_served_by_every_node(nodes, tmp_path):
    servers = nodes(2)
    token = sign_up(servers[0], "anna")
    for name in ("Quiet Harbour", "Loud Harbour"):
        file = tmp_path / "hotels.ndjson"
        file.write_text(json.dumps({"id": "hotel_1", "type": "hotel", "name": name}) + "\n")
        command(nodes, "catalogue", "import", str(file))
        for server in servers:
            wait_until(lambda: [hotel["name"] for hotel in server.call(
                "GET", "/v1/hotels?description=harbour", token).json()["hotels"]] == [name], f"not {name}")
    # One that starts later has it from the beginning.
    late = nodes(1)[-1]
    assert [hotel["name"] for hotel in answered(late, "harbour", token).json()["hotels"]] == [name]
    file.write_text('{"name":"x"}\n' + "{}\n" * 9)
    done = subprocess.run([BINARY, "catalogue", "import", str(file), "--database", nodes.url], check=False,
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 65, done.stderr
    for expected, name in ((0, "Quiet Harbour"), (1, "Quiet Harbour")):
        done = subprocess.run([BINARY, "catalogue", "undo", "--database", nodes.url], check=False,
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == expected, done.stderr
        for server in [*servers, late]:
            wait_until(lambda: [hotel["name"] for hotel in server.call(
                "GET", "/v1/hotels?description=harbour", token).json()["hotels"]] == [name], f"not {name} again")


@pytest.mark.nightly
def test_nodes_whose_clocks_are_wrong_agree_on_the_time(nodes, tmp_path):
    libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not libraries:
        pytest.skip("libfaketime is not installed: Scripts/setup --tests")
    (right,), timers = nodes(1), true_timers(tmp_path)
    wrong = [
        Server(tmp_path / f"wrong{number}", "--database", nodes.url, under=["env"], environment={
            "LD_PRELOAD": timers + libraries[0], "FAKETIME": step, "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
        for number, step in enumerate(["+1h", "-1h"])]
    try:
        servers = [right, *wrong]
        tokens = [sign_up(server, f"user{number}") for number, server in enumerate(servers)]
        for server in servers:
            for token in tokens:
                assert server.call("GET", "/v1/bookmarks", token).status_code == 200
        made = [server.call("POST", "/v1/lists", token, json={"title": "Trip"}).json()["createdAt"]
                for server, token in zip(servers, tokens)]
        assert max(abs(parse(moment) - time.time()) for moment in made) < 60, made
    finally:
        for server in wrong:
            server.stop()


def parse(moment):
    """Seconds since 1970 of an RFC 3339 time."""
    return datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
