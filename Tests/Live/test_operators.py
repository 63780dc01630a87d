"""An operator's commands, and a log that cannot be written."""
import fcntl
import gzip
import json
import os
import pty
import re
import signal
import subprocess
import termios

import pytest
import requests
import yaml

import control
from waiting import PATIENCE, wait_until
from secure import certificate
from server import BINARY, ROOT


def test_password_file_of_another_system_works(start, tmp_path):
    secret = tmp_path / "password"
    secret.write_bytes(b"secret 123\r\n")
    data = tmp_path / "data"
    assert start(data=data).stop() == 0
    added = run("user", "add", "bob", "--data", data, "--password-file", secret)
    assert added.returncode == 0, added.stderr
    assert start().call("POST", "/v1/sessions", json={"username": "bob", "password": "secret 123"}).status_code == 200


def test_full_log_does_not_end_the_service(tmp_path):
    with open("/dev/full", "w") as full:
        process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", "--data", str(tmp_path / "data"), "--log-format", "json",
             "--log-level", "trace"], stdout=subprocess.PIPE, stderr=full, text=True)
        url = json.loads(process.stdout.readline())["url"]
        assert requests.get(url + "/healthz", timeout=PATIENCE).status_code == 200
        process.terminate()
        assert process.wait(timeout=PATIENCE) == 0


def test_nodes_on_kubernetes_believe_the_ingress_alone():
    """A network of trusted proxies is that of all pods, so a policy has to keep the others away from the port."""
    parts = list(yaml.safe_load_all((ROOT / "Deploy" / "kubernetes.yaml").read_text(encoding="utf-8")))
    [pod] = [part["spec"]["template"] for part in parts if part["kind"] == "Deployment"]
    [container] = pod["spec"]["containers"]
    names = [each["name"] for each in container["env"]]
    assert "HOTEL_BOOKMARKS_TRUSTED_PROXIES" in names and "HOTEL_BOOKMARKS_PUBLIC_URL" in names
    [policy] = [part["spec"] for part in parts if part["kind"] == "NetworkPolicy"]
    assert policy["podSelector"]["matchLabels"] == pod["metadata"]["labels"] and policy["policyTypes"] == ["Ingress"]
    [rule] = [rule for rule in policy["ingress"] if {"port": "http"} in rule.get("ports", [{"port": "http"}])]
    assert rule["from"] and all(each.get("podSelector") and each.get("namespaceSelector") for each in rule["from"])


def test_the_program_for_systemd_needs_no_toolchain():
    """Regression: the unit's user could not load Swift's libraries from the home of whoever had built the program."""
    steps = [line for line in (ROOT / "Deploy" / "hotel-bookmarks.service").read_text(encoding="utf-8").splitlines()
             if line.startswith("#   ")]
    build, install = [next(number for number, line in enumerate(steps) if word in line)
                      for word in ("--static-swift-stdlib", "install .build/release")]
    assert build < install


def test_a_service_on_kubernetes_gives_its_pods_no_settings():
    """Regression: no node started once the Service was there. Its name gives each pod variables that look like settings."""
    parts = list(yaml.safe_load_all((ROOT / "Deploy" / "kubernetes.yaml").read_text(encoding="utf-8")))
    [pod] = [part["spec"]["template"]["spec"] for part in parts if part["kind"] == "Deployment"]
    [service] = [part["metadata"]["name"] for part in parts if part["kind"] == "Service"]
    assert service == "hotel-bookmarks" and pod["enableServiceLinks"] is False


@pytest.mark.parametrize("arguments", [
    ["user", "add", "bob"], ["user", "password", "bob"], ["catalogue", "undo"], ["keys", "rotate"],
    ["admin", "reset-password"], ["backup", "nowhere"], ["repair"]])
@pytest.mark.parametrize("is_there", [False, True])
def test_only_serve_makes_a_data_directory(tmp_path, arguments, is_there):
    data = tmp_path / "typo"
    if is_there:
        data.mkdir()
    done = subprocess.run([BINARY, *arguments, "--data", str(data)], input="a good password\n", cwd=tmp_path,
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 78, done
    assert "no data directory" in done.stderr
    assert data.exists() == is_there and not (is_there and any(data.iterdir()))


def test_verify_refuses_what_holds_no_data(tmp_path, start):
    server = start()
    assert server.stop() == 0
    for directory in (tmp_path, tmp_path / "data" / "stores", tmp_path / "absent"):
        done = subprocess.run(
            [BINARY, "verify", str(directory)], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 78 and "sound" not in done.stdout, done


def health(*arguments, **environment):
    return subprocess.run([BINARY, "health", *map(str, arguments)], timeout=PATIENCE, capture_output=True,
                          env=dict(os.environ, **environment)).returncode


def test_health_asks_the_server_that_has_the_same_settings(start, tmp_path):
    certificate_file, key_file = certificate(tmp_path, "somebody else")
    server = start("--tls-certificate-file", str(certificate_file), "--tls-key-file", str(key_file))
    port = server.url.rpartition(":")[2]
    flags = ["--tls-certificate-file", certificate_file, "--tls-key-file", key_file]
    names = {"HOTEL_BOOKMARKS_TLS_CERTIFICATE_FILE": str(certificate_file),
             "HOTEL_BOOKMARKS_TLS_KEY_FILE": str(key_file)}
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"port": int(port), "tlsCertificateFile": str(certificate_file),
                                "tlsKeyFile": str(key_file)}))
    assert health("--port", port, *flags) == 0
    assert health(HOTEL_BOOKMARKS_PORT=port, HOTEL_BOOKMARKS_HOSTNAME="0.0.0.0", **names) == 0
    assert health("--config", file) == 0
    assert health("--url", server.url) == 1, "anybody's certificate is taken"
    assert health("--port", port) == 1
    assert health("--port", "0") == 1
    assert server.stop() == 0
    assert health("--config", file) == 1


def test_health_asks_at_the_operators_port(start):
    server = start("--operations-port", "0")
    line = wait_until(lambda: server.process.stdout.readline() or None)
    while "operations at" not in line:
        line = server.process.stdout.readline()
    port = line.strip().rpartition(":")[2]
    assert health("--port", "1", "--operations-port", port) == 0
    assert health("--port", "1") == 1


def test_a_signal_at_the_question_for_a_password_shows_again_what_is_typed(tmp_path):
    def echoes(terminal):
        return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)

    for number, key in ((signal.SIGINT, b"\x03"), (signal.SIGTERM, b"")):
        terminal, side = pty.openpty()
        command = subprocess.Popen(
            [BINARY, "user", "add", "ada", "--data", str(tmp_path / "data")], stdin=side, stdout=side, stderr=side,
            preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)))
        try:
            wait_until(lambda: not echoes(terminal))
            os.write(terminal, key)
            if not key:
                command.send_signal(number)
            assert command.wait(timeout=PATIENCE) == -number
            assert echoes(terminal)
        finally:
            command.kill()
            os.close(terminal)
            os.close(side)


def user(server, *arguments, password="", status=0):
    done = run("user", *arguments, "--data", server.data, input=password + "\n")
    assert done.returncode == status, done
    return done.stdout + done.stderr


def test_users_are_looked_after_while_the_server_runs(start):
    server = start()
    assert user(server, "add", "ada", password="a good password").startswith("added, id ")
    login = {"username": "ada", "password": "a good password"}
    token = server.call("POST", "/v1/sessions", json=login).json()["token"]
    store = server.call("GET", "/v1/me", token).json()["id"]
    server.call("PUT", "/v1/bookmarks/mine", token, json={"name": "Mine"})
    listed = user(server, "list").split()
    assert listed[0] == store and listed[2] == "ada"
    assert "changed" in user(server, "password", "ada", password="another password")
    assert server.call("GET", "/v1/me", token).status_code == 401
    assert server.call("POST", "/v1/sessions", json=login).status_code == 401
    login["password"] = "another password"
    token = server.call("POST", "/v1/sessions", json=login).json()["token"]
    assert "taken" in user(server, "add", "ada", password="a good password", status=1)
    assert "deleted" in user(server, "delete", "ada")
    assert server.call("GET", "/v1/bookmarks", token).status_code == 401
    assert server.call("POST", "/v1/sessions", json=login).status_code == 401
    assert user(server, "list") == ""
    assert "no user" in user(server, "delete", "ada", status=1)
    for command, name in (("delete", ""), ("reset", "."), ("password", "..")):
        assert "There is no user of this name." in user(server, command, name, password="a good password", status=1)
    assert not any("another password" in line for line in server.log)


def test_who_forgot_the_password_chooses_another_with_the_operators_token(start):
    server = start("--public-url", "https://hotels.example/")
    server.url = "http://" + server.logged("listening on").split()[-1]
    login = {"username": "ada", "password": "a good password"}
    old = server.call("POST", "/v1/users", json=login).json()["token"]
    token = user(server, "reset", "Ada").strip().removeprefix("https://hotels.example/reset#")
    assert server.call("GET", "/v1/me", token).status_code == 401
    chosen = {"token": token, "password": "another password"}
    assert server.call("POST", "/v1/password-resets", json={**chosen, "password": "short"}).status_code == 400
    assert server.call("POST", "/v1/password-resets", json=chosen).status_code == 204
    assert server.call("POST", "/v1/password-resets", json=chosen).status_code == 401
    assert server.call("GET", "/v1/me", old).status_code == 401
    assert server.call("POST", "/v1/sessions", json=login).status_code == 401
    login["password"] = "another password"
    assert server.call("POST", "/v1/sessions", json=login).status_code == 200
    assert user(server, "reset", "ada", "--public-url", "https://other.example").startswith("https://other.example/reset#ey")
    assert "no user" in user(server, "reset", "bob", status=1)
    assert "--public-url must be a URL such as" in user(server, "reset", "ada", "--public-url", "hotels", status=78)
    assert not any(token in line for line in server.log)


def test_one_changes_the_own_password_and_stays_logged_in_here_alone(start):
    server = start()
    login = {"username": "ada", "password": "a good password"}
    tokens = [server.call("POST", path, json=login).json()["token"] for path in ("/v1/users", "/v1/sessions")]
    change = {"currentPassword": "a good password", "password": "another password"}
    wrong = server.call("PUT", "/v1/me/password", tokens[0], json={**change, "currentPassword": "not this one"})
    assert wrong.status_code == 401 and server.call("GET", "/v1/me", tokens[1]).status_code == 200
    changed = server.call("PUT", "/v1/me/password", tokens[0], json=change)
    assert changed.status_code == 204
    renewed = changed.headers["Renewed-Token"]
    assert "HttpOnly" in changed.headers["Set-Cookie"]
    assert server.call("GET", "/v1/me", renewed).json()["username"] == "ada"
    for token in tokens:
        assert server.call("GET", "/v1/me", token).status_code == 401
    assert server.call("POST", "/v1/sessions", json=login).status_code == 401
    server.kill()
    again = start(data=server.data)
    assert again.call("GET", "/v1/me", renewed).json()["username"] == "ada"
    guest = again.call("PUT", "/v1/me/password", again.guest(), json=change)
    assert guest.status_code == 403 and "sign up" in guest.json()["detail"]


def run(*arguments, input=None):
    return subprocess.run([BINARY, *map(str, arguments)], input=input, capture_output=True, text=True, timeout=PATIENCE)


def test_what_is_not_there_is_named_in_one_line(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "keys.json").symlink_to("nowhere")
    for arguments, status, words in [
            (("serve", "--config", tmp_path / "none.json"), 78, "none.json, is not there"),
            (("serve", "--data", tmp_path / "kept", "--port", "0"), 78, "keys.json: Too many levels of symbolic links"),
            (("catalogue", "import", tmp_path / "none.csv", "--data", tmp_path / "kept"), 1, "No such file"),
            (("serve", "--config", tmp_path), 78, "can't be read"),
            (("user", "add", "bob", "--password-file", tmp_path / "none", "--data", tmp_path), 78, "No such file"),
            (("restore", tmp_path / "nowhere", "--data", tmp_path / "new"), 1, "The backup")]:
        ended = run(*arguments)
        assert ended.returncode == status, ended.stderr
        assert words in ended.stderr and ended.stderr.count("\n") == 1 and "NS" not in ended.stderr
        assert "data directory" not in ended.stderr


def test_a_directory_that_is_named_overrides_the_database_of_the_environment(start):
    server = start()
    assert "added" in user(server, "add", "ada", password="a good password")
    named = subprocess.run(
        [BINARY, "user", "list", "--data", str(server.data)], capture_output=True, text=True, timeout=PATIENCE,
        env=dict(os.environ, HOTEL_BOOKMARKS_DATABASE="postgres://nobody@127.0.0.1:1/nothing"))
    assert named.returncode == 0 and named.stdout.strip().endswith(" ada"), named


@pytest.mark.parametrize("arguments", [
    ["verify", "--database", "postgres://nobody@127.0.0.1:1/nothing"],
    ["move", "--undo", "postgres://nobody@127.0.0.1:1/nothing"],
    ["user", "list", "--database", "postgres://nobody@127.0.0.1:1/nothing"]])
def test_the_environment_names_the_file_of_the_databases_password(tmp_path, arguments):
    done = subprocess.run(
        [BINARY, *arguments], capture_output=True, text=True, timeout=PATIENCE,
        env=dict(os.environ, HOTEL_BOOKMARKS_DATABASE_PASSWORD_FILE=str(tmp_path / "none")))
    assert done.returncode == 78 and "databasePasswordFile: " in done.stderr and "No such file" in done.stderr, done


def test_backups_whose_disk_is_away_keep_nobody_from_starting(start, tmp_path):
    server = start("--backups", str(tmp_path / "absent" / "backups"))
    assert "No such file" in server.logged("no backup can be made at present")
    assert server.call("GET", "/readyz").status_code == 200
    (tmp_path / "absent").mkdir()
    made = server.call("POST", "/v1/admin/backups", session=control.session(server))
    assert made.status_code == 202, made.text
    wait_until(lambda: list((tmp_path / "absent" / "backups").glob("*Z")), "no backup was made")


def test_bad_row_is_named_once_with_its_line(start, tmp_path):
    server = start()
    rows = tmp_path / "rows.ndjson"
    rows.write_text('{"name":"A"}\n{"city":"B"}\n')
    ended = run("catalogue", "import", rows, "--data", server.data, "--strict")
    assert ended.returncode == 65 and "line 2: Row 2: " in ended.stderr, ended.stderr
    assert ended.stderr.count("line 2") == 1


def test_hotels_can_be_imported_before_the_first_start(start, tmp_path):
    data = tmp_path / "first"
    table = tmp_path / "hotels.csv.gz"
    table.write_bytes(gzip.compress("id;Hotel Name;City;Price\r\n7;Hôtel d'Alger;Paris;€ 247,47\r\n".encode("utf-8-sig")))
    tried = run("catalogue", "import", table, "--data", data, "--dry-run")
    assert tried.returncode == 0 and "column Hotel Name became name" in tried.stdout and not data.exists(), tried
    made = run("catalogue", "import", table, "--data", data)
    assert made.returncode == 0 and made.stdout.startswith("imported 1 hotels"), made
    [hotel] = start(data=data).call("GET", "/v1/hotels?description=alger").json()["hotels"]
    assert (hotel["id"], hotel["name"], hotel["city"]) == ("hotel_7", "Hôtel d'Alger", "Paris")
    assert run("catalogue", "undo", "--data", data).stderr == (
        "hotel-bookmarks: There is no former catalogue: the last import replaced none, or it was undone.\n")
    for name, body, word in (("bomb.gz", gzip.compress(b"[\"" + b"x" * (16 << 20)), "unpacks"), ("cut.gz", table.read_bytes()[:40], "gzip"),
                             ("other.json", '{"name":"Hôtel"}'.encode("latin-1"), "UTF-8")):
        (tmp_path / name).write_bytes(body)
        refused = run("catalogue", "import", tmp_path / name, "--data", data)
        assert refused.returncode == 65 and word in refused.stderr, refused
    (tmp_path / "typo").mkdir()
    (tmp_path / "typo" / "thesis.txt").write_text("x")
    refused = run("catalogue", "import", table, "--data", tmp_path / "typo")
    assert refused.returncode == 78 and "no data directory" in refused.stderr, refused


def test_an_import_that_looks_like_a_mistake_is_refused_and_one_that_was_can_be_undone(start, tmp_path):
    server = start()
    found = lambda: [hotel["id"] for hotel in server.call(  # noqa: E731
        "GET", "/v1/hotels?description=doubtful&limit=100").json()["hotels"]]
    rows = tmp_path / "rows.ndjson"

    def imported(good, bad, *options):
        rows.write_text("".join(
            '{"id":"d%d","name":"Doubtful %d"}\n' % (number, number) for number in range(good)) + "{}\n" * bad)
        return run("catalogue", "import", rows, "--data", server.data, *options)

    assert run("catalogue", "undo", "--data", server.data).returncode == 1
    refused = imported(1, 999)
    assert refused.returncode == 65 and "999 of 1000 rows are bad" in refused.stderr, refused.stderr
    assert found() == []
    first = imported(20, 0)
    assert first.returncode == 0 and "catalogue undo" in first.stdout, first.stderr
    wait_until(lambda: len(found()) == 20, "not imported")
    refused = imported(9, 0)
    assert refused.returncode == 65 and "fewer than half of the 20" in refused.stderr, refused.stderr
    assert imported(1, 999, "--replace").returncode == 0
    wait_until(lambda: len(found()) == 1, "not replaced")
    back = run("catalogue", "undo", "--data", server.data)
    assert back.returncode == 0 and "20 hotels" in back.stdout, back.stderr
    wait_until(lambda: len(found()) == 20, "not undone")
    assert "former" in run("catalogue", "undo", "--data", server.data).stderr


def test_log_line_says_its_message_before_what_belongs_to_it(start, tmp_path):
    server = start("--upstream", "http://127.0.0.1:9")
    assert server.call("GET", "/v1/hotels?description=x").status_code == 503
    line = server.logged("Upstream search failed")
    assert re.search(r": Upstream search failed( \w+=.*)* upstream=", line), line


def test_the_signal_to_reload_ends_no_server_without_a_certificate(shared):
    shared.process.send_signal(signal.SIGHUP)
    assert shared.call("GET", "/healthz").status_code == 200 and shared.process.poll() is None


def test_metrics_say_what_they_are_and_which_process_and_version(shared):
    text = shared.call("GET", "/metrics").text
    families = set(re.findall(r"(?m)^# TYPE (\S+) ", text))
    assert families == set(re.findall(r"(?m)^# HELP (\S+) \S", text))
    version = run("version").stdout.split()[-1]
    assert f'hotel_bookmarks_build_info{{version="{version}"}} 1' in text
    values = dict(re.findall(r"(?m)^(process_\w+) (\S+)$", text))
    assert 3 < float(values["process_open_fds"]) < float(values["process_max_fds"])
    assert float(values["process_resident_memory_bytes"]) > 1 << 20
    assert float(values["process_cpu_seconds_total"]) > 0 and float(values["process_start_time_seconds"]) > 1e9


def audit(server, *arguments):
    said = run("audit", "--data", server.data, *arguments)
    assert said.returncode == 0, said
    return list(map(json.loads, said.stdout.splitlines()))


def test_the_audit_log_has_who_did_what_and_survives_a_kill(start):
    server = start("--audit", "addresses")
    login = {"username": "ada", "password": "a good password"}
    account = server.call("POST", "/v1/users", json=login).json()["id"]
    assert server.call("POST", "/v1/sessions", json={**login, "password": "a wrong password"}).status_code == 401
    assert "deleted" in user(server, "delete", "ada")
    seen = wait_until(lambda: len(found := audit(server)) == 4 and found)
    assert [each["event"] for each in seen] == ["logBegun", "signedUp", "signInFailed", "erased"]
    assert [each.get("account") for each in seen[1:]] == [account] * 3
    assert [each.get("address") for each in seen] == [None, "127.0.0.1", "127.0.0.1", None]
    assert seen[-1]["by"] == "administrator" and not any("ada" in json.dumps(each) for each in seen)
    server.kill()
    assert audit(server) == seen
    # A command without a server records what it does, as long as there is a log.
    assert "added" in user(server, "add", "bob", password="a good password")
    assert [each["event"] for each in audit(server, "--since", seen[-1]["time"])] == ["erased", "userAdded"]
    for command in (["keys", "rotate"], ["admin", "reset-password"]):
        run(*command, "--data", server.data).check_returncode()
    last = audit(server)[-2:]
    assert [(each["event"], each["by"], each.get("about")) for each in last] == [
        ("keysRotated", "administrator", None), ("passwordChanged", "administrator", "administrator")]
    off = start()
    user(off, "delete", "bob")
    assert audit(off)[-2:] == last


def test_no_audit_log_is_kept_by_default(start):
    server = start()
    user(server, "add", "bob", password="a good password")
    server.stop()
    user(server, "delete", "bob")
    assert audit(server) == []
