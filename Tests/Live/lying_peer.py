"""A source that speaks CouchDB's protocol and lies in one way."""
import base64
import hashlib
import http.server
import json
import threading
import urllib.parse


class LyingPeer:
    """A database of one document with an attachment, `a` with revision `1-a`, and one without, `b`.

    `lie` names the lie: None, revision, id, digest, endless_json, endless_changes, same_changes, endless_attachment, not_json,
    short, redirect, deep, greatest_pending, least_pending, many_rows, long_sequence, long_id,
    carriage_returns, short_pieces. No lies are `short_paths`, a server for whose paths an id is too long, `no_bulk_get`,
    an older server, and `failing_bulk_get`, one of which a part fails.
    """

    def __init__(self, lie=None):
        self.lie, self.asked = lie, []
        peer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_GET(self):
                peer.answer(self)

            do_POST = do_PUT = do_GET

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/db"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, request):
        target = urllib.parse.urlsplit(request.path)
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        self.asked.append((request.command, request.path))
        name = target.path.removeprefix("/db").strip("/")
        query = dict(urllib.parse.parse_qsl(target.query))
        if self.lie == "redirect" and name == "_changes":
            return self.send(request, {}, 302, {"Location": "http://169.254.169.254/"})
        if name == "":
            return self.send(request, {"db_name": "db", "update_seq": "2-x", "instance_start_time": "0"})
        if name == "_ensure_full_commit":
            return self.send(request, {"ok": True, "instance_start_time": "0"}, 201)
        if name.startswith("_local/"):
            if request.command == "PUT":
                return self.send(request, {"ok": True, "id": name, "rev": "0-1"}, 201)
            return self.send(request, {"error": "not_found", "reason": "missing"}, 404)
        if name == "_changes":
            return self.changes(request, int(query["since"].split("-")[0]))
        if name == "_bulk_get":
            return self.bulk_get(request, json.loads(body)["docs"])
        return self.document(request, name)

    def send(self, request, value, status=200, fields=None):
        text = value if isinstance(value, bytes) else json.dumps(value).encode()
        request.send_response(status)
        for field, content in {"Content-Type": "application/json", "Content-Length": len(text), **(fields or {})}.items():
            request.send_header(field, str(content))
        request.end_headers()
        request.wfile.write(text)

    def pour(self, request, first, piece, kind="application/json", coding=None):
        request.send_response(200)
        request.send_header("Content-Type", kind)
        if coding:
            request.send_header("Transfer-Encoding", coding)
        request.send_header("Connection", "close")
        request.end_headers()
        request.close_connection = True
        try:
            request.wfile.write(first)
            while True:
                request.wfile.write(piece)
        except OSError:
            pass

    def changes(self, request, since):
        if self.lie == "endless_json":
            return self.pour(request, b'{"results":[', b'{"seq":1,"id":"b","changes":[{"rev":"1-b"}]},' * 1000)
        if self.lie == "short_pieces":
            return self.pour(request, b"", b"1\r\n \r\n" * 10_000, coding="chunked")
        rows = [{"seq": f"{n}-x", "id": name, "changes": [{"rev": f"1-{name}"}]}
                for n, name in ((1, "a"), (2, "b")) if n > since]
        last = max(since, 2)
        if self.lie in ("endless_changes", "same_changes"):
            last = since + 1 if self.lie == "endless_changes" else 2
            rows = [{"seq": f"{last}-x", "id": "b", "changes": [{"rev": "1-b"}]}]
        if self.lie == "many_rows":
            rows = rows * 1000
        if self.lie == "long_id":
            rows = [{"seq": "1-x", "id": "a" * (4 << 20), "changes": [{"rev": f"{n:05}"} for n in range(100_000)]}]
        pending = {"endless_changes": 7, "same_changes": 7, "greatest_pending": 2**63 - 1, "least_pending": -2**63}
        end = "x" * (5000 if self.lie == "long_sequence" else 1)
        return self.send(request, {"results": rows, "last_seq": f"{last}-{end}", "pending": pending.get(self.lie, 0)})

    def content(self):
        return b"the bytes"

    def made(self, name, stub="stub"):
        revision = "a" if name == "a" else "b"
        document = {"_id": name, "_rev": f"1-{revision}", "_revisions": {"start": 1, "ids": [revision]}, "n": 1}
        if name == "a":
            digest = hashlib.md5(self.content()).digest()
            if self.lie == "digest":
                digest = b"x" * 16
            length = 1 << 40 if self.lie == "endless_attachment" else len(self.content())
            document["_attachments"] = {"f": {
                "content_type": "image/png", "revpos": 1, "length": length, stub: True,
                "digest": "md5-" + base64.b64encode(digest).decode()}}
        if self.lie == "revision":
            document["_rev"], document["_revisions"] = "1-z", {"start": 1, "ids": ["z"]}
        if self.lie == "id":
            document["_id"] = "c"
        return document

    def bulk_get(self, request, asked):
        if self.lie == "not_json":
            return self.send(request, b"<html>")
        if self.lie == "no_bulk_get":
            return self.send(request, {"error": "not_found", "reason": "missing"}, 404)
        if self.lie == "failing_bulk_get":
            failure = {"error": "internal_fabric_error", "reason": "timeout"}
            return self.send(request, {"results": [{"id": one["id"], "docs": [{"error": failure}]} for one in asked]})
        if self.lie == "short":
            return self.send(request, {"results": []})
        text = json.dumps({"results": [
            {"id": one["id"], "docs": [{"ok": self.made(one["id"])}]} for one in asked]})
        if self.lie == "deep":
            text = text.replace('"n": 1', '"n": ' + "[" * 3000 + "]" * 3000)
        return self.send(request, text.encode())

    def document(self, request, name):
        if name == "b":
            text = json.dumps(self.made("b"))
            if self.lie == "deep":
                text = text.replace('"n": 1', '"n": ' + "[" * 3000 + "]" * 3000)
            return self.send(request, text.encode())
        if self.lie == "short_paths":
            return self.send(request, {"error": "uri_too_long", "reason": "too long"}, 414)
        document = json.dumps(self.made("a", "follows")).encode()
        head = b"--bound\r\nContent-Type: application/json\r\n\r\n" + document + b"\r\n--bound\r\n\r\n"
        kind = 'multipart/related; boundary="bound"'
        if self.lie == "carriage_returns":
            return self.pour(request, b"", b"\r" * 1000, kind)
        if self.lie == "endless_attachment":
            return self.pour(request, head, b"x" * 65536, kind)
        return self.send(request, head + self.content() + b"\r\n--bound--", fields={"Content-Type": kind})
