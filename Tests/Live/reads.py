"""Every kind of read of a store, and threads that hold their answers against those that nobody has disturbed."""
import collections
import hashlib
import itertools
import json
import threading
import time

import requests

from couch import Database
from waiting import PATIENCE

HOTELS = 360
"""So many that each answer takes many slices."""


class Kind:
    """A request, and the bytes of its answer while nothing is disturbed."""

    def __init__(self, name, method, path, told=lambda body: body, **options):
        self.name, self.method, self.path, self.told, self.options = name, method, path, told, options
        self.wanted = None

    def ask(self, url, token, session=requests):
        headers = {"Authorization": "Bearer " + token, "Accept": "application/json"}
        return session.request(self.method, url + self.path, timeout=PATIENCE, headers=headers, **self.options)


def export_told(body):
    """An export without the line that tells the moment. Its last line holds for all others."""
    *lines, last = body.splitlines(keepends=True)
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    return b"".join(lines[1:]) if json.loads(last)["manifest"]["sha256"] == digest else b"another digest"


def fill(server, account):
    """Makes hotels with conflicts, tombstones and histories, and other documents. Returns the kinds of reads of them."""
    database = Database(server, account.token)
    names = [f"hotel_{number:04}" for number in range(HOTELS)]
    first = [{"_id": name, "id": name, "type": "hotel", "name": f"Hotel {name}", "description": "x" * 400, "n": number}
             for number, name in enumerate(names)]
    listed = {"_id": "bookmarkedhotels", "type": "bookmarkedhotels", "hotels": names}
    revs = {row["id"]: row["rev"] for row in database.bulk(*first, listed)}
    behind = server.call("GET", "/v1/mirror", account.token).json()["token"]
    later = [{**document, "_rev": revs[document["_id"]], "stars": 5} for document in first[::3]]
    gone = [{"_id": name, "_rev": revs[name], "_deleted": True} for name in names[1::10] if name not in names[::3]]
    others = [{"_id": f"note{number}", "type": "note", "text": "y" * 300} for number in range(60)]
    database.bulk(*later, *gone, *others)
    conflicts = [{"_id": name, "_rev": "2-" + "e" * 32, "id": name, "type": "hotel", "name": "Other",
                  "_revisions": {"start": 2, "ids": ["e" * 32, revs[name][2:]]}} for name in names[::4]]
    assert database.bulk(*conflicts, new_edits=False) == []
    database.graft("many", *(f"3-{leaf:032x} 2-a 1-a" for leaf in range(80)), text="z" * 500)
    return kinds(account.store, names, revs, behind)


def kinds(store, names, revs, behind):
    couch = "/couch/" + store
    some = {"docs": [{"id": name} for name in names[:120]] + [
        {"id": name, "rev": rev} for name in names[:60:2] for rev in (revs[name], "9-" + "a" * 32)]}
    matched = {"selector": {"n": {"$gt": 40}}}
    return [
        Kind("mirror", "GET", "/v1/mirror"),
        Kind("mirror since", "GET", "/v1/mirror?since=" + behind),
        Kind("bookmarks", "GET", "/v1/bookmarks?limit=100"),
        Kind("export", "GET", "/v1/me/export", export_told),
        Kind("all", "GET", couch + "/_all_docs?include_docs=true&conflicts=true&update_seq=true"),
        Kind("all descending", "GET", couch + "/_all_docs?descending=true&skip=30"),
        Kind("keys", "POST", couch + "/_all_docs?include_docs=true", json={"keys": names[::2] + ["gone"] + names[:40]}),
        Kind("queries", "POST", couch + "/_all_docs/queries", json={"queries": [{"limit": 150}, {"descending": True}]}),
        Kind("changes", "GET", couch + "/_changes?include_docs=true"),
        Kind("changes of leaves", "GET", couch + "/_changes?style=all_docs&include_docs=true&conflicts=true"),
        Kind("changes descending", "GET", couch + "/_changes?descending=true&style=all_docs"),
        Kind("changes of ids", "POST", couch + "/_changes?filter=_doc_ids&style=all_docs", json={"doc_ids": names[::3]}),
        Kind("changes matched", "POST", couch + "/_changes?filter=_selector&style=all_docs", json=matched),
        Kind("bulk get", "POST", couch + "/_bulk_get?revs=true&latest=true", json=some),
        Kind("open revs", "GET", couch + "/many?open_revs=all&revs=true"),
        Kind("document", "GET", couch + "/many?meta=true&revs=true"),
        Kind("difference", "POST", couch + "/_revs_diff",
             json={name: [revs[name], "9-" + "b" * 32] for name in names}),
        Kind("find", "POST", couch + "/_find", json={"selector": {"type": "hotel"}, "limit": 200}),
        Kind("find all", "POST", couch + "/_find", json={**matched, "limit": 200, "conflicts": True}),
    ]


class Readers:
    """Threads that read all kinds in turn from all servers, until they are stopped."""

    def __init__(self, urls, token, kinds, each, threads=8):
        self.token, self.kinds, self.each = token, kinds, each
        self.compared, self.refused = collections.Counter(), collections.Counter()
        """Answers with status 200 by kind; other answers by status, and answers that were cut."""
        self.wrong = []
        self._turns, self._lock, self._ends = itertools.cycle(kinds), threading.Lock(), threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(url,), daemon=True)
                        for url in itertools.islice(itertools.cycle(urls), threads)]
        for thread in self.threads:
            thread.start()

    @property
    def have_enough(self):
        """Whether each kind has been compared often enough."""
        return all(self.compared[kind.name] >= self.each for kind in self.kinds)

    def stop(self):
        self._ends.set()
        for thread in self.threads:
            thread.join(timeout=PATIENCE)

    def told(self):
        wrong = collections.Counter(name for name, _ in self.wrong)
        return f"{self.compared.total()} compared, wrong: {dict(wrong)}, refused or cut: {dict(self.refused)}"

    def _run(self, url):
        session = requests.Session()
        while not self._ends.is_set():
            with self._lock:
                kind = next(self._turns)
            try:
                answer = kind.ask(url, self.token, session)
                status = answer.status_code
            except requests.RequestException:
                # Also an answer that ends in the middle, so that its reader knows.
                status = "cut"
            with self._lock:
                if status != 200:
                    self.refused[status] += 1
                else:
                    self.compared[kind.name] += 1
                    if (told := kind.told(answer.content)) != kind.wanted:
                        self.wrong.append((kind.name, differing(told, kind.wanted)))
            if status != 200:
                time.sleep(0.1)


def differing(told, wanted):
    """The lengths of two answers, and where they begin to differ."""
    same = next((index for index, pair in enumerate(zip(told, wanted)) if pair[0] != pair[1]), min(map(len, (told, wanted))))
    return len(told), len(wanted), told[same:same + 80], wanted[same:same + 80]


def undisturbed(kinds, url, token):
    """Notes what each kind is answered while nobody disturbs it. The second answer has the same bytes."""
    for kind in kinds:
        answers = [kind.ask(url, token) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200], (kind.name, answers[0].text[:300])
        kind.wanted, again = (kind.told(answer.content) for answer in answers)
        assert kind.wanted == again and len(again) > 100, kind.name
    return kinds
