"""Couchbase Lite's sync: the memory of waiting sessions, and a first pull beside `_changes` and `_bulk_get`."""
import pathlib
import sys
import time
import urllib.parse

import flows
from processes import processor_seconds

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Tests" / "Live"))
from blip_client import Blip, WebSocket  # noqa: E402


def lite(run):
    """Measures both on the run's server, with a client of BLIP in Python."""
    site = run.sites["ours"]
    return sessions(run, site) + pulls(run, site)


def sessions(run, site):
    """The memory of continuous sessions that have caught up."""
    count = 20 if run.options.smoke else 1_000
    people = flows.many(site, max(1, count // 10))
    before = run.server.memory()
    waiting = []
    try:
        for number in range(count):
            waiting.append(session(site, people[number % len(people)], flows.source(number % len(people))))
            pull(waiting[-1], continuous="true")
        time.sleep(1)
        taken = (run.server.memory() - before) / count / 1024
    finally:
        for one in waiting:
            one.websocket.drop()
    return [flows.fact(f"{count} waiting sessions of Couchbase Lite, memory of each", [taken], "KiB", most=40)]


def session(site, person, source=None):
    """A session with a person's store."""
    websocket = WebSocket(site.url, person["path"] + "/_blipsync", headers=person["headers"], source=source)
    return Blip(websocket, compress=False)


def pull(blip, **properties):
    """Pulls until the client has all that it was told of. Returns the number of documents."""
    if error := blip.call("subChanges", batch="200", **properties).error:
        raise OSError(f"a pull was refused: {error}")
    wanted = found = 0
    is_over = False
    while not is_over or found < wanted:
        request = blip.request()
        if request.properties["Profile"] == "changes":
            wanted += len(request.json)
            is_over = is_over or not request.json
            blip.reply(request, [[]] * len(request.json), maxHistory="20", blobs="true")
        elif request.json:
            found += 1
    return found


def pulls(run, site):
    """What a first pull costs the server, of what the same documents cost by bulk requests: the time of its processors,
    because most of the time that passes is that of the client."""
    count, rates, shares = run.size(10_000), [], []
    person = site.filled(count)
    client = site.client(person)
    for _ in range(1 if run.options.smoke else 3):
        before = processor_seconds(run.server.pid)
        read = sum(len(client.call("POST", person["path"] + "/_bulk_get?revs=true", {"docs": page})["results"])
                   for page in announced(client, person["path"]))
        between, started = processor_seconds(run.server.pid), time.perf_counter()
        blip = session(site, person)
        if pull(blip) != read or read != count:
            raise OSError("a pull has lost documents")
        rates.append(count / (time.perf_counter() - started))
        shares.append(100 * (between - before) / max(processor_seconds(run.server.pid) - between, 0.01))
        blip.websocket.drop()
    title = f"Couchbase Lite pulls {count} documents"
    return [flows.fact(title, rates, "a second", more=True, digits=0),
            flows.fact(f"{title}, processor time of bulk requests", shares, "%", more=True, digits=0, least=100)]


def announced(client, path):
    """The newest revisions of all documents, in pages of 200 as a pull announces them."""
    since = "0"
    while True:
        page = client.call("GET", f"{path}/_changes?limit=200&since={urllib.parse.quote(str(since))}")
        if not page["results"]:
            return
        since = page["last_seq"]
        yield [{"id": row["id"], "rev": row["changes"][0]["rev"]} for row in page["results"]]
