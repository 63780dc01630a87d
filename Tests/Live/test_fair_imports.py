"""Imports whose bodies come slowly: they hold places for hours, of which no address has many, and none for ever."""
import concurrent.futures
import http.client
import urllib.parse

from people import Person, address
from waiting import PATIENCE

PLACES, AT_AN_ADDRESS = 32, 4


class Slow:
    """An import of which nothing has come but a line's beginning."""

    def __init__(self, person):
        parts = urllib.parse.urlsplit(person.server.url)
        self.connection = http.client.HTTPConnection(
            parts.hostname, parts.port, timeout=PATIENCE, source_address=(person.source, 0))
        self.connection.putrequest("POST", "/v1/me/import")
        for name, value in {"Authorization": "Bearer " + person.token, "Content-Type": "application/x-ndjson",
                            "Transfer-Encoding": "chunked", "Expect": "100-continue"}.items():
            self.connection.putheader(name, value)
        self.connection.endheaders()
        # The server asks for the body once the import has its place.
        assert b"100 Continue" in self.connection.sock.recv(1 << 16)
        self.connection.send(b"1\r\n{\r\n")

    def status(self):
        """The answer's status, once the body has ended."""
        self.connection.send(b"1\r\n}\r\n0\r\n\r\n")
        try:
            return self.connection.getresponse().status
        finally:
            self.connection.close()


def people(server, count, source=None):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(lambda _: Person(server, source, kind="user"), range(count)))


def export(person):
    answer = person.ask("GET", "/v1/me/export")
    assert answer.status_code == 200
    return answer.content


def imported(person, content):
    answer = person.ask("POST", "/v1/me/import", data=content, headers={"Content-Type": "application/x-ndjson"})
    return answer.status_code, answer.json()


def test_slow_imports_keep_nobody_out(start):
    server = start()
    source = Person(server, kind="user")
    source.call("PUT", "/v1/bookmarks/h", {"name": "The Import"})
    content = export(source)
    first, *others = [address() for _ in range(PLACES // AT_AN_ADDRESS)]
    # Sign-ups may take longer than a slow import may pause, so all are there before the first import begins.
    *importers, one_more = people(server, AT_AN_ADDRESS + 1, first)
    for place in others:
        importers += people(server, AT_AN_ADDRESS, place)
    late = people(server, 4)
    slow = [Slow(person) for person in importers]
    # None of the first address's next: it has all that one address may have.
    status, problem = imported(one_more, content)
    assert (status, problem["error"]) == (503, "unavailable")
    for person in late[:2]:
        assert imported(person, content)[0] == 200
        assert [hotel["id"] for hotel in person.call("GET", "/v1/bookmarks")["bookmarks"]] == ["h"]
    # A place was taken from a slow import for the first of them; the second one found it free.
    statuses = [one.status() for one in slow]
    assert statuses.count(503) == 1 and set(statuses) == {422, 503}, statuses
    for person in late[2:]:
        assert imported(person, content)[0] == 200
