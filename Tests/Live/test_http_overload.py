"""More requests than the server can process: it refuses some early and completes the others. FAULTS H05 and point 8."""
import asyncio
import statistics
import threading
import time

from conftest import NIGHTLY
from couch import Account, Database
from waiting import wait_until
from test_http_pace import memory
from wire import LIMITS, connect, receive

SECONDS = 20 if NIGHTLY else 3
CLIENTS = 400
BUSY = (429, 503)


class Tally:
    """The responses by status up to the last one, and the milliseconds that each took."""

    def __init__(self):
        self.began, self.seconds, self.taken, self.faults = time.monotonic(), 0, {}, []

    def note(self, status, asked):
        """Records a response to a request that was sent at the time `asked`."""
        now = time.monotonic()
        self.seconds = now - self.began
        self.taken.setdefault(status, []).append((now - asked) * 1000)

    def count(self, *statuses):
        return sum(len(self.taken.get(status, ())) for status in statuses)

    def offered(self):
        """Requests per second, including refused ones."""
        return self.count(*self.taken) / self.seconds

    def goodput(self):
        return self.count(200) / self.seconds

    def median(self, *statuses):
        return statistics.median([taken for status in statuses for taken in self.taken.get(status, ())])


async def client(address, request, tally, first, pause, until):
    """Sends requests one by one. Each starts `pause` seconds after the one before, but not before its response."""
    reader, writer = await asyncio.open_connection(*address)
    try:
        await asyncio.sleep(first)
        while (began := time.monotonic()) < until:
            writer.write(request)
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)).lower()
            status = int(head.split(b" ", 2)[1])
            tally.note(status, began)
            if status in BUSY and b"\r\nretry-after: " not in head:
                tally.faults.append(head)
            length = int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
            if b"\r\nconnection: close" in head:
                writer.close()
                reader, writer = await asyncio.open_connection(*address)
            await asyncio.sleep(max(0, began + pause - time.monotonic()))
    finally:
        writer.close()


def load(server, request, clients, seconds, rate=None):
    """The responses to `clients` clients in `seconds` seconds. Each client sends as fast as it can, or all of them
    together send `rate` requests per second."""
    with connect(server) as address:
        peer = address.getpeername()
    pause, tally = clients / rate if rate else 0, Tally()

    async def run():
        until = tally.began + seconds
        await asyncio.gather(*(
            client(peer, request, tally, pause * number / clients, pause, until) for number in range(clients)))

    asyncio.run(run())
    return tally


def test_overload_is_shed_early_and_goodput_holds(start):
    """Ten times the requests that it can process: it refuses most at once with 503, and completes those it accepts."""
    server = start("--requests-at-once", "16")
    database = Database(server, Account(server).token)
    # A query that reads every document takes so long that the cost of sending requests is small beside it.
    for part in range(4):
        database.bulk(*({"_id": f"d{part}-{number}", "number": number} for number in range(1000)))
    body = '{"selector":{"number":-1}}'
    request = (f"POST /couch/{database.name}/_find HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
               f"Authorization: Bearer {database.token}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode()
    before, shares = memory(server), []
    # The load runs on the same machine, which may be busy with other work for a while.
    for _ in range(5):
        alone = load(server, request, 8, SECONDS)
        assert set(alone.taken) == {200}, alone.taken.keys()
        capacity = alone.goodput()
        crowd = load(server, request, CLIENTS, SECONDS, rate=10 * capacity)
        assert set(crowd.taken) <= {200, *BUSY} and not crowd.faults, (crowd.taken.keys(), crowd.faults[:1])
        assert crowd.count(503) > 0, "nothing was turned away"
        grown = memory(server) - before
        share = crowd.count(*BUSY) / crowd.count(*crowd.taken)
        print(f"\nit can take {capacity:.0f} a second; offered {crowd.offered():.0f}, done "
              f"{crowd.goodput():.0f}, turned away {share:.0%} in {crowd.median(*BUSY):.1f} ms, others take "
              f"{crowd.median(200):.1f} ms; {grown >> 20} MiB more")
        shares.append((crowd.goodput() / capacity, crowd.offered() / capacity))
        assert crowd.median(*BUSY) < crowd.median(200), "who is turned away waits longer than who is not"
        assert grown < 100 << 20
    assert statistics.median(offered for _, offered in shares) > 4, shares
    assert statistics.median(done for done, _ in shares) >= 0.4, shares
    wait_until(lambda: "requests_running 0\n" in server.call("GET", "/metrics").text)
    assert "requests_refused_total" in server.metrics()
    assert load(server, request, 8, 1).taken.keys() == {200}


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
        refused = None
        with connect(server) as connection:
            for _ in range(2000):
                connection.sendall(read)
                answer = receive(connection)
                if answer.statuses == [503]:
                    refused = answer
                    break
        assert refused and refused.errors == ["overloaded"] and refused.field("retry-after") == "1"
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
