"""Waiting for what comes in its own time: a busy machine may take long for what is quick on another."""
import time

PATIENCE = 60
"""Seconds after which nobody waits any more."""


def until(holds, what="it did not come about", seconds=PATIENCE):
    """Asks again and again until the answer is true; that answer."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found
