"""A source that lies does no harm: nothing wrong is stored, nothing grows, and the run ends."""
import json
import threading
import urllib.parse

import pytest

from couch import Administrator
from lying_peer import LyingPeer
from waiting import PATIENCE, wait_until


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    end = Administrator(tmp_path_factory.mktemp("here"), "--replication-networks", "127.0.0.0/8")
    yield end
    assert end.server.stop() == 0


@pytest.mark.parametrize("lie,error,stored", [
    (None, None, ["a", "b"]), ("revision", "bad_answer", []), ("id", "bad_answer", []),
    ("digest", None, ["b"]), ("endless_json", "bad_answer", []), ("endless_changes", None, ["b"]),
    ("same_changes", "bad_answer", None), ("endless_attachment", None, ["b"]), ("not_json", None, ["a", "b"]),
    ("short", None, ["a", "b"]), ("no_bulk_get", None, ["a", "b"]), ("redirect", "bad_answer", []), ("deep", None, ["a"]),
    ("greatest_pending", None, ["a", "b"]), ("least_pending", None, ["a", "b"]), ("many_rows", "bad_answer", []),
    ("long_sequence", "bad_answer", []), ("long_id", "bad_answer", []), ("failing_bulk_get", None, ["a", "b"]),
    ("carriage_returns", None, ["b"]), ("short_paths", None, ["b"]), ("short_pieces", "http_request_failed", [])])
def test_nothing_wrong_is_stored(here, lie, error, stored):
    peer, target = LyingPeer(lie), here.create()
    answer = here.call("POST", "/_replicate", json={"source": peer.url, "target": target.name}).json()
    assert answer.get("error") == error, answer
    rows = target.call("GET", "/_all_docs?include_docs=true").json()["rows"]
    assert stored is None or [row["id"] for row in rows] == stored
    assert all(row["doc"]["n"] == 1 and row["value"]["rev"] == "1-" + row["id"] for row in rows)
    if stored and "a" in stored:
        assert target.call("GET", "/a/f").content == b"the bytes"
    if error is None:
        entry = answer["history"][0]
        # A document that the feed names again and again may be copied by two batches at once.
        assert entry["docs_read"] >= entry["docs_written"] >= len(stored)
        refused = ("digest", "endless_attachment", "deep", "carriage_returns", "short_paths")
        assert entry["doc_write_failures"] == (1 if lie in refused else 0)
    peer.close()


def test_filter_is_run_by_the_source(here):
    """A function of CouchDB's, say, which this server does not run; parameters of the feed itself are not overridden.
    What a former function has let through says nothing about another one: it has checkpoints of its own."""
    peer, target = LyingPeer(), here.create()
    truth, logs = peer.answer, []

    def replicate(design, status=200):
        peer.answer = lambda request: peer.send(request, design, status) \
            if request.path == "/db/_design/app" else truth(request)
        return here.call("POST", "/_replicate", json={
            "source": peer.url, "target": target.name, "filter": "app/mine",
            "query_params": {"who": "a&b", "n": 1, "since": "x", "o#&since=9": "c"}})

    for design, status in (({"error": "not_found", "reason": "missing"}, 404), ({"filters": {"mine": 7}}, 200)):
        answer = replicate(design, status)
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found"), answer.text
        assert f"filter app/mine can't be read: status {status}" in answer.json()["reason"]
    assert not any("/_changes" in url for _, url in peer.asked)
    for code in ("function () {}", "function () {}", "function () { return true }"):
        answer = replicate({"filters": {"mine": code}})
        assert answer.status_code == 200, answer.text
        logs.append({url for _, url in peer.asked if "/_local/" in url} - set().union(*logs))
    assert [len(new) for new in logs] == [1, 0, 1]
    assert target.call("GET").json()["doc_count"] == 2
    asked = [dict(urllib.parse.parse_qsl(url.partition("?")[2])) for _, url in peer.asked if "/_changes?" in url]
    assert asked and {(q["filter"], q["who"], q["n"], q["o#&since=9"], q["since"]) for q in asked} <= {
        ("app/mine", "a&b", "1", "c", since) for since in ("0", "2-x")}
    peer.close()


def test_filter_that_changes_is_noticed_while_it_runs(here):
    """At the next checkpoint a continuous replication begins again, with checkpoints of the new function."""
    peer, target, waits, changed = LyingPeer(), here.create(), threading.Event(), threading.Event()
    truth = peer.answer

    def answer(request):
        if request.path == "/db/_design/app":
            return peer.send(request, {"filters": {"mine": "new" if changed.is_set() else "former"}})
        if "feed=longpoll" in request.path:
            waits.set()
            changed.wait(PATIENCE)
        return truth(request)

    peer.answer = answer
    body = {"source": peer.url, "target": target.name, "filter": "app/mine",
            "continuous": True, "checkpoint_interval": 100}
    begun = here.call("POST", "/_replicate", json=body)
    assert begun.status_code == 202, begun.text
    assert waits.wait(PATIENCE)
    changed.set()
    wait_until(lambda: len({url for _, url in peer.asked if "/_local/" in url}) == 2)
    assert here.call("POST", "/_replicate", json={**body, "cancel": True}).status_code == 200
    peer.close()


def test_target_gets_no_other_document_than_was_asked_about(here):
    """`_revs_diff` of a target that names a document which no change has named."""
    source = here.create()
    source.put("secret", n=1)
    source.put("shown", n=1)
    peer = LyingPeer()
    asked = []

    def answer(request):
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        name = request.path.split("?")[0].removeprefix("/db").strip("/")
        asked.append((name, body))
        if name == "_revs_diff":
            rev = source.call("GET", "/secret").json()["_rev"]
            known = json.loads(body)
            return peer.send(request, {**{i: {"missing": r} for i, r in known.items()}, "secret": {"missing": [rev]}})
        if name == "_bulk_docs":
            return peer.send(request, [], 201)
        if name == "":
            return peer.send(request, {"update_seq": 0, "instance_start_time": "0"})
        if name == "_ensure_full_commit":
            return peer.send(request, {"ok": True, "instance_start_time": "0"}, 201)
        if request.command == "PUT":
            return peer.send(request, {"ok": True, "rev": "0-1"}, 201)
        return peer.send(request, {"error": "not_found"}, 404)

    peer.answer = answer
    done = here.call("POST", "/_replicate", json={
        "source": source.name, "target": peer.url, "doc_ids": ["shown"]})
    assert done.status_code == 200, done.text
    sent = [body for name, body in asked if name == "_bulk_docs"]
    assert len(sent) == 1 and b"shown" in sent[0] and b"secret" not in sent[0]
    peer.close()


@pytest.mark.parametrize("attachments", [{}, {"f": {"data": "eA==", "content_type": "text/plain"}}])
def test_target_without_room_is_named(here, attachments):
    source, peer = here.create(), LyingPeer()
    source.put("a", n=1, **({"_attachments": attachments} if attachments else {}))
    truth = peer.answer

    def answer(request):
        name = request.path.split("?")[0].removeprefix("/db").strip("/")
        if name == "_revs_diff":
            body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
            return peer.send(request, {i: {"missing": r} for i, r in body.items()})
        if name == "_bulk_docs" or request.command == "PUT" and name == "a":
            request.close_connection = True
            return peer.send(request, {"error": "insufficient_storage", "reason": "full"}, 507)
        return truth(request)

    peer.answer = answer
    done = here.call("POST", "/_replicate", json={"source": source.name, "target": peer.url})
    assert (done.status_code, done.json()["error"]) == (500, "target_full"), done.text
    assert done.json()["reason"] == f"{peer.url}/ has no room to store more"
    peer.close()


@pytest.mark.parametrize("status,body", [
    (200, b""), (200, b"<html>"), (403, b"<html>"), (414, b'{"error":"uri_too_long"}')])
def test_answer_of_something_else_is_neither_delivery_nor_refusal(here, status, body):
    """A network's log-in page in place of the answer to a document with an attachment. But a target for whose paths the
    document's id is too long refuses it."""
    source, peer, sent = here.create(), LyingPeer(), []
    source.put("a", n=1, _attachments={"f": {"data": "eA==", "content_type": "text/plain"}})
    truth = peer.answer

    def answer(request):
        name = request.path.split("?")[0].removeprefix("/db").strip("/")
        if name == "_revs_diff":
            asked = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
            return peer.send(request, {i: {"missing": r} for i, r in asked.items()})
        if request.command == "PUT" and name == "a":
            sent.append(request.rfile.read(int(request.headers["Content-Length"])))
            if len(sent) == 1:
                return peer.send(request, body, status, {"Content-Type": "text/html"})
            return peer.send(request, {"ok": True, "id": "a", "rev": "1-x"}, 201)
        return truth(request)

    peer.answer = answer
    done = here.call("POST", "/_replicate", json={"source": source.name, "target": peer.url})
    entry = done.json()["history"][0]
    expected = (0, 1, 1) if status == 414 else (1, 0, 2)
    assert (entry["docs_written"], entry["doc_write_failures"], len(sent)) == expected, done.text
    peer.close()


def test_other_json_does_not_say_that_a_target_lacks_nothing(here):
    source, peer = here.create(), LyingPeer()
    source.put("a", n=1)
    truth = peer.answer

    def answer(request):
        if "/_revs_diff" in request.path:
            request.rfile.read(int(request.headers["Content-Length"]))
            return peer.send(request, {"status": "maintenance"})
        return truth(request)

    peer.answer = answer
    done = here.call("POST", "/_replicate", json={"source": source.name, "target": peer.url})
    assert done.json()["error"] == "bad_answer", done.text
    peer.close()


def test_page_in_place_of_a_document_is_asked_for_again(here):
    peer, target, asked = LyingPeer(), here.create(), []
    truth = peer.answer

    def answer(request):
        if request.path.split("?")[0] == "/db/a":
            asked.append(request.path)
            if len(asked) == 1:
                return peer.send(request, b"<html>", 200, {"Content-Type": "text/html"})
        return truth(request)

    peer.answer = answer
    done = here.call("POST", "/_replicate", json={"source": peer.url, "target": target.name})
    entry = done.json()["history"][0]
    assert (entry["docs_written"], entry["doc_write_failures"], len(asked)) == (2, 0, 2), done.text
    assert target.call("GET", "/a/f").content == b"the bytes"
    peer.close()
