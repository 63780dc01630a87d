"""Processes that are known by pid and start, so that a pid which was given anew is not taken for them."""
import os
import pathlib
import signal
import subprocess
import time


def fields(pid):
    """What the kernel says of a process from its state on, or None if there is none."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


class Process:
    """One process; `started` is when it started, in ticks since the machine's start."""

    def __init__(self, pid, started=None):
        self.pid = pid
        found = fields(pid)
        self.started = started if started is not None else int(found[19]) if found else 0

    @classmethod
    def spawn(cls, command, log, environment=None):
        """Starts a command in a session of its own, which Ctrl-C does not reach; it writes to the end of a file."""
        with open(log, "ab") as file:
            child = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                start_new_session=True, cwd="/", env={**os.environ, **(environment or {})})
        # It is looked after by pid from here on, perhaps by another command.
        child.returncode = 0
        return cls(child.pid)

    def runs(self):
        """Whether it is there and has not ended; a child that has ended is taken off the kernel's list."""
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
        """The kernel's letter for what it does: `T` where it stands still."""
        found = fields(self.pid)
        return found[0] if found else ""

    def signal(self, number):
        """Sends a signal, if it runs still."""
        if self.runs():
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                pass


def family(roots):
    """These processes and all that came from them, parents first; those that have ended are left out."""
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
    """Signals all that `find()` finds, again until it finds none that was not signalled: meanwhile some may have
    started others. Returns the pids."""
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
    """Kills what still runs of `find()` when so many seconds are over."""
    deadline = time.monotonic() + patience
    while find() and time.monotonic() < deadline:
        time.sleep(0.05)
    signal_all(find, signal.SIGKILL)
    deadline = time.monotonic() + 5
    while find() and time.monotonic() < deadline:
        time.sleep(0.02)
