"""What the server's own replicator takes from one server to another, beside the same by bulk requests alone."""
import base64
import random
import time
import uuid

import flows
from processes import BookmarkServer
from sites import Bookmarks, document

ATTACHED = 100_000
"""The bytes of an attachment."""


def replicator(run):
    """Documents and attachments between two servers: the replicator's time in each direction, and that of bulk requests
    by one client. Each has an empty target."""
    directory = run.directory / "replicator"
    servers = []
    try:
        for name in ("here", "there"):
            (directory / name).mkdir(parents=True)
            servers.append(BookmarkServer(
                run.options.binary, directory / name / "data", "--replication-networks", "127.0.0.0/8"))
        here, there = (Bookmarks(server.url) for server in servers)
        found = []
        for what, count, fill, way in (
                ("documents", run.size(10_000), documents, "revs=true"),
                ("attachments of 100 KB", run.size(1_000), attachments, "revs=true&attachments=true")):
            source = made(here)
            fill(here.admin, source, count)
            alone, pulled, pushed = [], [], []
            for _ in range(1 if run.options.smoke else 3):
                alone.append(moved(here.admin, source, there.admin, made(there), way))
                pulled.append(replicated(there, url(here, source), name_of(made(there))))
                pushed.append(replicated(here, name_of(source), url(there, made(there))))
            for direction, taken in (("pulls", pulled), ("pushes", pushed)):
                shares = [100 * bulk / one for bulk, one in zip(alone, taken)]
                title, rates = f"the replicator {direction} {count} {what}", [count / one for one in taken]
                found.append(flows.fact(title, rates, "a second", more=True, digits=0))
                found.append(flows.fact(f"{title}, of bulk requests alone", shares, "%", more=True, least=80))
        return found
    finally:
        for server in servers:
            server.stop()


def made(site):
    """The path of a new database."""
    path = f"{site.root}/bench-{uuid.uuid4().hex}"
    site.admin.call("PUT", path)
    return path


def name_of(path):
    return path.rsplit("/", 1)[1]


def url(site, path):
    """A database of another server, with its administrator's credentials."""
    name, password = site.administrator
    return {"url": site.url + path, "auth": {"basic": {"username": name, "password": password}}}


def documents(client, path, count):
    for first in range(0, count, 500):
        numbers = range(first, min(first + 500, count))
        client.call("POST", path + "/_bulk_docs", {"docs": [document(n, _id=f"doc-{n:06d}") for n in numbers]})


def attachments(client, path, count):
    """Documents with one attachment each, all of them different and of bytes that can't be compressed."""
    for number in range(count):
        data = random.Random(number).randbytes(ATTACHED)
        attached = {"content_type": "image/jpeg", "data": base64.b64encode(data).decode()}
        client.call("PUT", f"{path}/doc-{number:06d}", {"_attachments": {"photo.jpg": attached}})


def moved(source, here, target, there, way):
    """The seconds for reading and writing all leaves by bulk requests of at most 5 MB, one after the other."""
    rows = source.call("GET", here + "/_changes")["results"]
    asked = [{"id": row["id"], "rev": row["changes"][0]["rev"]} for row in rows]
    each = 40 if "attachments" in way else 500
    started = time.perf_counter()
    for first in range(0, len(asked), each):
        answer = source.call("POST", f"{here}/_bulk_get?{way}", {"docs": asked[first:first + each]})
        found = [one["ok"] for row in answer["results"] for one in row["docs"]]
        refused = target.call("POST", there + "/_bulk_docs", {"docs": found, "new_edits": False})
        if refused:
            raise OSError(f"a bulk request was refused: {refused[0]}")
    return time.perf_counter() - started


def replicated(site, source, target):
    """The seconds of a replication that runs once."""
    started = time.perf_counter()
    done = site.admin.call("POST", site.root + "/_replicate", {"source": source, "target": target})
    taken = time.perf_counter() - started
    if not done["ok"] or done["history"][0]["doc_write_failures"]:
        raise OSError(f"a replication failed: {done}")
    return taken
