"""A TCP proxy with network faults: it cuts, resets, delays, drips, refuses, swallows and garbles, by a seed."""
import asyncio
import dataclasses
import random
import socket
import struct
import threading
import urllib.parse
from waiting import PATIENCE

_CHUNK = 1 << 16
"""The most bytes read at once: fewer than most responses have, so that a cut falls inside a response."""
_DRIP = 512
"""Bytes that are sent at once in a drip."""


@dataclasses.dataclass(frozen=True)
class FaultRates:
    """The probability of each fault of a connection. They add up to 1 at most; the other connections have no fault.

    cut: both sides see the end of the connection. reset: both sides see RST. swallow: no more bytes pass, and the
    connection stays open. refuse: reset at once. delay: `pause` before each chunk. drip: small pieces with `pause`
    between them. garbage: random bytes replace those that were sent. blackhole: no bytes pass from the start, and the
    connection stays open. A cut, a reset, a swallow and garbage start after a number of bytes in both directions
    together; `reach` is the lowest and the highest number. After `most` faults that are counted, no more faults happen.
    """

    cut: float = 0
    reset: float = 0
    swallow: float = 0
    refuse: float = 0
    delay: float = 0
    drip: float = 0
    garbage: float = 0
    blackhole: float = 0
    reach: tuple = (100, 200_000)
    pause: float = 0.002
    most: int = 1 << 30

    kinds = ("cut", "reset", "swallow", "refuse", "delay", "drip", "garbage", "blackhole")

    def choose(self, chance):
        """Chooses the fault of one connection: (kind or None, bytes that pass before it)."""
        drawn, reach = chance.random(), chance.randint(*self.reach)
        for kind in self.kinds:
            drawn -= getattr(self, kind)
            if drawn < 0:
                return kind, reach
        return None, reach


NO_FAULTS = FaultRates()


class FaultyProxy:
    """Listens on a fixed address in front of a server whose address may change. `faults` counts the faults so far."""

    def __init__(self, target, seed=0, rates=NO_FAULTS):
        """`target` is the server's URL. `rates` may be set at any time and applies to new connections."""
        self.rates, self.faults, self.passed = rates, 0, 0
        self._chance, self._open, self._events = random.Random(seed), set(), []
        self.aim(target)
        self._loop = asyncio.new_event_loop()
        self._server = self._mute = None
        # This socket stays bound, so that no other process takes the port while the proxy does not listen.
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._reserved.bind(("127.0.0.1", 0))
        self._port = self._reserved.getsockname()[1]
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.listen()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._port}"

    def aim(self, target):
        """Directs new connections to another server."""
        parts = urllib.parse.urlsplit(target)
        self._target = (parts.hostname, parts.port)

    def listen(self):
        """Accepts connections at the same port as before."""
        self._wait(self._listen())

    def unplug(self):
        """Closes all connections and refuses new ones until `listen`."""
        self._wait(self._unplug())

    def hang(self):
        """Closes all connections. New ones get no answer at all until `listen`."""
        self.unplug()
        self._mute = _mute(self._port)

    def after(self, count, action):
        """Starts `action` in a thread when `count` more bytes have passed in both directions. Returns the thread."""
        thread = threading.Thread(target=action, daemon=True)
        self._loop.call_soon_threadsafe(self._events.append, (self.passed + count, thread))
        return thread

    def close(self):
        self._wait(self._unplug())
        self._unmute()
        self._reserved.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=PATIENCE)
        self._loop.close()

    def _wait(self, work):
        asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=PATIENCE)

    def _unmute(self):
        for end in self._mute or ():
            end.close()
        self._mute = None

    async def _listen(self):
        self._unmute()
        if not self._server:
            self._server = await asyncio.start_server(
                self._serve, "127.0.0.1", self._port, reuse_address=True)

    async def _unplug(self):
        server, self._server = self._server, None
        if server:
            server.close()
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if server:
            await server.wait_closed()

    async def _serve(self, reader, writer):
        task = asyncio.current_task()
        self._open.add(task)
        rates = self.rates if self.faults < self.rates.most else NO_FAULTS
        connection = _Connection(self, *rates.choose(self._chance), rates.pause, writer)
        try:
            await connection.carry(reader, writer, self._target)
        except (OSError, asyncio.CancelledError):
            connection.reset()
        finally:
            self._open.discard(task)

    def _count(self, number):
        self.passed += number
        for event in [event for event in self._events if event[0] <= self.passed]:
            self._events.remove(event)
            event[1].start()


class _Connection:
    """One connection through the proxy, with its fault."""

    def __init__(self, proxy, kind, reach, pause, client):
        self.proxy, self.kind, self.left, self.pause = proxy, kind, reach, pause
        self.ends, self.swallowed = [client], False

    async def carry(self, reader, writer, target):
        if self.kind == "refuse":
            self.proxy.faults += 1
            return self.reset()
        if self.kind == "blackhole":
            self.proxy.faults += 1
            while await reader.read(_CHUNK):
                pass
            return writer.close()
        far_reader, far_writer = await asyncio.open_connection(*target)
        self.ends.append(far_writer)
        pumps = [asyncio.create_task(self._pump(reader, far_writer)),
                 asyncio.create_task(self._pump(far_reader, writer))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for end in self.ends:
                end.close()

    async def _pump(self, reader, writer):
        while data := await reader.read(_CHUNK):
            if self.swallowed:
                continue
            self.proxy._count(len(data))
            if self.kind in ("cut", "reset", "swallow"):
                data, over = data[:self.left], len(data) >= self.left
                self.left -= len(data)
            else:
                over = False
            await self._forward(writer, self._garbled(data) if self.kind == "garbage" else data)
            if over:
                self.proxy.faults += 1
                if self.kind == "reset":
                    self.reset()
                if self.kind != "swallow":
                    return
                self.swallowed = True

    def _garbled(self, data):
        kept = data[:self.left]
        if self.left and len(data) >= self.left:
            self.proxy.faults += 1
        self.left -= len(kept)
        return kept + self.proxy._chance.randbytes(len(data) - len(kept))

    async def _forward(self, writer, data):
        if self.kind == "delay":
            await asyncio.sleep(self.pause)
        size = _DRIP if self.kind == "drip" else _CHUNK
        for start in range(0, len(data), size):
            writer.write(data[start:start + size])
            await writer.drain()
            if self.kind == "drip":
                await asyncio.sleep(self.pause)

    def reset(self):
        for end in self.ends:
            connection = end.get_extra_info("socket")
            if connection and connection.fileno() >= 0:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.transport.abort()


def _mute(port):
    """Makes a port silent: a socket that listens and accepts no connection, and sockets that fill its backlog."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(0)
    ends = [listener]
    for _ in range(4):
        ends.append(socket.socket())
        ends[-1].setblocking(False)
        ends[-1].connect_ex(("127.0.0.1", port))
    return ends
