"""People with different addresses, because the server keeps accounts of processor time by address."""
import collections
import itertools
import urllib.parse
import uuid

import requests
from requests.adapters import HTTPAdapter

from couch import PASSWORD

HOSTILE = "127.0.0.2"
"""The address of hostile clients. Other people use other addresses, unless a test says so."""

_numbers = itertools.count()


def address():
    """A loopback address that was not used before."""
    number = next(_numbers)
    return f"127.{64 + number // 62_500 % 64}.{number // 250 % 250 + 1}.{number % 250 + 1}"


class _From(HTTPAdapter):
    """Connects from one source address."""

    def __init__(self, source):
        self.source = source
        super().__init__()

    def init_poolmanager(self, *arguments, **options):
        super().init_poolmanager(*arguments, source_address=(self.source, 0), **options)


class Person:
    """A guest, a user or a newcomer without a token, at one address. `statuses` counts the response statuses."""

    def __init__(self, server, source=None, kind="guest"):
        self.server, self.source = server, source or address()
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.mount("http://", _From(self.source))
        self.token, self.path, self.statuses = None, None, collections.Counter()
        if kind == "newcomer":
            return
        body = {"username": "fair-" + uuid.uuid4().hex, "password": PASSWORD} if kind == "user" else None
        self.token = self.call("POST", "/v1/users" if body else "/v1/guests", body)["token"]
        store = self.call("GET", "/v1/me")["store"]
        self.path = "/couch/" + urllib.parse.quote(store, safe="")
        self.statuses.clear()

    def ask(self, method, path, value=None, **options):
        """Sends one request. The contract documents the response."""
        if value is not None:
            options["json"] = value
        answer = self.server.call(method, path, self.token, self.session, **options)
        self.statuses[answer.status_code] += 1
        return answer

    def call(self, method, path, value=None):
        """Sends one request with JSON, which must succeed."""
        answer = self.ask(method, path, value)
        assert answer.status_code < 300, (method, path, answer.status_code, answer.text[:300])
        return answer.json() if answer.content else None

    def newcomer(self):
        """Another person without a token, at a new address."""
        return Person(self.server, kind="newcomer")
