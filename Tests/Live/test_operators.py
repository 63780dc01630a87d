"""What an operator does by the command line, and a log that can't be written."""
import subprocess

import requests

from server import BINARY


def test_password_file_of_another_system_works(start, tmp_path):
    secret = tmp_path / "password"
    secret.write_bytes(b"secret 123\r\n")
    data = tmp_path / "data"
    added = subprocess.run(
        [BINARY, "user", "add", "bob", "--data", str(data), "--password-file", str(secret)],
        capture_output=True, text=True, timeout=60)
    assert added.returncode == 0, added.stderr
    body = {"username": "bob", "password": "secret 123"}
    assert start(data=data).call("POST", "/v1/sessions", json=body).status_code == 200


def test_full_log_does_not_end_the_service(tmp_path):
    with open("/dev/full", "w") as full:
        process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", "--data", str(tmp_path / "data"), "--log-format", "json",
             "--log-level", "trace"], stdout=subprocess.PIPE, stderr=full, text=True)
        url = process.stdout.readline().split()[-1]
        assert requests.get(url + "/healthz", timeout=60).status_code == 200
        process.terminate()
        assert process.wait(timeout=60) == 0
