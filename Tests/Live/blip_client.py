"""A client's end of Couchbase Lite's transport: WebSocket (RFC 6455) and BLIP 3. Written from the facts of the wire, not
from the server's source."""
import base64
import collections
import contextlib
import hashlib
import json
import os
import socket
import ssl
import struct
import urllib.parse
import zlib

from waiting import PATIENCE

REQUEST, ANSWER, ERROR, ACKNOWLEDGE_REQUEST, ACKNOWLEDGE_ANSWER = 0, 1, 2, 4, 5
COMPRESSED, URGENT, NO_REPLY, MORE = 0x08, 0x10, 0x20, 0x40
TREES, VECTORS = "BLIP_3+CBMobile_3,BLIP_3+CBMobile_2", "BLIP_3+CBMobile_4"
MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Closed(Exception):
    """The server has closed the connection: with this code, or None if it broke it."""

    def __init__(self, code=None):
        super().__init__(code)
        self.code = code


class Refused(Exception):
    """The server has answered the handshake with another status."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


class WebSocket:
    """One connection, after its handshake."""

    def __init__(self, url, path, protocols=TREES, headers=None, timeout=PATIENCE, source=None):
        parts = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=timeout, source_address=source)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if parts.scheme == "https":
            unchecked = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            unchecked.check_hostname, unchecked.verify_mode = False, ssl.CERT_NONE
            self.socket = unchecked.wrap_socket(self.socket)
        key = base64.b64encode(os.urandom(16)).decode()
        fields = {
            "Host": parts.netloc, "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": key, "Sec-WebSocket-Protocol": protocols, **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items() if value is not None)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\n{head}\r\n".encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self._more()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        self.fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
        status = int(lines[0].split()[1])
        if status != 101:
            self.socket.close()
            raise Refused(status)
        accept = base64.b64encode(hashlib.sha1((key + MAGIC).encode()).digest()).decode()
        assert self.fields["sec-websocket-accept"] == accept
        assert self.fields["connection"].lower() == "upgrade" and self.fields["upgrade"] == "websocket"

    def _more(self):
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionError:
            data = b""
        if not data:
            raise Closed()
        self.buffer += data

    def _take(self, count):
        while len(self.buffer) < count:
            self._more()
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def send(self, payload, opcode=2, final=True, masked=True, bits=0):
        length = len(payload)
        mask = os.urandom(4)
        head = bytes([(0x80 if final else 0) | bits | opcode])
        flag = 0x80 if masked else 0
        if length < 126:
            head += bytes([flag | length])
        elif length < 1 << 16:
            head += bytes([flag | 126]) + struct.pack(">H", length)
        else:
            head += bytes([flag | 127]) + struct.pack(">Q", length)
        if masked:
            key = int.from_bytes((mask * (length // 4 + 1))[:length], "big")
            payload = mask + (int.from_bytes(payload, "big") ^ key).to_bytes(length, "big")
        self._send(head + payload)

    def _send(self, frame):
        try:
            self.socket.sendall(frame)
        except OSError:
            raise Closed() from None

    def receive(self):
        """The opcode and the payload of the next frame. Pings are answered."""
        while True:
            first, length = self._take(2)
            assert first & 0x70 == 0 and length & 0x80 == 0, "a server's frames have no extension and no mask"
            if length == 126:
                [length] = struct.unpack(">H", self._take(2))
            elif length == 127:
                [length] = struct.unpack(">Q", self._take(8))
            payload = self._take(length)
            opcode = first & 0x0F
            if opcode == 9:
                self.send(payload, opcode=10)
            elif opcode == 8:
                # The server ends the connection when it has the answer.
                with contextlib.suppress(OSError):
                    self.socket.sendall(b"\x88\x80\0\0\0\0")
                raise Closed(struct.unpack(">H", payload[:2])[0] if payload else 1005)
            else:
                return opcode, payload

    def close(self, code=1000):
        """Closes as a client that is done, and waits for the echo. Returns the code of the echo."""
        try:
            self.send(struct.pack(">H", code), opcode=8)
            while True:
                self.receive()
        except Closed as closed:
            return closed.code
        finally:
            self.socket.close()

    def drop(self):
        self.socket.close()


class CutWebSocket(WebSocket):
    """A connection that ends without a word after a number of frames of both directions, or within the next one. `end` is
    what else happens then."""

    def __init__(self, *arguments, frames, within=False, end=lambda: None):
        self.frames, self.within, self.end, self.count = frames, within, end, 0
        super().__init__(*arguments)

    def _send(self, frame):
        self._pass(lambda: super(CutWebSocket, self)._send(frame[:len(frame) // 2]))
        super()._send(frame)

    def receive(self):
        self._pass(lambda: self._take(1))
        return super().receive()

    def _pass(self, part):
        self.count += 1
        if self.count <= self.frames:
            return
        if self.within:
            part()
        self.end()
        self.drop()
        raise Closed()


def varint(number):
    data = b""
    while number >= 0x80:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def read_varint(data):
    number = shift = 0
    for index, byte in enumerate(data):
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, data[index + 1:]
    raise ValueError("incomplete")


class Message:
    def __init__(self, kind, number, flags):
        self.kind, self.number, self.no_reply = kind, number, bool(flags & NO_REPLY)
        self.data, self.received, self.acknowledged = bytearray(), 0, 0
        self.properties, self.body = {}, b""

    def finish(self):
        length, rest = read_varint(bytes(self.data))
        texts = rest[:length].decode().split("\0")[:-1] if length else []
        self.properties = dict(zip(texts[::2], texts[1::2]))
        self.body = rest[length:]
        return self

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        """The domain and code of an error; None for an answer."""
        if self.kind == ERROR:
            return self.properties["Error-Domain"], int(self.properties["Error-Code"])
        return None


class Blip:
    """The messages of a connection. `compress` is what LiteCore does unless an app tells it otherwise."""

    frame_bytes, window = 16_384, 128_000

    def __init__(self, websocket, compress=True):
        self.websocket, self.compress = websocket, compress
        self.deflater, self.inflater = zlib.compressobj(9, zlib.DEFLATED, -15), zlib.decompressobj(-15)
        self.crc_out = self.crc_in = 0
        self.last = self.last_in = 0
        self.open, self.answers, self.requests = {}, {}, collections.deque()
        self.acknowledged = collections.defaultdict(int)
        self.acknowledgements = 0
        # Answers a request of the server at once, and returns whether it did.
        self.serve = lambda request: False
        # Whether what comes is acknowledged.
        self.acknowledges = True

    def frames(self, kind, number, properties, body, no_reply=False, compress=None):
        """The frames of a message, made one after the other as they are sent."""
        texts = "".join(f"{name}\0{value}\0" for name, value in properties.items()).encode()
        data, offset = varint(len(texts)) + texts + body, 0
        compress = self.compress if compress is None else compress
        while True:
            part = data[offset:offset + self.frame_bytes - 100]
            offset += len(part)
            more = offset < len(data)
            self.crc_out = zlib.crc32(part, self.crc_out)
            flags = kind | (NO_REPLY if no_reply else 0) | (MORE if more else 0)
            if compress:
                flags |= COMPRESSED
                part = (self.deflater.compress(part) + self.deflater.flush(zlib.Z_SYNC_FLUSH))[:-4]
            yield varint(number) + varint(flags) + part + struct.pack(">I", self.crc_out)
            if not more:
                return

    def send(self, kind, number, properties, body=b"", **options):
        """Sends a message, and waits while much of it is not acknowledged."""
        sent, frames = 0, self.frames(kind, number, properties, body, **options)
        while True:
            # Other messages may be sent meanwhile, so the next frame is made after that.
            while sent - self.acknowledged[kind, number] >= self.window:
                self.pump()
            frame = next(frames, None)
            if frame is None:
                return
            self.websocket.send(frame)
            sent += len(frame) - len(varint(number)) - 1

    def ask(self, profile, body=None, no_reply=False, **properties):
        """Sends a request and returns its number. `answer` waits for the answer."""
        self.last += 1
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send(REQUEST, self.last, {"Profile": profile, **properties}, body or b"", no_reply=no_reply)
        return self.last

    def ask_in_turns(self, requests):
        """Sends requests as LiteCore does, a frame of each in turn. Each is a profile, a body and properties. Returns their
        numbers."""
        sending = collections.deque()
        for profile, body, properties in requests:
            self.last += 1
            properties = {"Profile": profile, **properties}
            sending.append((self.last, self.frames(REQUEST, self.last, properties, json.dumps(body).encode()), 0))
        numbers = [number for number, _, _ in sending]
        while sending:
            number, frames, sent = sending.popleft()
            while sent - self.acknowledged[REQUEST, number] >= self.window:
                self.pump()
            frame = next(frames, None)
            if frame is not None:
                self.websocket.send(frame)
                sending.append((number, frames, sent + len(frame) - len(varint(number)) - 1))
        return numbers

    def answer(self, number):
        while number not in self.answers:
            self.pump()
        return self.answers.pop(number)

    def call(self, profile, body=None, **properties):
        return self.answer(self.ask(profile, body, **properties))

    def reply(self, request, body=b"", kind=ANSWER, **properties):
        if not request.no_reply:
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send(kind, request.number, properties, body)

    def request(self):
        """The next request of the server."""
        while not self.requests:
            self.pump()
        return self.requests.popleft()

    def pump(self):
        """Takes one frame of the server."""
        opcode, frame = self.websocket.receive()
        if opcode != 2:
            return
        number, rest = read_varint(frame)
        flags, rest = read_varint(rest)
        kind = flags & 7
        if kind in (ACKNOWLEDGE_REQUEST, ACKNOWLEDGE_ANSWER):
            self.acknowledgements += 1
            key = (REQUEST if kind == ACKNOWLEDGE_REQUEST else ANSWER, number)
            self.acknowledged[key] = read_varint(rest)[0]
            return
        part = rest[:-4]
        if flags & COMPRESSED:
            part = self.inflater.decompress(part + b"\0\0\xff\xff")
        self.crc_in = zlib.crc32(part, self.crc_in)
        assert struct.unpack(">I", rest[-4:])[0] == self.crc_in, "the checksum is wrong"
        key = (kind == REQUEST, number)
        if key not in self.open:
            if kind == REQUEST:
                assert number == self.last_in + 1, "requests begin in the order of their numbers"
                self.last_in = number
            self.open[key] = Message(kind, number, flags)
        message = self.open[key]
        message.data += part
        message.received += len(rest)
        if flags & MORE:
            if self.acknowledges and message.received - message.acknowledged >= 50_000:
                message.acknowledged = message.received
                acknowledge = ACKNOWLEDGE_REQUEST if kind == REQUEST else ACKNOWLEDGE_ANSWER
                self.websocket.send(
                    varint(number) + varint(acknowledge | URGENT | NO_REPLY) + varint(message.received))
            return
        del self.open[key]
        message.finish()
        if kind == REQUEST:
            if not self.serve(message):
                self.requests.append(message)
        else:
            self.answers[number] = message
