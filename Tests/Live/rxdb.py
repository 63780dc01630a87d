"""A simulated RxDB collection, and the requests by which RxDB's CouchDB plugin (16.x) syncs it with a server.

RxDB keeps its own position and writes no checkpoint to the server. It asks for the remote state before each push, and
pushes with new revisions (`new_edits` is true).
"""
import json
import urllib.parse

import requests

from pouch import Stopped
from waiting import PATIENCE

BATCH = 100


class Rx:
    """A local collection: `documents` has the bodies of the live documents by their ids. `token` is kept up to date as
    the examples of the book do."""

    def __init__(self, base, token, name):
        self.token, self.since, self.session = token, None, requests.Session()
        self.session.trust_env = False
        self.known, self.mine = {}, {}
        self.aim(base, name)

    def aim(self, base, name):
        """Syncs with this database from now on. RxDB keeps its position for the new address, too, if the app does."""
        self.url = f"{base}/couch/{urllib.parse.quote(name, safe='')}/"

    def put(self, name, /, **members):
        """Writes a document locally."""
        self.mine[name] = members

    def documents(self):
        """The bodies of the live documents, as the app sees them."""
        return {**self.known, **self.mine}

    def call(self, method, path, body=None):
        """Sends one request as the plugin does. Any answer that is no success stops the sync."""
        answer = self.session.request(
            method, self.url + path, timeout=PATIENCE, headers={"Authorization": "Bearer " + self.token},
            **({} if body is None else {"json": body}))
        self.token = answer.headers.get("Renewed-Token", self.token)
        value = answer.json()
        if answer.status_code >= 300:
            raise Stopped(answer.status_code, value.get("error"))
        return value

    def sync(self):
        """Pushes what is new here, then pulls all that is new there."""
        names = list(self.mine)
        for start in range(0, len(names), BATCH):
            self._push(names[start:start + BATCH])
        while self._pull("normal") == BATCH:
            pass

    def _push(self, names):
        there = self.call("POST", "_all_docs?", {"keys": names, "include_docs": True, "deleted": "ok"})["rows"]
        revisions = {row["id"]: row["doc"]["_rev"] for row in there if row.get("doc")}
        changed = [row["id"] for row in there if row.get("doc") and _body(row["doc"]) != self.known.get(row["id"])]
        assert not changed, f"changed there, too: {changed}"
        docs = [{**self.mine[name], "_id": name, "_deleted": False,
                 **({"_rev": revisions[name]} if name in revisions else {})} for name in names]
        results = self.call("POST", "_bulk_docs?", {"docs": docs})
        assert [result["id"] for result in results if result.get("ok")] == names, results
        for name in names:
            self.known[name] = self.mine.pop(name)

    def _pull(self, feed):
        page = self.call("GET", (
            f"_changes?style=all_docs&feed={feed}&include_docs=true&since={self.since or 0}"
            f"&heartbeat=60000&limit={BATCH}&seq_interval={BATCH}"))
        for row in page["results"]:
            if row.get("deleted"):
                self.known.pop(row["id"], None)
            else:
                self.known[row["id"]] = _body(row["doc"])
        self.since = page["last_seq"]
        return len(page["results"])

    def wait(self):
        """Waits for changes by a long poll, as the live replication does. Returns the number of rows."""
        return self._pull("longpoll")


def _body(document):
    """A document without what CouchDB adds, as RxDB compares it."""
    return json.loads(json.dumps({name: value for name, value in document.items() if not name.startswith("_")}))
