"""H18, H19, S12: attachments are not supported. The server refuses them in every form and stores no part of them, and
no attachment can be read, as a whole or by ranges."""
import base64
import gzip
import json

import pytest

INLINE = {"content_type": "text/html", "data": base64.b64encode(b"<script>alert(1)</script>").decode()}
STUB = {"content_type": "image/svg+xml", "stub": True, "revpos": 1, "length": 2, "digest": "md5-x"}
FOLLOWS = {"content_type": "text/html", "follows": True, "length": 2}


def refused(answer):
    """Asserts that the response names the unsupported feature as CouchDB would."""
    assert (answer.status_code, answer.json()["error"]) == (415, "bad_content_type"), answer.text
    reason = answer.json()["reason"]
    assert "ttachments are not" in reason or "must be application/json" in reason, reason


@pytest.mark.fault("S12")
@pytest.mark.parametrize("attachment", [INLINE, STUB, FOLLOWS, {}, "x", None], ids=str)
def test_document_with_an_attachment_is_not_stored(untouched, attachment):
    document = {"_id": "a", "_attachments": {"page.html": attachment}}
    refused(untouched.call("PUT", "/a", json=document))
    refused(untouched.call("POST", json=document))
    refused(untouched.call("PUT", "/_local/a", json={**document, "_id": "_local/a"}))
    packed = gzip.compress(json.dumps(document).encode())
    refused(untouched.call("PUT", "/a", data=packed, headers={
        "Content-Type": "application/json", "Content-Encoding": "gzip"}))
    [row] = untouched.bulk(document)
    assert row["error"] == "forbidden" and "ttachment" in row["reason"]
    [row] = untouched.bulk({**document, "_rev": "1-a"}, new_edits=False)
    assert row["error"] == "forbidden"
    assert untouched.call("GET", "/_local/a").status_code == 404


@pytest.mark.fault("S12")
@pytest.mark.parametrize("kind", [
    "text/html", "image/svg+xml", "application/octet-stream", "application/json", None])
@pytest.mark.parametrize("path", ["/a/page.html", "/a/b%2Fc.svg", "/_design/d/page.html"])
def test_address_of_an_attachment_takes_none(untouched, path, kind):
    headers = {"Content-Type": kind} if kind else {}
    answer = untouched.raw("PUT", path, data=b"<svg onload='alert(1)'/>", headers=headers)
    refused(answer)
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.fault("H18")
@pytest.mark.parametrize("ranges", [
    None, "bytes=-0", "bytes=5-2", "bytes=0-0", "bytes=99999-", "bytes=-5",
    "bytes=" + ",".join(f"{n}-{n}" for n in range(1_000)), "lines=1-2", "bytes=x"],
    ids=lambda ranges: str(ranges)[:12])
def test_there_is_no_attachment_to_read_a_range_of(untouched, ranges):
    headers = {"Range": ranges} if ranges else {}
    for path in ("/a/page.html", "/_design/d/page.html"):
        answer = untouched.raw("GET", path, headers=headers)
        assert answer.status_code == 404 and answer.json()["error"] == "not_found", answer.text
        assert untouched.raw("HEAD", path, headers=headers).status_code == 404


@pytest.mark.fault("H18")
@pytest.mark.parametrize("ranges", ["bytes=-0", "bytes=5-2", "bytes=0-0,2-3", "bytes=0-"])
def test_document_is_answered_whole_whatever_range_is_asked_for(database, ranges):
    database.put("a", text="hello")
    whole = database.raw("GET", "/a")
    answer = database.raw("GET", "/a", headers={"Range": ranges})
    assert answer.status_code == 200 and answer.content == whole.content
    assert "Content-Range" not in answer.headers and "Accept-Ranges" not in answer.headers


def related(boundary, *parts, end=True):
    lines = b"".join(b"--" + boundary + b"\r\n" + part + b"\r\n" for part in parts)
    return lines + (b"--" + boundary + b"--" if end else b"")


DOCUMENT = (b"Content-Type: application/json\r\n\r\n"
            b'{"_attachments":{"f":{"follows":true,"length":2,"digest":"md5-x"}}}')
FILE = b"Content-Disposition: attachment; filename=f\r\n\r\nhi"
PARTS = {
    "good": ("x", related(b"x", DOCUMENT, FILE)),
    "wrong boundary": ("y", related(b"x", DOCUMENT, FILE)),
    "no boundary": (None, related(b"x", DOCUMENT, FILE)),
    "missing part": ("x", related(b"x", DOCUMENT)),
    "extra part": ("x", related(b"x", DOCUMENT, FILE, FILE)),
    "wrong length": ("x", related(b"x", DOCUMENT, FILE + b" there")),
    "no end": ("x", related(b"x", DOCUMENT, FILE, end=False)),
    "no document": ("x", related(b"x", FILE)),
    "document alone": ("x", related(b"x", b'Content-Type: application/json\r\n\r\n{"n":1}')),
    "nothing": ("x", b""),
}


@pytest.mark.fault("H19")
@pytest.mark.parametrize("kind", ["related", "mixed", "form-data"])
@pytest.mark.parametrize("name", PARTS)
def test_document_in_parts_is_refused_whole(untouched, name, kind):
    boundary, body = PARTS[name]
    headers = {"Content-Type": f"multipart/{kind}" + (f'; boundary="{boundary}"' if boundary else "")}
    for method, path in (("PUT", "/a"), ("PUT", "/a?new_edits=false"), ("POST", ""), ("POST", "/_bulk_docs")):
        refused(untouched.call(method, path, data=body, headers=headers))
