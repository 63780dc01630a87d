"""A real server in its own process, and calls to it. Each response is checked against openapi.yaml."""
import atexit
import contextlib
import functools
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import uuid

import requests

import postgres
from contract import Contract
from waiting import PATIENCE, wait_until

BINARY = os.environ.get("BOOKMARKS_BINARY", "hotel-bookmarks")
REQUEST_PROCESSOR_MILLISECONDS = 120_000
"""What one request may cost in tests, unless a test sets it: more than any honest one costs on a slow machine."""
_PATIENT = {
    "HOTEL_BOOKMARKS_REQUEST_PROCESSOR_MILLISECONDS": str(REQUEST_PROCESSOR_MILLISECONDS),
    "HOTEL_BOOKMARKS_REQUEST_SECONDS": str(PATIENCE),
    "HOTEL_BOOKMARKS_SEARCH_MILLISECONDS": str(PATIENCE * 1_000),
    "HOTEL_BOOKMARKS_UPSTREAM_MILLISECONDS": str(PATIENCE * 1_000),
    "HOTEL_BOOKMARKS_OVERLOAD_MILLISECONDS": str(PATIENCE * 1_000),
}
"""The limits of time that no honest request may meet, however slow the machine is. A test of a limit sets it itself."""
ROOT = pathlib.Path(__file__).resolve().parents[2]
FIRST_START = "BOOKMARKS_FIRST_START"
"""The variable that names the directory of a first start to the processes that share the tests."""


@functools.cache
def first_start():
    """The data of a first start: the catalogue of the program's own hotels, and the hash of the administrator's password.
    Tests that begin with them start sooner."""
    if inherited := os.environ.get(FIRST_START):
        return pathlib.Path(inherited)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="hotel-bookmarks-first-start-"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    process = subprocess.Popen(
        [BINARY, "serve", "--port", "0", "--data", str(directory / "data")], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={name: value for name, value in os.environ.items() if not name.startswith("HOTEL_BOOKMARKS_")})
    process.stdout.readline()
    administrator = directory / "data" / "administrator.json"
    # The next start would replace a password that was not shown.
    wait_until(lambda: '"shown":true' in administrator.read_text())
    process.terminate()
    process.communicate(timeout=PATIENCE)
    return directory / "data"


class Session(requests.Session):
    """Connections without what the environment says of proxies and passwords: to look for it takes half of a call's time."""

    def __init__(self):
        super().__init__()
        self.trust_env = False


class Server:
    """A server on a free port over a data directory. `log` is what it wrote to standard error; it is complete once the
    server has ended.

    `under` is a command that starts the server. Under any but env(1), such as strace(1), it writes all its files itself.
    """

    contract = Contract(ROOT / "openapi.yaml")

    def __init__(self, data, *arguments, limits=None, environment=None, under=()):
        self.data = pathlib.Path(data)
        if list(under) in ([], ["env"]) and not self.data.exists() and self.data.parent.is_dir():
            self.data.mkdir(mode=0o700)
            for file in ("catalogue.sqlite", "administrator.json"):
                shutil.copy(first_start() / file, self.data)
        command = [*under, BINARY, "serve", "--port", "0", "--data", str(data), *arguments]
        variables = {**os.environ, **_PATIENT, **(environment or {})}
        if (database := variables.pop(postgres.INHERITED, None)) and "--database" not in arguments:
            # A directory's stores are a schema's then. A server that is started again finds them.
            variables["HOTEL_BOOKMARKS_DATABASE"] = postgres.schema(database, self.data.resolve())
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=limits,
            env=variables)
        self.log = []
        self._draining = threading.Thread(target=self._drain, daemon=True)
        self._draining.start()
        first = self.process.stdout.readline()
        found = re.search(r" at (https?://\S+)", first)
        if not found:
            self._ended()
            raise AssertionError(f"did not start: {first}{''.join(self.log)}")
        self.url = found.group(1)

    def _drain(self):
        for line in self.process.stderr:
            self.log.append(line)

    def call(self, method, path, token=None, session=None, **options):
        """Sends one request. The contract documents the response."""
        headers = dict(options.pop("headers", None) or {})
        if token:
            headers["Authorization"] = "Bearer " + token
        with contextlib.nullcontext(session) if session else Session() as session:
            answer = session.request(
                method, self.url + path, headers=headers, timeout=PATIENCE, allow_redirects=False, **options)
        self.contract.check(method, path, answer)
        return answer

    def guest(self):
        """Makes a new guest and returns the token."""
        answer = self.call("POST", "/v1/guests")
        assert answer.status_code == 201, answer.text
        return answer.json()["token"]

    def full_account(self):
        """Makes a user whose list of bookmarks has a byte less than it may have. Returns the credentials and the token."""
        user = {"username": "full-" + uuid.uuid4().hex, "password": "correct horse"}
        token = self.call("POST", "/v1/users", json=user).json()["token"]
        store = self.call("GET", "/v1/me", token).json()["store"]
        hotels = [f"{number:0509}" for number in range(2047)] + ["x" * 470]
        answer = self.call("PUT", f"/couch/{store}/bookmarkedhotels", token, json={
            "type": "bookmarkedhotels", "hotels": hotels})
        assert answer.status_code == 201, answer.text
        return user, token

    def metrics(self):
        """The text of the current metrics. The server renews it once a second, so this waits for the next renewal."""
        def text():
            return self.call("GET", "/metrics").text

        def renewals(text):
            return int(re.search(r"(?m)^health_renewals_total (\d+)", text).group(1))

        least = renewals(text()) + 2
        return wait_until(lambda: (found := text()) and renewals(found) >= least and found)

    def state(self, wanted):
        """Waits until `/readyz` has this status and returns its body. The server renews it once a second."""
        def ready():
            answer = self.call("GET", "/readyz")
            return [answer] if answer.json()["status"] == wanted else None

        return wait_until(ready, f"not {wanted}")[0]

    def logged(self, *words):
        """Waits for a line of the log with all these words. The line may come after the response that it describes."""
        return wait_until(lambda: next(
            (line for line in self.log if all(word in line for word in words)), None), f"{words}: no line")

    def kill(self):
        """Ends the server as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self._ended()

    def pause(self):
        """Suspends the process until `resume`."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Ends the server as an operator does."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self):
        """Waits until the server has ended and its log is complete. Returns the exit status."""
        self.process.wait(timeout=PATIENCE)
        self._draining.join(timeout=PATIENCE)
        return self.process.returncode
