"""Several servers on one database: what their administrator does and sees."""
import fcntl
import json
import subprocess

import pytest

import postgres
from server import BINARY
from test_nodes import ADMIN, database, nodes, sign_up  # noqa: F401
from waiting import PATIENCE, wait_until

pytestmark = pytest.mark.skipif(postgres.programs() is None, reason="Scripts/setup --tests installs PostgreSQL")


def test_a_server_backs_the_database_up_and_a_backup_is_cancelled(nodes, tmp_path):
    kept = tmp_path / "kept"
    [server] = nodes(1, "--backups", str(kept))
    token = sign_up(server, "ada")
    server.call("PUT", "/v1/bookmarks/mine", token, json={"name": "Mine"})

    def job(method, path, status):
        answer = server.call(method, "/v1/admin/" + path, auth=("admin", ADMIN))
        assert answer.status_code == status, answer.text
        return answer.json()

    def ended(job_id):
        return wait_until(lambda: (now := job("GET", "jobs/" + job_id, 200))["state"] != "running" and now)

    started = job("POST", "backups", 202)
    made = ended(started["id"])
    assert made["state"] == "done" and not made["damaged"] and made["done"] == made["total"] > 0, made
    [backup] = job("GET", "backups", 200)["backups"]
    assert backup["isWhole"] and [each.name for each in kept.iterdir()] == [backup["name"]]
    checked = ended(job("POST", f"backups/{backup['name']}/verifications", 202)["id"])
    assert checked["result"].startswith(f"{backup['name']}: sound"), checked
    checked = ended(job("POST", "verifications", 202)["id"])
    assert checked["result"].startswith("sound"), checked

    started = job("POST", "backups", 202)
    cancelled = subprocess.run([BINARY, "admin", "cancel", "--data", str(server.data)], capture_output=True, text=True,
                               timeout=PATIENCE)
    state = ended(started["id"])["state"]
    assert (state, cancelled.returncode) in {("failed", 0), ("done", 1), ("done", 0)}, cancelled
    if state == "failed":
        assert [each.name for each in kept.iterdir()] == [backup["name"]]
    idle = subprocess.run([BINARY, "admin", "cancel", "--data", str(server.data)], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert idle.returncode == 1 and "no such work" in idle.stderr


def test_a_second_backup_to_the_same_path_leaves_the_first_alone(nodes, tmp_path):
    """Regression: the second removed what the first was copying, so that both failed."""
    [server] = nodes(1)
    sign_up(server, "ada")
    copies = tmp_path / "backup.stores"
    copies.mkdir()
    (copies / "unfinished-move").write_text("from elsewhere\n")

    def backup():
        return subprocess.run([BINARY, "backup", str(tmp_path / "backup"), "--database", nodes.url], capture_output=True,
                              text=True, timeout=PATIENCE)

    with open(copies / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        refused = backup()
        assert refused.returncode == 1 and "Another process makes the backup" in refused.stderr, refused
        assert (copies / "unfinished-move").exists()
    made = backup()
    assert made.returncode == 0 and not copies.exists(), made


def test_a_server_that_meets_tables_of_a_newer_version_stops_and_says_why(nodes):
    servers = nodes()
    token = sign_up(servers[0], "ada")
    postgres.sql(nodes.url, """UPDATE schema_version SET version = version + 1;
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE application_name = 'hotel-bookmarks' AND pid <> pg_backend_pid();""")
    for server in servers:
        assert server.process.wait(timeout=PATIENCE) == 1
        wait_until(lambda: any("by a newer version of this service" in line for line in server.log), server.log)
    postgres.sql(nodes.url, "UPDATE schema_version SET version = version - 1")
    [again] = nodes(1)[2:]
    assert again.call("GET", "/v1/bookmarks", token).status_code == 200


def test_all_servers_have_one_audit_log(nodes):
    servers = nodes(2, "--audit", "on")
    sign_up(servers[0], "ada")
    location = ["--database", nodes.url]
    erased = subprocess.run([BINARY, "user", "delete", "ada", *location], capture_output=True, text=True, timeout=PATIENCE)
    assert erased.returncode == 0, erased

    def recorded():
        said = subprocess.run([BINARY, "audit", *location], capture_output=True, text=True, timeout=PATIENCE)
        assert said.returncode == 0, said
        found = sorted(map(json.loads, said.stdout.splitlines()), key=lambda each: each["time"])
        return {each["event"] for each in found} == {"logBegun", "signedUp", "erased"} and found

    entries = wait_until(recorded)
    account = {each.get("account") for each in entries if each["event"] != "logBegun"}
    assert len(account) == 1 and len(entries) == 4
    seen = servers[1].call("GET", "/v1/admin/audit?newest=true", auth=("admin", ADMIN)).json()
    assert seen["kept"] == "on" and seen["entries"] == entries[::-1]
