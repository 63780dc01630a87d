"""Secrets and content are sent in every input of every operation. They appear in no log and no metric, and secrets
appear in no response.

S14 in names is a row of the catalogue of faults."""
import base64
import json
import uuid

import pytest

from backups import run
from operations import OPERATIONS

# Operations that end the caller's token.
SILENT = {"logOut", "couchLogOut", "liteLogOut", "eraseMe"}
HEADERS = [
    "User-Agent", "Referer", "X-Forwarded-For", "X-Forwarded-Host", "If-Match", "If-None-Match",
    "Idempotency-Key", "Last-Event-ID", "Accept", "Accept-Language", "Origin", "Destination",
    "X-Request-Id", "Traceparent", "Prefer",
    "X-Http-Method-Override"]


def word():
    return "canary" + uuid.uuid4().hex


@pytest.fixture
def server(start):
    return start("--log-level", "trace", "--guests-per-hour", "1000000")


@pytest.mark.fault("S14")
def test_content_is_in_no_log_and_no_metric(server):
    canary, token = word(), server.guest()
    store = server.call("GET", "/v1/me", token).json()["store"]
    for operation in OPERATIONS:
        if operation.name == "observeChanges":
            # The stream does not end by itself.
            server.call("GET", f"/v1/changes?timeout=1&id={canary}&type={canary}", token)
            server.call("GET", f"/v1/changes?list={canary}&since={canary}", token)
            continue
        values = {name: canary for name in operation.names("path") if name != "db"}
        values["db"] = store
        for query in [None] + [{name: canary} for name in operation.names("query")]:
            if operation.name not in SILENT:
                server.call(
                    operation.method, operation.path(values, query), token,
                    json=operation.body(canary))
        server.call(operation.method, operation.path({**values, "db": canary}), token)
        server.call(operation.method, operation.path(values), token, data=canary.encode(),
                    headers={"Content-Type": "application/json", "Cookie": f"{canary}={canary}"})
        token = server.guest()
        store = server.call("GET", "/v1/me", token).json()["store"]
    for name in HEADERS:
        server.call("GET", "/v1/hotels", token, headers={name: canary})
        server.call("PUT", "/v1/bookmarks/x", token, json={}, headers={name: canary})
    server.call("GET", f"/{canary}/{canary}?{canary}={canary}", token)
    metrics = server.metrics()
    server.stop()
    log = "".join(server.log)
    assert len(server.log) > 10  # The log has lines at all.
    assert canary not in metrics
    assert canary not in log, [line for line in server.log if canary in line][:3]
    assert store not in log and token not in log


@pytest.mark.fault("S14")
def test_searches_that_fail_are_in_no_log_and_no_metric(start):
    canary = word()
    server = start("--log-level", "trace", "--upstream", "http://127.0.0.1:9")
    for query in (f"description={canary}", f"location={canary}", f"description=%2F{canary}"):
        answer = server.call("GET", "/v1/hotels?" + query)
        assert answer.status_code == 503 and canary not in answer.text, answer.text
    assert server.call("GET", "/v1/hotels/" + canary).status_code in (404, 503)
    assert server.call("GET", f"/api/hotels/{canary}/{canary}").status_code == 503
    metrics = server.metrics()
    server.stop()
    assert any("search" in line.lower() for line in server.log)
    assert canary not in "".join(server.log) and canary not in metrics


def secrets_of(canary, name):
    """Headers and bodies that contain a secret, as options of a call."""
    pair = base64.b64encode(f"{name}:{canary}".encode()).decode()
    password = {"username": name, "password": canary}
    for header in (
            {"Authorization": "Bearer " + canary}, {"Authorization": "Basic " + pair},
            {"Authorization": "Digest " + canary}, {"Authorization": canary},
            {"Cookie": "AuthSession=" + canary}, {"Cookie": "a=b; AuthSession=" + canary}):
        yield {"headers": header}
    yield {"json": password}
    yield {"json": {**password, "guestToken": canary}}
    yield {"json": {"user": name, "password": canary}}
    yield {"json": {"name": name, "password": canary}}
    yield {"data": {"name": name, "password": canary}}
    yield {"data": json.dumps(password)[:-1], "headers": {"Content-Type": "application/json"}}


@pytest.mark.fault("S14")
def test_secrets_are_in_no_answer_no_log_and_no_metric(server):
    canary, name = word(), "user-" + uuid.uuid4().hex
    for operation in OPERATIONS:
        if operation.name in ("couchGetChanges", "couchPostChanges", "observeChanges"):
            continue  # These use the same authentication as every operation of /couch.
        for options in secrets_of(canary, name):
            if "headers" not in options and operation.method == "GET":
                continue
            answer = server.call(operation.method, operation.path({}), **options)
            assert canary not in answer.text + str(answer.headers), operation
    metrics = server.metrics()
    server.stop()
    log = "".join(server.log)
    assert canary not in metrics and name not in metrics
    assert canary not in log and name not in log
    pair = base64.b64encode(f"{name}:{canary}".encode()).decode()
    assert pair not in log


@pytest.mark.fault("S14")
@pytest.mark.files
def test_passwords_and_tokens_are_in_no_file_and_in_no_backup(server, tmp_path):
    canary, guest = word(), server.guest()
    body = {"username": "somebody", "password": canary}
    answers = [server.call("POST", "/v1/users", guest, json=body)]
    answers += [server.call("POST", "/v1/sessions", json=body) for _ in range(2)]
    tokens = [answer.json()["token"] for answer in answers]
    assert server.call("DELETE", "/v1/sessions", tokens.pop()).status_code == 204
    assert server.call("PUT", "/v1/bookmarks/x", tokens[0], json={"name": "kept"}).status_code == 201
    told = run("backup", tmp_path / "backup", "--data", server.data)
    server.stop()
    secrets = [canary, guest, *(answer.json()["token"] for answer in answers)]
    backup = [path for path in (tmp_path / "backup").rglob("*") if path.is_file()]
    assert any(b"kept" in path.read_bytes() for path in backup)
    files = backup + [path for path in server.data.rglob("*") if path.is_file()]
    for secret in secrets:
        assert secret not in told + "".join(server.log)
        for path in files:
            assert secret.encode() not in path.read_bytes(), path.name
