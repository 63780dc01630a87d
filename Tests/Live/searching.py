"""Searches through a server, and the server's metrics about them."""
import re

from waiting import wait_until

HASTY = ("--upstream-milliseconds", "2000")
"""The limit of time of a server whose upstream hangs. An upstream hangs for longer than a test waits, so that nothing
else can end a search. On a busy machine, an honest search may meet this limit, too, and has to be repeated."""


def search(server, text, token=None, **query):
    parameters = {"description": text, **query}
    return server.call("GET", "/v1/hotels", token=token, params=parameters)


def answered(server, text, token=None, status=200, **query):
    """Searches until the status is `status`. A busy machine may need several attempts."""
    def ask():
        reply = search(server, text, token, **query)
        assert reply.status_code in (status, 502, 503, 504), reply.text
        return reply.status_code == status and [reply]

    return wait_until(ask, f"no {status} for {text}")[0]


def metric(server, name, **labels):
    """The sum of a metric's samples that have these labels."""
    total = 0.0
    for line in server.metrics().splitlines():
        if re.match(name + r"[{ ]", line) and all(f'{k}="{v}"' in line for k, v in labels.items()):
            total += float(line.rsplit(" ", 1)[1])
    return total


def bookmarked(server, name="Harbour Inn"):
    """Makes a guest with one bookmark, `hotel_77`. Returns the token."""
    token = server.guest()
    made = server.call("PUT", "/v1/bookmarks/hotel_77", token=token,
                       json={"name": name, "city": "Bergen", "country": "Norway"})
    assert made.status_code == 201
    return token
