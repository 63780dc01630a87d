"""Checks, with a fake server, that the driver's requests suit CouchDB, and that it reports why a server refuses.

`Scripts/bench --smoke` runs this.
"""
import argparse
import http.server
import pathlib
import tempfile
import threading

import bench


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers bulks as CouchDB 3.5 does, which requires the content type of JSON, and every PUT with a full disk."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, body):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        if self.headers.get("Content-Type") == "application/json":
            return self.answer(201, b"[]")
        return self.answer(415, b'{"error":"bad_content_type"}')

    def do_PUT(self):
        self.answer(507, b'{"error":"insufficient_storage","reason":"the disk is full"}')

    def log_message(self, *_):
        pass


class Driver(bench.Run):
    """A run that starts no servers."""

    def __init__(self, directory):
        self.options = argparse.Namespace(seconds=1)
        self.directory = pathlib.Path(directory)


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    plan = {"threads": 1, "seed": 1, "bytes": 10, "items": 2, "targets": [{"path": "/db", "headers": {}}]}
    with tempfile.TemporaryDirectory() as directory:
        driver = Driver(directory)
        bulks = driver.load(url, {**plan, "name": "d", "kind": "bulk"}, 1)
        assert bulks["requests"] > 0 and bulks["refused"] == 0, bulks
        puts = {**plan, "name": "d", "kind": "put"}
        assert driver.load(url, puts, 1)["refused"] > 0
        reason = driver.reason(url, puts, 1)
        assert reason.startswith("507 ") and "the disk is full" in reason, reason
    server.shutdown()


if __name__ == "__main__":
    main()
