"""Hill climbing towards the most expensive requests. The server itself reports the cost of each request."""
import dataclasses
import heapq
import itertools
import re
import time

import requests

import cost_lite
import watched
from cost_requests import mutated, seeds
from people import Person
from waiting import PATIENCE, wait_until

KEPT = 4
"""How many requests are kept for each operation and aim. New requests are made from them."""
ENDING = {"eraseMe", "logOut", "couchLogOut", "liteLogOut", "signUp"}
"""Operations that end the caller's token. Each of these requests is sent by a new guest."""
STREAMS = {"couchGetChanges", "couchPostChanges", "getMirror", *cost_lite.STREAMS}
"""Operations that transfer much data."""
LATE = {"searchHotels", "getHotel", "listPlaces", "travelFindHotelsAsRows", "travelFindHotels", "travelFindHotelsAnywhere", "putBookmark"}
"""Operations that may fail with 503 or 504 because a search took too long."""
REFUSED = {501, 507}
"""Statuses that are no failure: 501 for what the contract leaves out, 507 for a full store."""
TOLD = re.compile(r"cpu;dur=([0-9.e+-]+), *slice;dur=([0-9.e+-]+)")


@dataclasses.dataclass
class Cost:
    """What one request cost: milliseconds in all and in the longest slice, bytes sent and bytes received."""

    call: object
    status: int
    whole: float
    slice: float
    sent: int
    moved: int

    @property
    def each(self):
        """Milliseconds per KiB sent. The header is counted as 300 bytes."""
        return self.whole / ((self.sent + 300) / 1024)

    def bound(self):
        """The most milliseconds it may cost. Work that is ended at its limit may take some slices more."""
        most = max(2000, 500 * self.moved / (1 << 20)) if self.call.operation.name in STREAMS else 2000
        return most + 50 if self.status == 400 else most

    def row(self):
        query = self.call.path().partition("?")[2]
        return (f"| {self.call.operation.name} | {self.status} | {self.whole:.1f} | {self.slice:.1f} | "
                f"{self.sent:,} | {self.moved:,} | {self.each:.2f} | `{query[:60]}` |")


AIMS = {"whole": lambda cost: cost.whole, "slice": lambda cost: cost.slice, "each": lambda cost: cost.each}


class CostSearch:
    """Sends requests of a person with a hostile store, and derives new requests from the most expensive ones."""

    def __init__(self, person, store, random, longest=None):
        """A slice longer than `longest` milliseconds is forgotten before the next message of Couchbase Lite is measured."""
        self.person, self.store, self.random, self.longest = person, store, random, longest
        self.best, self.count, self.failed, self.untold = {}, 0, [], set()
        self.order = itertools.count()

    def run(self, goes_on):
        """Sends all seeds, and then changed requests while `goes_on` is true of their number so far."""
        for call in seeds(self.store, self.person):
            self._ask(call)
        for _ in itertools.takewhile(goes_on, itertools.count()):
            self._ask(mutated(self._parent(), self.store, self.random))
        for message in cost_lite.messages(self.person, self.store):
            self._exchange(message)

    def _exchange(self, message):
        """Sends a message of Couchbase Lite, whose answer tells no cost."""
        if self.longest:
            wait_until(lambda: self._counted()[1] <= self.longest, "the metrics do not forget a long slice")
        before = self._counted()
        sent, moved, is_ended = message.exchange()
        self.count += 1
        self._keep(Cost(message, 400 if is_ended else 0, *self._since(before), sent, moved))

    def _parent(self):
        """A request to change: of any operation, or in half of the cases one of the ten most expensive by some aim."""
        aim = self.random.choice(list(AIMS))
        pools = [pool for (_, wanted), pool in self.best.items() if wanted == aim]
        if self.random.random() < 0.5:
            pools = heapq.nlargest(10, pools, key=lambda pool: max(entry[0] for entry in pool))
        return self.random.choice(self.random.choice(pools))[2].call

    def _ask(self, call):
        # The header of a stream is sent before most of the work, so its Server-Timing is incomplete. To read the cost
        # from the metrics is slow, so only some streams are measured that way.
        streamed = call.operation.name in STREAMS and self.random.random() < 0.05
        before = self._counted() if streamed else None
        body, token = call.bytes(), self.person.token
        if call.operation.name in ENDING:
            token = Person(self.person.server).token
        fields = {"Authorization": "Bearer " + token, "Content-Type": "application/json", **call.fields}
        try:
            answer = self.person.session.request(
                call.operation.method, self.person.server.url + call.path(), data=body, headers=fields,
                timeout=PATIENCE, allow_redirects=False)
        except requests.exceptions.ChunkedEncodingError:
            return  # The server cut the stream because it cost too much.
        self.count += 1
        if answer.status_code >= 500 and answer.status_code not in REFUSED and not (
                answer.status_code in (503, 504) and call.operation.name in LATE):
            self.failed.append((call.operation.name, call.path()[:200], answer.status_code, answer.text[:200]))
        found = TOLD.search(answer.headers.get("Server-Timing", ""))
        if not found:
            self.untold.add((call.operation.name, answer.status_code))
            return
        whole, longest = float(found[1]), float(found[2])
        if streamed:
            whole, longest = map(max, (whole, longest), self._since(before))
        self._keep(Cost(call, answer.status_code, whole, longest,
                        len(body or b"") + len(call.path()), len(answer.content)))

    def _counted(self):
        """Milliseconds that all requests have taken, and those of the longest slice of the last minute."""
        time.sleep(watched.RENEWED)
        taken = watched.work(self.person.server, "processor_seconds_total")
        return 1000 * taken, 1000 * watched.work(self.person.server, "longest_slice_seconds")

    def _since(self, before):
        """Milliseconds that requests have taken since then, and those of their longest slice; 0 if one of before was longer,
        which hides it."""
        after = self._counted()
        return after[0] - before[0], after[1] if after[1] > before[1] else 0

    def _keep(self, cost):
        for aim, value in AIMS.items():
            pool = self.best.setdefault((cost.call.operation.name, aim), [])
            heapq.heappush(pool, (value(cost), next(self.order), cost))
            if len(pool) > KEPT:
                heapq.heappop(pool)

    def worst(self, aim, count=10):
        """The most expensive requests by this aim, one per operation."""
        tops = [max(pool)[2] for (_, wanted), pool in self.best.items() if wanted == aim]
        return sorted(tops, key=AIMS[aim], reverse=True)[:count]

    def report(self):
        """The ten most expensive requests by each aim, as Markdown tables."""
        lines = [f"{self.count} requests."]
        for aim, title in (("whole", "in all"), ("slice", "in one piece"), ("each", "for each KiB sent")):
            lines += ["", f"Most {title}:", "",
                      "| operation | status | ms | in one piece | bytes sent | answered | ms a KiB | query |",
                      "|---|---|---|---|---|---|---|---|", *(cost.row() for cost in self.worst(aim))]
        return "\n".join(lines) + "\n"
