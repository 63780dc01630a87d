"""A Couchbase Lite client with its documents in memory: pushes, pulls and resolves as the products do."""
import base64
import collections
import hashlib
import json
import os
import urllib.parse

from blip_client import ERROR, TREES, Blip, WebSocket


def blobs_of(value):
    """The blobs anywhere in a value."""
    if isinstance(value, dict):
        if value.get("@type") == "blob":
            yield value
            return
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from blobs_of(part)


def repeats_a_blob(name, body):
    """Whether LiteCore takes an attachment for a blob, and drops it. It never stores a document for which this fails."""
    if not name.startswith("blob_") or name[5:6].isdigit():
        return name.startswith("blob_")
    assert name[5:6] == "/", f"no place of a blob: {name}"
    for part in name[6:].split("/"):
        found = dict(enumerate(body)) if isinstance(body, list) else body if isinstance(body, dict) else {}
        body = found.get(int(part) if isinstance(body, list) else part)
    return isinstance(body, dict) and body.get("@type") == "blob"


class Phone:
    """A phone's database and its replicator. `documents` maps an id to its revisions, newest first, its body, and whether it
    is deleted; `blobs` the digests of blobs to their bytes."""

    def __init__(self, server, database="bookmarks", token=None, auth=None, protocols=TREES, headers=None, compress=True):
        self.server, self.protocols, self.compress = server, protocols, compress
        self.path = f"/couch/{urllib.parse.quote(database, safe='')}/_blipsync"
        self.headers = dict(headers or {})
        if token:
            self.headers["Authorization"] = "Bearer " + token
        if auth:
            self.headers["Authorization"] = "Basic " + base64.b64encode(":".join(auth).encode()).decode()
        self.documents, self.since, self.caught_up, self.refused = {}, None, False, []
        self.maximum_history = 50
        self.blobs, self.asked, self.lacking = {}, [], []
        self.blip, self.transport = None, WebSocket
        # The collection that its messages are about, by its number.
        self.collection = None

    def connect(self):
        self.blip = Blip(
            self.transport(self.server.url, self.path, self.protocols, self.headers), self.compress)
        self.blip.serve = self._serve
        return self

    def close(self, code=1000):
        return self.blip.websocket.close(code)

    # The phone's own edits.

    def edit(self, name, body, deleted=False):
        """Makes a child of the present revision, as LiteCore makes its ids: 40 digits that nobody else can compute."""
        history = self.documents[name][0] if name in self.documents else []
        generation = int(history[0].split("-")[0]) + 1 if history else 1
        digest = hashlib.sha1(os.urandom(20)).hexdigest()
        self.documents[name] = [f"{generation}-{digest}", *history], body, deleted
        return f"{generation}-{digest}"

    # Blobs.

    def blob(self, data, content_type="image/png", **changes):
        """Stores bytes, and returns the dictionary that names them in a document."""
        digest = "sha1-" + base64.b64encode(hashlib.sha1(data).digest()).decode()
        self.blobs[digest] = data
        return {"@type": "blob", "digest": digest, "length": len(data), "content_type": content_type, **changes}

    def _serve(self, request):
        """Answers what the server asks about a blob. `asked` has the operations in order."""
        profile = request.properties["Profile"]
        if profile not in ("getAttachment", "proveAttachment"):
            return False
        self.asked.append(profile)
        data = self.blobs.get(request.properties["digest"])
        if data is None or request.properties.get("collection") != self.collection:
            self.blip.reply(request, b"", ERROR, **{"Error-Domain": "HTTP", "Error-Code": "404"})
        elif profile == "getAttachment":
            self.blip.reply(request, data)
        else:
            nonce = request.body
            proof = hashlib.sha1(bytes([len(nonce)]) + nonce + data).digest()
            self.blip.reply(request, b"sha1-" + base64.b64encode(proof))
        return True

    def _fetch(self, name, body):
        """Asks for the blobs and attachments of a document that are not here, and leaves out the attachments that only
        repeat a blob. If there are attachments, each blob has to be among them."""
        attachments = body.get("_attachments", {})
        found = [value["digest"] for value in attachments.values()]
        blobs = [blob["digest"] for blob in blobs_of({**body, "_attachments": None})]
        if attachments and not set(blobs) <= set(found):
            self.lacking.append(name)
        found += blobs
        for digest in dict.fromkeys(found):
            if digest.startswith("sha1-") and digest not in self.blobs:
                answer = self.blip.call("getAttachment", digest=digest, docID=name)
                if answer.error:
                    self.lacking.append(name)
                    continue
                assert digest == "sha1-" + base64.b64encode(hashlib.sha1(answer.body).digest()).decode()
                self.blobs[digest] = answer.body
        kept = {key: value for key, value in attachments.items() if not repeats_a_blob(key, body)}
        return {key: value for key, value in {**body, "_attachments": kept}.items() if key != "_attachments" or kept}

    # Push.

    def propose(self, *names, remote=None, **properties):
        """Proposes the present revisions of documents. `remote` is the last revision that the server is known to have."""
        rows = []
        for name in names:
            history = self.documents[name][0]
            ancestor = (remote or {}).get(name, history[1] if len(history) > 1 else "")
            rows.append([name, history[0], ancestor, 100])
        answer = self.blip.call("proposeChanges", rows, conflictIncludesRev="true", **properties)
        assert answer.error is None, answer.error
        found = answer.json
        return found + [0] * (len(rows) - len(found))

    def send(self, name, **properties):
        """Sends a revision, and returns the number of the request."""
        profile, body, options = self._revision(name, properties)
        return self.blip.ask(profile, body, **options)

    def push_in_turns(self, *names):
        """Sends revisions at the same time. Returns the errors by the documents."""
        errors = {}
        numbers = self.blip.ask_in_turns([self._revision(name, {}) for name in names])
        for name, number in zip(names, numbers):
            self._confirm(name, number, errors)
        return errors

    def _revision(self, name, properties):
        history, body, deleted = self.documents[name]
        options = {"id": name, "rev": history[0], "noconflicts": "true", "sequence": "1", **properties}
        if deleted:
            options["deleted"] = "1"
        if history[1:]:
            options.setdefault("history", ",".join(history[1:self.maximum_history]))
        return "rev", body, options

    def push(self, *names, **properties):
        """Proposes and sends documents, ten at once as LiteCore does. Returns the errors by the documents."""
        errors = {}
        for start in range(0, len(names), 200):
            part = names[start:start + 200]
            wanted = []
            for name, verdict in zip(part, self.propose(*part, **properties)):
                if verdict == 0:
                    wanted.append(name)
                elif verdict != 304:
                    errors[name] = verdict
            waiting = collections.deque()
            for name in wanted:
                if len(waiting) == 10:
                    self._confirm(*waiting.popleft(), errors)
                waiting.append((name, self.send(name, **properties)))
            while waiting:
                self._confirm(*waiting.popleft(), errors)
        return errors

    def _confirm(self, name, number, errors):
        answer = self.blip.answer(number)
        if answer.error:
            errors[name] = answer.error

    # Pull.

    def subscribe(self, continuous=False, documents=None, **properties):
        options = {"batch": "200", "versioning": "rev-trees", "revocations": "true", **properties}
        if self.since is not None:
            options["since"] = json.dumps(self.since)
        if continuous:
            options["continuous"] = "true"
        body = {"docIDs": documents} if documents is not None else None
        self.caught_up = False
        answer = self.blip.call("subChanges", body, **options)
        assert answer.error is None, answer.error
        # The announced positions in their order, and whether a revision is awaited for each.
        self.rows = {}

    def take(self):
        """Answers one request of the server. Returns what it was."""
        request = self.blip.request()
        profile = request.properties["Profile"]
        if profile == "changes":
            self._take_changes(request)
        elif profile == "rev":
            self._take_revision(request)
        else:
            assert profile == "norev" and request.no_reply, profile
            self._done(request.properties["sequence"])
        return request

    def _take_changes(self, request):
        rows = request.json
        if not rows:
            self.caught_up = True
        answer = []
        for sequence, name, revision, *flags in rows:
            assert not flags or flags in ([1], [4])
            if flags == [4]:
                # No longer in the channels: the document is purged.
                self.documents.pop(name, None)
                self.rows[json.dumps(sequence)] = False
                answer.append(0)
                continue
            history = self.documents.get(name, ([], None, False))[0]
            answer.append(0 if revision in history else history[:1])
            self.rows[json.dumps(sequence)] = revision not in history
        self._advance()
        while answer and answer[-1] == 0:
            answer.pop()
        self.blip.reply(request, answer, maxHistory=str(self.maximum_history), blobs="true", deltas="true")

    def _take_revision(self, request):
        properties = request.properties
        name, revision = properties["id"], properties["rev"]
        history = [part for part in properties.get("history", "").split(",") if part]
        known = self.documents.get(name)
        if known and known[0][0] not in history:
            self.refused.append(name)
        if request.json == {"_removed": True}:
            # No longer in the channels, as an older client learns it: the document is purged.
            self.documents.pop(name, None)
            self.blip.reply(request)
            return self._done(properties["sequence"])
        older = known[0] if known else []
        cut = next((older[older.index(part) + 1:] for part in history[::-1] if part in older), [])
        body = self._fetch(name, request.json)
        self.documents[name] = [revision, *history, *cut], body, properties.get("deleted") == "1"
        self.blip.reply(request)
        self._done(properties["sequence"])

    def _done(self, sequence):
        assert self.rows[sequence], "a revision that was not wanted, or came before"
        self.rows[sequence] = False
        self._advance()

    def _advance(self):
        """The position to continue from is that before the first revision that has not come."""
        for sequence in list(self.rows):
            if self.rows[sequence]:
                return
            del self.rows[sequence]
            self.since = json.loads(sequence)

    def take_all(self):
        """Takes what there is until the server says so, and every wanted revision has come."""
        while not self.caught_up or self.rows:
            self.take()

    def pull(self, **options):
        """One-shot."""
        self.subscribe(**options)
        self.take_all()
        return self.documents

    def live(self):
        """The bodies of the documents that are not deleted."""
        return {name: body for name, (_, body, deleted) in self.documents.items() if not deleted}
