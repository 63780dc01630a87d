"""A proxy before a server, which shows the page in two versions, breaks files, and has pages of a developer's own."""
import hashlib
import http.client
import json

from between import Between
from waiting import PATIENCE

SECOND = "b" * 32
"""The name of the second version. Its files differ from the first one's by `MARK`."""

MARK = (b"Plan a trip with others", b"Travel with friends")

PORTAL = b"<!doctype html><title>Wireless network</title><h1>Please log in to the network</h1>"


class Releases(Between):
    """`versions` are the versions that answer in turn: 1, 2 or both. `broken(path)` answers a proxy's page instead of a
    file. `pages` has the bodies of other pages at this origin, by path."""

    def __init__(self, server):
        super().__init__(server)
        self.first = json.loads(self.fetch("/shell.json"))["version"]
        self.versions, self.broken, self.pages, self.turn = [1], lambda path: False, {}, 0

    def release(self):
        """From now on the second version answers alone."""
        self.versions = [2]

    def fetch(self, path):
        """The body of the first version's answer; None if there is none."""
        connection = http.client.HTTPConnection(self.upstream, timeout=PATIENCE)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return body if answer.status == 200 else None

    def file(self, path):
        """A file of the second version; None if it has none."""
        if self.first in path:
            return None
        body = self.fetch(path.replace(SECOND, self.first))
        return body and body.replace(*MARK).replace(self.first.encode(), SECOND.encode())

    def shell(self):
        """The second version's `/shell.json`."""
        shell = json.loads(self.fetch("/shell.json").replace(self.first.encode(), SECOND.encode()))
        for file in shell["files"]:
            file["sha256"] = hashlib.sha256(self.file(file["path"])).hexdigest()
        return json.dumps(shell).encode()

    def answer(self, handler):
        path = handler.path.partition("?")[0]
        if path in self.pages:
            return self.send(handler, 200, "text/html", self.pages[path])
        if self.broken(path):
            return self.send(handler, 200, "text/html", PORTAL)
        is_html = "text/html" in handler.headers.get("Accept", "") and not path.startswith(("/v1", "/couch"))
        if path.startswith("/page/") or path in ("/shell.json", "/offline.js") or is_html:
            self.turn += 1
            if self.versions[self.turn % len(self.versions)] == 2:
                body = self.shell() if path == "/shell.json" else self.file(path)
                if body is None:
                    return self.send(handler, 404, "application/problem+json", b"{}")
                kinds = {"js": "text/javascript", "css": "text/css", "json": "application/json", "svg": "image/svg+xml"}
                return self.send(handler, 200, kinds.get(path.rpartition(".")[2], "text/html"), body)
        return False
