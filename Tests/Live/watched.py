"""What a server says of the work that it does, and what its process takes."""
import re
import time

from patience import until

WORK = "work_"
BASE = 256 << 20
"""Resident bytes of a server that keeps nothing for anybody: a debug build, its stores, its caches."""
BODY_FACTOR = 4
"""Times its unpacked bytes that a body may take while it is read, and is accounted for."""
RENEWED = 1.1
"""Seconds after which `/metrics` tells what has happened until now."""


def work(server, name, **labels):
    """The sum of a work metric's samples with these labels; its name must be there."""
    total, there = 0.0, False
    for line in server.call("GET", "/metrics").text.splitlines():
        if re.match(WORK + name + r"[{ ]", line):
            there = True
            if all(f'{key}="{value}"' in line for key, value in labels.items()):
                total += float(line.rsplit(" ", 1)[1])
    assert there, f"{WORK}{name} is no metric"
    return total


def rests(server):
    """Waits until nothing is worked on and nothing waits to be, also once the metrics were renewed."""
    def idle():
        return work(server, "running") == 0 and work(server, "waiting") == 0

    until(lambda: idle() and (time.sleep(RENEWED) or idle()), "work goes on", 180)


def limits(server):
    """`GET /v1/limits` by name."""
    return {row["name"]: row["value"] for row in server.call("GET", "/v1/limits").json()["limits"]}


def peak(server):
    """The most resident bytes that the process has had."""
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmHWM:\s+(\d+) kB", file.read()).group(1)) << 10


def allowed(server, bodies=0):
    """The resident bytes that the limits leave, when so many bytes of unpacked bodies are sent at once."""
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
