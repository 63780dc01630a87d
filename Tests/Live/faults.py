"""Disk faults under a running server: system calls that strace makes fail, and small file systems by mount."""
import errno
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import pytest

from waiting import PATIENCE, wait_until
from server import BINARY


def store_file(server, token):
    """The file of a person's store, as `GET /v1/me` names the store."""
    name = server.call("GET", "/v1/me", token).json()["store"]
    return file_of(server.data, name.replace("-", "/", 1))


def file_of(data, key):
    """The file of a store by its key."""
    digest = hashlib.sha256(key.encode()).hexdigest()
    return pathlib.Path(data) / "stores" / digest[:2] / digest[2:4] / f"{digest}.sqlite"


def skip_refused(reason, what):
    """Skips a test where the machine does not allow what it needs; `reason` is the refusal's text."""
    words = ("Operation not permitted", "Permission denied", "not implemented", "superuser", "must be root")
    if any(word.lower() in reason.lower() for word in words):
        pytest.skip(f"this machine does not let {what}: {reason.strip()}")


def traced(log, rule, *arguments, paths=()):
    """Runs a command to its end. strace makes its system calls fail as `rule` says, and logs these calls. With `paths`, only
    calls on those files fail."""
    if not shutil.which("strace"):
        pytest.skip("strace is not installed: Scripts/setup --tests")
    done = subprocess.run(
        ["strace", "-f", "-qq", "-o", log, "-e", f"trace={rule.split(':')[0]}", "-e", "signal=none",
         "-e", f"inject={rule}", *(part for path in paths for part in ("-P", str(path))), BINARY, *arguments],
        capture_output=True, text=True, timeout=PATIENCE)
    if "strace: " in done.stderr:
        skip_refused(done.stderr, "a process be traced")
    return done


class Injected:
    """A context in which system calls of a running server fail as `rules` say (strace(1), `inject=`).

    With `paths`, only calls on those files fail. strace counts `when=` per thread; a store uses one thread.
    """

    def __init__(self, server, *rules, paths=()):
        if not shutil.which("strace"):
            pytest.skip("strace is not installed: Scripts/setup --tests")
        calls = ",".join(sorted({name for rule in rules for name in rule.split(":")[0].split(",")}))
        self.log = tempfile.NamedTemporaryFile("r", prefix="strace-")
        self.command = ["strace", "-f", "-qq", "-o", self.log.name, "-e", f"trace={calls}",
                        "-e", "signal=none"]
        for rule in rules:
            self.command += ["-e", f"inject={rule}"]
        for path in paths:
            self.command += ["-P", str(path)]
        self.command += ["-p", str(server.process.pid)]
        self.server = server

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.PIPE, text=True)
        self._await_attached()
        return self

    def _await_attached(self):
        wait_until(lambda: self.process.poll() is not None or self._tracers() == {str(self.process.pid)},
              "strace does not attach")
        if self.process.poll() is not None:
            reason = self.process.stderr.read()
            skip_refused(reason, "a process be traced")
            raise AssertionError(reason)

    def _tracers(self):
        found = set()
        for task in pathlib.Path(f"/proc/{self.server.process.pid}/task").iterdir():
            try:
                lines = (task / "status").read_text().splitlines()
            except (FileNotFoundError, ProcessLookupError):
                continue  # The thread has ended.
            found |= {line.split()[1] for line in lines if line.startswith("TracerPid")}
        return found

    def __exit__(self, *error):
        # On SIGINT, strace detaches from the server.
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=PATIENCE)

    @property
    def calls(self):
        """The lines of the traced calls so far. Lines of calls that strace made fail end with `(INJECTED)`."""
        return pathlib.Path(self.log.name).read_text().splitlines()

    @property
    def count(self):
        """How many calls strace made fail."""
        return sum("INJECTED" in line for line in self.calls)


class SmallDisk:
    """A separate file system in memory, of `size` as in mount(8). Needs a machine on which root may mount."""

    def __init__(self, directory, size):
        self.path = pathlib.Path(directory)
        self.path.mkdir(parents=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(self.path)],
            capture_output=True, text=True)
        if done.returncode:
            pytest.skip("this machine does not let a file system be mounted: " + done.stderr.strip())

    def fill(self, leaving=0):
        """Fills the file system until `leaving` bytes are free."""
        with open(self.path / "ballast", "ab", buffering=0) as file:
            free = os.statvfs(self.path)
            wanted = free.f_bavail * free.f_frsize - leaving
            try:
                while wanted > 0:
                    wanted -= file.write(b"x" * min(wanted, 1 << 20))
            except OSError as error:
                # Others use the space too.
                if error.errno != errno.ENOSPC:
                    raise

    def free(self):
        """Frees the space again."""
        (self.path / "ballast").unlink()

    def close(self):
        subprocess.run(["umount", "-l", str(self.path)], check=False)


class ReadOnly:
    """A context in which a directory is mounted read-only: files that are opened below it take no writes."""

    def __init__(self, path):
        self.path = str(path)

    def __enter__(self):
        done = subprocess.run(["mount", "--bind", self.path, self.path], capture_output=True, text=True)
        if done.returncode:
            pytest.skip("this machine does not let a file system be mounted: " + done.stderr.strip())
        done = subprocess.run(
            ["mount", "-o", "remount,bind,ro", self.path], capture_output=True, text=True)
        if done.returncode:
            self.__exit__()
            pytest.skip("this machine does not let a file system be mounted: " + done.stderr.strip())

    def __exit__(self, *error):
        subprocess.run(["umount", "-l", self.path], check=True)


def metric(server, name):
    """The sum of a metric over its labels."""
    lines = server.metrics().splitlines()
    return sum(float(line.split()[-1]) for line in lines
               if line.split("{")[0].split(" ")[0] == name)


def put(server, token, hotel, name="N", **options):
    """Bookmarks a hotel."""
    return server.call("PUT", f"/v1/bookmarks/{hotel}", token, json={"name": name}, **options)


def listed(server, token):
    """The ids of a person's bookmarks."""
    answer = server.call("GET", "/v1/bookmarks?limit=100", token)
    assert answer.status_code == 200, answer.text
    return {bookmark["id"] for bookmark in answer.json()["bookmarks"]}


def refused(answer):
    """The status and error of a failed response."""
    return answer.status_code, answer.json().get("error")
