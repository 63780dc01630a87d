"""The replications that documents in `_replicator` describe."""
import os
import pathlib
import uuid

import pytest

import postgres
from couch import Administrator, Database, with_credentials
from server import Server
from test_replicator import LOOPBACK, content, path, tasks, url
from waiting import wait_until

def administrator(directory):
    directory.mkdir(exist_ok=True)
    found = Administrator(directory, *LOOPBACK)
    assert found.call("PUT", "/_replicator").status_code == 201
    return found


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two servers that may reach each other."""
    ends = [administrator(tmp_path_factory.mktemp(name)) for name in ("here", "there")]
    yield ends
    for end in ends:
        assert end.server.stop() == 0, "".join(end.server.log[-20:])


def put(at, document, **members):
    answer = at.call("PUT", "/_replicator/" + document, json=members)
    assert answer.status_code == 201, answer.text
    return answer.json()["rev"]


def replicated(at, document, **members):
    path = f"/_replicator/{document}?new_edits=false"
    return at.call("PUT", path, json={"_rev": "1-" + uuid.uuid4().hex, **members})


def stored(at, document):
    return at.call("GET", "/_replicator/" + document).json()


def remove(at, document):
    answer = at.call("DELETE", f"/_replicator/{document}?rev={stored(at, document)['_rev']}")
    assert answer.status_code == 200, answer.text


def shown(at, document):
    answer = at.call("GET", "/_scheduler/docs/_replicator/" + document)
    return answer.json() if answer.status_code == 200 else {"state": None}


def wait_for(at, document, state):
    return wait_until(lambda: (found := shown(at, document))["state"] == state and found, f"not {state}")


def name():
    return "r" + uuid.uuid4().hex


def test_one_that_runs_once_is_completed_and_begins_again_without_its_state(pair):
    here, there = pair
    source, target, document = there.create(), here.create(), name()
    source.bulk(*({"_id": f"d{n}"} for n in range(50)))
    put(here, document, source=url(source, there), target=target.name)
    done = wait_for(here, document, "completed")
    assert done["info"]["docs_written"] == 50 and done["error_count"] == 0
    assert content(target) == content(source)
    body = stored(here, document)
    assert body["_replication_state"] == "completed" and body["_replication_stats"]["docs_written"] == 50
    assert done["id"] is None and done["doc_id"] == document and done["source"] == body["source"]["url"] + "/"
    assert done["start_time"] == body["_replication_stats"]["start_time"] and "_replication_id" not in body
    assert done["last_updated"] == body["_replication_state_time"] and "start_time" not in done["info"]
    wait_until(lambda: document not in [job["doc_id"] for job in here.call("GET", "/_scheduler/jobs").json()["jobs"]])
    source.put("later", n=1)
    # As in CouchDB, what an older replicator has noted begins it again, and is gone at its end.
    again = {key: value for key, value in body.items() if not key.startswith("_repl")}
    again |= {"_replication_state": "triggered", "_replication_state_reason": "old", "_replication_id": "old"}
    assert here.call("PUT", "/_replicator/" + document, json=again).status_code == 201
    wait_until(lambda: target.call("GET", "/later").status_code == 200)
    wait_for(here, document, "completed")
    assert {key for key in stored(here, document) if key.startswith("_repl")} == {
        "_replication_state", "_replication_state_time", "_replication_stats"}
    remove(here, document)
    wait_until(lambda: shown(here, document)["state"] is None)


def test_continuous_one_follows_until_its_document_is_gone(pair):
    here, there = pair
    source, target, document = here.create(), name(), name()
    put(here, document, source=source.name, target=with_credentials(there.server.url, *there.auth) + "/couch/" + target,
        continuous=True, create_target=True, checkpoint_interval=200)
    running = wait_for(here, document, "running")
    job = here.call("GET", "/_scheduler/jobs/" + running["id"]).json()
    assert job["doc_id"] == document and job["database"] == "_replicator"
    source.put("a", n=1)
    wait_until(lambda: there.call("GET", path(target) + "/a").status_code == 200)
    assert [task["doc_id"] for task in here.call("GET", "/_active_tasks").json() if task["doc_id"] == document]
    # As in CouchDB, a request ends it, too, until its document is written again.
    ended = here.call("POST", "/_replicate", json={"replication_id": running["id"], "cancel": True})
    assert (ended.status_code, ended.json()) == (200, {"ok": True, "_local_id": running["id"]})
    assert here.call("GET", "/_scheduler/jobs/" + running["id"]).status_code == 404
    assert (shown(here, document)["state"], shown(here, document)["id"]) == ("pending", running["id"])
    assert put(here, document, **stored(here, document))
    assert wait_for(here, document, "running")["id"] == running["id"]
    second = name()
    put(here, second, source=source.name, target=with_credentials(there.server.url, *there.auth) + "/couch/" + target,
        continuous=True, create_target=True)
    failed = wait_for(here, second, "failed")
    assert f"already started, triggered by document `{document}`" in failed["info"]["error"]
    remove(here, document)
    wait_until(lambda: here.call("GET", "/_scheduler/jobs/" + running["id"]).status_code == 404)
    source.put("b", n=1)
    # Another replication copies the same change: had the first one gone on, it would have copied it meanwhile.
    marker = here.create()
    assert here.call("POST", "/_replicate", json={"source": source.name, "target": marker.name}).status_code == 200
    assert marker.call("GET", "/b").status_code == 200
    assert there.call("GET", path(target) + "/b").status_code == 404
    listed = here.call("GET", "/_scheduler/docs").json()
    assert document not in [row["doc_id"] for row in listed["docs"]] and second in [row["doc_id"] for row in listed["docs"]]
    remove(here, second)


@pytest.mark.parametrize("members,words", [
    ({"target": "a"}, "Missing replicator database"), ({"source": "a", "target": 7}, "invalid url"),
    ({"source": "a", "target": "b", "continuous": "yes"}, "must be a boolean"),
    ({"source": "a", "target": "b", "filter": "app/x"}, "is not offered"),
    ({"source": "a", "target": "b", "user_ctx": {"name": "ann", "roles": []}}, "user_ctx"),
    ({"source": {"url": "http://h/a", "sealed": "AAAA"}, "target": "b"}, "send them again")])
def test_wrong_document_fails_with_the_reason(pair, members, words):
    document = name()
    answer = pair[0].call("PUT", "/_replicator/" + document, json=members)
    if words in ("Missing replicator database", "invalid url", "must be a boolean"):
        # CouchDB refuses a client's document that can't be read. A peer's is stored.
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden") and words in answer.json()["reason"]
        answer = replicated(pair[0], document, **members)
    assert answer.status_code == 201, answer.text
    failed = wait_for(pair[0], document, "failed")
    assert words in failed["info"]["error"]
    body = stored(pair[0], document)
    assert body["_replication_state"] == "failed" and words in body["_replication_state_reason"]
    assert body["_replication_state_time"].endswith("Z")
    remove(pair[0], document)


def test_document_that_describes_no_replication_is_made_in_no_way(pair):
    """Regression: an attachment, or a copy, made one without ends."""
    here, document = pair[0], name()
    database = Database(here.server, name="_replicator", auth=here.auth)
    plain = {"data": b"words", "headers": {"Content-Type": "text/plain"}}
    design = database.call("PUT", f"/_design/{document}/f", **plain)
    assert design.status_code == 201, design.text
    assert database.call("PUT", "/_local/" + document, json={"n": 1}).status_code == 201
    for refused in (database.call("PUT", f"/{document}/f", **plain), database.copy("/_design/" + document, document),
                    database.copy("/_local/" + document, document)):
        assert (refused.status_code, refused.json()) == (
            403, {"error": "forbidden", "reason": "Missing replicator database: `source`"})
    assert database.call("GET", "/" + document).status_code == 404
    # One that describes a replication may have attachments, and may be copied.
    rev = put(here, document, source="a", target="b", _replication_state="completed")
    added = database.call("PUT", f"/{document}/f?rev={rev}", **plain)
    assert added.status_code == 201, added.text
    assert database.raw("GET", f"/{document}/f").content == plain["data"]
    copied = database.copy("/" + document, name())
    assert copied.status_code == 201, copied.text
    taken = database.call("DELETE", f"/{document}/f?rev={added.json()['rev']}")
    assert taken.status_code == 200, taken.text
    assert stored(here, document) == {
        "_id": document, "_rev": taken.json()["rev"], "source": "a", "target": "b", "owner": here.name,
        "_replication_state": "completed"}
    for made in (copied, taken, design):
        answer = database.call("DELETE", f"/{made.json()['id']}?rev={made.json()['rev']}")
        assert answer.status_code == 200, answer.text


def test_list_of_documents_has_all_of_them(pair):
    """Once it had the first hundred, like that of jobs."""
    here, first = pair[0], name()
    documents = [{"_id": f"{first}-{n}", "_replication_state": "failed"} for n in range(101)]
    rows = here.call("POST", "/_replicator/_bulk_docs", json={"docs": documents}).json()
    assert [row["id"] for row in rows if "ok" in row] == [document["_id"] for document in documents]
    ids = {document["_id"] for document in documents}
    wait_until(lambda: ids <= {row["doc_id"] for row in here.call("GET", "/_scheduler/docs").json()["docs"]})
    assert len(here.call("GET", "/_scheduler/docs/_replicator?limit=7&skip=1").json()["docs"]) == 7
    for row in rows:
        row.update(_id=row.pop("id"), _rev=row.pop("rev"), _deleted=True)
        row.pop("ok")
    assert here.call("POST", "/_replicator/_bulk_docs", json={"docs": rows}).status_code == 201


def test_one_that_fails_is_tried_again(pair):
    here, there = pair
    source, target, document = name(), here.create(), name()
    put(here, document, source=with_credentials(there.server.url, *there.auth) + "/couch/" + source, target=target.name)
    crashing = wait_for(here, document, "crashing")
    assert crashing["error_count"] >= 1 and crashing["info"]["error"].startswith("db_not_found: could not open")
    assert "_replication_state" not in stored(here, document)
    there.create(source).put("a", n=1)
    wait_for(here, document, "completed")
    assert target.call("GET", "/a").status_code == 200
    remove(here, document)


def test_passwords_are_shown_and_stored_nowhere(tmp_path):
    here = administrator(tmp_path)
    source, secret = here.create(), "s3cret-of-the-other"
    other = {"url": here.server.url + "/couch/" + source.name, "headers": {"Cookie": secret},
             "auth": {"basic": {"username": "ann", "password": secret}}}
    base = here.server.url.replace("://", f"://ann:{secret}@") + "/couch/" + source.name
    put(here, "one", source=base, target="b", continuous=True)
    assert here.call("POST", "/_replicator", json={"_id": "two", "source": "b", "target": other}).status_code == 201
    bulk = here.call("POST", "/_replicator/_bulk_docs", json={"docs": [{"_id": "three", "source": base, "target": "c"}]})
    assert "error" not in bulk.json()[0]
    # One that is too long for memory is read again in parts.
    members = {"source": base, "pad": "x" * (3 << 20)}
    bulk = here.call("POST", "/_replicator/_bulk_docs", json={"docs": [
        {"_id": "four", "target": "d", **members}, {"_id": "five", "target": "e", **members}]})
    assert [(row["id"], row.get("ok")) for row in bulk.json()] == [("four", True), ("five", True)]
    bulk = here.call("POST", "/_replicator/_bulk_docs", json={"docs": [
        {"_id": "six", "target": "f", **members}, {"_id": "seven", **members}]})
    assert (bulk.status_code, bulk.json()["error"]) == (403, "forbidden")
    assert "Missing replicator database" in bulk.json()["reason"]
    for document in ("one", "two", "three", "four", "five"):
        wait_for(here, document, "crashing")
        assert secret not in str(stored(here, document)) and "ann" not in str(stored(here, document))
    assert stored(here, "one")["source"]["url"] == here.server.url + "/couch/" + source.name
    # As in CouchDB, each names who wrote it.
    assert {stored(here, document)["owner"] for document in ("one", "two", "three", "four", "five")} == {here.name}
    for request in ("/_replicator/_all_docs?include_docs=true", "/_replicator/_changes?include_docs=true",
                    "/_scheduler/docs", "/_scheduler/jobs", "/_active_tasks"):
        answer = here.call("GET", request)
        assert answer.status_code == 200 and secret not in answer.text and '"six"' not in answer.text, request
    for body in ({"source": f"ann:{secret}@host/db", "target": "b"}, {"source": "a", "target": "b", "proxy": f"http://a:{secret}@p"}):
        assert here.call("PUT", "/_replicator/refused", json=body).status_code == 403
    # A document that is read, changed and written again keeps its credentials; one for another URL does not.
    body = stored(here, "three")
    assert here.call("PUT", "/_replicator/three", json={**body, "n": 1}).status_code == 201
    wait_for(here, "three", "crashing")
    body = stored(here, "three")
    body["source"]["url"] += "2"
    assert here.call("PUT", "/_replicator/three", json=body).status_code == 201
    assert "send them again" in wait_for(here, "three", "failed")["info"]["error"]
    assert here.server.stop() == 0
    assert secret not in "".join(here.server.log)
    if "BOOKMARKS_TEST_DATABASE" not in os.environ:
        for file in pathlib.Path(here.server.data).rglob("*"):
            assert not file.is_file() or secret.encode() not in file.read_bytes(), file


def test_what_ran_before_goes_on_after_a_kill(tmp_path):
    here = administrator(tmp_path)
    source, target = here.create("from"), here.create("to")
    put(here, "always", source="from", target="to", continuous=True)
    assert replicated(here, "failed", source="from").status_code == 201
    wait_for(here, "always", "running")
    wait_for(here, "failed", "failed")
    for end in range(2):
        source.put(f"before{end}", n=1)
        here.server.kill()
        here.server = Server(here.server.data, "--admin-password-file", str(tmp_path / "password"), *LOOPBACK)
        source, target = (Database(here.server, name=each, auth=here.auth) for each in ("from", "to"))
        source.put(f"after{end}", n=1)
        wait_until(lambda: target.call("GET", f"/after{end}").status_code == 200)
        assert target.call("GET", f"/before{end}").status_code == 200
        assert wait_for(here, "failed", "failed")["error_count"] == 1
    # One that is told to stop notes how far its replications are, although the time for it has not come.
    last, job = source.changes()["last_seq"], shown(here, "always")["id"]
    wait_until(lambda: [task["through_seq"] for task in tasks(here, job)] == [last])
    assert here.server.stop() == 0
    here.server = Server(here.server.data, "--admin-password-file", str(tmp_path / "password"), *LOOPBACK)
    for each in ("from", "to"):
        log = here.call("GET", f"/{each}/_local/{job.split('+')[0]}").json()
        assert log["source_last_seq"] == last, log
    assert here.call("DELETE", "/_replicator").status_code == 200
    wait_until(lambda: here.call("GET", "/_scheduler/docs").json()["total_rows"] == 0)
    assert here.call("GET", "/_scheduler/jobs").json()["total_rows"] == 0
    assert here.server.stop() == 0


@pytest.mark.skipif(postgres.programs() is None, reason="Scripts/setup --tests installs PostgreSQL")
def test_another_node_takes_over(tmp_path):
    database = postgres.Postgres()
    try:
        schema = postgres.schema(database.url, tmp_path)
        nodes = []
        for number in range(2):
            tmp_path.joinpath(f"n{number}").mkdir()
            nodes.append(Administrator(tmp_path / f"n{number}", "--database", schema, *LOOPBACK))
        first = nodes[0]
        assert first.call("PUT", "/_replicator").status_code == 201
        source, target = first.create("from"), first.create("to")
        put(nodes[1], "always", source="from", target="to", continuous=True)

        def owner():
            return [node for node in nodes if node.call("GET", "/_scheduler/jobs").json()["total_rows"]]

        [runs] = wait_until(lambda: (found := owner()) and len(found) == 1 and found)
        source.put("a", n=1)
        wait_until(lambda: target.call("GET", "/a").status_code == 200)
        runs.server.kill()
        [left] = [node for node in nodes if node is not runs]
        Database(left.server, name="from", auth=left.auth).put("b", n=1)
        wait_until(lambda: left.call("GET", path("to") + "/b").status_code == 200)
        assert left.call("GET", "/_scheduler/jobs").json()["total_rows"] == 1
        assert left.server.stop() == 0
    finally:
        database.close()
