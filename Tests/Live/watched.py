"""What a server reports about its work, and what resources its process uses."""
import re
import time

from waiting import wait_until

WORK = "work_"
BASE = 256 << 20
"""Resident bytes of a server without any requests: a debug build, its stores, its caches."""
BODY_FACTOR = 4
"""A body may take this many times its unpacked bytes while it is read. The server accounts for all of them."""
RENEWED = 1.1
"""Seconds after which `/metrics` shows what has happened until now."""


def work(server, name, **labels):
    """The sum of a work metric's samples with these labels. The metric must exist."""
    total, there = 0.0, False
    for line in server.call("GET", "/metrics").text.splitlines():
        if re.match(WORK + name + r"[{ ]", line):
            there = True
            if all(f'{key}="{value}"' in line for key, value in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
    assert there, f"{WORK}{name} is no metric"
    return total


def rests(server):
    """Waits until no work runs or waits, also after the next renewal of the metrics."""
    def idle():
        return work(server, "running") == 0 and work(server, "waiting") == 0

    wait_until(lambda: idle() and (time.sleep(RENEWED) or idle()), "work goes on")


def limits(server):
    """The rows of `GET /v1/limits` by name."""
    return {row["name"]: row["value"] for row in server.call("GET", "/v1/limits").json()["limits"]}


def peak(server):
    """The process's peak of resident bytes."""
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) << 10


def allowed(server, bodies=0):
    """The resident bytes that the limits allow when `bodies` bytes of unpacked bodies are sent at the same time."""
    rows = limits(server)
    return BASE + rows["answerMemoryBytes"] + min(BODY_FACTOR * bodies, rows["bodyMemoryBytes"])


def stored(server):
    """The bytes of all files below the stores' directory."""
    found = 0
    for path in (server.data / "stores").rglob("*"):
        try:
            found += path.stat().st_size if path.is_file() else 0
        except FileNotFoundError:
            pass  # A log that was copied and removed meanwhile.
    return found
