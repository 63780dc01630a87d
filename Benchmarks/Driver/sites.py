"""The measured servers, ours and a CouchDB, with one interface."""
import json
import urllib.parse
import uuid

from processes import PASSWORD, Client, basic, bearer

TEXT = "x" * 1024


def document(number, **more):
    """A document of about 1.1 KB."""
    return {"type": "note", "n": number, "text": TEXT, **more}


class Site:
    """Makes and fills databases. A target is a path and header fields, for `load.lua`."""

    def __init__(self, url, root, administrator):
        self.url, self.root, self.administrator = url, root, administrator
        self.admin = Client(url, basic(*administrator))

    def root_target(self):
        """The administrator's target, for making databases."""
        return {"path": self.root, "headers": basic(*self.administrator)}

    def client(self, target):
        return Client(self.url, target["headers"])

    def filled(self, count):
        """A new database with the documents `doc-000000`, `doc-000001`, …"""
        target = self.target()
        client = self.client(target)
        for start in range(0, count, 500):
            numbers = range(start, min(start + 500, count))
            documents = [document(n, _id=f"doc-{n:06d}") for n in numbers]
            client.call("POST", target["path"] + "/_bulk_docs", {"docs": documents})
        return target


class Bookmarks(Site):
    """Our server. A database is a user's own store."""

    ours = True

    def __init__(self, url):
        super().__init__(url, "/couch", ("admin", PASSWORD))

    def person(self, path, body=None):
        token = Client(self.url).call("POST", path, body)["token"]
        store = Client(self.url, bearer(token)).call("GET", "/v1/me")["store"]
        return {"path": f"/couch/{urllib.parse.quote(store, safe='')}", "headers": bearer(token)}

    def target(self):
        """A new user's store; it holds at most 50,000 documents."""
        name = "user-" + uuid.uuid4().hex
        return self.person("/v1/users", {"username": name, "password": "a good password"})

    def guest(self):
        """A new guest's store with one document; it holds at most 200."""
        target = self.person("/v1/guests")
        self.client(target).call("PUT", target["path"] + "/doc-000000", document(0))
        return target


class Couch(Site):
    """A CouchDB. Its URL contains the administrator's name and password."""

    ours = False

    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        plain = f"{parts.scheme}://{parts.hostname}:{parts.port or 5984}"
        super().__init__(plain, parts.path.rstrip("/"), (parts.username, parts.password))
        self.made = []

    def target(self):
        name = "bench-" + uuid.uuid4().hex
        self.admin.call("PUT", f"{self.root}/{name}")
        self.made.append(name)
        return {"path": f"{self.root}/{name}", "headers": basic(*self.administrator)}

    def guest(self):
        """A database with one document."""
        target = self.target()
        self.client(target).call("PUT", target["path"] + "/doc-000000", document(0))
        return target

    def listed(self):
        """A database with an empty list of bookmarks."""
        target = self.target()
        body = {"type": "bookmarkedhotels", "hotels": []}
        self.client(target).call("PUT", target["path"] + "/bookmarkedhotels", body)
        return target

    def clear(self):
        for name in self.made:
            self.admin.call("DELETE", f"{self.root}/{name}")
        self.made = []


def hotel():
    """The body of a bookmark: a hotel of about 1.1 KB, as JSON text."""
    return json.dumps({
        "name": "The Bench", "city": "London", "country": "United Kingdom", "type": "hotel",
        "address": "1 Main Street", "description": TEXT[:950]})
