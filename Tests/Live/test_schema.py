"""schemathesis sends valid and invalid requests for openapi.yaml and checks every response: no undocumented status, no
body that does not match its schema, no invalid request that is accepted, no access without credentials."""
import base64
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import NIGHTLY
from couch import Account, Administrator
from server import ROOT

HERE = pathlib.Path(__file__).parent


def run_schemathesis(server, authorization, database, directory, *options):
    """Runs schemathesis against a server, with additional options. A failure prints what it found."""
    command = [
        str(pathlib.Path(sys.executable).parent / "schemathesis"),
        "--config-file", str(HERE / "schemathesis.toml"),
        "run", str(ROOT / "openapi.yaml"), "--url", server.url, "--checks", "all",
        "-H", "Authorization: " + authorization, *options]
    if not NIGHTLY:
        command += ["--seed", "1"]
    answer = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=3600,
        env=dict(
            os.environ, SCHEMA_URL=server.url, SCHEMA_AUTHORIZATION=authorization,
            SCHEMA_DATABASE=database, SCHEMA_HOOKS=str(HERE / "schema_hooks.py")))
    assert answer.returncode == 0, answer.stdout[-20000:] + answer.stderr[-2000:]


@pytest.fixture
def examples():
    """How many requests are made for each operation, in addition to those that cover its schema."""
    return "200" if NIGHTLY else "2"


def test_guest_meets_the_contract_alone(start, tmp_path, examples):
    server = start("--guests-per-hour", "1000000")
    token = server.guest()
    store = server.call("GET", "/v1/me", token).json()["store"]
    # Each run's random requests are a user's, who may do more.
    run_schemathesis(
        server, "Bearer " + token, store, tmp_path, "-n", examples,
        "--phases", "examples,coverage,stateful" + (",fuzzing" if NIGHTLY else ""))


def test_user_meets_the_contract_alone(start, tmp_path, examples):
    server = start("--guests-per-hour", "1000000")
    account = Account(server)
    run_schemathesis(
        server, "Bearer " + account.token, account.store, tmp_path, "-n", examples,
        "--phases", "fuzzing")


def test_administrator_meets_the_contract_alone(tmp_path, examples):
    administrator = Administrator(tmp_path)
    administrator.create("schema")
    pair = base64.b64encode(":".join(administrator.auth).encode()).decode()
    run_schemathesis(
        administrator.server, "Basic " + pair, "schema", tmp_path, "-n", examples,
        "--include-tag", "couch", "--phases", "coverage,fuzzing" if NIGHTLY else "fuzzing")
    assert administrator.server.stop() == 0
