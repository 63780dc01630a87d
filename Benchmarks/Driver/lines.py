"""The lines of the table, which wrk measures: their requests, connections and ceilings."""
import dataclasses
import json
import typing
import uuid

import sites

DOCUMENTS = 1_000
ATTACHMENT = 100_000
"""The bytes of an attachment."""
# A store holds 50,000 documents; a thread changes to the next store before that.
FILL = 40_000
STORES = 8


@dataclasses.dataclass
class Line:
    """One line. `plan` prepares a site and describes the requests; `fresh` says whether it runs again in each round.

    `wanted` and `share` are the aims: a multiple of CouchDB's rate, and a part of the first ceiling. `known` is the
    rate of a CouchDB 3.5 on two idle cores of this kind; it is used if no CouchDB is given.
    """

    name: str
    unit: str
    connections: int
    plan: typing.Callable
    items: int = 1
    ceilings: tuple = ()
    # Whether the ceilings handle `items` in one request or commit, too.
    together: bool = False
    fresh: bool = False
    couch: bool = True
    # The number of requests to CouchDB that do the work of one request to our server.
    calls: int = 1
    wanted: float = 0
    known: float = 0
    share: float = 0
    # Whether the requests go to a second server, whose upstream is the first one.
    proxied: bool = False


def read(site, size):
    return {"kind": "get", "targets": [site.filled(size(DOCUMENTS))], "count": size(DOCUMENTS)}


def attachment(site, size):
    """Documents with an attachment each."""
    target, count = site.target(), size(DOCUMENTS)
    client = site.client(target)
    for number in range(count):
        client.call("PUT", f"{target['path']}/doc-{number:06d}/f", number.to_bytes(4, "big") * (ATTACHMENT // 4))
    return {"kind": "get", "targets": [target], "count": count, "part": "/f"}


def put(site, size):
    return {"kind": "put", "targets": [site.target() for _ in range(size(4))], "perstore": FILL}


def update(site, size):
    return {"kind": "update", "targets": [site.target()]}


def bulk(items):
    def plan(site, size):
        return {"kind": "bulk", "items": items, "perstore": FILL // items,
                "targets": [site.target() for _ in range(size(STORES))]}
    return plan


def changes(documents):
    def plan(site, size):
        path = f"/_changes?limit={DOCUMENTS}&include_docs={json.dumps(documents)}"
        return {"kind": "same", "method": "GET", "path": path, "targets": [site.filled(DOCUMENTS)]}
    return plan


def all_docs(site, size):
    path = f"/_all_docs?include_docs=true&limit={DOCUMENTS}"
    return {"kind": "same", "method": "GET", "path": path, "targets": [site.filled(DOCUMENTS)]}


def bulk_get(site, size):
    target = site.filled(DOCUMENTS)
    rows = site.client(target).call("GET", target["path"] + "/_changes?limit=100")["results"]
    body = {"docs": [{"id": row["id"], "rev": row["changes"][0]["rev"]} for row in rows]}
    return {"kind": "same", "method": "POST", "path": "/_bulk_get?revs=true",
            "body": json.dumps(body), "targets": [target]}


def databases(site, size):
    return {"kind": "database", "targets": [site.root_target()]}


def bookmark(clients):
    def plan(site, size):
        if not site.ours:
            return {"kind": "calls", "targets": [site.listed() for _ in range(clients)],
                    "body": sites.hotel(), "spread": "thread", "threads": clients}
        people = [site.target() for _ in range(clients)]
        targets = [{"path": "/v1/bookmarks", "headers": person["headers"]} for person in people]
        return {"kind": "bookmark", "targets": targets, "body": sites.hotel(), "spread": "turn"}
    return plan


def bookmark_read(site, size):
    person = site.target()
    client = site.client(person)
    for number in range(50):
        client.call("PUT", f"/v1/bookmarks/bench-{number}", sites.hotel().encode())
    target = {"path": "/v1/bookmarks", "headers": person["headers"]}
    return {"kind": "same", "method": "GET", "path": "/bench-25", "targets": [target]}


def search(site, size):
    person = site.target()
    target = {"path": "/v1/hotels", "headers": person["headers"]}
    path = "?description=pool&location=san+francisco&limit=10"
    return {"kind": "same", "method": "GET", "path": path, "targets": [target]}


def search_anew(site, size):
    """More different searches than their answers fit in memory."""
    headers = site.target()["headers"]
    words = ["pool", "garden", "station", "breakfast", "view", "parking", "beach", "quiet", "bar", "family"]
    places = ["london", "paris", "san francisco", "los angeles", "wales", "scotland", "france", "california", "manchester", "hotel"]
    paths = [f"/v1/hotels?description={word}&location={place.replace(' ', '+')}&limit=10&offset={offset}"
             for offset in range(size(20)) for word in words for place in places]
    return {"kind": "same", "method": "GET", "path": "", "spread": "turn",
            "targets": [{"path": path, "headers": headers} for path in paths]}


def mirror(site, size):
    person = site.target()
    client = site.client(person)
    for number in range(50):
        client.call("PUT", f"/v1/bookmarks/bench-{number}", sites.hotel().encode())
    since = client.call("GET", "/v1/mirror")["token"]
    client.call("PUT", "/v1/bookmarks/bench-50", sites.hotel().encode())
    target = {"path": "/v1/mirror", "headers": person["headers"]}
    return {"kind": "same", "method": "GET", "path": f"?since={since}", "targets": [target]}


def round_robin(site, size):
    return {"kind": "put", "spread": "turn", "targets": [site.target() for _ in range(size(100))]}


def at_random(site, size):
    return {"kind": "get", "spread": "random", "count": 1,
            "targets": [site.guest() for _ in range(size(2_000))]}


# The first ceiling of a line is the one of its share; see `ceilings.py`.
EMPTY, ROWS, STATIC, FILES = ("empty",), ("exchanges",), ("static", "empty"), ("files", "empty")
COMMITS, WAITED = ("sqlite", "fsync"), ("exchange+sqlite", "sqlite", "fsync")
LINES = [
    Line("get 1", "documents", 1, read, ceilings=EMPTY, wanted=8, share=0.85, known=975),
    Line("get 32", "documents", 32, read, ceilings=EMPTY, wanted=15, share=0.85, known=1_700),
    Line("attachments 32", "attachments", 32, attachment, ceilings=FILES, couch=False, share=0.5),
    Line("put 1", "documents", 1, put, ceilings=WAITED, fresh=True, wanted=12, share=0.85,
         known=290),
    Line("put 32", "documents", 32, put, ceilings=COMMITS, fresh=True, wanted=12, share=1.1,
         known=1_200),
    Line("update loop", "documents", 1, update, ceilings=WAITED, fresh=True, wanted=15, share=0.75,
         known=150),
    Line("bulk 100", "documents", 1, bulk(100), items=100, ceilings=COMMITS, together=True,
         fresh=True, wanted=10, share=0.5, known=5_000),
    Line("bulk 1000", "documents", 1, bulk(1_000), items=1_000, ceilings=COMMITS, together=True,
         fresh=True, wanted=10, share=0.5, known=5_000),
    Line("changes", "rows", 1, changes(False), items=DOCUMENTS, ceilings=ROWS, wanted=12, share=15,
         known=28_000),
    Line("changes with documents", "documents", 1, changes(True), items=DOCUMENTS, ceilings=ROWS,
         wanted=12, share=5, known=10_000),
    Line("all_docs with documents", "documents", 1, all_docs, items=DOCUMENTS, ceilings=ROWS,
         wanted=12, share=8, known=11_500),
    Line("bulk_get 100", "documents", 1, bulk_get, items=100, ceilings=ROWS, wanted=12, share=4,
         known=8_000),
    Line("new databases", "databases", 4, databases, ceilings=("fsync",), fresh=True, wanted=10,
         share=0.16, known=100),
    Line("bookmark 1", "bookmarks", 1, bookmark(1), ceilings=("exchange+sqlite2", "sqlite", "fsync"),
         fresh=True, calls=3, wanted=25, share=0.5, known=91),
    Line("bookmark 16", "bookmarks", 16, bookmark(16), ceilings=COMMITS, fresh=True, calls=3,
         wanted=20, share=0.8, known=304),
    Line("bookmark read 32", "bookmarks", 32, bookmark_read, ceilings=STATIC, couch=False, share=0.45),
    Line("search", "searches", 32, search, ceilings=EMPTY, couch=False),
    Line("search anew", "searches", 32, search_anew, ceilings=EMPTY, couch=False),
    Line("search from cache", "searches", 32, search, ceilings=EMPTY, couch=False, proxied=True),
    Line("mirror delta", "deltas", 32, mirror, ceilings=EMPTY, couch=False),
    Line("100 stores in turn", "documents", 32, round_robin, ceilings=COMMITS),
    Line("2000 stores at random", "documents", 32, at_random, ceilings=EMPTY),
]


def prepared(line, site, size, seed):
    """The plan of a line, for `load.lua`."""
    plan = {"threads": min(2, line.connections), "seed": seed, **line.plan(site, size)}
    # Each thread counts its own requests.
    if "perstore" in plan:
        plan["pertarget"] = plan.pop("perstore") // plan["threads"]
    return renamed(plan)


def answer(site, plan):
    """The number of bytes in the answer to a read."""
    target = plan["targets"][0]
    path = "/doc-000000" + plan.get("part", "") if plan["kind"] == "get" else plan["path"]
    body = plan["body"].encode() if "body" in plan else None
    return len(site.client(target).raw(plan.get("method", "GET"), target["path"] + path, body))


def renamed(plan):
    """The same plan with a new name, so that its documents get new ids."""
    return {**plan, "name": "d" + uuid.uuid4().hex[:8]}


def lua(value):
    """A value as Lua source."""
    if isinstance(value, dict):
        return "{" + ",".join(f"[{lua(k)}]={lua(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "{" + ",".join(lua(v) for v in value) + "}"
    if isinstance(value, str):
        # JSON's escapes are also Lua's, except \u and \/, which do not occur here.
        return json.dumps(value)
    return repr(value)
