"""A replicator for these tests: CouchDB's replication protocol, version 3, written from its specification.

It shares no code with the server. It copies documents as the bytes that the source sent, so that the result can be
compared byte for byte. Options cause faults: batches in random order, batches sent twice, and a crash between any
two steps.
"""
import json
import random
import threading
import time

from changes_feed import pages
from leaf_fetch import LeafFetch
from peer import Refused, Unreachable
from replication_log import ReplicationLog, Session, common_ancestor
from waiting import PATIENCE


class Crash(Exception):
    """The end of a replicator between two steps. A test's `step` raises it."""


class Replicator:
    """Copies the content of one database to another, and records its progress on both sides.

    `run` does one session. A request that fails ends the session with `Unreachable`, and the next session continues
    from the last checkpoint. `follow` runs session after session until it is told to stop.
    """

    def __init__(self, source, target, identity, *, batch=500, ahead=1, feed="normal", way="bulk_get",
                 shuffle=None, repeat=0.0, compare=True, step=lambda name: None):
        """`source` and `target` are `Peer`s. `identity` names the replication log on both.

        batch: rows per page. ahead: pages that are read before the first of them is written.
        feed: normal, longpoll or continuous. way: how leaves are fetched, see `LeafFetch`.
        shuffle: a seed. Pages that were read ahead, and documents in a request, get a random order.
        repeat: the probability that a page is copied twice.
        compare: whether `_revs_diff` is called. Without it, everything is sent again.
        step: called with the name of each step before the step; may raise `Crash`.
        """
        self.source, self.target = source, target
        self.batch, self.ahead, self.feed = batch, ahead, feed
        self.chance = random.Random(shuffle)
        self.shuffle, self.repeat, self.compare = shuffle is not None, repeat, compare
        self.step = step
        self.logs = [ReplicationLog(peer, identity) for peer in (source, target)]
        self.fetch = LeafFetch(source, way)
        self.session, self.earlier = None, []

    def run(self):
        """Copies what the source has, in one session. Returns its entry for the logs."""
        since = self._begin()
        group = []
        for page in pages(self.source, self.feed, since, self.batch):
            self.step("changes")
            group.append(page)
            if len(group) == self.ahead:
                self._carry(group)
                group = []
        if group:
            self._carry(group)
        return self.session.entry

    def follow(self, stop):
        """Copies what the source has and all new changes, in any number of sessions, until `stop` is set.

        The feed must be longpoll or continuous. It stops within about a second.
        """
        while not stop.is_set():
            try:
                for page in pages(self.source, self.feed, self._begin(), self.batch, stop):
                    if page[0]:
                        self._carry([page])
            except Unreachable:
                stop.wait(0.05)

    def following(self):
        """A context that runs `follow` in a thread, stops it at the end, and raises the thread's error."""
        return _Following(self)

    def _begin(self):
        """Finds both databases and their logs. Returns the sequence to start from."""
        for peer in (self.source, self.target):
            self.step("exists")
            peer.call("HEAD")
        for peer in (self.source, self.target):
            self.step("information")
            information = peer.get()
            assert isinstance(information["instance_start_time"], str), information
            assert "update_seq" in information, information
        for log in self.logs:
            self.step("read log")
            log.load()
        since, self.earlier = common_ancestor(*(log.document for log in self.logs))
        self.session = Session(since)
        return 0 if since is None else since

    def _carry(self, group):
        """Copies pages to the target and records in the logs that they are there."""
        reached = group[-1][1]
        order = list(group)
        if self.shuffle:
            self.chance.shuffle(order)
        for rows, _ in order:
            self._carry_rows(rows, self.compare)
        for rows, _ in order:
            if self.chance.random() < self.repeat:
                self._carry_rows(rows, compare=False)
        self.step("commit")
        committed = self.target.call("POST", "/_ensure_full_commit")
        assert committed.status == 201 and isinstance(committed.json()["instance_start_time"], str)
        self.session.reach(reached)
        for log in self.logs:
            self.step("write log")
            log.save([self.session.entry, *self.earlier])

    def _carry_rows(self, rows, compare):
        leaves = {row["id"]: [change["rev"] for change in row["changes"]] for row in rows}
        missing = leaves
        if compare:
            self.step("compare")
            found = self.target.post("/_revs_diff", leaves)
            assert set(found) <= set(leaves), set(found) - set(leaves)
            missing = {name: difference["missing"] for name, difference in found.items()}
            for name, revs in missing.items():
                assert revs and set(revs) <= set(leaves[name]), (name, revs, leaves[name])
        pairs = [(name, rev) for name, revs in missing.items() for rev in revs]
        self.session.count("missing_checked", sum(map(len, leaves.values())))
        self.session.count("missing_found", len(pairs))
        if not pairs:
            return
        self.step("fetch")
        documents = self.fetch(pairs)
        self.session.count("docs_read", len(documents))
        if self.shuffle:
            self.chance.shuffle(documents)
        self._write(documents)

    def _write(self, documents):
        """Sends documents with their own revisions. If a request is too large, it is split in two."""
        self.step("write")
        body = '{"new_edits":false,"docs":[' + ",".join(documents) + "]}"
        answer = self.target.call("POST", "/_bulk_docs", body.encode(), allow=(413,))
        if answer.status == 413:
            if len(documents) == 1:
                raise Refused("POST", "/_bulk_docs", 413, answer.text)
            half = len(documents) // 2
            self._write(documents[:half])
            return self._write(documents[half:])
        assert answer.status == 201, answer.status
        failures = [item for item in answer.json() if "error" in item]
        for failure in failures:
            if failure["error"] not in ("forbidden", "unauthorized"):
                raise Refused("POST", "/_bulk_docs", answer.status, json.dumps(failure))
        self.session.count("doc_write_failures", len(failures))
        self.session.count("docs_written", len(documents) - len(failures))


class _Following:
    def __init__(self, replicator):
        self.replicator, self.stop, self.error = replicator, threading.Event(), None
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        try:
            self.replicator.follow(self.stop)
        except Exception as error:
            self.error = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, kind, error, trace):
        self.stop.set()
        self.thread.join(timeout=PATIENCE)
        assert not self.thread.is_alive(), "the replicator does not stop"
        if self.error and kind is None:
            raise self.error


def until_done(make, patience=PATIENCE):
    """Runs the replicators that `make` returns, session after session, until one completes.

    Returns the last session's entry and the number of sessions that failed. Gives up after `patience` seconds.
    """
    deadline, cut = time.monotonic() + patience, 0
    while True:
        try:
            return make().run(), cut
        except (Unreachable, Crash) as error:
            assert time.monotonic() < deadline, f"not through after {cut} sessions: {error}"
            cut += 1
            time.sleep(0.05)
