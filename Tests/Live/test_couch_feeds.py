"""Waiting feeds: longpoll, continuous and eventsource. What wakes them, and what ends them."""
import json
import threading

import pytest

from couch import Account, Database, soon
from waiting import PATIENCE, wait_until

KINDS = ["longpoll", "continuous", "eventsource"]


def open_feed(database, feed="longpoll", query="since=now&heartbeat=100"):
    """Opens a feed, waits until it has begun, and returns its lines."""
    answer = database.raw("GET", f"/_changes?feed={feed}&{query}", stream=True, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    lines = answer.iter_lines(chunk_size=1)
    if feed == "longpoll":
        assert next(lines) == b'{"results":['
    else:
        next(lines)  # The first heartbeat: the feed has begun.
    return answer, lines


def rows(lines):
    return (json.loads(
        line.removeprefix(b"data: ")) for line in lines if line.startswith((b"{", b"data: {")))


def test_longpoll_waits_for_the_first_change(database):
    since = database.changes()["last_seq"]
    timer = soon(lambda: database.put("new"))
    answer = database.changes(f"&feed=longpoll&heartbeat=100&since={since}")
    timer.join()
    [row] = answer["results"]
    assert row["id"] == "new" and answer["last_seq"] == row["seq"]
    assert database.changes(f"&since={answer['last_seq']}")["results"] == []


def test_longpoll_answers_at_once_what_is_there(database):
    database.put("a")
    # With a heartbeat, a feed that waits has no end.
    assert [
        row["id"] for row in database.changes("&feed=longpoll&heartbeat=60000")["results"]] == ["a"]


def test_longpoll_ends_empty_after_its_timeout(database):
    database.put("a")
    last = database.changes()["last_seq"]
    nothing = database.changes(f"&feed=longpoll&timeout=50&since={last}")
    assert nothing["results"] == [] and nothing["last_seq"] == last and nothing["pending"] == 0


def test_filtered_feed_wakes_for_what_it_wants(database):
    # Not `now`, which may be read after the timer's writes.
    timer = soon(lambda: (database.put("other"), database.put("mine")))
    answer = database.call(
        "POST", "/_changes?feed=longpoll&since=0&timeout=60000&filter=_doc_ids",
        json={"doc_ids": ["mine"]})
    timer.join()
    assert [row["id"] for row in answer.json()["results"]] == ["mine"]
    since = database.changes()["last_seq"]
    timer = soon(lambda: (database.put("low", n=1), database.put("high", n=9)))
    answer = database.call(
        "POST",
        f"/_changes?feed=longpoll&since={since}&timeout=60000&filter=_selector&include_docs=true",
        json={"selector": {"n": {"$gt": 5}}})
    timer.join()
    assert [row["doc"]["_id"] for row in answer.json()["results"]] == ["high"]


def test_continuous_feed_has_a_row_a_line_and_ends(database):
    for name in "ab":
        database.put(name)
    text = database.raw("GET", "/_changes?feed=continuous&timeout=1").text
    lines = [json.loads(line) for line in text.splitlines() if line]
    assert [line.get("id") for line in lines] == ["a", "b", None]
    assert lines[2]["pending"] == 0 and lines[2]["last_seq"] == lines[1]["seq"]
    answer = database.raw("GET", "/_changes?feed=continuous&heartbeat=100", stream=True)
    with answer:
        found = rows(answer.iter_lines(chunk_size=1))
        assert [next(found)["id"], next(found)["id"]] == ["a", "b"]
        database.put("c")
        assert next(found)["id"] == "c"


@pytest.mark.parametrize("kind,limit", [("continuous", 2), ("eventsource", 2), ("longpoll", 1)])
def test_feed_ends_with_its_limit(database, kind, limit):
    for name in "abc":
        database.put(name)
    text = database.raw("GET", f"/_changes?feed={kind}&heartbeat=1000&limit={limit}").text
    if kind == "longpoll":
        found = json.loads(text)["results"]
    else:
        found = [row for row in rows(text.encode().splitlines()) if "id" in row]
    assert [row["id"] for row in found] == ["a", "b"][:limit]


def test_events_carry_their_sequence(database):
    database.put("a")
    answer = database.raw("GET", "/_changes?feed=eventsource&timeout=1")
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    assert "no-cache" in answer.headers["Cache-Control"]
    data, identifier = answer.text.splitlines()[:2]
    row = json.loads(data.removeprefix("data: "))
    assert (row["id"], f'id: "{row["seq"]}"') == ("a", identifier)
    database.put("b")
    for last in (row["seq"], identifier.removeprefix("id: ")):
        again = database.raw("GET", "/_changes?feed=eventsource&timeout=1", headers={"Last-Event-ID": last})
        assert [row["id"] for row in rows(again.content.splitlines())] == ["b"]
    refused = database.raw("GET", "/_changes?feed=eventsource", headers={"Last-Event-ID": "x"})
    assert refused.status_code == 400


@pytest.mark.parametrize("kind,beat", [
    ("longpoll", b"\n"), ("continuous", b"\n"), ("eventsource", b"event: heartbeat\n")])
def test_heartbeats_keep_a_feed_alive(database, kind, beat):
    with database.raw(
        "GET", f"/_changes?feed={kind}&since=now&heartbeat=100", stream=True) as answer:
        text = b""
        for piece in answer.iter_content(chunk_size=1):
            text += piece
            if text.count(beat) >= 4:
                break


def test_feed_misses_nothing_under_writers(database):
    names = {f"{writer}-{number}" for writer in range(4) for number in range(25)}
    feed = database.raw(
        "GET", f"/_changes?feed=continuous&heartbeat=100&limit={len(names)}", stream=True,
        timeout=PATIENCE)
    with feed:
        def write(writer):
            for number in range(25):
                assert database.put(f"{writer}-{number}").status_code == 201

        writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
        for writer in writers:
            writer.start()
        found = [json.loads(line) for line in feed.iter_lines() if line]
        for writer in writers:
            writer.join()
    assert sorted(row["id"] for row in found[:-1]) == sorted(names)
    sequences = [int(row["seq"].split("-")[0]) for row in found[:-1]]
    assert sequences == list(range(1, len(names) + 1)) and found[-1]["pending"] == 0


def test_feeds_end_with_the_server(start):
    server = start()
    feeds = [open_feed(Database(server), kind) for kind in KINDS]
    assert server.stop() == 0
    for (answer, lines), kind in zip(feeds, KINDS):
        with answer:
            assert kind == "eventsource" or b"last_seq" in b"".join(lines)


@pytest.mark.parametrize("kind", KINDS)
def test_feeds_end_with_the_account(database, kind):
    database.put("a")
    answer, lines = open_feed(database, kind)
    with answer:
        assert database.call_v1("DELETE", "/v1/me").status_code == 204
        assert kind == "eventsource" or b"last_seq" in b"".join(lines)


def test_feeds_end_with_the_session(shared):
    database = Database(shared, Account(shared).token)
    answer, lines = open_feed(database)
    with answer:
        assert database.call_v1("DELETE", "/v1/sessions").status_code == 204
        assert b"last_seq" in b"".join(lines)


def test_feed_ends_with_its_database(administrator):
    database = administrator.create()
    answer, lines = open_feed(database)
    with answer:
        assert administrator.call("DELETE", "/" + database.name).status_code == 200
        assert b"last_seq" in b"".join(lines)


def test_feeds_of_one_person_are_bounded_and_nobody_elses(shared, database):
    other = Database(shared)
    # Heartbeats of so many feeds every 100 ms would keep a slow machine busy.
    query = "since=now&heartbeat=20000"
    feeds = [open_feed(each, query=query) for each in [database] * 256 + [other]]
    refused = database.call("GET", "/_changes?feed=longpoll&since=now&timeout=1000")
    one_shot = database.call("GET", "/_changes")
    for feed, _ in feeds:
        feed.close()
    assert refused.status_code == 429 and refused.headers["Retry-After"]
    assert one_shot.status_code == 200
    wait_until(
        lambda: database.call(
            "GET", "/_changes?feed=longpoll&since=now&timeout=1").status_code != 429,
        "places of feeds that went away are free again")


def test_one_client_on_another_store_is_not_held_up(shared, database):
    feeds = [open_feed(database) for _ in range(4)]
    other = Database(shared)
    assert other.put("a").status_code == 201 and other.changes()["results"]
    for feed, _ in feeds:
        feed.close()
