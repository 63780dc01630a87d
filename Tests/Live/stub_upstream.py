"""An upstream that answers as a test specifies, byte for byte, and records the requests."""
import json
import socketserver
import sys
import threading
import time


def answer(body, status=200, kind="application/json", **headers):
    """An HTTP/1.1 response with a length, after which the connection ends."""
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {kind}", f"Content-Length: {len(body)}",
             "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def hotels(*names):
    """A travel-sample response of the second generation."""
    return answer({"context": ["FTS search"],
                   "data": [{"id": f"hotel_{name}", "name": f"Inn {name}", "city": "Oslo"}
                            for name in names]})


class StubUpstream:
    """Listens on a free port of 127.0.0.1. `script` maps (method, target, headers) to bytes, or to an iterable of bytes
    that are sent one by one. Readiness probes are not counted. With a TLS `context` it speaks TLS; `failures` are the
    errors of TLS."""

    def __init__(self, script, context=None):
        self.script, self.calls, self.running, self.highest = script, [], 0, 0
        self.failures, self.sent = [], 0
        self._lock = threading.Lock()
        stub = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                stub._serve(self)

            def setup(self):
                if context:
                    self.request = context.wrap_socket(self.request, server_side=True)
                super().setup()

            def finish(self):
                super().finish()
                if context:
                    self.request.close()

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address, daemon_threads, request_queue_size = True, True, 2_048

            def handle_error(self, request, client_address):
                stub.failures.append(sys.exc_info()[1])

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _serve(self, handler):
        line = handler.rfile.readline().decode("latin-1").split()
        headers = {}
        while True:
            field = handler.rfile.readline().decode("latin-1").strip()
            if not field:
                break
            name, _, value = field.partition(":")
            headers[name.lower()] = value.strip()
        if len(line) < 2:
            return
        if line[1] == "/api/hotels/":
            handler.wfile.write(answer({"data": []}))
            return
        with self._lock:
            self.calls.append((line[0], line[1], headers))
            self.running += 1
            self.highest = max(self.highest, self.running)
        try:
            reply = self.script(line[0], line[1], headers)
            for part in [reply] if isinstance(reply, bytes) else reply:
                handler.wfile.write(part)
                handler.wfile.flush()
                self.sent += len(part)
        except OSError:
            pass
        finally:
            with self._lock:
                self.running -= 1

    def close(self):
        """Stops listening: from now on connections are refused."""
        self._server.shutdown()
        self._server.server_close()


def drip(body, seconds):
    """Yields a body byte by byte, spread over `seconds`."""
    for byte in body:
        yield bytes([byte])
        time.sleep(seconds / len(body))
