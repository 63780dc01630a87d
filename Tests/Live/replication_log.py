"""The replication log: what both sides record about earlier sessions, and how a replication uses it.

Source: the CouchDB Replication Protocol, version 3, "Find Common Ancestry" and "Record Replication
Checkpoint".
"""
import email.utils
import uuid

from peer import Refused, quoted

_SESSIONS = 50
"""The number of sessions that a log keeps, as in CouchDB's replicator."""
_VERSION = 3
"""The protocol version that is written in a log."""


class ReplicationLog:
    """The document `_local/<identity>` on one side."""

    def __init__(self, peer, identity):
        self.peer, self.path = peer, "/" + quoted("_local/" + identity)
        self.document = {}

    def load(self):
        """Reads the log. It may not exist yet, or not any more."""
        answer = self.peer.call("GET", self.path, allow=(404,))
        value = answer.json()
        if answer.status == 404:
            assert value["error"] == "not_found", value
            value = {}
        self.document = value

    def save(self, history):
        """Writes the sessions, newest first. If the log has another revision meanwhile, this overwrites it: that
        revision may come from this side's own request before a cut."""
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
        """Forgets the log, as a wiped or restored side would."""
        self.load()
        if "_rev" in self.document:
            self.peer.call("DELETE", f"{self.path}?rev={self.document['_rev']}")
        self.document = {}


def common_ancestor(source, target):
    """From two logs' documents: (the sequence to start from, the sessions up to it), or (None, []) to start at the
    beginning.

    If both name a session, the target's sequence counts: it was written together with the target's data, so it is
    never ahead of them, even if the target was restored from a copy.
    """
    ours = {entry["session_id"]: entry for entry in target.get("history", [])}
    history = source.get("history", [])
    for index, entry in enumerate(history):
        shared = ours.get(entry["session_id"])
        if shared:
            return shared["recorded_seq"], [shared, *history[index + 1:]]
    return None, []


class Session:
    """The log entry of one run, with the counts that the protocol asks for."""

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
        """Records that all changes up to `sequence` are on the target."""
        self.entry.update(end_last_seq=sequence, recorded_seq=sequence,
                          end_time=email.utils.formatdate(usegmt=True))
