"""A simulated PouchDB device: its local database, and the requests by which PouchDB 9 syncs it with a server.

The requests are exactly PouchDB's: its paths with their slashes, its parameters, its bodies. Responses are read as
PouchDB reads them. Its `fetch` is that of README: it keeps a token that is renewed.
"""
import base64
import hashlib
import threading
import time
import urllib.parse
import uuid

import requests
from waiting import PATIENCE

BATCH = 100


class Stopped(Exception):
    """A response at which PouchDB's replication fails: the status and the error's name."""


class Pouch:
    """A local database and its sync with a database of a server. A document is a set of leaves with their histories."""

    def __init__(self, server, token, name):
        self.aim(server.url, name)
        self.token, self.fields = token, {}
        self.leaves, self.sequence, self.changed = {}, 0, {}
        self.denied, self.seen, self.ended = [], set(), None
        self.lock = threading.RLock()
        self.session_id = str(uuid.uuid4())
        self.ids = {way: "_local/" + base64.b64encode(
            hashlib.md5((way + self.session_id).encode()).digest()).decode().replace("/", ".").replace("+", "_")
            for way in ("push", "pull")}
        self.local = {}

    def aim(self, base, name):
        """Syncs with this database from now on."""
        self.base, self.name = f"{base}/couch/", name
        self.url = self.base + urllib.parse.quote(name, safe="") + "/"

    # The local database.

    def put(self, name, /, **members):
        """Writes a document locally. Returns its revision."""
        with self.lock:
            former = self.winner(name)
            history = former[0] if former else []
            number = int(history[0].split("-")[0]) + 1 if history else 1
            revision = f"{number}-{uuid.uuid4().hex}"
            self._take(name, [revision, *history], {"_id": name, **members}, False)
            return revision

    def winner(self, name):
        """The winning leaf's history, its body and whether it is a tombstone. None if there is no such document."""
        with self.lock:
            leaves = self.leaves.get(name, {}).values()
        return max(leaves, default=None, key=lambda leaf: (
            not leaf[2], int(leaf[0][0].split("-")[0]), leaf[0][0]))

    def documents(self):
        """The winning revisions of the live documents."""
        winners = {name: self.winner(name) for name in list(self.leaves)}
        return {name: leaf[0][0] for name, leaf in winners.items() if not leaf[2]}

    def _take(self, name, history, body, is_deleted):
        with self.lock:
            leaves = self.leaves.setdefault(name, {})
            if any(history[0] in leaf[0] for leaf in leaves.values()):
                return
            for known in [known for known in leaves if known in history]:
                del leaves[known]
            leaves[history[0]] = (history, body, is_deleted)
            self.sequence += 1
            self.changed[name] = self.sequence

    # The requests.

    def call(self, method, path="", allow=(), timeout=PATIENCE, url=None, **options):
        answer = self._session().request(
            method, (url or self.url) + path, timeout=timeout,
            headers={"Authorization": "Bearer " + self.token, "Accept": "application/json", **self.fields},
            **options)
        # As the book's examples do: use renews the token.
        self.token = answer.headers.get("Renewed-Token", self.token)
        value = answer.json()
        if answer.status_code >= 300 and answer.status_code not in allow:
            raise Stopped(answer.status_code, value.get("error"))
        return answer.status_code, value

    def _session(self):
        session = requests.Session()
        session.trust_env = False
        return session

    def begin(self):
        """Sends the first requests of a sync: to the parent path, for its uuid, and to the database."""
        self.call("GET", url=self.base)
        self.call("GET")
        for way in self.ids:
            self._checkpoint(way)

    def restart(self):
        """Begins as after a start of the app: from the beginning, where the server has no checkpoint."""
        self.local = {way: last for way, last in self.local.items() if self._checkpoint(way)}

    def _local_path(self, way):
        return "_local/" + urllib.parse.quote(self.ids[way][7:], safe="")

    def _checkpoint(self, way):
        status, value = self.call("GET", self._local_path(way), allow=(404,))
        assert status == 200 or value["error"] == "not_found", value
        return value if status == 200 else {}

    def _save(self, way, last):
        former = self._checkpoint(way)
        body = {"_id": self.ids[way], "session_id": self.session_id, "version": 1, "replicator": "pouchdb",
                "history": [{"last_seq": last, "session_id": self.session_id}], "last_seq": last}
        if "_rev" in former:
            body["_rev"] = former["_rev"]
        _, value = self.call("PUT", self._local_path(way), json=body)
        assert value["rev"].startswith("0-"), value
        self.local[way] = last

    def push(self):
        """Pushes new revisions. What the server forbids is added to `denied`, as in PouchDB's event."""
        with self.lock:
            names = [name for name, number in self.changed.items() if number > self.local.get("push", 0)]
            last = self.sequence
            mine = {name: dict(self.leaves[name]) for name in names}
        if not names:
            return
        _, missing = self.call("POST", "_revs_diff", json={name: list(mine[name]) for name in names})
        documents = []
        for name, found in missing.items():
            for revision in found["missing"]:
                history, body, is_deleted = mine[name][revision]
                documents.append({
                    **body, "_id": name, "_rev": revision, "_revisions": {
                        "start": int(revision.split("-")[0]),
                        "ids": [each.split("-", 1)[1] for each in history]},
                    **({"_deleted": True} if is_deleted else {})})
        if documents:
            _, failed = self.call("POST", "_bulk_docs", json={"docs": documents, "new_edits": False})
            for each in failed:
                assert each["error"] in ("forbidden", "unauthorized"), each
                self.denied.append(each["id"])
        self._save("push", last)

    def pull(self, feed="", timeout=60):
        """Pulls one batch. Returns the number of its rows."""
        since = self.local.get("pull", 0)
        _, page = self.call(
            "GET", f"_changes?{feed}style=all_docs&since={urllib.parse.quote(str(since), safe='')}&limit={BATCH}",
            timeout=timeout)
        wanted = []
        for row in page["results"]:
            self.seen.add(row["id"])
            known = {each for leaf in self.leaves.get(row["id"], {}).values() for each in leaf[0]}
            wanted += [{"id": row["id"], "rev": change["rev"]} for change in row["changes"]
                       if change["rev"] not in known]
        if wanted:
            _, value = self.call("POST", "_bulk_get?revs=true&latest=true", json={"docs": wanted})
            for result in value["results"]:
                for each in result["docs"]:
                    self._keep(each["ok"])
        if page["results"]:
            self._save("pull", page["last_seq"])
        self.local["pull"] = page["last_seq"]
        return len(page["results"])

    def _keep(self, document):
        revisions = document.pop("_revisions")
        start = revisions["start"]
        history = [f"{start - step}-{each}" for step, each in enumerate(revisions["ids"])]
        is_deleted = document.pop("_deleted", False)
        assert document.pop("_rev") == history[0]
        self._take(document["_id"], history, document, is_deleted)

    def sync(self):
        """Pulls and pushes until nothing is new, as a sync that is not live."""
        self.begin()
        while self.pull():
            pass
        self.push()

    # Live sync.

    def live(self):
        """Syncs both ways until the server refuses. `ended` then has the status and error, and `ended_at` the time."""
        self.begin()
        while self.pull():
            pass
        self.push()
        for work in (self._pull_on, self._push_on):
            threading.Thread(target=self._until_refused, args=(work,), daemon=True).start()
        return self

    def _pull_on(self):
        self.pull("feed=longpoll&heartbeat=10000&")

    def _push_on(self):
        self.push()
        time.sleep(0.05)

    def _until_refused(self, work):
        while not self.ended:
            try:
                work()
            except Stopped as stopped:
                # With `retry`, PouchDB ends at these two alone. It repeats everything else for ever.
                if stopped.args[1] in ("unauthorized", "forbidden"):
                    self.ended, self.ended_at = stopped.args, time.monotonic()
                else:
                    time.sleep(0.1)
            except requests.RequestException:
                time.sleep(0.1)
