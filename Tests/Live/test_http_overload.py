"""More requests than the server can process: it refuses some early and completes the others. FAULTS H05 and point 8."""
import asyncio
import collections
import os
import statistics
import threading

from conftest import NIGHTLY
from couch import Account, Database
from waiting import PATIENCE, wait_until
from test_http_pace import memory
from wire import connect, receive

COMPLETED = 400 if NIGHTLY else 32
"""How many requests are completed in each part of the test."""
CLIENTS = 400
BUSY = (429, 503)


class Tally:
    """The responses by status; and for each, how many requests were completed between the question and the response."""

    def __init__(self):
        self.completed, self.passed, self.faults = 0, collections.defaultdict(list), []

    def note(self, status, before):
        """Records a response to a request that was sent when `before` requests were completed."""
        self.passed[status].append(self.completed - before)
        self.completed += status == 200

    def count(self, *statuses):
        return sum(len(self.passed[status]) for status in statuses)

    def median(self, *statuses):
        return statistics.median([passed for status in statuses for passed in self.passed[status]])


async def client(address, request, tally, turns):
    """Sends requests one by one, each when there is a turn for it, until enough are completed."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        while True:
            await turns.acquire()
            if tally.completed >= COMPLETED:
                return turns.release()
            before = tally.completed
            writer.write(request)
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).lower()
            status = int(head.split(b" ", 2)[1])
            tally.note(status, before)
            if status in BUSY and b"\r\nretry-after: " not in head:
                tally.faults.append(head)
            length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            if status == 200:
                for _ in range(turns.each):
                    turns.release()
            if b"\r\nconnection: close" in head:
                writer.close()
                reader, writer = await asyncio.open_connection(*address)
    finally:
        writer.close()


def load(server, request, clients, each, first):
    """The responses to `clients` clients. At first they may send `first` requests, and `each` more for each that is
    completed."""
    with connect(server) as address:
        peer = address.getpeername()
    tally, turns = Tally(), asyncio.Semaphore(first)
    turns.each = each

    async def run():
        await asyncio.gather(*(client(peer, request, tally, turns) for _ in range(clients)))

    asyncio.run(run())
    return tally


def processor_seconds(server):
    """The processor time that a server's process has used."""
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_overload_is_shed_early_and_goodput_holds(start):
    """Ten requests for each that it completes: it refuses most at once with 503, and completes those it accepts. The
    cost is processor time, which is the same on a busy machine."""
    server = start("--requests-at-once", "16")
    database = Database(server, Account(server).token)
    # A query that reads every document takes so long that the cost of sending requests is small beside it.
    for part in range(4):
        database.bulk(*({"_id": f"d{part}-{number}", "number": number} for number in range(1000)))
    body = '{"selector":{"number":-1}}'
    request = (f"POST /couch/{database.name}/_find HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
               f"Authorization: Bearer {database.token}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()
    before, spent = memory(server), processor_seconds(server)
    alone = load(server, request, 8, each=1, first=8)
    assert set(alone.passed) == {200}, alone.passed.keys()
    cost = (processor_seconds(server) - spent) / alone.count(200)
    spent = processor_seconds(server)
    crowd = load(server, request, CLIENTS, each=10, first=160)
    beside = (processor_seconds(server) - spent) / crowd.count(200)
    grown = memory(server) - before
    assert set(crowd.passed) <= {200, *BUSY} and not crowd.faults, (crowd.passed.keys(), crowd.faults[:1])
    print(f"\none costs {cost * 1000:.0f} ms of a processor, in the crowd {beside * 1000:.0f}; "
          f"{crowd.count(200)} done, {crowd.count(*BUSY)} turned away while {crowd.median(*BUSY)} were done, "
          f"others while {crowd.median(200)}; {grown >> 20} MiB more")
    assert crowd.count(*BUSY) > 4 * crowd.count(200), "few were turned away"
    assert crowd.median(*BUSY) < crowd.median(200), "who is turned away waits longer than who is not"
    assert beside <= 2.5 * cost, "those who are turned away cost too much"
    assert grown < 100 << 20
    wait_until(lambda: "requests_running 0\n" in server.call("GET", "/metrics").text)
    assert "requests_refused_total" in server.metrics()
    assert load(server, request, 8, each=1, first=8).passed.keys() == {200}


def test_operators_see_an_overloaded_server(start):
    """The server accepts one request at a time, and log-ins, whose password hashes are slow, use that place."""
    app = "https://app.example"
    server = start("--requests-at-once", "1", "--origins", app)
    own = f"Host: x\r\nOrigin: {app}\r\n"
    read = f"GET /v1/limits HTTP/1.1\r\n{own}\r\n".encode()
    preflight = f"OPTIONS /v1/bookmarks HTTP/1.1\r\n{own}Access-Control-Request-Method: PUT\r\n\r\n".encode()
    account = Account(server)
    body = {"username": account.name, "password": account.password}
    stop = threading.Event()

    def log_in():
        while not stop.is_set():
            server.call("POST", "/v1/sessions", json=body)

    threads = [threading.Thread(target=log_in) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        with connect(server) as connection:
            def refusal():
                connection.sendall(read)
                answer = receive(connection)
                return answer.statuses == [503] and answer

            refused = wait_until(refusal, "nothing was turned away")
        assert refused.errors == ["overloaded"] and refused.field("retry-after") == "1"
        assert refused.field("access-control-allow-origin") == app
        with connect(server) as connection:
            for _ in range(50):
                connection.sendall(preflight)
                assert receive(connection).statuses == [204]
        for path in ("/healthz", "/readyz", "/metrics", "/couch/_up"):
            assert server.call("GET", path).status_code == 200
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert server.call("GET", "/v1/limits").status_code == 200
