"""The replication log: what both sides remember of earlier sessions, and what that is good for.

Source: the CouchDB Replication Protocol, version 3, "Find Common Ancestry" and "Record Replication
Checkpoint".
"""
import email.utils
import uuid

from peer import Refused, quoted

_SESSIONS = 50
"""Sessions that a log keeps, as CouchDB's replicator does."""
_VERSION = 3
"""The version of the protocol, which a log names."""


class ReplicationLog:
    """The document `_local/<identity>` on one side."""

    def __init__(self, peer, identity):
        self.peer, self.path = peer, "/" + quoted("_local/" + identity)
        self.document = {}

    def load(self):
        """Reads the log; there may be none yet, or none any more."""
        answer = self.peer.call("GET", self.path, allow=(404,))
        value = answer.json()
        if answer.status == 404:
            assert value["error"] == "not_found", value
            value = {}
        self.document = value

    def save(self, history):
        """Writes the sessions, newest first. A log that somebody else wrote meanwhile is written over:
        the request before a cut may have been this one's own."""
        body = {
            "history": history[:_SESSIONS], "session_id": history[0]["session_id"],
            "source_last_seq": history[0]["recorded_seq"], "replication_id_version": _VERSION,
        }
        for attempt in range(3):
            if "_rev" in self.document:
                body["_rev"] = self.document["_rev"]
            try:
                self.document = {**body, "_rev": self.peer.put(self.path, body)["rev"]}
                return
            except Refused as refusal:
                if refusal.status != 409 or attempt == 2:
                    raise
            body.pop("_rev", None)
            self.load()

    def forget(self):
        """Loses the log, as a wiped or restored side would."""
        self.load()
        if "_rev" in self.document:
            self.peer.call("DELETE", f"{self.path}?rev={self.document['_rev']}")
        self.document = {}


def common_ancestor(source, target):
    """(sequence to start from, sessions up to it) by two logs' documents; (None, []) for all of it.

    Where both name a session, the target's sequence counts: it was written with the target's data, so
    it is never ahead of that, also after the target was restored from a copy.
    """
    ours = {entry["session_id"]: entry for entry in target.get("history", [])}
    history = source.get("history", [])
    for index, entry in enumerate(history):
        shared = ours.get(entry["session_id"])
        if shared:
            return shared["recorded_seq"], [shared, *history[index + 1:]]
    return None, []


class Session:
    """One run's entry in the logs, with the counts that the protocol asks for."""

    def __init__(self, since):
        self.entry = {
            "session_id": uuid.uuid4().hex, "start_time": email.utils.formatdate(usegmt=True),
            "end_time": None, "start_last_seq": since or 0, "end_last_seq": since or 0,
            "recorded_seq": since or 0, "missing_checked": 0, "missing_found": 0, "docs_read": 0,
            "docs_written": 0, "doc_write_failures": 0,
        }

    def count(self, name, number):
        self.entry[name] += number

    def reach(self, sequence):
        """All changes up to `sequence` are on the target."""
        self.entry.update(end_last_seq=sequence, recorded_seq=sequence,
                          end_time=email.utils.formatdate(usegmt=True))
