"""Servers that crash and start again at the same address, and faulty networks between them."""
import contextlib
import itertools
import os
import threading
import uuid

from faulty_proxy import FaultyProxy
from peer import Peer, Timeout
from server import Server


NIGHTLY = bool(os.environ.get("BOOKMARKS_NIGHTLY"))
"""Whether the run is the nightly one, with more seeds and more documents."""


@contextlib.contextmanager
def site_pair(directories):
    """Two sites for all tests of a file. Each test uses its own stores."""
    pair = [Site(directories.mktemp(f"site{number}") / "data", number) for number in range(2)]
    try:
        yield pair
    finally:
        for site in pair:
            site.close()


class Site:
    """A server over its own directory, behind a proxy whose address stays when the server's address changes."""

    def __init__(self, directory, seed=0):
        self.directory, self.servers, self.turn = directory, [], threading.Lock()
        self.server = self._start()
        self.proxy = FaultyProxy(self.server.url, seed)
        # Some faults of the proxy are silence.
        self.timeout = Timeout(3, most=12)

    def _start(self):
        self.servers.append(Server(self.directory))
        return self.servers[-1]

    def restart(self, meanwhile=lambda: None):
        """Ends the server as a crash would, calls `meanwhile`, and starts it again."""
        with self.turn:
            self.server.kill()
            meanwhile()
            self.server = self._start()
            self.proxy.aim(self.server.url)

    def user(self):
        """A new user's store, for up to 50,000 documents."""
        body = {"username": "site-" + uuid.uuid4().hex, "password": "a good password"}
        return Store(self, self.server.call("POST", "/v1/users", json=body).json()["token"])

    def guest(self):
        """A new guest's store, for up to 200 documents. It is cheap to make."""
        return Store(self, self.server.guest())

    def close(self):
        self.proxy.close()
        for server in self.servers:
            if server.process.poll() is None:
                server.kill()


class Store:
    """One person's store at a site."""

    def __init__(self, site, token):
        self.site, self.token = site, token
        self.name = site.server.call("GET", "/v1/me", token).json()["store"]

    def near(self):
        """A peer without the proxy, for the test's own requests. The address is valid until the site restarts."""
        return Peer(f"{self.site.server.url}/couch/{self.name}", "Bearer " + self.token)

    def far(self):
        """A peer through the proxy, as a device reaches the server."""
        return Peer(f"{self.site.proxy.url}/couch/{self.name}", "Bearer " + self.token, self.site.timeout)

    def load(self, documents):
        """Stores documents, which are JSON texts with their own revisions, 1,000 at a time."""
        peer, documents = self.near(), iter(documents)
        while part := list(itertools.islice(documents, 1000)):
            refused = peer.post("/_bulk_docs", '{"new_edits":false,"docs":[' + ",".join(part) + "]}")
            assert refused == [], refused[:3]

    def edit(self, name, **members):
        """Writes a new revision of a document. Returns the revision."""
        found = self.near().call("GET", f"/{name}", allow=(404,)).json()
        return self.near().put(f"/{name}", {**members, **_base(found)})["rev"]

    def remove(self, name):
        rev = self.near().get(f"/{name}")["_rev"]
        self.near().call("DELETE", f"/{name}?rev={rev}")


def _base(found):
    return {"_rev": found["_rev"]} if "_rev" in found else {}
