"""The replications that the server runs itself: pull, push, between its own databases and between others'."""
import urllib.parse
import uuid

import pytest

from attachments import inline, some
from couch import Administrator, with_credentials
from slices import first
from waiting import wait_until

LOOPBACK = ("--replication-networks", "127.0.0.0/8")


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two servers that may reach each other."""
    ends = [Administrator(tmp_path_factory.mktemp(name), *LOOPBACK) for name in ("here", "there")]
    yield ends
    for end in ends:
        assert end.server.stop() == 0, "".join(end.server.log[-20:])


def path(name):
    return "/" + urllib.parse.quote(name, safe="")


def content(database):
    """All leaves with their histories and attachments."""
    rows = database.call("GET", "/_changes?style=all_docs").json()["results"]
    leaves = [{"id": row["id"], "rev": change["rev"]} for row in rows for change in row["changes"]]
    found = {}
    for start in range(0, len(leaves), 200):
        asked = {"docs": leaves[start:start + 200]}
        answer = database.call("POST", "/_bulk_get?revs=true&attachments=true", json=asked)
        assert answer.status_code == 200, answer.text
        documents = [part["ok"] for row in answer.json()["results"] for part in row["docs"]]
        found |= {(document["_id"], document["_rev"]): document for document in documents}
    assert len(found) == len(leaves)
    return found


def fill(database):
    database.bulk(*({"_id": f"d{n}", "n": n} for n in range(300)))
    database.graft("tree", "3-c 2-b 1-a", "3-x 2-y 1-a", "1-z")
    database.graft("gone", "2-b 1-a", _deleted=True)
    # No cycle: as in CouchDB, a revision is its generation and its digest.
    database.graft("again", "3-a 2-b 1-a")
    database.put("a/b é+ %2F🏨", n=1)
    assert database.call("PUT", "/_design/app", json={"views": {}, "n": 1}).status_code == 201
    database.put("files", _attachments={
        "é \"q\".txt": inline(b"text " * 500), "none": inline(b""), "f.bin": inline(some(300_000), "image/png")})
    rev = database.rev("large", n=1)
    answer = database.call("PUT", f"/large/big?rev={rev}", data=some(9 << 20),
                           headers={"Content-Type": "application/octet-stream"})
    assert answer.status_code == 201, answer.text


def url(database, administrator):
    return with_credentials(administrator.server.url, *administrator.auth) + "/couch" + path(database.name)


def replicate(at, source, target, **options):
    answer = at.call("POST", "/_replicate", json={"source": source, "target": target, **options})
    return answer


WAYS = ["pull", "push", "local", "elsewhere"]


def ends(way, pair):
    """The server that is asked, and both databases as it names them."""
    here, there = pair
    source = (there if way in ("pull", "elsewhere") else here).create()
    target = (there if way in ("push", "elsewhere") else here).create()
    names = [source.name, target.name]
    if way in ("pull", "elsewhere"):
        names[0] = url(source, there)
    if way in ("push", "elsewhere"):
        names[1] = url(target, there)
    return here, source, target, names


@pytest.mark.parametrize("way", first(2, WAYS))
def test_both_ends_are_equal_and_the_next_run_continues(pair, way):
    here, source, target, names = ends(way, pair)
    fill(source)
    first = replicate(here, *names)
    assert first.status_code == 200, first.text
    assert first.json()["ok"] and first.json()["replication_id_version"] == 4
    entry = first.json()["history"][0]
    assert entry["session_id"] == first.json()["session_id"]
    assert entry["docs_read"] == entry["docs_written"] == entry["missing_found"] == entry["missing_checked"]
    assert entry["doc_write_failures"] == 0 and entry["start_last_seq"] == 0
    assert content(target) == content(source)
    assert replicate(here, *names).json()["no_changes"] is True
    # An edit keeps one attachment and changes another: the target has the first one already.
    document = source.call("GET", "/files").json()
    document["_attachments"]["none"] = inline(b"some")
    assert source.call("PUT", "/files", json=document).status_code == 201
    source.put("new", n=1)
    second = replicate(here, *names).json()
    assert len(second["history"]) == 2
    assert second["history"][0]["docs_written"] == entry["docs_written"] + 2
    assert second["history"][0]["start_last_seq"] == entry["recorded_seq"]
    assert content(target) == content(source)
    log = [c for c in (source, target)]
    stored = [end.call("GET", "/_local_docs?include_docs=true").json()["rows"] for end in log]
    assert stored[0][0]["id"] == stored[1][0]["id"] and len(stored[0]) == 1
    assert stored[0][0]["doc"]["history"] == second["history"]


def test_documents_are_chosen_by_id_and_selector(pair):
    here, source, _, _ = ends("local", pair)
    source.bulk(*({"_id": f"d+{n}", "n": n} for n in range(20)))
    by_id, by_selector = "t" + uuid.uuid4().hex, "t" + uuid.uuid4().hex
    answer = replicate(here, source.name, by_id, create_target=True, doc_ids=["d%2B3", "d+4", "none"])
    assert answer.json()["docs_written"] == 2, answer.text
    answer = replicate(here, source.name, by_selector, create_target=True, create_target_params={"q": "2", "n": 1},
                       selector={"n": {"$lt": 5}})
    assert answer.json()["history"][0]["docs_written"] == 5
    # What keeps a target from being created is named.
    answer = replicate(here, source.name, by_id + "p", create_target=True, create_target_params={"partitioned": True}).json()
    assert answer["error"] == "bad_answer" and "creation: status 501, not_implemented" in answer["reason"]
    source.call("PUT", "/_design/d", json={"language": "query"})
    answer = replicate(here, source.name, by_selector, filter="_design").json()
    assert (answer["history"][0]["docs_written"], answer["source_last_seq"]) == (1, source.changes()["last_seq"])
    revision = source.call("GET", "/_design/d").json()["_rev"]
    assert here.call("DELETE", path(by_selector) + "/_design/d?rev=" + revision).status_code == 200
    # One for which there is nothing goes on, too, after what it has left out.
    for known in (False, True):
        answer = replicate(here, source.name, by_id, selector={"n": -1}).json()
        assert (answer.get("no_changes", False), answer["history"][0]["docs_read"]) == (known, 0)
    assert answer["source_last_seq"] == source.changes()["last_seq"]
    assert here.call("GET", path(by_id)).json()["doc_count"] == 2
    ids = [row["id"] for row in here.call("GET", path(by_selector) + "/_all_docs").json()["rows"]]
    assert ids == [f"d+{n}" for n in range(5)]


def test_ids_of_dots_are_copied_with_their_attachments(pair):
    """Regression: such a document alone goes by its own path, `.` led elsewhere, and no later document was ever copied."""
    here, source, target, names = ends("push", pair)
    ids = [".", "..", "_design/.", "_design/..", "_design/a/b", "plain"]
    source.bulk(*({"_id": id, "_attachments": {"f": inline(id.encode())}} for id in ids))
    answer = replicate(here, *names)
    assert answer.status_code == 200, answer.text
    rows = [end.call("GET", "/_all_docs?include_docs=true&attachments=true").json()["rows"] for end in (source, target)]
    assert rows[0] == rows[1] and sorted(row["id"] for row in rows[1]) == sorted(ids)


def test_options_of_a_run(pair):
    here, source, target, names = ends("pull", pair)
    source.graft("tree", "2-b 1-a", "2-c 1-a")
    answer = replicate(here, *names, winning_revs_only=True, use_checkpoints=False)
    assert answer.json() == {"ok": True, "use_checkpoints": False}
    assert list(content(target)) == [("tree", "2-c")]
    assert target.call("GET", "/_local_docs").json()["rows"] == []
    since = source.call("GET", "").json()["update_seq"]
    source.put("later", n=1)
    assert replicate(here, *names, since_seq=since).json()["history"][0]["docs_written"] == 1
    # It has its own checkpoint and goes on there; one without `since_seq` copies what was before it, too.
    assert replicate(here, *names, since_seq=since).json()["no_changes"] is True
    entry = replicate(here, *names, use_bulk_get=False).json()["history"][0]
    assert (entry["docs_written"], entry["bulk_get_attempts"]) == (1, 0)
    assert content(target) == content(source)


def test_failures_have_couchdbs_words(pair):
    here, source, target, names = ends("pull", pair)
    absent = here.server.url + "/couch/absent"
    for ends_ in ((with_credentials(absent, *here.auth), target.name), ("absent", target.name), (source.name, "absent2")):
        answer = replicate(here, *ends_)
        assert answer.status_code == 500
        assert answer.json()["error"] == "db_not_found"
        assert answer.json()["reason"].startswith("could not open ")
        assert here.password not in answer.text and urllib.parse.quote(here.password) not in answer.text
    plain = names[0].replace(urllib.parse.quote(f"{here.name}:{here.password}", safe=":") + "@", "")
    answer = replicate(here, plain, target.name)
    assert answer.json() == {
        "error": "unauthorized", "reason": f"unauthorized to access or create database {plain}/"}
    wrong = {"url": plain, "auth": {"basic": {"username": "admin", "password": "wrong password"}}}
    assert replicate(here, wrong, target.name).json()["error"] == "unauthorized"
    assert replicate(here, "http://127.0.0.1:1/x", target.name).json()["error"] == "http_request_failed"


def test_continuous_one_follows_until_it_is_ended(pair):
    here, source, target, names = ends("pull", pair)
    source.put("a", n=1)
    body = {"continuous": True, "create_target": True, "checkpoint_interval": 200}
    begun = replicate(here, *names, **body)
    assert begun.status_code == 202
    job = begun.json()["_local_id"]
    assert job.endswith("+continuous+create_target")
    assert replicate(here, *names, **body).json()["_local_id"] == job
    wait_until(lambda: target.call("GET", "/a").status_code == 200)
    source.put("b", n=2, _attachments={"f": inline(b"file")})
    wait_until(lambda: target.call("GET", "/b").status_code == 200)
    wait_until(lambda: tasks(here, job)[0]["docs_written"] == 2)
    task = tasks(here, job)[0]
    assert task["type"] == "replication" and task["continuous"] and task["user"] == here.name
    assert task["pid"] == str(here.server.process.pid) and task["database"] is task["doc_id"] is None
    assert all(isinstance(task[name], str) for name in ("source_seq", "through_seq", "checkpointed_source_seq"))
    assert here.password not in str(task) and "://127" in task["source"]
    jobs = here.call("GET", "/_scheduler/jobs").json()
    assert job in [found["id"] for found in jobs["jobs"]] and jobs["total_rows"] == len(jobs["jobs"])
    single = here.call("GET", "/_scheduler/jobs/" + job).json()
    assert [event["type"] for event in single["history"]] == ["started", "added"]
    ended = here.call("POST", "/_replicate", json={"replication_id": job, "cancel": True})
    assert ended.json() == {"ok": True, "_local_id": job}
    assert tasks(here, job) == []
    assert here.call("GET", "/_scheduler/jobs/" + job).status_code == 404
    again = here.call("POST", "/_replicate", json={"replication_id": job, "cancel": True})
    assert again.status_code == 404
    source.put("c", n=3)
    replicate(here, *names, **{**body, "checkpoint_interval": 3_600_000})
    # The work of the request that began it does not end with it.
    for part in range(5):
        source.bulk(*({"_id": f"late{part}-{n}", "n": n} for n in range(100)))
        wait_until(lambda: target.call("GET", f"/late{part}-99").status_code == 200)
    events = here.call("GET", "/_scheduler/jobs/" + job).json()["history"]
    assert [event["type"] for event in events] == ["started", "added"], events
    last = source.changes()["last_seq"]
    wait_until(lambda: tasks(here, job)[0]["through_seq"] == last)
    assert tasks(here, job)[0]["checkpointed_source_seq"] != last
    ended = replicate(here, *names, **body, cancel=True)
    assert ended.json() == {"ok": True, "_local_id": job}
    # As in CouchDB, one that is ended notes how far it has come.
    logs = [end.call("GET", "/_local/" + job.split("+")[0]).json() for end in (source, target)]
    assert [log["source_last_seq"] for log in logs] == [last, last]
    assert logs[0]["history"][0]["docs_written"] >= 501


def tasks(administrator, job):
    found = administrator.call("GET", "/_active_tasks").json()
    return [task for task in found if task["replication_id"] == job]


def test_continuous_one_goes_on_after_a_failure(pair):
    here, source, target, names = ends("push", pair)
    name = "late" + uuid.uuid4().hex
    source.put("a", n=1)
    target_url = names[1].replace(target.name, name)
    job = replicate(here, source.name, target_url, continuous=True).json()["_local_id"]
    wait_until(lambda: "crashed" in [event["type"] for event in here.call(
        "GET", "/_scheduler/jobs/" + job).json()["history"]])
    info = here.call("GET", "/_scheduler/jobs/" + job).json()["info"]
    assert info["error"].startswith("db_not_found: could not open ")
    assert tasks(here, job) == []
    pair[1].create(name)
    wait_until(lambda: pair[1].call("GET", path(name)).json()["doc_count"] == 1)
    here.call("POST", "/_replicate", json={"id": job, "cancel": True})


def test_target_that_is_made_anew_gets_all_documents_again(pair):
    here, source, target, names = ends("pull", pair)
    source.bulk(*({"_id": f"d{n}"} for n in range(5)))
    job = replicate(here, *names, continuous=True, checkpoint_interval=200).json()["_local_id"]
    wait_until(lambda: target.call("GET", "").json()["doc_count"] == 5)
    wait_until(lambda: tasks(here, job)[0]["checkpointed_source_seq"] != "0")
    here.call("DELETE", path(target.name))
    here.create(target.name)
    source.put("later", n=1)
    wait_until(lambda: target.call("GET", "").json()["doc_count"] == 6)
    here.call("POST", "/_replicate", json={"id": job, "cancel": True})


def test_same_replication_with_another_password_takes_the_place(pair):
    here, source, target, names = ends("pull", pair)
    source.put("a", n=1)
    plain = names[0].replace(urllib.parse.quote(f"{here.name}:{here.password}", safe=":") + "@", "")

    def begin(password):
        end = {"url": plain, "auth": {"basic": {"username": here.name, "password": password}}}
        return replicate(here, end, target.name, continuous=True).json()["_local_id"]

    job = begin("wrong password")
    wait_until(lambda: "unauthorized" in str(here.call("GET", "/_scheduler/jobs/" + job).json()["info"]))
    assert begin(here.password) == job
    wait_until(lambda: target.call("GET", "/a").status_code == 200)
    here.call("POST", "/_replicate", json={"id": job, "cancel": True})


@pytest.mark.fault("U05")
def test_addresses_that_are_not_allowed_are_not_reached(tmp_path, pair):
    there = pair[1].create()
    closed = Administrator(tmp_path)
    target = closed.create()
    for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "169.254.169.254"):
        port = pair[1].server.url.rsplit(":", 1)[1]
        answer = replicate(closed, f"http://{host}:{port}{path(there.name)}", target.name)
        # Nobody connects to an address. Of a name's addresses the first one may refuse a connection.
        assert (answer.status_code, answer.json()["error"]) == (403, "forbidden") or host == "localhost", answer.text
        assert "which is not allowed" in answer.json()["reason"] or host == "localhost"
    assert 'ssrf_blocked_total{upstream="replication"} ' in closed.server.metrics()
    assert closed.server.stop() == 0
