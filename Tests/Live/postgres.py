"""A PostgreSQL server of its own for tests, and a schema of it for each data directory."""
import glob
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse
from waiting import PATIENCE

VARIABLE = "HOTEL_BOOKMARKS_TEST_DATABASE"
"""The environment variable with the URL of a database that live tests use instead of files; `own` starts a server."""
INHERITED = "BOOKMARKS_TEST_DATABASE"
"""The same for the processes that share the tests. Servers refuse unknown variables with the other prefix."""


def programs():
    """The directory of the newest PostgreSQL's programs; None if there is none."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
    return pathlib.Path(found[-1]).parent if found else None


class Postgres:
    """A server on a socket in a temporary directory. It syncs its log only if `durable`, since tests cut no power."""

    def __init__(self, durable=False):
        self.bin = programs()
        # Others may pass, because PostgreSQL does not run as root.
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="bookmarks-postgres-", dir="/tmp"))
        self.directory.chmod(0o711)
        self.user = "postgres" if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.directory, self.user, self.user)
        self.durable = durable
        self._run(self.bin / "initdb", "-D", self.directory / "data", "-A", "trust", "-N", "-E", "UTF8",
                  "--locale=C.UTF-8", "-U", "postgres")
        self.start()

    def _as_user(self, *command):
        prefix = ["setpriv", "--reuid", self.user, "--regid", self.user, "--init-groups"] if self.user else []
        return [*prefix, *map(str, command)]

    def _run(self, *command):
        subprocess.run(self._as_user(*command), check=True, capture_output=True, timeout=PATIENCE, cwd="/tmp")

    def start(self):
        """Starts the server and waits until it answers."""
        with open(self.directory / "log", "ab") as log:
            self.process = subprocess.Popen(
                self._as_user(
                    self.bin / "postgres", "-D", self.directory / "data", "-k", self.directory,
                    "-c", "listen_addresses=", "-c", f"fsync={'on' if self.durable else 'off'}",
                    "-c", "max_connections=600", "-c", "shared_buffers=64MB", "-c", "max_wal_size=4GB"),
                stdout=log, stderr=log, cwd="/tmp")
        deadline = time.monotonic() + PATIENCE
        while subprocess.run([self.bin / "pg_isready", "-q", "-h", self.directory], check=False).returncode:
            assert self.process.poll() is None and time.monotonic() < deadline, (self.directory / "log").read_text()
            time.sleep(0.05)

    def crash(self):
        """Kills all its processes at once."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=PATIENCE)
        # The others see that the first one is gone.
        deadline = time.monotonic() + PATIENCE
        while subprocess.run(["pgrep", "-f", f"postgres.*{self.directory}"], check=False,
                             capture_output=True).returncode == 0 and time.monotonic() < deadline:
            time.sleep(0.05)

    @property
    def url(self):
        return f"postgres://postgres@/postgres?host={urllib.parse.quote(str(self.directory), safe='')}"

    def close(self, keeps=False):
        """Stops the server, and removes its directory unless it `keeps` that for another start."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=PATIENCE)
        if not keeps:
            shutil.rmtree(self.directory, ignore_errors=True)


def sql(url, statements):
    """Runs statements by psql and returns what they print, unaligned."""
    done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url], input=statements, text=True,
                          capture_output=True, check=False, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def schema(url, name):
    """The URL of a schema of a database, which is created if it is absent."""
    name = "test_" + hashlib.sha256(str(name).encode()).hexdigest()[:24]
    sql(url, f"SET client_min_messages = error; CREATE SCHEMA IF NOT EXISTS {name};")
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{name}"
