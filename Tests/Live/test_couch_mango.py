"""Queries by selector: _find. test_couch_indexes.py tests indexes and _explain.

The expected responses are those of CouchDB 3.5: "Mango queries" and "POST /{db}/_find". J12 is a row of the
catalogue of faults."""
import pytest

from couch import Database, failed

HOTELS = [
    {"_id": "a", "name": "Alpha", "stars": 3, "city": "Bonn", "tags": ["pool", "spa"],
        "owner": {"name": "X"}},
    {"_id": "b", "name": "beta", "stars": 5, "city": "Köln", "tags": [],
        "owner": {"name": "Y", "age": 40}},
    {"_id": "c", "name": "Ärger", "stars": 3.5, "city": None, "tags": ["pool"],
        "rooms": [{"n": 1}, {"n": 4}]},
    {"_id": "d", "name": "Zeta", "stars": "five", "tags": "pool", "rooms": [{"n": 2}, {"n": 4}],
        "rooms.max": 9},
    {"_id": "e", "stars": True, "empty": {}, "rooms": [], "owner": {"cameras": {"secondary": 1}}},
    {"_id": "f", "name": "", "stars": -1, "list": [1, [2, 3], {"x": 1}], "text": "line\nbreak"}]


@pytest.fixture(scope="module")
def hotels(shared):
    database = Database(shared)
    database.bulk(*HOTELS)
    database.call("PUT", "/_design/app", json={"stars": 3})
    gone = database.rev("gone", stars=3)
    database.call("DELETE", f"/gone?rev={gone}")
    return database


def find(database, selector, **members):
    answer = database.call("POST", "/_find", json={"selector": selector, **members})
    assert answer.status_code == 200, answer.text
    return answer.json()


def ids(database, selector, **members):
    return "".join(sorted(doc["_id"] for doc in find(database, selector, **members)["docs"]))


@pytest.mark.parametrize("selector,expected", [
    ({}, "abcdef"), ({"stars": 3}, "a"), ({"stars": {"$eq": 3.0}}, "a"),
    ({"stars": {"$ne": 3}}, "bcdef"),
    ({"stars": {"$gt": 3}}, "bcd"), ({"stars": {"$gte": 3}}, "abcd"), ({"stars": {"$lt": 3}}, "ef"),
    ({"stars": {"$lte": 3}}, "aef"), ({"stars": {"$gt": 3, "$lt": 4}}, "c"),
    ({"stars": {"$gt": None}}, "abcdef"),
    ({"stars": {"$gt": 9, "$lt": 1}}, ""), ({"city": None}, "c"), ({"city": {"$ne": "Bonn"}}, "bc"),
    ({"city": {"$lte": None}}, "c"), ({"city": {"$exists": True}}, "abc"),
    ({"city": {"$exists": False}}, "def"),
    ({"name": {"$gt": "Alpha"}}, "bcd"), ({"name": {"$lt": "beta"}}, "acf"),
    ({"name": {"$gte": "Ä", "$lt": "B"}}, "ac"),
    ({"stars": {"$type": "number"}}, "abcf"), ({"stars": {"$type": "string"}}, "d"),
    ({"stars": {"$type": "boolean"}}, "e"), ({"city": {"$type": "null"}}, "c"),
    ({"tags": {"$type": "array"}}, "abc"),
    ({"owner": {"$type": "object"}}, "abe"), ({"stars": {"$in": [3, "five", 7]}}, "ad"),
    ({"tags": {"$in": ["spa"]}}, "a"), ({"stars": {"$nin": [3, 5]}}, "cdef"),
    ({"tags": {"$nin": ["spa"]}}, "bcd"),
    ({"tags": {"$size": 1}}, "c"), ({"tags": {"$size": 0}}, "b"),
    ({"stars": {"$mod": [2, 1]}}, "ab"),
    ({"name": {"$regex": "^[A-Z].*a$"}}, "ad"), ({"name": {"$regex": "(?i)BETA"}}, "b"),
    ({"stars": {"$regex": "3"}}, ""),
    ({"text": {"$regex": "^break"}}, ""), ({"name": {"$beginsWith": "Al"}}, "a"),
    ({"name": {"$beginsWith": "al"}}, ""),
    ({"stars": {"$beginsWith": "f"}}, "d"), ({"tags": {"$all": ["spa", "pool"]}}, "a"),
    ({"tags": {"$all": ["pool"]}}, "ac"),
    ({"rooms": {"$elemMatch": {"n": {"$gt": 3}}}}, "cd"),
    ({"rooms": {"$elemMatch": {"n": 1}}}, "c"),
    ({"rooms": {"$allMatch": {"n": {"$mod": [2, 0]}}}}, "d"),
    ({"tags": {"$elemMatch": {"$eq": "spa"}}}, "a"),
    ({"owner": {"$keyMapMatch": {"$eq": "age"}}}, "b"), ({"owner.name": "X"}, "a"),
    ({"owner": {"name": "X"}}, "a"),
    ({"owner": {"name": {"$gt": "X"}}}, "b"), ({"owner.age": {"$exists": True}}, "b"),
    ({"empty": {}}, "e"),
    ({"tags": ["pool", "spa"]}, "a"), ({"tags": []}, "b"), ({"list.1.0": 2}, "f"),
    ({"tags.0": "pool"}, "ac"),
    ({"rooms\\.max": 9}, "d"), ({"rooms.max": 9}, ""), ({"_id": "b"}, "b"),
    ({"_id": {"$gt": "c", "$lte": "e"}}, "de"),
    ({"_id": {"$in": ["a", "f", "z"]}}, "af"), ({"_rev": {"$gt": "0"}}, "abcdef"),
    ({"none": {"$exists": True}}, ""),
    ({"$and": [{"stars": {"$gt": 1}}, {"city": "Bonn"}]}, "a"),
    ({"$or": [{"stars": 3}, {"stars": 5}]}, "ab"),
    ({"stars": {"$or": [{"$eq": 3}, {"$eq": 5}]}}, "ab"),
    ({"$nor": [{"stars": 3}, {"stars": 5}]}, "cdef"),
    ({"$not": {"stars": 3}}, "bcdef"), ({"stars": {"$not": {"$gt": 3}}}, "aef"),
    ({"$and": []}, ""), ({"$or": []}, ""), ({"stars": 3, "$or": []}, "a"),
    ({"stars": {"$gt": 1}, "$or": [{"city": "Bonn"}, {"city": "Köln"}]}, "ab"),
    ({"$not": {"$or": [{"stars": 3}]}}, "bcdef")],
    ids=str)
def test_selector_finds(hotels, selector, expected):
    assert ids(hotels, selector) == expected


@pytest.mark.fault("J12")
@pytest.mark.parametrize("body,error", [
    (b"", "bad_request"), (b"[]", "bad_request"), (b"{", "bad_request"),
    (b"{}", "missing_required_key"),
    (b'{"selector":{"a":1,"a":2}}', "duplicate_key"),
    (b'{"selector":{},"selector":{}}', "duplicate_key")])
def test_bodies_that_are_no_query_are_400(hotels, body, error):
    for path in ("/_find", "/_explain"):
        refused = hotels.call("POST", path, data=body, headers={"Content-Type": "application/json"})
        assert failed(refused) == (400, error) and refused.json()["reason"]


@pytest.mark.fault("J12")
@pytest.mark.parametrize("selector", [
    None, True, 1.5, "text", [], [{"a": 1}], {"a": {"$no": 1}}, {"$no": 1}, {"$gt": 2}, {"": 1},
    {"a": {"$": 1}},
    {"$or": {"length": 1, "0": {"a": 1}}}, {"$or": "x"}, {"$and": {"a": 1}}, {"$nor": 1},
    {"$not": 1},
    {"$not": [{"a": 1}]}, {"a": {"$in": 1}}, {"a": {"$in": {"length": 1}}}, {"a": {"$nin": "x"}},
    {"a": {"$exists": 1}},
    {"a": {"$exists": "true"}}, {"a": {"$type": 1}}, {"a": {"$size": "1"}}, {"a": {"$size": 1.5}},
    {"a": {"$mod": [0, 1]}}, {"a": {"$mod": [1]}}, {"a": {"$mod": [1.5, 1]}}, {"a": {"$mod": 2}},
    {"a": {"$regex": 1}},
    {"a": {"$regex": "("}}, {"a": {"$regex": "["}}, {"a": {"$beginsWith": 1}}, {"a": {"$all": "x"}},
    {"a": {"$elemMatch": 1}},
    {"a": {"$where": "1"}}, {"$text": "x"}, {"a": {"$not_an_op": 2}}, {"a": {"b": {"$exists": 1}}}],
    ids=str)
def test_selectors_that_are_none_are_400(hotels, selector):
    for path in ("/_find", "/_explain"):
        refused = hotels.call("POST", path, json={"selector": selector})
        assert refused.status_code == 400 and refused.json()["reason"], refused.text


@pytest.mark.fault("J12")
@pytest.mark.parametrize("pattern, construct", [
    ("a(?=b)", "look-ahead"), ("(?<!a)b", "look-behind"), (r"(a)\1", "a back-reference"),
    ("(?>a)b", "an atomic group"), ("a++b", "a possessive quantifier"), ("(?R)", "recursion")])
def test_constructs_that_are_not_offered_are_named(hotels, pattern, construct):
    for path in ("/_find", "/_explain"):
        refused = hotels.call("POST", path, json={"selector": {"a": {"$regex": pattern}}})
        assert failed(refused) == (400, "invalid_selector"), refused.text
        assert construct in refused.json()["reason"] and "not supported" in refused.json()["reason"]


@pytest.mark.fault("J12")
@pytest.mark.parametrize("pattern", ["a{0,999}" * 100, r"(\pL{9}){9}", "((.{9}){9}){9}" * 9])
def test_programs_that_take_long_to_make_are_refused(hotels, pattern):
    refused = hotels.call("POST", "/_find", json={"selector": {"a": {"$regex": pattern}}})
    assert failed(refused) == (400, "invalid_selector"), refused.text


@pytest.mark.parametrize("members", [
    {"limit": -1}, {"limit": "5"}, {"limit": 1.5}, {"limit": None}, {"limit": True},
    {"limit": 2**63}, {"limit": []},
    {"skip": -1}, {"skip": "x"}, {"skip": 2**64}, {"fields": "a"}, {"fields": [1]}, {"fields": {}},
    {"fields": [[]]},
    {"sort": "a"}, {"sort": {"a": "asc"}}, {"sort": [1]}, {"sort": [{"a": "up"}]},
    {"sort": [{"a": 1}]},
    {"sort": [{"a": "asc", "b": "asc"}]}, {"conflicts": 1}, {"conflicts": "true"}, {"r": 0},
    {"r": "x"}, {"r": 1.5},
    {"execution_stats": 1}, {"use_index": 1}, {"use_index": {}}, {"use_index": [1]},
    {"bookmark": 1}, {"bookmark": {}},
    {"update": 1}, {"stable": "x"}, {"stale": "no"}, {"allow_fallback": 1}, {"unknown": 1}],
    ids=str)
def test_options_of_another_kind_are_400(hotels, members):
    for path in ("/_find", "/_explain"):
        refused = hotels.call("POST", path, json={"selector": {"a": 1}, **members})
        assert refused.status_code == 400 and refused.json()["error"] and refused.json()["reason"]


def nested(depth, inner=1):
    selector = {"a": inner}
    for _ in range(depth):
        selector = {"$and": [selector]}
    return selector


@pytest.mark.fault("J12")
@pytest.mark.parametrize("selector", [
    nested(17), nested(60), {"$or": [{"a": n} for n in range(129)]},
    {f"f{n}": n for n in range(129)},
    {"a": {"$regex": "x" * 5000}}, {".".join(["a"] * 5000): 1}],
    ids=["17", "60", "or", "fields", "regex", "path"])
def test_selectors_that_are_too_large_are_400(hotels, selector):
    refused = hotels.call("POST", "/_find", json={"selector": selector})
    assert refused.status_code == 400 and refused.json()["reason"]
    assert find(hotels, nested(10))["docs"] == []


@pytest.mark.fault("J12")
@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*$", "(a*)*b", "(.*a){20}$", "^(([a-z])+.)+[A-Z]([a-z])+$",
                "(a|!)*a(a|!){200}c"])
def test_costly_regular_expression_is_cut_off(shared, pattern):
    database = Database(shared)
    database.bulk(*({"_id": str(n), "text": "a" * 30_000 + "!"} for n in range(20)))
    answer = database.call("POST", "/_find", json={"selector": {"text": {"$regex": pattern}}})
    assert answer.status_code == 200 or failed(answer) == (400, "selector_too_costly"), answer.text
    assert database.call("GET", "/0").status_code == 200


def test_fields_are_those_asked_for(hotels):
    assert find(hotels, {"_id": "a"}, fields=["stars", "owner.name", "none"])["docs"] == [
        {"stars": 3, "owner": {"name": "X"}}]
    whole, = find(hotels, {"_id": "a"}, fields=[])["docs"]
    assert whole["_rev"] and whole["name"] == "Alpha"
    named, = find(hotels, {"_id": "a"}, fields=["_id", "_rev"])["docs"]
    assert set(named) == {"_id", "_rev"}


def test_answer_is_25_documents_long_where_nothing_is_said(shared):
    database = Database(shared)
    database.bulk(*({"_id": f"{n:02}", "n": n} for n in range(40)))
    assert len(find(database, {"n": {"$gte": 0}})["docs"]) == 25
    for limit, skip, expected in ((
        0, 0, 0), (1, 0, 1), (100, 0, 40), (10, 35, 5), (10, 50, 0), (10**9, 1, 39)):
        assert len(find(database, {"n": {"$gte": 0}}, limit=limit, skip=skip)["docs"]) == expected


@pytest.mark.parametrize("limit", [1, 3, 7, 40])
def test_bookmarks_lead_through_everything_once(shared, limit):
    database = Database(shared)
    database.bulk(*({"_id": f"{n:02}", "n": n % 4} for n in range(14)))
    seen, bookmark = [], None
    for _ in range(20):
        page = find(database, {
            "n": {"$lt": 3}}, limit=limit, **({"bookmark": bookmark} if bookmark else {}))
        if not page["docs"]:
            break
        seen += [doc["_id"] for doc in page["docs"]]
        bookmark = page["bookmark"]
    assert sorted(seen) == [f"{n:02}" for n in range(14) if n % 4 < 3]


@pytest.mark.parametrize(
    "bookmark", ["x", "nil-", "g1AAAAA", "a" * 5000, "\0", "{}"], ids=lambda text: ascii(text)[:9])
def test_bookmark_of_no_query_is_400(hotels, bookmark):
    refused = hotels.call("POST", "/_find", json={"selector": {"stars": 3}, "bookmark": bookmark})
    assert failed(refused) == (400, "invalid_bookmark")


def test_empty_bookmarks_begin_at_the_beginning(hotels):
    for bookmark in (None, "", "nil"):
        assert ids(hotels, {"stars": 3}, bookmark=bookmark) == "a"


def test_query_without_an_index_warns(hotels):
    assert "warning" in find(hotels, {"city": "Bonn"})
    assert find(hotels, {"_id": "a"})["docs"]
    refused = hotels.call(
        "POST", "/_find", json={"selector": {"city": "Bonn"}, "allow_fallback": False})
    assert failed(refused) == (400, "invalid_index")


def test_statistics_tell_what_it_took(hotels):
    statistics = find(hotels, {"stars": 3}, execution_stats=True)["execution_stats"]
    assert statistics["results_returned"] == 1 and statistics["total_docs_examined"] >= 6
    assert statistics["total_quorum_docs_examined"] == 0 and statistics["execution_time_ms"] >= 0
    assert "execution_stats" not in find(hotels, {"stars": 3})


def test_sort_needs_an_index_unless_it_is_by_id(hotels):
    for sort in (["_id"], [{"_id": "asc"}]):
        assert [doc["_id"] for doc in find(
            hotels, {"stars": {"$gt": None}}, sort=sort)["docs"]] == list("abcdef")
    turned = find(hotels, {"stars": {"$gt": None}}, sort=[{"_id": "desc"}], limit=3)
    assert [doc["_id"] for doc in turned["docs"]] == list("fed")
    refused = hotels.call("POST", "/_find", json={"selector": {"stars": 3}, "sort": ["stars"]})
    assert failed(refused) == (400, "no_usable_index")
    mixed = {"selector": {"stars": 3}, "sort": [{"stars": "asc"}, {"city": "desc"}]}
    assert failed(hotels.call("POST", "/_find", json=mixed)) == (400, "unsupported_mixed_sort")


def test_conflicts_come_along_and_can_be_selected(shared):
    database = Database(shared)
    database.graft("torn", "2-b 1-a", "2-c 1-a")
    database.put("whole")
    found = find(database, {"_id": {"$gt": None}}, conflicts=True)["docs"]
    assert {doc["_id"]: doc.get("_conflicts") for doc in found} == {"torn": ["2-b"], "whole": None}
    assert ids(database, {"_conflicts": {"$exists": True}}, conflicts=True) == "torn"
    assert "_conflicts" not in find(database, {"_id": "torn"})["docs"][0]


def test_options_of_a_cluster_change_nothing(hotels):
    assert ids(hotels, {"stars": 3}, r=3, stable=True, update=False) == "a"
    assert ids(hotels, {"stars": 3}, stale="ok") == ids(hotels, {"stars": 3}, stale=False) == "a"


def test_numbers_and_texts_come_back_as_they_were_written(database):
    body = b'{"a":1.0,"b":1e2,"c":"\\u00e9"}'
    database.call("PUT", "/x", data=body, headers={"Content-Type": "application/json"})
    answer = database.call("POST", "/_find", json={"selector": {"a": 1}})
    assert body[1:-1] in answer.content
    assert b'"b":1e2' in database.call(
        "POST", "/_find", json={"selector": {"a": 1}, "fields": ["b"]}).content


def test_store_that_was_never_written_is_searched_in_vain(database):
    assert find(database, {"a": 1})["docs"] == []
    assert database.call("GET", "/_index").json()["total_rows"] >= 1
