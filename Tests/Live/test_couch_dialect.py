"""The behaviour that ordinary clients of CouchDB expect: the same responses as CouchDB 3.5, where it has only one."""
import http.client
import json
import urllib.parse

import pytest
import requests

from couch import Account, Database, failed
from dialect import DEEP, post
from waiting import PATIENCE


def spoken(database, method, path, body=None, **headers):
    """One request whose target is sent unchanged, byte by byte. HTTP client libraries would normalise it."""
    connection = http.client.HTTPConnection(database.server.url.removeprefix("http://"), timeout=PATIENCE)
    headers["Authorization"] = "Bearer " + database.token
    connection.request(method, path.replace("{db}", database.name), body, headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read() or b"null"), answer.headers


@pytest.mark.parametrize("members", [
    '"x":' + DEEP, '"x":"' + "y" * 600_000 + '"', '"x":1' + "0" * 64, '"x":1e999',
    '"x":"\\ud800"', ",".join(f'"m{number}":0' for number in range(10_001)),
    '"x":"' + "y" * 500_000 + '","z":"' + "y" * 500_000 + '","w":"' + "y" * 100_000 + '"'],
    ids=["depth", "string", "digits", "exponent", "surrogate", "members", "bytes"])
@pytest.mark.parametrize("new_edits", [True, False])
def test_document_beyond_a_limit_does_not_stop_the_others(shared, members, new_edits):
    database = Database(shared, Account(shared).token)
    rev = "" if new_edits else ',"_rev":"1-a"'
    docs = ",".join((
        '{"_id":"a"%s}' % rev, '{"_id":"b"%s,%s}' % (rev, members), '{"_id":"c"%s}' % rev))
    answer = post(database, "/_bulk_docs", '{"docs":[%s],"new_edits":%s}' % (
        docs, json.dumps(new_edits)))
    assert answer.status_code == 201, answer.text
    refused = [row for row in answer.json() if "error" in row]
    assert [(row["id"], row["error"]) for row in refused] == [("b", "forbidden")]
    assert refused[0]["reason"]
    assert set(database.documents()) == {"a", "c"}


def test_ids_and_revisions_that_only_couchdb_holds_do_not_stop_the_others(database):
    long = "x" * 513
    refused = database.bulk(
        {"_id": long, "_rev": "1-a"}, {"_id": "n\0", "_rev": "1-a"},
        {"_id": "b", "_rev": "99999999999999999999-a"},
        {"_id": "a", "_rev": "1-a"}, new_edits=False)
    assert [(row["id"], row["error"]) for row in refused] == [
        (long, "forbidden"), ("n\0", "forbidden"), ("b", "forbidden")]
    assert set(database.documents()) == {"a"}


def test_full_store_fails_a_replicators_request_and_takes_the_rest_later(database):
    kept = {f"k{number}": database.rev(f"k{number}") for number in range(200)}
    peers = [{"_id": f"p{number}", "_rev": "1-a"} for number in range(3)]
    answer = database.call("POST", "/_bulk_docs", json={"docs": peers, "new_edits": False})
    assert failed(answer) == (507, "quota_exceeded")
    for name in list(kept)[:3]:
        assert database.call("DELETE", f"/{name}?rev={kept[name]}").status_code == 200
    assert database.bulk(*peers, new_edits=False) == []
    assert {f"p{number}" for number in range(3)} <= set(database.documents())
    own = database.bulk({"_id": "new"}, {"_id": "newer"})
    assert [row.get("error") for row in own] == [None, "quota_exceeded"]


@pytest.mark.parametrize("document,expected", [
    ({"_id": "_bad"}, "illegal_docid"), ({"_id": ""}, "illegal_docid"), ({"_id": 1}, "illegal_docid"),
    ({"_unknown": 1}, "doc_validation"), ({"_deleted": "yes"}, "doc_validation"),
    ({"_rev": "x"}, "bad_request"), ([], "bad_request"), (None, "bad_request"), ("x", "bad_request")],
    ids=str)
@pytest.mark.parametrize("new_edits", [True, False])
def test_one_malformed_document_makes_the_request_one_that_writes_nothing(
        untouched, document, expected, new_edits):
    docs = [{"_id": "a", "_rev": "1-a"}, document, {"_id": "b", "_rev": "1-b"}]
    answer = untouched.call("POST", "/_bulk_docs", json={"docs": docs, "new_edits": new_edits})
    assert failed(answer) == (400, expected)


def test_words_are_couchdbs(untouched):
    for method, path, body, words in (
            ("POST", "/_bulk_docs", {}, "POST body must include `docs` parameter."),
            ("POST", "/_bulk_docs", {"docs": 1}, "`docs` parameter must be an array."),
            ("POST", "/_bulk_docs", {"docs": [], "new_edits": 1},
             "`new_edits` parameter must be a boolean."),
            ("POST", "/_bulk_docs", {"docs": [{}], "new_edits": False},
             "When `new_edits: false`, the document needs `_rev` or `_revisions` specified"),
            ("POST", "/_bulk_docs", {"docs": [1]}, "Document must be a JSON object"),
            ("POST", "", [], "Document must be a JSON object"),
            ("PUT", "/a", [], "Document must be a JSON object"),
            ("PUT", "/a", {"_id": 1}, "Document id must be a string"),
            ("PUT", "/a", {"_x": 1}, "Bad special document member: _x"),
            ("PUT", "/a", {"_rev": 1}, "Invalid rev format"),
            ("PUT", "/a", {"_revisions": {"ids": []}}, "_revisions.start isn't an integer."),
            ("GET", "/_all_docs?limit=x", None, 'Invalid value for integer: "x"'),
            ("GET", "/_all_docs?limit=-1", None, 'Invalid value for positive integer: "-1"'),
            ("GET", "/_all_docs?descending=x", None, 'Invalid boolean parameter: "x"')):
        answer = untouched.call(method, path, json=body)
        assert answer.status_code == 400 and answer.json()["reason"] == words, (path, answer.text)


# Local documents.

def local(database, method, path="/_local/x", **options):
    return database.raw(method, path, **options)


def test_local_documents_know_no_conflict(database):
    made = local(database, "PUT", json={"_rev": "0-7", "_id": "_local/other", "n": 1})
    assert (made.status_code, made.json()["rev"], made.headers["ETag"]) == (201, "0-8", '"0-8"')
    assert local(database, "PUT", json={"_id": "b", "n": 2}).json() == {
        "ok": True, "id": "_local/x", "rev": "0-1"}
    assert local(database, "GET").json() == {"_id": "_local/x", "_rev": "0-1", "n": 2}
    for method in ("GET", "HEAD"):
        answer = local(database, method, headers={"If-None-Match": '"0-1"'})
        assert (answer.status_code, answer.headers["ETag"]) == (200, '"0-1"')
    assert local(database, "GET", "/_local/other").status_code == 404
    gone = local(database, "DELETE")
    assert (gone.status_code, gone.json()["rev"], gone.headers["ETag"]) == (200, "0-0", '"0-0"')
    assert failed(local(database, "DELETE")) == (404, "not_found")


def test_local_documents_come_by_every_way(database):
    posted = database.call("POST", "", json={"_id": "_local/x", "n": 1})
    assert posted.status_code == 201 and posted.json()["rev"] == "0-1"
    assert posted.headers["Location"].endswith(f"/couch/{database.name}/_local/x")
    rows = database.bulk({"_id": "_local/x", "_rev": "0-1", "n": 2}, {"_id": "_local/y"})
    assert [row["rev"] for row in rows] == ["0-2", "0-1"]
    assert database.bulk({"_id": "_local/y", "_rev": "0-1", "n": 3}, new_edits=False) == []
    assert local(database, "GET", "/_local/y").json()["n"] == 3
    assert database.copy("/_local/x", "doc").status_code == 201
    assert database.call("GET", "/doc").json()["n"] == 2
    assert database.copy("/doc", "_local/z").json() == {
        "ok": True, "id": "_local/z", "rev": "0-1"}
    assert database.copy("/_local/z", "_local/w?rev=0-4").json()["rev"] == "0-5"
    assert failed(database.copy("/_local/none", "doc2")) == (404, "not_found")
    assert set(database.documents()) == {"doc"}


# Names, parameters and headers.

def test_path_names_the_document_whatever_its_body_says(database):
    assert database.put("a", _id="b", n=1).json()["id"] == "a"
    assert set(database.documents()) == {"a"}


@pytest.mark.parametrize("path,name", [
    ("/couch/{db}/%2E", "."), ("/couch/{db}/%2e%2E", ".."), ("/couch/{db}/a+b", "a b"),
    ("/couch/{db}/a%2Bb", "a+b"), ("/couch//{db}//c", "c"), ("/couch/{db}/d/", "d")])
def test_every_id_has_a_path(database, path, name):
    assert database.call("POST", "", json={"_id": name, "n": 1}).status_code == 201
    status, body, _ = spoken(database, "GET", path)
    assert (status, body["_id"]) == (200, name)
    status, body, headers = spoken(
        database, "PUT", path, json.dumps({"_rev": body["_rev"], "n": 2}))
    assert (status, body["id"]) == (201, name)
    written = urllib.parse.urlsplit(headers["Location"])
    assert f"{written.scheme}://{written.netloc}" == database.server.url
    status, body, _ = spoken(database, "GET", written.path)
    assert (status, body["n"]) == (200, 2)


def test_query_wins_over_the_body_and_the_last_of_two_parameters_counts(database):
    database.bulk(*({"_id": name} for name in "abc"))
    rows = lambda answer: [row["id"] for row in answer.json()["rows"]]
    body = {"limit": 1, "startkey": "b"}
    assert rows(database.call("POST", "/_all_docs?limit=2", json=body)) == ["b", "c"]
    assert rows(database.call("GET", "/_all_docs?limit=1&limit=2")) == ["a", "b"]
    assert rows(database.call("GET", "/_all_docs?limit=1;skip=1")) == ["b"]
    for query in ('startkey="b"&endkey="a"', 'descending=true&startkey="a"&endkey="b"'):
        assert rows(database.call("GET", "/_all_docs?" + urllib.parse.quote(query, "=&"))) == []
    both = urllib.parse.quote('keys=["b"]&startkey="c"&key="a"', "=&")
    assert rows(database.call("GET", "/_all_docs?" + both)) == ["b"]
    assert rows(database.call("POST", "/_all_docs", json={"keys": ["b"], "key": "a"})) == ["b"]
    for query, body in (('?key="a"', {"keys": ["a", "b"]}), ("", {"keys": ["a", "b"], "startkey": "a"})):
        answer = database.call("POST", "/_all_docs" + urllib.parse.quote(query, "=?"), json=body)
        assert failed(answer) == (400, "query_parse_error") and "incompatible" in answer.json()["reason"]


def test_parameters_that_belong_elsewhere_are_refused_in_couchdbs_words(database):
    for body, reason in (
            ({"selector": "foo"}, "Selector error: expected a JSON object"), ({}, "Selector error: expected a JSON object"),
            ({"selector": {}, "fields": "a"}, "Selector error: fields must be JSON array")):
        answer = database.call("POST", "/_changes?filter=_selector", json=body)
        assert failed(answer) == (400, "bad_request") and answer.json()["reason"] == reason
    for name in ("rev=1-a", "open_revs=all", "new_edits=false"):
        answer = database.call("POST", "/_bulk_get?" + name, json={"docs": []})
        assert failed(answer) == (400, "bad_request") and "not acceptable" in answer.json()["reason"]
    results = database.call("POST", "/_bulk_get", json={"docs": [{}, {"rev": "1-a"}]}).json()["results"]
    assert [one["docs"][0]["error"] for one in results] == [
        {"id": None, "rev": None, "error": "bad_request", "reason": reason}
        for reason in ("document must be a JSON object", "document id missed")]


def test_tombstone_is_gone_on_from_by_a_new_beginning_only(database):
    rev = database.rev("a")
    tombstone = database.call("DELETE", f"/a?rev={rev}").json()["rev"]
    for members in ({"_rev": tombstone}, {"_deleted": True}, {"_rev": tombstone, "_deleted": True}):
        assert failed(database.put("a", **members)) == (409, "conflict")
        row, = database.bulk({"_id": "a", **members})
        assert row["error"] == "conflict"
    database.rev("source")
    assert failed(database.copy("/source", f"a?rev={tombstone}")) == (409, "conflict")
    assert database.rev("a").startswith("3-")


def test_entity_tag_without_quotation_marks_matches_nothing(database):
    rev = database.rev("a")
    assert database.raw("GET", "/a", headers={"If-None-Match": rev}).status_code == 200
    assert database.raw("GET", "/a", headers={"If-None-Match": f'"{rev}"'}).status_code == 304


def test_method_may_be_named_by_a_post(database):
    override = lambda name: {"X-HTTP-Method-Override": name}
    made = database.raw("POST", "/a", headers=override("PUT"), json={"n": 1})
    assert made.status_code == 201
    for name in ("GET", "HEAD"):
        assert database.raw("POST", "/a", headers=override(name)).json()["n"] == 1
    copied = database.raw("POST", "/a", headers={**override("COPY"), "Destination": "b"})
    assert copied.status_code == 201
    gone = database.raw("POST", f"/a?rev={made.json()['rev']}", headers=override("DELETE"))
    assert gone.status_code == 200 and set(database.documents()) == {"b"}
    assert database.raw("GET", "/b", headers=override("DELETE")).status_code == 200
    assert database.raw("POST", "/b", headers=override("PATCH")).status_code == 405


def test_ended_cookie_is_nobody_to_the_session(shared):
    account = Account(shared)
    with requests.Session() as session:
        form = {"name": account.name, "password": account.password}
        assert session.post(shared.url + "/couch/_session", data=form).status_code == 200
        cookie = session.cookies["AuthSession"]
        assert session.delete(shared.url + "/couch/_session").status_code == 200
    for token in (cookie, "rubbish"):
        for method in ("GET", "DELETE"):
            headers = {"Cookie": f"AuthSession={token}"}
            answer = requests.request(method, shared.url + "/couch/_session", headers=headers)
            assert answer.status_code == 200 and answer.json()["ok"] is True
            if method == "GET":
                assert answer.json()["userCtx"] == {"name": None, "roles": []}
    wrong = requests.get(shared.url + "/couch/_session", auth=(account.name, "wrong"))
    assert wrong.status_code == 401


def test_batch_is_accepted_and_written(database):
    for method, path, body in (
            ("PUT", "/a?batch=ok", {}), ("POST", "?batch=ok", {"_id": "b"}),
            ("PUT", "/_local/x?batch=ok", {})):
        answer = database.call(method, path, json=body)
        assert answer.status_code == 202 and set(answer.json()) == {"ok", "id"}
        assert "ETag" not in answer.headers and "Location" not in answer.headers
    assert set(database.documents()) == {"a", "b"}
    assert failed(database.call("PUT", "/a?batch=ok", json={})) == (409, "conflict")


def test_all_or_nothing_is_refused_document_by_document(database):
    answer = database.call(
        "POST", "/_bulk_docs", json={"docs": [{"_id": "a"}], "all_or_nothing": True})
    assert answer.status_code == 417
    row, = answer.json()
    assert (row["id"], row["error"]) == ("a", "not_implemented")
    assert database.documents() == {}


def test_server_and_its_answers_have_names(shared, database):
    first, second = (requests.get(shared.url + "/couch/") for _ in range(2))
    assert len(first.json()["uuid"]) == 32 and first.json() == second.json()
    assert first.headers["X-Couch-Request-ID"] != second.headers["X-Couch-Request-ID"]
    for path in ("", "/a", "/_changes"):
        answer = database.raw("GET", path)
        assert answer.headers["X-Couch-Request-ID"] and answer.headers["X-CouchDB-Body-Time"] == "0", path
    assert database.put("timed", n=1).headers["X-CouchDB-Body-Time"].isdigit()
    uuids = requests.get(shared.url + "/couch/_uuids")
    assert uuids.headers["ETag"].startswith('"') and "no-cache" in uuids.headers["Cache-Control"]
    assert uuids.headers["Pragma"] == "no-cache"
    for given, taken in (("my-id_7", True), ("no id", False), ("x" * 37, False)):
        answer = requests.get(shared.url + "/couch/", headers={"X-Couch-Request-ID": given})
        assert (answer.headers["X-Couch-Request-ID"] == given) == taken, given


@pytest.mark.parametrize("method, path, options, error, reason", [
    ("GET", "/_changes?heartbeat=a1000", {}, "bad_request", "Invalid heartbeat value"),
    ("GET", "/_changes?heartbeat=-1", {}, "bad_request", "The heartbeat value should be a positive integer"),
    ("GET", "/_changes?feed=x", {}, "bad_request",
     "Supported `feed` types: normal, continuous, live, longpoll, eventsource"),
    ("GET", "/_changes?seq_interval=0", {}, "bad_request", "invalid_seq_interval"),
    ("GET", "/_all_docs?keys=1", {}, "bad_request", "`keys` parameter must be an array."),
    ("POST", "/_all_docs", {"json": {"keys": 1}}, "bad_request", "`keys` body member must be an array."),
    ("PUT", "/_local", {"json": {}}, "bad_request", "Invalid _local document id."),
    ("GET", "/_local%2F", {}, "bad_request", "Invalid _local document id."),
    ("PUT", "/_design", {"json": {}}, "illegal_docid", "_design alone"),
    ("PUT", "/a?rev=1-a", {"json": {"_rev": "1-b"}}, "bad_request", "from request body and query string"),
    ("PUT", "/a", {"json": {"_rev": "1-b"}, "headers": {"If-Match": '"1-a"'}}, "bad_request", "rev and etag")])
def test_malformed_requests_are_refused_in_couchdbs_words(database, method, path, options, error, reason):
    answer = database.call(method, path, **options)
    assert failed(answer) == (400, error) and reason in answer.json()["reason"], answer.text


def test_name_that_no_attachment_has_is_missing_where_its_document_is_there(database):
    database.put("a")
    database.put("_design/d")
    for path, reason in (
            ("/a/_f", "Document is missing attachment"), ("/none/_f", "missing"), ("/_design/none/_info", "missing"),
            ("/_design/d/_info", "CouchDB's _info is not offered here"), ("/a/_f?rev=9-a", "missing")):
        answer = database.call("GET", path)
        assert (answer.status_code, answer.json()) == (404, {"error": "not_found", "reason": reason}), path


def test_history_may_come_without_a_revision_and_wins_over_one(database):
    history = {"start": 2, "ids": ["b", "a"]}
    assert database.bulk({"_id": "x", "_revisions": history}, new_edits=False) == []
    assert database.bulk({"_id": "y", "_rev": "1-z", "_revisions": history}, new_edits=False) == []
    for name in "xy":
        assert database.call("GET", "/" + name).json()["_rev"] == "2-b"


def test_members_of_replicators_are_stored(database):
    members = {name: {"n": 1.5} for name in (
        "_access", "_replication_id", "_replication_state", "_replication_state_reason",
        "_replication_state_time", "_replication_stats")}
    rev = database.rev("a", **members, n=1)
    assert database.call("GET", "/a").json() == {"_id": "a", "_rev": rev, **members, "n": 1}
    assert database.bulk({"_id": "b", **members})[0]["ok"] is True
    assert local(database, "PUT", json=members).status_code == 201
    found = database.call("POST", "/_find", json={"selector": {"n": 1}}).json()["docs"]
    assert found == [{"_id": "a", "_rev": rev, **members, "n": 1}]
