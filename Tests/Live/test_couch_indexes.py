"""Mango's indexes: _index, _explain, and queries with and without indexes, which have the same results.

The expected responses are those of CouchDB 3.5: "/{db}/_index" and "/{db}/_explain"."""
import json
import random

import pytest

from couch import Database, failed
from slices import first


def index(database, *fields, **members):
    partial = {"partial_filter_selector": members.pop("partial")} if "partial" in members else {}
    return database.call(
        "POST", "/_index", json={"index": {"fields": list(fields), **partial}, **members})


def listed(database, query=""):
    """The definitions without the built-in ones."""
    answer = database.call("GET", "/_index" + query)
    assert answer.status_code == 200, answer.text
    return [entry for entry in answer.json()["indexes"] if entry["type"] != "special"]


def explain(database, selector, **members):
    answer = database.call("POST", "/_explain", json={"selector": selector, **members})
    assert answer.status_code == 200, answer.text
    return answer.json()


def found(database, selector, **members):
    answer = database.call("POST", "/_find", json={"selector": selector, "limit": 1000, **members})
    assert answer.status_code == 200, answer.text
    return [doc["_id"] for doc in answer.json()["docs"]]


def test_index_is_made_once_listed_and_deleted(database):
    made = index(database, "a", {"b.c": "asc"}, ddoc="by", name="ab", type="json")
    assert made.json() == {"result": "created", "id": "_design/by", "name": "ab"}
    again = index(database, "a", {"b.c": "asc"}, ddoc="by", name="ab")
    assert again.json() == {"result": "exists", "id": "_design/by", "name": "ab"}
    entry, = listed(database)
    assert entry == {"ddoc": "_design/by", "name": "ab", "type": "json", "partitioned": False,
                     "def": {"fields": [{"a": "asc"}, {"b.c": "asc"}]}}
    whole = database.call("GET", "/_index").json()
    assert whole["total_rows"] == len(whole["indexes"])
    assert whole["indexes"][0] == {
        "ddoc": None, "name": "_all_docs", "type": "special", "def": {"fields": [{"_id": "asc"}]}}
    for path, status in (("by/json/none", 404), ("none/json/ab", 404), ("by/text/ab", 404),
                         ("by/json/ab", 200), ("by/json/ab", 404)):
        answer = database.call("DELETE", "/_index/" + path)
        assert answer.status_code == status, path
        assert answer.json() == {"ok": True} or answer.json()["reason"]
    assert listed(database) == []
    assert database.call("GET", "/_design/by").status_code == 404, "the last index takes it along"


@pytest.mark.parametrize("path", ["_design/by/json/n", "_design%2Fby/json/n", "by/json/n"])
def test_index_is_deleted_by_any_of_its_paths(database, path):
    index(database, "n", ddoc="by", name="n")
    assert database.call("DELETE", "/_index/" + path).json() == {"ok": True}


def test_index_without_names_is_given_them(database):
    first, again, other = index(
        database, "a").json(), index(database, "a").json(), index(database, "b").json()
    assert first["result"] == "created" and first["id"].startswith("_design/") and first["name"]
    assert again == {**first, "result": "exists"} and other["id"] != first["id"]
    assert len(listed(database)) == 2


def test_index_is_a_design_document_that_replicates(shared):
    database, other = Database(shared), Database(shared)
    index(database, "n", ddoc="by", name="n")
    design = database.call("GET", "/_design/by?revs=true").json()
    assert design["language"] == "query"
    assert other.bulk(design, new_edits=False) == []
    assert listed(other) == listed(database)
    other.bulk({"_id": "x", "n": 1})
    assert explain(other, {"n": 1})["index"]["name"] == "n" and found(other, {"n": 1}) == ["x"]
    other.call("DELETE", "/_design/by?rev=" + design["_rev"])
    assert listed(other) == [] and found(other, {"n": 1}) == ["x"]


def test_several_indexes_are_deleted_at_once(database):
    for name in ("one", "two"):
        index(database, name, ddoc=name, name=name)
    answer = database.call(
        "POST", "/_index/_bulk_delete", json={"docids": ["_design/one", "two", "_design/none"]})
    assert answer.status_code == 200
    assert [entry["ok"] for entry in answer.json()["success"]] == [True, True]
    assert [entry["error"] for entry in answer.json()["fail"]] == ["not_found"]
    assert listed(database) == []
    for body in ({}, {"docids": "one"}, {"docids": [1]}, []):
        assert database.call("POST", "/_index/_bulk_delete", json=body).status_code == 400, body


def test_limit_and_skip_choose_among_the_indexes(database):
    for name in "abc":
        index(database, name, ddoc=name, name=name)
    every = database.call("GET", "/_index").json()["indexes"]
    for query, expected in ((
        "limit=2", every[:2]), ("skip=1&limit=2", every[1:3]), ("skip=100", []),
                            ("limit=10000000", every)):
        assert database.call("GET", "/_index?" + query).json()["indexes"] == expected, query
    for query in ("limit=-1", "limit=x", "skip=-1"):
        assert database.call("GET", "/_index?" + query).status_code == 400, query


@pytest.mark.parametrize("body", [
    {}, [], "x", {"index": 1}, {"index": []}, {"index": {}}, {"index": {"fields": None}},
    {"index": {"fields": "a"}},
    {"index": {"fields": {"a": "b"}}}, {"index": {"fields": [1]}},
    {"index": {"fields": [{"a": 2}]}},
    {"index": {"fields": [{"a": "up"}]}}, {"index": {"fields": [{"a": "asc", "b": "asc"}]}},
    {"index": {"fields": [{"a": "asc"}, {"b": "desc"}]}}, {"index": {"fields": [""]}},
    {"index": {"fields": ["a"]}, "type": "geo"}, {"index": {"fields": ["a"]}, "type": 1},
    {"index": {"fields": ["a"]}, "name": ""},
    {"index": {"fields": ["a"]}, "name": 1}, {"index": {"fields": ["a"]}, "ddoc": ""},
    {"index": {"fields": ["a"]}, "ddoc": {}},
    {"index": {"fields": ["a"], "partial_filter_selector": {"b": {"$no": 1}}}},
    {"index": {"fields": ["a"]}, "partitioned": True},
    {"index": {"fields": [f"f{n}" for n in range(100)]}},
    {"index": {"fields": ["a"], "unknown": 1}}], ids=str)
def test_definitions_that_are_none_are_400(untouched, body):
    refused = untouched.call("POST", "/_index", json=body)
    assert refused.status_code == 400 and refused.json()["error"] and refused.json()["reason"]
    assert untouched.changes()["results"] == []


def test_text_indexes_are_not_offered(untouched):
    refused = untouched.call("POST", "/_index", json={"index": {}, "type": "text"})
    assert refused.status_code in (400, 501, 503) and refused.json()["reason"]


def test_foreign_design_documents_are_left_alone(database):
    database.call(
        "PUT", "/_design/app", json={"language": "javascript", "views": {"v": {"map": "x"}}})
    assert listed(database) == []
    assert index(database, "a", ddoc="app").status_code == 400
    assert database.call("DELETE", "/_index/app/json/v").status_code == 404
    assert database.call("GET", "/_design/app").json()["views"] == {"v": {"map": "x"}}


def test_sorted_query_reads_the_index_in_order(database):
    values = [
        None, False, True, -1, 0, 1.5, 2, 10, "", "a", "ä", "B", "z", [], [1], ["a"], {}, {"a": 1}]
    shuffled = list(enumerate(values))
    random.Random(1).shuffle(shuffled)
    database.bulk(
        *({"_id": f"{number:02}", "v": value} for number, value in shuffled), {"_id": "without"})
    index(database, "v", ddoc="by", name="v")
    upward = found(database, {"v": {"$gte": None}}, sort=["v"])
    assert upward == [f"{number:02}" for number in range(len(values))], "in CouchDB's order of values"
    assert found(database, {"v": {"$gte": None}}, sort=[{"v": "desc"}]) == upward[::-1]
    pages, bookmark = [], "nil"
    for _ in range(10):
        body = {"selector": {"v": {"$gte": None}}, "sort": ["v"], "limit": 4, "bookmark": bookmark}
        page = database.call("POST", "/_find", json=body).json()
        pages += [doc["_id"] for doc in page["docs"]]
        bookmark = page["bookmark"]
    assert pages == upward
    assert found(database, {"v": {"$gt": 0, "$lt": "a"}}, sort=["v"]) == ["05", "06", "07", "08"]


def test_index_follows_every_change(database):
    index(database, "n", ddoc="by", name="n")
    use = {"use_index": ["by", "n"], "allow_fallback": False}
    assert found(database, {"n": {"$gt": 0}}, **use) == []
    revs = {name: database.rev(name, n=number) for number, name in enumerate("abcd", 1)}
    assert found(database, {"n": {"$gt": 1}}, **use) == ["b", "c", "d"]
    database.rev("b", _rev=revs["b"], n=0)
    database.call("DELETE", f"/c?rev={revs['c']}")
    database.rev("d", _rev=revs["d"], m=1)
    database.put("e", n=9)
    assert found(database, {"n": {"$gt": 1}}, **use) == ["e"]
    database.graft("f", "1-a", n=5)
    assert found(database, {"n": {"$gte": 5}}, **use) == ["f", "e"]
    database.graft("f", "2-b 1-a", n=1)
    assert found(database, {"n": {"$gte": 5}}, **use) == ["e"]


def test_partial_index_must_be_asked_for(database):
    database.bulk(*({"_id": str(n), "n": n, "state": "old" if n % 2 else "new"} for n in range(6)))
    index(database, "n", ddoc="fresh", name="n", partial={"state": "new"})
    assert listed(database)[0]["def"]["partial_filter_selector"]
    assert explain(database, {"n": {"$gt": 1}})["index"]["name"] != "n"
    assert found(database, {"n": {"$gt": 1}}) == ["2", "3", "4", "5"]
    assert found(database, {"n": {"$gt": 1}}, use_index="fresh") == ["2", "4"]


def test_wish_for_an_index_is_a_hint(database):
    database.bulk({"_id": "x", "n": 1, "m": 2})
    index(database, "n", ddoc="by", name="n")
    index(database, "m", ddoc="by", name="m")
    for wish in ("by", "_design/by", ["by", "n"], ["_design/by", "n"]):
        assert explain(database, {"n": 1, "m": 2}, use_index=wish)["index"]["ddoc"] == "_design/by"
    body = {"selector": {"n": 1}, "use_index": ["by", "none"]}
    answer = database.call("POST", "/_find", json=body).json()
    assert answer["docs"] and "by" in answer["warning"]
    refused = database.call("POST", "/_find", json={**body, "allow_fallback": False})
    assert failed(refused) == (400, "invalid_index")


def test_explain_shows_the_plan(database):
    index(database, "n", ddoc="by", name="n")
    plan = explain(database, {"n": {"$gt": 1}}, fields=["n"], sort=[{"n": "desc"}], limit=3, skip=1)
    assert (plan["dbname"], plan["index"]["name"], plan["index"]["type"]) == (
        database.name, "n", "json")
    assert plan["selector"] == {"n": {"$gt": 1}} and plan["fields"] == ["n"]
    assert (plan["limit"], plan["skip"], plan["partitioned"]) == (3, 1, False)
    assert plan["opts"]["sort"] == {"n": "desc"} and plan["opts"]["limit"] == 3
    assert plan["mrargs"]["direction"] == "rev" and plan["mrargs"]["include_docs"] is False
    assert plan["covering"] is True
    assert plan["mrargs"]["end_key"] == [1] and plan["mrargs"]["start_key"] == ["<MAX>"]
    assert "_all_docs" in {candidate["index"]["name"] for candidate in plan["index_candidates"]}
    assert plan["selector_hints"][0]["indexable_fields"] == ["n"]
    assert explain(database, {"m": 1})["index"]["type"] == "special"


def test_query_of_indexed_fields_alone_reads_no_document(database):
    database.bulk(*({"_id": f"{n:02}", "n": n, "a": {"b": f"t{n % 3}"}, "rest": "x"} for n in range(30)))
    index(database, "n", "a.b", ddoc="by", name="nab")
    selector = {"n": {"$gte": 20}, "a.b": {"$ne": "t1"}}

    def asked(**members):
        body = {"selector": selector, "execution_stats": True, **members}
        answer = database.call("POST", "/_find", json=body)
        assert answer.status_code == 200, answer.text
        statistics = answer.json()["execution_stats"]
        plan = explain(database, selector, **members)
        assert plan["covering"] is (not plan["mrargs"]["include_docs"])
        assert plan["covering"] is (statistics["total_docs_examined"] == 0)
        assert statistics["total_keys_examined"] == 10 and "warning" not in answer.json()
        return plan["covering"], answer.json()["docs"]

    expected = [{"n": n, "a": {"b": f"t{n % 3}"}, "_id": f"{n:02}"} for n in range(20, 30) if n % 3 != 1]
    assert asked(fields=["n", "a.b", "_id"], sort=["n"]) == (True, expected)
    assert asked(fields=["a.b"], skip=1) == (True, [{"a": doc["a"]} for doc in expected[1:]])
    for fields in (["n", "rest"], ["a"], ["_id", "_rev"], []):
        covered, docs = asked(fields=fields)
        assert not covered and len(docs) == len(expected)
    assert asked(fields=["n"], conflicts=True) == (False, [{"n": doc["n"]} for doc in expected])


def test_covered_answers_follow_every_change(database):
    index(database, "n", ddoc="by", name="n")
    query = {"selector": {"n": {"$gt": 0}}, "fields": ["_id", "n"], "execution_stats": True}

    def answered():
        answer = database.call("POST", "/_find", json=query).json()
        return answer["execution_stats"]["total_docs_examined"], [
            (doc["_id"], doc["n"]) for doc in answer["docs"]]

    revs = {name: database.rev(name, n=number) for number, name in enumerate("abc", 1)}
    assert answered() == (0, [("a", 1), ("b", 2), ("c", 3)])
    database.rev("a", _rev=revs["a"], n=5)
    database.call("DELETE", f"/b?rev={revs['b']}")
    assert answered() == (0, [("c", 3), ("a", 5)])
    database.graft("c", f"2-ff {revs['c']}", n=9)
    assert answered() == (0, [("a", 5), ("c", 9)])
    long = [*range(400)]
    database.put("long", n=long)
    assert answered() == (1, [("a", 5), ("c", 9), ("long", long)]), "too long for the index to keep"


def random_value(random):
    return random.choice([
        None, True, False, random.randint(-2, 3), random.random(),
        random.choice(["", "a", "B", "ä", "pool"]),
        [random.randint(0, 2)], {"x": random.randint(0, 2)}])


def random_selector(random, depth=2):
    field = random.choice(["a", "b", "c.x", "_id"])
    operators = ["$eq", "$ne", "$lt", "$lte", "$gt", "$gte"]
    kind = random.randrange(8 if depth else 5)
    if kind < 3:
        return {field: {random.choice(operators): random_value(random)}}
    if kind == 3:
        return {field: {"$in": [random_value(random) for _ in range(3)]}}
    if kind == 4:
        return {field: {"$exists": random.random() < 0.7}}
    if kind == 7:
        return {"$not": random_selector(random, depth - 1)}
    return {["$and", "$or"][kind - 5]: [random_selector(random, depth - 1) for _ in range(2)]}


def find_projected(database, selector, fields):
    body = {"selector": selector, "fields": fields, "limit": 1000}
    return database.call("POST", "/_find", json=body).json()["docs"]


@pytest.mark.parametrize("seed", first(1, range(3)))
def test_indexes_change_no_answer(shared, rounds, seed):
    chance = random.Random(seed)
    plain, indexed = Database(shared), Database(shared)
    documents = [{
        "_id": f"{n:03}", **{name: random_value(chance) for name in "abc" if chance.random() < 0.8}}
                 for n in range(60)]
    for database in (plain, indexed):
        database.bulk(*documents)
    for fields in (["a"], ["b"], ["a", "b"], ["c.x", "a"]):
        assert index(indexed, *fields).status_code == 200
    for _ in range(rounds * 5):
        selector = random_selector(chance)
        expected, answered = found(plain, selector), found(indexed, selector)
        assert sorted(answered) == expected, json.dumps(selector)
        for fields in (["_id", "a"], ["b", "_id"], ["_id", "c.x", "a"]):
            read, covered = (sorted(find_projected(database, selector, fields), key=lambda doc: doc["_id"])
                             for database in (plain, indexed))
            assert covered == read, json.dumps(selector)
