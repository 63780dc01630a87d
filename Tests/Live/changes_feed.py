"""The changes of a database as pages of rows, read by each kind of feed that a replicator may use."""
import json
import queue
import threading

from peer import Unreachable

_HEARTBEAT = 500
"""Milliseconds between heartbeats of a continuous feed that waits."""


def pages(peer, feed, since, size, stop=None):
    """Yields (rows, the sequence from which to continue).

    Without `stop`, the pages end when there are no more changes. With it, they end when it is set, and a page
    may be empty.
    """
    if feed == "continuous":
        return _continuous(peer, since, size, stop)
    return _polled(peer, feed, since, size, stop)


def _polled(peer, feed, since, size, stop):
    path = f"/_changes?feed={feed}&style=all_docs&limit={size}"
    if feed == "longpoll":
        path += "&timeout=500" if stop else "&timeout=1"
    while not (stop and stop.is_set()):
        page = peer.get(f"{path}&since={since}")
        if not page["results"] and not stop:
            return
        since = page["last_seq"]
        yield page["results"], since


def _continuous(peer, since, size, stop):
    """A thread reads lines as they arrive. A page is what arrived until the feed paused."""
    lines, ends = queue.Queue(), []
    wait = f"heartbeat={_HEARTBEAT}" if stop else "timeout=100"
    path = f"/_changes?feed=continuous&style=all_docs&{wait}&since={since}"

    def read():
        try:
            for line in peer.twin().lines(path, ends.append):
                lines.put(line)
            lines.put(Unreachable("the feed ended"))
        except Exception as error:
            lines.put(error)

    threading.Thread(target=read, daemon=True).start()
    rows = []
    try:
        while not (stop and stop.is_set()):
            try:
                line = lines.get(timeout=0.02 if rows else 0.1)
            except queue.Empty:
                line = ""
            if isinstance(line, Exception):
                raise line
            row = json.loads(line) if line else None
            if row and "changes" in row:
                rows.append(row)
            last = row is not None and "last_seq" in row
            if rows and (not row or last or len(rows) == size):
                yield rows, rows[-1]["seq"]
                rows = []
            if last and not stop:
                return
            if last:
                raise Unreachable("the feed ended")
    finally:
        for end in ends:
            end()
