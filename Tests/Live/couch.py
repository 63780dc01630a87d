"""The sync protocol's databases and people, as the tests use them."""
import threading
import urllib.parse
import uuid

import requests

from server import Server

PASSWORD = "a good password"


class Account:
    """A user that signed up: `name`, `password`, `token`, and `store`, its own database."""

    password = PASSWORD

    def __init__(self, server):
        self.server = server
        self.name = "user-" + uuid.uuid4().hex
        body = {"username": self.name, "password": self.password}
        answer = server.call("POST", "/v1/users", json=body)
        assert answer.status_code == 201, answer.text
        self.token = answer.json()["token"]
        self.store = server.call("GET", "/v1/me", self.token).json()["store"]

    def url(self, path="/couch"):
        """An address with the name and password in it."""
        return with_credentials(self.server.url, self.name, self.password) + path


class Administrator:
    """A server started with a password for its administrator."""

    name, password = "admin", "the operator's password"

    def __init__(self, directory, *arguments, password=password):
        secret = directory / "password"
        secret.write_text(password)
        secret.chmod(0o600)
        self.server = Server(directory / "data", "--admin-password-file", str(secret), *arguments)
        self.auth = (self.name, self.password)

    def call(self, method, path, **options):
        return self.server.call(method, "/couch" + path, auth=self.auth, **options)

    def url(self, path="/couch"):
        """An address with the name and password in it."""
        return with_credentials(self.server.url, self.name, self.password) + path

    def create(self, name=None):
        """A new database, as the administrator uses it."""
        name = name or "db-" + uuid.uuid4().hex
        database = Database(self.server, name=name, auth=self.auth)
        answer = database.call("PUT")
        assert answer.status_code == 201, answer.text
        return database


class Database:
    """A guest's or user's store as a database, or with `name` another one."""

    def __init__(self, server, token=None, name=None, auth=None):
        self.server, self.auth = server, auth
        self.session = requests.Session()
        self.session.trust_env = False
        self.token = token or (None if auth else server.guest())
        self.name = name or self.call_v1("GET", "/v1/me").json()["store"]

    def call_v1(self, method, path, **options):
        return self.server.call(method, path, self.token, self.session, **options)

    def call(self, method, path="", **options):
        """One exchange below the database; the answer is one that the contract documents."""
        if self.auth:
            options.setdefault("auth", self.auth)
        place = f"/couch/{urllib.parse.quote(self.name, safe='')}{path}"
        return self.server.call(method, place, self.token, self.session, **options)

    def raw(self, method, path="", headers=None, **options):
        """One exchange that the contract has no place for: HEAD, COPY, a stream."""
        headers = dict(headers or {})
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        options.setdefault("timeout", 60)
        options.setdefault("auth", self.auth)
        place = f"{self.server.url}/couch/{urllib.parse.quote(self.name, safe='')}{path}"
        return self.session.request(method, place, headers=headers, **options)

    def copy(self, path, destination, **headers):
        return self.raw("COPY", path, headers={"Destination": destination, **headers})

    def put(self, name, **members):
        return self.call("PUT", "/" + urllib.parse.quote(name, safe=""), json=members)

    def rev(self, name, **members):
        """The revision of a document that is written."""
        answer = self.put(name, **members)
        assert answer.status_code == 201, answer.text
        return answer.json()["rev"]

    def bulk(self, *documents, **members):
        """What `_bulk_docs` answers for each document."""
        answer = self.call("POST", "/_bulk_docs", json={"docs": list(documents), **members})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def graft(self, name, *leaves, **members):
        """Stores revisions as a replicator does: each is a list of ids, newest first, as `2-b 1-a`."""
        documents = []
        for leaf in leaves:
            history = leaf.split()
            number = int(history[0].split("-")[0])
            ids = [revision.split("-", 1)[1] for revision in history]
            documents.append({
                "_id": name, "_rev": history[0], "_revisions": {"start": number, "ids": ids},
                "leaf": history[0], **members})
        assert self.bulk(*documents, new_edits=False) == []

    def changes(self, query=""):
        return self.call("GET", "/_changes?style=all_docs" + query).json()

    def documents(self):
        rows = self.call("GET", "/_all_docs?include_docs=true").json()["rows"]
        return {row["id"]: row["doc"] for row in rows}


def with_credentials(url, name, password):
    """An address with a name and a password in it, percent-encoded."""
    quote = lambda text: urllib.parse.quote(text, safe="")
    scheme, rest = url.split("://", 1)
    return f"{scheme}://{quote(name)}:{quote(password)}@{rest}"


def failed(answer):
    """What an answer says that is no success: its status and CouchDB's short word."""
    return answer.status_code, answer.json().get("error")


def soon(write):
    """Runs a write a moment later, while a feed waits for it."""
    timer = threading.Timer(0.2, write)
    timer.start()
    return timer
