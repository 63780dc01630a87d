"""Expensive messages of Couchbase Lite, for the search for costs."""
import dataclasses
import typing
import urllib.parse

from attachments import some
from blip_client import VECTORS, Closed
from phone import Phone

STREAMS = {"lite subChanges", "lite getAttachment", "lite rev with blobs"}
"""Exchanges of many messages, each of which is work of its own."""
MAKER = "dGhlIG1ha2VyIG9mIGl0IQ"
COME_BACK = 4001
"""The code after which a client comes back."""
MOST = 1_000
"""The most rows, names and revisions of one message."""


@dataclasses.dataclass
class Message:
    """A message in a session of its own, with the parts that a request of the search has."""

    name: str
    phone: Phone
    work: typing.Callable

    @property
    def operation(self):
        return self

    def path(self):
        return ""

    def exchange(self):
        """Returns the bytes sent and received, and whether the server ended the session, as it does when a message costs
        too much."""
        self.phone.connect()
        socket, counts = self.phone.blip.websocket, [0, 0]
        send, receive = socket.send, socket.receive

        def counted_send(payload, **options):
            counts[0] += len(payload)
            send(payload, **options)

        def counted_receive():
            opcode, payload = receive()
            counts[1] += len(payload)
            return opcode, payload

        socket.send, socket.receive = counted_send, counted_receive
        try:
            self.work(self.phone)
        except Closed as closed:
            assert closed.code == COME_BACK, closed.code
            return *counts, True
        self.phone.blip.websocket.drop()
        return *counts, False


def messages(person, store):
    """The messages, each with all that it may name."""
    trees = [(name, rev) for name in ("tree", "torn", "old") for rev in store.revs][:MOST]
    vector = "; ".join(f"{number + 1:x}@{MAKER}" for number in range(9_000))
    words = [f"{1 + number % 999}-w{number}" for number in range(9_000)]
    wide = {f"m{number}": {"@type": "other", "d": [number]} for number in range(20_000)}

    def call(profile, body=None, **properties):
        return lambda phone: phone.blip.call(profile, body, **properties)

    def rev(body, history=(), name="tree", revision="1000-" + "c" * 40):
        return call("rev", body, id=name, rev=revision, history=",".join(history), noconflicts="1", sequence="1")

    def push(*bodies):
        def work(phone):
            for number, body in enumerate(bodies):
                phone.edit(f"pushed{number}", body(phone))
            phone.push(*(f"pushed{number}" for number in range(len(bodies))))
        return work

    def ask_often(phone):
        for number in [phone.blip.ask("getAttachment", digest=phone.blob(bytes([each % 256]))["digest"]) for each in range(900)]:
            phone.blip.answer(number)

    found = [
        ("getCollections", call("getCollections", {"collections": ["_default", *["a.b"] * (MOST - 1)], "checkpoint_ids": ["x" * 200] * MOST})),
        ("setCheckpoint", call("setCheckpoint", {"local": [0] * 20_000}, client="cost", rev="")),
        ("proposeChanges", call("proposeChanges", [[name, f"9-{index:040x}", rev] for index, (name, rev) in enumerate(trees)])),
        ("proposeChanges", call("proposeChanges", [["tree", vector, vector]] * 2)),
        ("proposeChanges", call("proposeChanges", [["tree", ",".join(words), ""]] * 9)),
        ("rev", rev({"value": [[0]] * 100_000}, words)), ("rev", rev(wide, store.revs[:MOST])),
        ("rev", rev({"text": "\u00e9" * 200_000}, words, "new", "9-" + "d" * 40)),
        ("rev with blobs", push(lambda phone: {"pics": [phone.blob(some(90_000, seed)) for seed in range(90)], **wide})),
        ("rev with blobs", push(*(lambda phone: {"pic": phone.blob(bytes(9 << 20))},) * 2)),
        ("rev with blobs", push(lambda phone: {"pics": [phone.blob(bytes(9 << 20)), phone.blob(some(90_000, 1))]})),
        ("getAttachment", ask_often),
        ("subChanges", lambda phone: phone.pull(batch="1")),
        ("subChanges", lambda phone: phone.pull(documents=store.ids * 40)),
        ("subChanges", lambda phone: phone.pull(
            filter="sync_gateway/bychannel", channels=",".join(f"c{number}" for number in range(MOST)))),
    ]
    for protocols in (None, VECTORS):
        for name, work in found:
            if protocols and name not in ("rev", "proposeChanges", "subChanges"):
                continue
            database = urllib.parse.unquote(person.path.rpartition("/")[2])
            phone = Phone(person.server, database, person.token)
            phone.protocols = protocols or phone.protocols
            phone.maximum_history = MOST
            yield Message("lite " + name, phone, work)
