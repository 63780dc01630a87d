"""Databases and their users over the sync protocol, as the tests use them."""
import threading
import urllib.parse
import uuid

from server import Server, Session

PASSWORD = "a good password"


class Account:
    """A user who has signed up: `name`, `password`, `token`, and `store`, the user's own database."""

    password = PASSWORD

    def __init__(self, server):
        self.server = server
        self.name = "user-" + uuid.uuid4().hex
        body = {"username": self.name, "password": self.password}
        answer = server.call("POST", "/v1/users", json=body)
        assert answer.status_code == 201, answer.text
        self.token = answer.json()["token"]
        self.store = server.call("GET", "/v1/me", self.token).json()["store"]

    def share(self, member, title="Trip"):
        """Makes a list that another account edits. Returns its path."""
        path = "/v1/lists/" + self.server.call("POST", "/v1/lists", self.token, json={"title": title}).json()["id"]
        invitation = self.server.call("POST", path + "/invitations", self.token, json={"role": "editor"}).json()
        joined = self.server.call("POST", f"/v1/invitations/{invitation['token']}/accept", member.token)
        assert joined.status_code == 200, joined.text
        return path

    def url(self, path="/couch"):
        """A URL that contains the name and password."""
        return with_credentials(self.server.url, self.name, self.password) + path


class Administrator:
    """The administrator of a server that was started with an administrator's password."""

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
        """A URL that contains the name and password."""
        return with_credentials(self.server.url, self.name, self.password) + path

    def create(self, name=None):
        """Creates a database and returns it as the administrator uses it."""
        name = name or "db-" + uuid.uuid4().hex
        database = Database(self.server, name=name, auth=self.auth)
        answer = database.call("PUT")
        assert answer.status_code == 201, answer.text
        return database


class Database:
    """A guest's or user's store as a database; with `name`, another database."""

    def __init__(self, server, token=None, name=None, auth=None):
        self.server, self.auth = server, auth
        self.session = Session()
        self.token = token or (None if auth else server.guest())
        self.name = name or self.call_v1("GET", "/v1/me").json()["store"]

    def call_v1(self, method, path, **options):
        return self.server.call(method, path, self.token, self.session, **options)

    def call(self, method, path="", **options):
        """Sends one request below the database. The contract documents the response."""
        if self.auth:
            options.setdefault("auth", self.auth)
        target = f"/couch/{urllib.parse.quote(self.name, safe='')}{path}"
        return self.server.call(method, target, self.token, self.session, **options)

    def raw(self, method, path="", headers=None, **options):
        """Sends one request that the contract does not describe: HEAD, COPY, a stream."""
        headers = dict(headers or {})
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        options.setdefault("timeout", 60)
        options.setdefault("auth", self.auth)
        url = f"{self.server.url}/couch/{urllib.parse.quote(self.name, safe='')}{path}"
        return self.session.request(method, url, headers=headers, **options)

    def copy(self, path, destination, **headers):
        return self.raw("COPY", path, headers={"Destination": destination, **headers})

    def put(self, name, **members):
        return self.call("PUT", "/" + urllib.parse.quote(name, safe=""), json=members)

    def rev(self, name, **members):
        """Writes a document and returns its revision."""
        answer = self.put(name, **members)
        assert answer.status_code == 201, answer.text
        return answer.json()["rev"]

    def bulk(self, *documents, **members):
        """Writes documents and returns what `_bulk_docs` answers for each."""
        answer = self.call("POST", "/_bulk_docs", json={"docs": list(documents), **members})
        assert answer.status_code == 201, answer.text
        return answer.json()

    def graft(self, name, *leaves, **members):
        """Stores revisions as a replicator does. Each leaf is a text of revision ids, newest first: `2-b 1-a`."""
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
    """A URL with a percent-encoded name and password in it."""
    quote = lambda text: urllib.parse.quote(text, safe="")
    scheme, rest = url.split("://", 1)
    return f"{scheme}://{quote(name)}:{quote(password)}@{rest}"


def failed(answer):
    """The status and CouchDB's error code of a failed response."""
    return answer.status_code, answer.json().get("error")


def soon(write):
    """Runs a write a moment later, while a feed waits for it."""
    timer = threading.Timer(0.2, write)
    timer.start()
    return timer
