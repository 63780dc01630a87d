"""Processes that are identified by pid and start time, because the kernel can use a pid again."""
import os
import pathlib
import signal
import subprocess
import time


def fields(pid):
    """The fields of `/proc/PID/stat` from the state on; None if there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


class Process:
    """One process. `started` is its start time in clock ticks since the machine's start."""

    def __init__(self, pid, started=None):
        self.pid = pid
        found = fields(pid)
        self.started = started if started is not None else int(found[19]) if found else 0

    @classmethod
    def spawn(cls, command, log, environment=None):
        """Starts a command in its own session, which Ctrl-C does not reach. Its output is appended to a file."""
        with open(log, "ab") as file:
            child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                start_new_session=True, cwd="/", env={**os.environ, **(environment or {})})
        # From here on, the process is identified by its pid, perhaps by another command.
        child.returncode = 0
        return cls(child.pid)

    def runs(self):
        """Whether the process exists and has not ended. Reaps a child that has ended."""
        found = fields(self.pid)
        if not found or int(found[19]) != self.started:
            return False
        if found[0] not in "ZX":
            return True
        try:
            os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            pass
        return False

    def state(self):
        """The kernel's letter for its state: `T` when it is stopped. Empty if there is no such process."""
        found = fields(self.pid)
        return found[0] if found else ""

    def signal(self, number):
        """Sends a signal if the process still runs."""
        if self.runs():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass


def family(roots):
    """These processes and their descendants, parents first. Roots that have ended are left out."""
    children = {}
    for entry in os.listdir("/proc"):
        found = fields(entry) if entry.isdigit() else None
        if found:
            children.setdefault(int(found[1]), []).append(int(entry))
    members, waiting = {}, [root for root in roots if root and root.runs()]
    while waiting:
        process = waiting.pop(0)
        if process.pid not in members:
            members[process.pid] = process
            waiting.extend(Process(pid) for pid in children.get(process.pid, []))
    return list(members.values())


def signal_all(find, number):
    """Sends a signal to all processes that `find()` returns. Repeats this for new ones, which the others may have
    started meanwhile, ten times at most in all. Returns the pids."""
    done = {}
    for _ in range(10):
        new = [process for process in find() if process.pid not in done]
        if not new:
            break
        for process in new:
            process.signal(number)
            done[process.pid] = process
    return list(done)


def end_all(find, patience):
    """Waits until `find()` returns no process. After `patience` seconds, kills those that still run."""
    deadline = time.monotonic() + patience
    while find() and time.monotonic() < deadline:
        time.sleep(0.05)
    signal_all(find, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while find() and time.monotonic() < deadline:
        time.sleep(0.02)
