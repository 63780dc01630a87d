"""A small HTTP/1.1 client over asyncio's streams, for many connections to one server from one thread."""
import asyncio
import json
import urllib.parse


class NoStream(AssertionError):
    """A response of `lines` that is not a stream: its status and headers."""


class Connection:
    """One connection, which carries one request at a time."""

    def __init__(self, url, authorization):
        """`url` is the prefix of every path, without a slash at its end. `authorization` may be empty."""
        parts = urllib.parse.urlsplit(url)
        self.address, self.prefix = (parts.hostname, parts.port), parts.path
        self.authorization = authorization
        self.reader = self.writer = None

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection(*self.address)
        return self

    async def __aexit__(self, *_):
        self.writer.close()

    async def call(self, method, path, value=None):
        """Sends a request with a JSON body and returns (status, value) of the JSON response."""
        status, headers = await self._begin(method, path, value)
        if headers.get("transfer-encoding") == "chunked":
            body = b"".join([chunk async for chunk in self._chunks()])
        else:
            body = await self.reader.readexactly(int(headers["content-length"]))
        return status, json.loads(body)

    async def lines(self, path):
        """Yields the lines of a streamed response as they arrive."""
        status, headers = await self._begin("GET", path, None)
        if status != 200 or headers.get("transfer-encoding") != "chunked":
            raise NoStream(status, headers)
        rest = b""
        async for chunk in self._chunks():
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line.decode()

    async def _begin(self, method, path, value):
        body = b"" if value is None else json.dumps(value).encode()
        proof = f"Authorization: {self.authorization}\r\n" if self.authorization else ""
        self.writer.write(
            f"{method} {self.prefix}{path} HTTP/1.1\r\nHost: localhost\r\n{proof}"
            f"Content-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        return int(head[0].split()[1]), headers

    async def _chunks(self):
        while True:
            size = int(await self.reader.readuntil(b"\r\n"), 16)
            chunk = (await self.reader.readexactly(size + 2))[:-2]
            if not size:
                return
            yield chunk
