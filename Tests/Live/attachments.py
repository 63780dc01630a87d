"""Attachments as clients send and see them."""
import base64
import hashlib


def inline(content, kind="text/plain"):
    return {"content_type": kind, "data": base64.b64encode(content).decode()}


def md5(content):
    return "md5-" + base64.b64encode(hashlib.md5(content).digest()).decode()


def some(count, seed=0):
    """Bytes that differ from those of another seed."""
    return hashlib.shake_128(f"{count}/{seed}".encode()).digest(count)


def stub(content, revpos=1, kind="text/plain"):
    return {"content_type": kind, "revpos": revpos, "digest": md5(content), "length": len(content), "stub": True}


def used(database):
    return database.call_v1("GET", "/v1/me").json()["usage"]["bytes"]
