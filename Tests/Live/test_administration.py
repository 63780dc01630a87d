"""The administrator's operations over HTTP, on a real server."""
import gzip
import json
import pathlib
import subprocess
import time
import uuid

import control
from backups import run
from couch import Account, Administrator
from server import BINARY
from waiting import PATIENCE, wait_until


def ask(administrator, method, path, status=200, **options):
    answer = administrator.server.call(method, path, auth=administrator.auth, **options)
    assert answer.status_code == status, answer.text
    return answer.json()


def finished(administrator, job):
    def ended():
        now = ask(administrator, "GET", "/v1/admin/jobs/" + job["id"])
        return now["state"] != "running" and now

    return wait_until(ended, f"{job} does not end")


def started(administrator, path):
    """Starts a job as soon as no other job runs."""
    while True:
        answer = administrator.server.call("POST", path, auth=administrator.auth)
        if answer.status_code != 409:
            assert answer.status_code == 202, answer.text
            return answer.json()
        time.sleep(0.05)


def test_a_store_is_known_by_numbers_alone(administrator):
    server = administrator.server
    guest = server.call("POST", "/v1/guests").json()
    secret = "secret-" + uuid.uuid4().hex
    server.call("PUT", "/v1/bookmarks/" + secret, guest["token"], json={"name": secret})
    answer = server.call("GET", "/v1/admin/guests", auth=administrator.auth)
    assert secret not in answer.text
    store = next(each for each in answer.json()["guests"] if each["name"] == "guest-" + guest["id"])
    assert store["documents"] == 2 and store["sequence"] == 2 and store["bytes"] > 0 and store["isOpen"]


def test_a_backup_is_made_and_can_be_restored(administrator, tmp_path):
    job = finished(administrator, started(administrator, "/v1/admin/backups"))
    assert job["state"] == "done", job
    assert job["done"] == job["total"] > 0
    name = job["result"].split(":")[0]
    backup = pathlib.Path(administrator.server.data) / "backups" / name
    made = subprocess.run([BINARY, "restore", str(backup), "--data", str(tmp_path / "restored")],
                          capture_output=True, text=True, timeout=PATIENCE)
    assert made.returncode == 0 and (tmp_path / "restored" / "registry.sqlite").exists(), made.stderr


def test_a_check_finds_nothing_wrong(administrator):
    job = finished(administrator, started(administrator, "/v1/admin/verifications"))
    assert job["state"] == "done" and job["findingCount"] == 0 and job["result"].startswith("sound"), job


def test_an_import_replaces_the_hotels_and_a_bad_one_leaves_them(administrator):
    name = "Hotel" + uuid.uuid4().hex[:8]
    headers = {"Content-Type": "application/x-ndjson"}
    rows = "".join('{"id":"i%d","name":"%s %d"}\n' % (number, name, number) for number in range(2000))
    job = ask(administrator, "POST", "/v1/admin/catalogue", data=rows + "[]\n", headers=headers)
    assert job["state"] == "done" and job["result"].startswith("2000 hotels"), job
    assert job["findingCount"] == 1
    wait_until(lambda: administrator.server.call("GET", "/v1/hotels?description=" + name).json()["hotels"])
    few = "".join('{"id":"f%d","name":"Few %d"}\n' % (number, number) for number in range(999))
    for path, body in (("?strict=true", "{}\n"), ("", ""), ("", few), ("", rows + "{}\n" * 300)):
        refused = ask(administrator, "POST", "/v1/admin/catalogue" + path, data=body, headers=headers, status=422)
        assert refused["error"] == "import_refused" and refused["job"]["state"] == "failed", refused
        assert refused["job"]["result"] == refused["reason"]
    assert administrator.server.call("GET", "/v1/hotels?description=" + name).json()["hotels"]
    job = ask(administrator, "POST", "/v1/admin/catalogue?replace=true", data=few, headers=headers)
    assert job["state"] == "done", job
    job = ask(administrator, "POST", "/v1/admin/catalogue/undo")
    assert job["state"] == "done" and "2000 hotels" in job["result"], job
    refused = ask(administrator, "POST", "/v1/admin/catalogue/undo", status=410)
    assert refused["error"] == "undo_over", refused
    wait_until(lambda: administrator.server.call("GET", "/v1/hotels?description=" + name).json()["hotels"])
    assert administrator.server.call("GET", "/v1/hotels?description=" + name).json()["hotels"]


def test_the_control_socket_needs_no_password_and_is_trusted_with_more(administrator, tmp_path):
    server, name = administrator.server, "control-" + uuid.uuid4().hex
    over = control.session(server)
    credentials = {"username": name, "password": "a good password"}
    trusted = [
        ("POST", "/v1/admin/moves", {"database": "/no/url"}), ("POST", "/v1/admin/replacements", {"store": "no/store"}),
        ("PUT", f"/v1/admin/users/{name}/password", {"password": "another password"})]
    reset = f"/v1/admin/users/{name}/password-resets"
    with over:
        assert server.call("GET", "/v1/admin/stores", session=over).status_code == 200
        for path in ("/v1/me", "/couch/_all_dbs"):
            assert server.call("GET", path, session=over).status_code == 401
        made = server.call("POST", "/v1/admin/users", session=over, json=credentials)
        assert made.status_code == 201
        assert server.call("GET", "/v1/admin/users", session=over).text.count(made.json()["id"]) == 1
        for method, path, body in trusted:
            assert server.call(method, path, json=body).status_code == 404
            ask(administrator, method, path, status=404, json=body)
            assert server.call(method, path, session=over, json=body).status_code < 300
            wait_until(lambda: ask(administrator, "GET", "/v1/admin/jobs")["jobs"][0]["state"] != "running")
        assert server.call("POST", reset, session=over).status_code == 201
        ask(administrator, "POST", reset, status=403)
        ask(administrator, "POST", "/v1/admin/backups", status=403, json={"path": str(tmp_path / "backup")})
        assert server.call("POST", "/v1/sessions", json=credentials).status_code == 401
        credentials["password"] = "another password"
        assert server.call("POST", "/v1/sessions", json=credentials).status_code == 200
        assert server.call("DELETE", "/v1/admin/users/" + name, session=over).status_code == 204
    assert not (tmp_path / "backup").exists()
    assert server.call("POST", "/v1/sessions", json=credentials).status_code == 401


def test_a_job_is_followed_line_by_line(administrator, tmp_path):
    with control.session(administrator.server) as over:
        answer = administrator.server.call(
            "POST", "/v1/admin/backups", session=over, headers={"Accept": "application/x-ndjson"},
            json={"path": str(tmp_path / "backup")})
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines[-1]["state"] == "done" and not lines[-1]["damaged"], lines[-1]
    assert lines[-2] == {"done": lines[-1]["total"], "total": lines[-1]["total"]}
    assert (tmp_path / "backup" / "manifest.ndjson").exists()
    assert ask(administrator, "GET", "/v1/admin/jobs")["jobs"][0] == lines[-1]


def test_a_dry_run_shows_what_would_become_of_a_file_and_changes_nothing(administrator):
    word = "dry" + uuid.uuid4().hex[:8]
    table = f"id,hotel_name,lat,lng,stars\n1,{word},51.5,-0.1,4\n" + "".join(f"{each},B,1,2,3\n" for each in range(2, 20)) + "20,,1,2,3\n"
    for body, more in ((table.encode(), {}), (gzip.compress(table.encode()), {}), (gzip.compress(table.encode()), {"Content-Encoding": "gzip"})):
        job = ask(administrator, "POST", "/v1/admin/catalogue?dryRun=true&replace=true", data=body, headers={"Content-Type": "text/csv", **more})
        assert job["state"] == "done" and job["result"].startswith("Dry run: 19 hotels; 1 rows left out"), job
        assert "column hotel_name became name in 19 rows" in job["findings"]
        assert sum(each.startswith("hotel ") for each in job["findings"]) == 5
        assert [each for each in job["findings"] if each.startswith("fault")] == [
            "fault: The row has no name. First in row 20, line 21; 1 row."]
    assert not administrator.server.call("GET", "/v1/hotels?description=" + word).json()["hotels"]


def test_a_file_may_cost_more_than_a_request(tmp_path):
    administrator = Administrator(tmp_path, "--request-processor-milliseconds", "100")
    rows = "".join(json.dumps({"id": each, "name": f"Hotel {each}", "city": "Paris"}) + "\n" for each in range(5_000)).encode()
    try:
        for body in (rows, gzip.compress(rows)):
            job = ask(administrator, "POST", "/v1/admin/catalogue", data=body, headers={"Content-Type": "application/x-ndjson"})
            assert job["result"].startswith("5000 hotels; 0 rows left out"), job
    finally:
        assert administrator.server.stop() == 0


def test_everything_else_answers_as_documented(administrator):
    for name in ("stores?limit=1", "users?limit=1", "lists", "sessions", "upstreams", "connections", "jobs", "audit"):
        ask(administrator, "GET", "/v1/admin/" + name)
    wait_until(lambda: ask(administrator, "GET", "/v1/admin/history")["samples"], "no sample")
    for name in ("stores?kind=none", "stores?after=none", "history?after=none", "users?limit=0", "audit?since=now", "backups?x=1"):
        ask(administrator, "POST" if name[0] == "b" else "GET", "/v1/admin/" + name, status=400)
    job = finished(administrator, started(administrator, "/v1/admin/repairs"))
    assert job["state"] == "done" and not job["damaged"], job


def test_a_user_who_is_erased_without_a_server_leaves_no_list(start):
    server = start()
    owner, member = Account(server), Account(server)
    path = owner.share(member)
    server.stop()
    run("user", "delete", owner.name, "--data", server.data)
    server = start()
    assert server.call("GET", path, member.token).status_code == 404
    assert server.call("GET", "/v1/lists", member.token).json()["lists"] == []
