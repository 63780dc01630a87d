"""Waits for conditions without a fixed delay, because a busy machine may be slow."""
import time

PATIENCE = 240
"""Seconds after which a test gives up waiting: far more than a slow, busy machine needs."""


def wait_until(holds, what="it did not come about", seconds=PATIENCE):
    """Calls `holds` again and again until its result is true. Returns that result. The pauses become longer, up to
    half a second, so that a long wait costs others little."""
    began = time.monotonic()
    while not (found := holds()):
        waited = time.monotonic() - began
        assert waited < seconds, what
        time.sleep(min(max(waited / 10, 0.05), 0.5))
    return found
