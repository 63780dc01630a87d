"""_changes and its parameters. test_couch_feeds.py tests how feeds begin, wait and end.

The expected responses are those of CouchDB 3.5: "GET /{db}/_changes" and "Changes feeds"."""
import json
import urllib.parse
import uuid

import pytest

from couch import Account, Database, failed

JSON = {"Content-Type": "application/json"}


def answer(database, query=""):
    found = database.call("GET", "/_changes?" + query)
    assert found.status_code == 200, found.text
    return found.json()


def ids(database, query=""):
    return [row["id"] for row in answer(database, query)["results"]]


def change(database):
    """Four documents: one changed again, one deleted, one with a conflict."""
    revs = [database.rev(name, n=0) for name in "abcd"]
    database.rev("a", _rev=revs[0], n=1)
    database.call("DELETE", f"/b?rev={revs[1]}")
    database.graft("c", "2-x " + revs[2], "2-y " + revs[2])
    return database


@pytest.fixture
def busy(database):
    return change(database)


@pytest.fixture(scope="module")
def read(shared):
    """The same store for tests that only read."""
    return change(Database(shared))


def test_each_document_comes_once_at_its_last_change(read):
    found = answer(read)
    assert [row["id"] for row in found["results"]] == ["d", "a", "b", "c"]
    assert [row.get("deleted") for row in found["results"]] == [None, None, True, None]
    numbers = [int(row["seq"].split("-")[0]) for row in found["results"]]
    assert numbers == sorted(set(numbers))
    assert found["last_seq"] == found["results"][-1]["seq"] and found["pending"] == 0
    assert all(set(row) <= {"seq", "id", "changes", "deleted"} for row in found["results"])


def test_style_says_which_leaves_are_named(read):
    assert [change["rev"] for change in answer(read)["results"][-1]["changes"]] == ["2-y"]
    both = answer(read, "style=all_docs")["results"][-1]["changes"]
    assert [change["rev"] for change in both] == ["2-y", "2-x"]
    assert answer(read, "style=main_only") == answer(read)


def test_documents_come_along_even_deleted_ones(read):
    rows = {row["id"]: row["doc"] for row in answer(
        read, "include_docs=true&conflicts=true")["results"]}
    assert rows["a"]["n"] == 1 and rows["c"]["_conflicts"] == ["2-x"]
    assert rows["b"]["_deleted"] is True and set(rows["b"]) == {"_id", "_rev", "_deleted"}
    assert "doc" not in answer(read, "conflicts=true")["results"][0]
    assert "_conflicts" not in answer(read, "include_docs=true")["results"][-1]["doc"]


def test_pages_lead_from_one_to_the_next(read):
    seen, since = [], "0"
    while True:
        page = answer(read, f"limit=1&since={since}")
        if not page["results"]:
            break
        assert page["last_seq"] == page["results"][-1]["seq"]
        seen += [row["id"] for row in page["results"]]
        assert page["pending"] >= 4 - len(seen) and (page["pending"] == 0) == (len(seen) == 4)
        since = page["last_seq"]
    assert seen == ["d", "a", "b", "c"]


def test_descending_starts_with_the_newest(read):
    assert ids(read, "descending=true") == ["c", "b", "a", "d"]
    assert ids(read, "descending=true&limit=2") == ["c", "b"]
    assert [answer(read, f"descending=true&limit={limit}")["pending"] for limit in (0, 1, 4)] == [4, 3, 0]


@pytest.mark.parametrize("form", ["{}", '"{}"'])
def test_since_is_where_to_go_on(busy, form):
    third = answer(busy)["results"][2]["seq"]
    assert ids(busy, "since=" + urllib.parse.quote(form.format(third))) == ["c"]
    assert ids(busy, "since=" + urllib.parse.quote(form.format("now"))) == []
    assert len(ids(busy, "since=" + urllib.parse.quote(form.format("0")))) == 4
    now = answer(busy, "since=now")
    assert now["last_seq"] == answer(busy)["last_seq"] == busy.call("GET").json()["update_seq"]
    busy.put("e")
    assert ids(busy, "since=" + now["last_seq"]) == ["e"]


@pytest.mark.fault("J13")
@pytest.mark.parametrize("since", [
    "x", "-1", "-", "1.5-0000000000000000", "null", "[]", "{}", "%00", "%ff", "", "0 ", "now-1",
    "1-" + "a" * 4095], ids=lambda since: since[:20] or "empty")
def test_since_that_is_no_sequence_is_400(read, since):
    refused = read.call("GET", "/_changes?since=" + since)
    assert refused.status_code == 400 and refused.json()["reason"]


@pytest.mark.fault("J13")
@pytest.mark.parametrize("since", [
    "1", "99999999999999999999", "1-", "1-zzzzzzzzzzzzzzzz", "01-0000000000000000", '"1"',
    "1-g1AAAAF9eJzLYWBg4MhgTmHgz8tPSTV0MDQy1zMAQsMcoARTIkOS", "1-" + "a" * 4094],
    ids=lambda since: since[:20])
@pytest.mark.parametrize("feed", ["normal", "longpoll"])
def test_since_of_another_server_starts_from_the_beginning(read, since, feed):
    assert answer(read, f"feed={feed}&since={urllib.parse.quote(since)}") == answer(read)


@pytest.mark.fault("J13")
def test_since_from_the_future_starts_over(read):
    last = answer(read)["last_seq"]
    number, mark = last.split("-")
    ahead = f"{int(number) + 1000}-{mark}"
    assert answer(read, "since=" + ahead) == answer(read)


@pytest.mark.fault("J13")
def test_since_of_another_store_starts_from_the_beginning(shared, read):
    other = Database(shared)
    for name in "abcdefgh":
        other.put(name)
    theirs = other.changes()["last_seq"]
    assert answer(read, "since=" + theirs) == answer(read)
    assert answer(read, "since=0&last-event-id=" + theirs) == answer(read)


@pytest.mark.fault("J13")
def test_since_of_an_erased_store_starts_over(administrator):
    database = administrator.create()
    database.put("a")
    old = database.changes()["last_seq"]
    assert administrator.call("DELETE", "/" + database.name).status_code == 200
    assert administrator.call("PUT", "/" + database.name).status_code == 201
    database.put("b")
    assert [row["id"] for row in database.changes("&since=" + old)["results"]] == ["b"]


def test_last_event_id_goes_before_since(read):
    second, third = (row["seq"] for row in answer(read)["results"][1:3])
    assert ids(read, "last-event-id=" + third) == ["c"]
    assert ids(read, f"since={second}&last-event-id={third}") == ["c"]
    refused = read.call("GET", "/_changes?last-event-id=x")
    assert refused.status_code == 400


@pytest.mark.parametrize("query", [
    "limit=-1", "limit=abc", "limit=1.5", "limit=9223372036854775808", "limit=", "feed=nope", "feed=", "style=x", "timeout=abc", "timeout=-1",
    "seq_interval=0",
    "seq_interval=x", "feed=longpoll&heartbeat=0", "feed=longpoll&heartbeat=-1",
    "feed=longpoll&heartbeat=abc",
    "filter=_doc_ids", "filter=_doc_ids&doc_ids=x", "filter=_doc_ids&doc_ids=1",
    "filter=_doc_ids&doc_ids=%5B1%5D",
    "filter=_selector", "filter=_unknown"])
def test_malformed_parameters_are_400(read, query):
    refused = read.call("GET", "/_changes?" + query)
    assert refused.status_code == 400 and refused.json()["error"] and refused.json()["reason"]


@pytest.mark.fault("H16")
@pytest.mark.parametrize("query", [
    "limit=x&limit=2", "since=x&since=now", "feed=longpoll&feed=normal", "style=x&style=all_docs"])
def test_last_of_a_parameter_given_twice_counts(read, query):
    assert read.call("GET", "/_changes?" + query).status_code == 200


@pytest.mark.parametrize("query", ["filter=app/mine", "filter=_view&view=app/all"])
def test_filters_that_are_functions_are_missing_where_there_are_none(read, query):
    assert failed(read.call("GET", "/_changes?" + query)) == (404, "not_found")
    assert failed(read.call("POST", "/_changes?" + query, json={})) == (404, "not_found")


@pytest.mark.parametrize("query", [
    "limit=1000000000", "seq_interval=2", "attachments=true", "att_encoding_info=true", "unknown=1",
    "descending=maybe", "include_docs=1", "conflicts=x",
    "timeout=0",
    "heartbeat=true", "heartbeat=1000", "feed=normal"])
def test_parameters_without_a_bearing_change_nothing(read, query):
    assert answer(read, query) == answer(read)


def test_limit_of_nothing_tells_how_much_is_pending(read):
    nothing = answer(read, "limit=0")
    assert nothing["results"] == [] and nothing["pending"] == 4
    last = answer(read)["last_seq"]
    assert answer(read, f"limit=0&since={last}")["pending"] == 0


def test_documents_by_id(read):
    query = "filter=_doc_ids&doc_ids=" + urllib.parse.quote('["c","a","none"]')
    assert ids(read, query) == ["a", "c"]
    posted = read.call(
        "POST", "/_changes?filter=_doc_ids&include_docs=true", json={"doc_ids": ["b"]})
    [row] = posted.json()["results"]
    assert (row["id"], row["deleted"], row["doc"]["_deleted"]) == ("b", True, True)
    assert posted.json()["last_seq"] == answer(
        read)["last_seq"], "what was passed over counts as seen"
    assert read.call(
        "POST", "/_changes?filter=_doc_ids", json={"doc_ids": []}).json()["results"] == []
    for body in ({}, {"doc_ids": "a"}, {"doc_ids": [1]}, []):
        assert read.call("POST", "/_changes?filter=_doc_ids", json=body).status_code == 400, body


def test_documents_by_selector(read):
    def chosen(selector, query=""):
        found = read.call("POST", "/_changes?filter=_selector" + query, json={"selector": selector})
        assert found.status_code == 200, found.text
        return found.json()

    assert [row["id"] for row in chosen({"n": 1})["results"]] == ["a"]
    assert [row["id"] for row in chosen({"_id": {"$gt": "b"}})["results"]] == ["d", "c"]
    assert [row["id"] for row in chosen({"_deleted": True})["results"]] == ["b"]
    assert chosen({"n": 77})["last_seq"] == answer(read)["last_seq"]
    assert [row["id"] for row in chosen({"n": {"$gte": 0}}, "&limit=1")["results"]] == ["d"]
    assert [row["id"] for row in chosen({})["results"]] == ["d", "a", "b", "c"]
    for body in ({}, {
        "selector": 1}, {"selector": "x"}, {"selector": {"n": {"$no": 1}}}, {"selector": []}):
        assert read.call("POST", "/_changes?filter=_selector", json=body).status_code == 400, body


@pytest.mark.parametrize("body,status", [
    (b"", 200), (b"{}", 200), (b"[]", 400), (b"{", 400), (b'"x"', 400),
    (b'{"doc_ids":["a"]}', 200)])
def test_post_takes_an_object_or_nothing(read, body, status):
    posted = read.call("POST", "/_changes", data=body, headers=JSON)
    assert posted.status_code == status
    if status == 200:
        assert posted.json() == answer(read), "without a filter the body's members have no bearing"


def test_design_documents_alone(busy):
    busy.call("PUT", "/_design/app", json={})
    assert ids(busy, "filter=_design") == ["_design/app"]
    assert ids(busy, "filter=_design&since=now") == []


def test_changes_longer_than_a_page_come_whole(shared):
    database = Database(shared, Account(shared).token)
    names = [f"{number:04}" for number in range(2500)]
    assert len(database.bulk(*({"_id": name} for name in names))) == 2500
    found = database.changes()
    assert sorted(row["id"] for row in found["results"]) == names
    assert found["pending"] == 0 and found["last_seq"] == found["results"][-1]["seq"]
    newest = database.changes("&descending=true&limit=2")["results"]
    assert newest == found["results"][:-3:-1]
    assert len(
        database.changes("&filter=_doc_ids&doc_ids=" + json.dumps(names[::1000]))["results"]) == 3


def test_store_that_was_never_written_has_no_changes(database):
    empty = answer(database)
    assert empty["results"] == [] and empty["pending"] == 0
    first = database.rev(uuid.uuid4().hex)
    later = answer(database, "since=" + empty["last_seq"])
    assert [row["changes"] for row in later["results"]] == [[{"rev": first}]]
