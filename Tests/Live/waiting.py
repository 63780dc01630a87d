"""Waits for conditions without a fixed delay, because a busy machine may be slow."""
import time

PATIENCE = 240
"""Seconds after which a test gives up waiting: far more than a slow, busy machine needs."""


def wait_until(holds, what="it did not come about", seconds=PATIENCE):
    """Calls `holds` again and again until its result is true. Returns that result."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found
