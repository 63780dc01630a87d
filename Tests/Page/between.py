"""A proxy between the page and the server: it keeps streams back, or answers in the server's place."""
import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from waiting import PATIENCE

LOG_IN = b"<!doctype html><title>Sign-on</title><h1>Please log in to the network</h1>"


class Between:
    """`keeps_streams`: no piece of a stream of events passes. `passed` has the methods and paths that the server was
    asked for."""

    def __init__(self, server):
        self.upstream = urlsplit(server.url).netloc
        self.keeps_streams, self.passed = False, []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            def do(self):
                if not proxy.answer(self):
                    proxy.forward(self)

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do

            def log_message(self, *_):
                pass

        self.site = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.site.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.site.server_port}"
        threading.Thread(target=self.site.serve_forever, daemon=True).start()

    def answer(self, handler):
        """Answers a request itself and returns true, or returns false. Tests replace it."""
        return False

    def forward(self, handler):
        """Passes a request on, and its answer back as it comes."""
        self.passed.append((handler.command, handler.path))
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        connection = http.client.HTTPConnection(self.upstream, timeout=PATIENCE)
        try:
            headers = {name: value for name, value in handler.headers.items() if name.lower() != "connection"}
            connection.request(handler.command, handler.path, body or None, headers)
            answer = connection.getresponse()
            handler.send_response_only(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in ("connection", "transfer-encoding"):
                    handler.send_header(name, value)
            handler.end_headers()
            while piece := answer.read1(1 << 16):
                if self.keeps_streams and answer.getheader("Content-Type", "").startswith("text/event-stream"):
                    continue
                handler.wfile.write(piece)
                handler.wfile.flush()
        except OSError:
            pass
        finally:
            connection.close()

    @staticmethod
    def send(handler, status, kind, body=b"", **fields):
        """Answers a request, whose body is read first. `kind` is None for no content type."""
        handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        handler.send_response(status)
        if kind:
            handler.send_header("Content-Type", kind)
        for name, value in fields.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(body)
        return True

    def close(self):
        self.site.shutdown()
        self.site.server_close()
