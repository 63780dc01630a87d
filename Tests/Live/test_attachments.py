"""H18, S12: attachments, inline and by addresses of their own, as CouchDB has them."""
import base64
import gzip
import threading

import couchdb
import pycouchdb
import pytest
import requests

from attachments import inline, md5, some, stub, used
from couch import Account, Database, failed
from waiting import wait_until

HTML = b"<script>alert(1)</script>"
MIB = 1 << 20


def test_inline_attachment_is_a_stub_and_has_an_address(database):
    answer = database.call("PUT", "/a", json={"n": 1, "_attachments": {"page.html": inline(HTML, "text/html")}})
    assert answer.status_code == 201, answer.text
    document = database.call("GET", "/a").json()
    assert document["_attachments"] == {"page.html": stub(HTML, kind="text/html")}
    answer = database.call("GET", "/a/page.html")
    assert (answer.status_code, answer.content) == (200, HTML)
    headers = answer.headers
    assert headers["Content-Type"] == "text/html"
    assert headers["ETag"] == '"' + md5(HTML)[4:] + '"' and headers["Accept-Ranges"] == "bytes"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Disposition"] == "attachment"
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert database.raw("HEAD", "/a/page.html").headers["Content-Length"] == str(len(HTML))
    assert database.call("GET", "/a/page.html", headers={"If-None-Match": headers["ETag"]}).status_code == 304
    whole = database.call("GET", "/a?attachments=true").json()
    assert base64.b64decode(whole["_attachments"]["page.html"]["data"]) == HTML
    assert "stub" not in whole["_attachments"]["page.html"]


def test_attachment_is_put_replaced_and_deleted_by_its_address(database):
    first = database.call("PUT", "/a/f", data=b"one", headers={"Content-Type": "text/plain"})
    assert first.status_code == 201 and first.json()["rev"].startswith("1-"), first.text
    assert database.call("PUT", "/a/f", data=b"two").status_code == 409, "it needs the revision"
    second = database.call("PUT", f"/a/f?rev={first.json()['rev']}", data=b"two")
    third = database.call("PUT", "/a/g", data=b"three", headers={"If-Match": second.json()["rev"]})
    document = database.call("GET", "/a").json()
    assert document["_attachments"] == {
        "f": stub(b"two", 2, "application/octet-stream"), "g": stub(b"three", 3, "application/octet-stream")}
    assert database.call("GET", f"/a/f?rev={first.json()['rev']}").content == b"one"
    assert database.call("DELETE", "/a/f").status_code == 409
    gone = database.call("DELETE", f"/a/f?rev={third.json()['rev']}")
    assert gone.status_code == 200 and gone.json()["rev"].startswith("4-")
    assert list(database.call("GET", "/a").json()["_attachments"]) == ["g"]
    assert database.call("GET", "/a/f").status_code == 404
    assert database.call("DELETE", f"/a/f?rev={gone.json()['rev']}").status_code == 404
    none = {"error": "not_found", "reason": "Document is missing attachment"}
    for path in ("/a/none", f"/a/none?rev={first.json()['rev']}"):
        answer = database.call("DELETE", path)
        assert (answer.status_code, answer.json()) == (404, none)
    assert failed(database.call("DELETE", f"/a/f?rev={first.json()['rev']}")) == (409, "conflict")
    assert database.call("DELETE", "/none/f").json() == {"error": "not_found", "reason": "missing"}
    for method, path in (("PUT", "/a/f"), ("PUT", "/none/f"), ("DELETE", "/a/g"), ("DELETE", "/none/f")):
        answer = database.call(method, path + "?rev=9-a", **({"data": b"x"} if method == "PUT" else {}))
        assert (answer.status_code, answer.json()) == (409, {"error": "not_found", "reason": "missing_rev"})


def test_stubs_keep_the_bytes_of_an_earlier_revision(database):
    revision = database.call("PUT", "/a", json={"_attachments": {"f": inline(b"hi"), "g": inline(b"ho")}}).json()["rev"]
    document = database.call("GET", "/a").json()
    del document["_attachments"]["g"]
    document["n"] = 2
    assert database.call("PUT", "/a", json=document).status_code == 201
    assert database.call("GET", "/a").json()["_attachments"] == {"f": stub(b"hi")}
    assert database.call("GET", "/a/f").content == b"hi"
    assert database.call("GET", f"/a/g?rev={revision}").content == b"ho"
    unknown = {"_id": "a", "_rev": database.call("GET", "/a").json()["_rev"], "_attachments": {"x": {"stub": True}}}
    answer = database.call("PUT", "/a", json=unknown)
    assert (answer.status_code, answer.json()["error"]) == (412, "missing_stub"), answer.text
    for stale in ({"_rev": "9-a"}, {}):
        answer = database.call("PUT", "/a", json={**stale, "_attachments": {"f": {"stub": True}}})
        assert failed(answer) == (409, "conflict"), "the conflict counts first"
    answer = database.call("PUT", "/b", json={"_attachments": {"x": stub(b"hi")}})
    assert (answer.status_code, answer.json()["error"]) == (412, "missing_stub")


def test_peers_revisions_keep_revpos_and_take_stubs_from_their_ancestors(database):
    assert database.bulk({"_id": "a", "_rev": "1-a", "_attachments": {"f": {**inline(b"hi"), "revpos": 1}}},
                         new_edits=False) == []
    line = {"start": 3, "ids": ["c", "b", "a"]}
    assert database.bulk({"_id": "a", "_rev": "3-c", "_revisions": line, "_attachments": {
        "f": stub(b"hi"), "g": {**inline(b"ho"), "revpos": 2}}}, new_edits=False) == []
    document = database.call("GET", "/a").json()
    assert document["_rev"] == "3-c"
    assert document["_attachments"] == {"f": stub(b"hi"), "g": stub(b"ho", 2)}
    assert database.call("GET", "/a/f").content == b"hi"
    again = {"_id": "a", "_rev": "3-c", "_revisions": line, "_attachments": {"f": {**stub(b"hi"), "digest": "md5-other"}}}
    assert database.bulk(again, new_edits=False) == [], "a known revision changes nothing"
    [row] = database.bulk({"_id": "b", "_rev": "1-a", "_attachments": {"f": stub(b"hi")}}, new_edits=False)
    assert row["error"] == "missing_stub"
    since = database.call("GET", '/a?atts_since=["1-a"]').json()["_attachments"]
    assert since["f"]["stub"] and base64.b64decode(since["g"]["data"]) == b"ho"


def test_stub_never_gets_other_bytes_than_it_names(database):
    one = database.call("PUT", "/a", json={"_attachments": {"f": inline(b"one")}}).json()["rev"]
    two = database.call("PUT", f"/a/f?rev={one}", data=b"two").json()["rev"]

    def put(**attachment):
        return database.call("PUT", "/a", json={"_rev": two, "_attachments": {"f": {"stub": True, **attachment}}})

    for other in ({"revpos": 1}, {"revpos": 1, "digest": md5(b"one")}, {"revpos": 3, "digest": md5(b"three")}):
        answer = put(**other)
        assert (answer.status_code, answer.json()["error"]) == (412, "missing_stub"), other
    assert put(revpos=2, digest="md5-ofThePackedBytes").status_code == 201
    assert database.call("GET", "/a/f").content == b"two"


def test_stub_of_a_peer_has_the_bytes_of_an_ancestor_not_of_another_branch(database):
    def graft(*ids, **attachment):
        return database.bulk({
            "_id": "a", "_rev": f"{len(ids)}-{ids[0]}", "_revisions": {"start": len(ids), "ids": list(ids)},
            "_attachments": {"f": attachment}}, new_edits=False)

    assert graft("a", **inline(b"hi"), revpos=1) == []
    for ids, attachment in [("cx", {"revpos": 1}), ("cx", {}), ("dx", {"revpos": 1, "digest": md5(b"ho")}),
                            ("ca", {"revpos": 2, "digest": md5(b"ho")})]:
        [row] = graft(*ids, stub=True, **attachment)
        assert row["error"] == "missing_stub", (ids, attachment)
    assert graft("c", "a", stub=True, revpos=1, digest="md5-ofThePackedBytes") == []
    assert graft("d", "x", stub=True, revpos=1, digest=md5(b"hi")) == [], "the same bytes"
    for revision in ("2-c", "2-d"):
        assert database.call("GET", f"/a/f?rev={revision}").content == b"hi"


def test_written_attachment_is_located_and_a_document_has_the_only_tag_of_its_revision(database):
    answer = database.call("PUT", "/a%2Fb/c%20d%2Fe.txt", data=b"hi")
    assert answer.headers["Location"].endswith(f"/couch/{database.name}/a%2Fb/c%20d%2Fe.txt")
    assert "ETag" not in answer.headers, "the attachment's tag is its digest"
    path = answer.headers["Location"].split(database.name, 1)[1]
    assert database.call("GET", path).content == b"hi"
    assert "ETag" not in database.call("DELETE", f"{path}?rev={answer.json()['rev']}").headers


def test_local_documents_leave_attachments_out_as_in_couchdb(database):
    sent = {"n": 1, "_attachments": {"f": inline(b"hi")}}
    assert database.call("PUT", "/_local/a", json=sent).status_code == 201
    [row] = database.bulk({"_id": "_local/b", **sent})
    assert row["ok"]
    for name in "ab":
        document = database.call("GET", f"/_local/{name}?attachments=true").json()
        assert document == {"_id": f"_local/{name}", "_rev": "0-1", "n": 1}
    for method in ("GET", "PUT", "DELETE"):
        answer = database.raw(method, "/_local/a/f")
        assert (answer.status_code, answer.json()["reason"]) == (400, "_local documents do not accept attachments.")
    assert used(database) < 100


@pytest.mark.parametrize("attachment", [
    {}, {"data": "%"}, {"data": "aGk"}, {"data": 1}, {"data": "aGk=", "content_type": "a\r\nb: c"}, "x", None,
    {"follows": True, "length": 2}, {"data": "aGk=", "content_type": "x" * 256}], ids=str)
def test_malformed_attachments_are_refused(database, attachment):
    answer = database.call("PUT", "/a", json={"_attachments": {"f": attachment}})
    assert answer.status_code == 400, answer.text
    assert database.call("GET", "/a").status_code == 404


@pytest.mark.parametrize("name, status", [
    ("_f", 400), ("x" * 513, 400), ("a\0", 400), ("../../etc/passwd", 201), ("a/b.txt", 201), ("\u00e9", 201),
    ("e\u0301", 201), ("a\"\r\nX: y", 201), (" ", 201)], ids=repr)
def test_hostile_names(database, name, status):
    quoted = requests.utils.quote(name, safe="")
    answer = database.raw("PUT", "/a/" + quoted, data=b"hi")
    assert answer.status_code == status, answer.text
    if status == 201:
        assert list(database.call("GET", "/a").json()["_attachments"]) == [name]
        assert database.raw("GET", "/a/" + quoted).content == b"hi"
        parts = database.call("GET", "/a?attachments=true", headers={"Accept": "multipart/related"})
        assert parts.status_code == 200 and b"\nX: y" not in parts.content


def test_name_that_no_attachment_can_have_is_missing(database):
    database.call("PUT", "/a", json={})
    for path in ("/a/_f", "/none/_f"):
        answer = database.call("GET", path)
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


def test_slashes_of_a_name_may_be_sent_as_they_are(database):
    assert database.raw("PUT", "/a/b/c%20d/e", data=b"hi").status_code == 201
    assert list(database.call("GET", "/a").json()["_attachments"]) == ["b/c d/e"]
    assert database.raw("GET", "/a/b/c d/e").content == b"hi"
    assert database.raw("PUT", "/_design/d/b/c", data=b"hi").status_code == 201
    assert database.raw("GET", "/_design/d/b/c").content == b"hi"


@pytest.mark.fault("H18")
def test_ranges(database):
    content = some(200_000)
    database.call("PUT", "/a/f", data=content)
    for field, wanted in [
            ("bytes=0-0", (0, 1)), ("bytes=65535-65536", (65535, 65537)), ("bytes=199999-", (199_999, 200_000)),
            ("bytes=-5", (199_995, 200_000)), ("bytes=5-999999", (5, 200_000)), ("bytes=-999999", (0, 200_000))]:
        answer = database.call("GET", "/a/f", headers={"Range": field})
        start, end = wanted
        assert (answer.status_code, answer.content) == (206, content[start:end]), field
        assert answer.headers["Content-Range"] == f"bytes {start}-{end - 1}/200000"
    database.call("PUT", "/b/none", data=b"")
    assert database.call("GET", "/b/none", headers={"Range": "bytes=0-0"}).status_code == 416
    assert database.call("GET", "/b/none").content == b""
    for field in ("bytes=-0", "bytes=200000-", "bytes=999999-", "bytes=5-2"):
        answer = database.call("GET", "/a/f", headers={"Range": field})
        assert (answer.status_code, answer.headers["Content-Range"]) == (416, "bytes */200000"), field
    many = ",".join(f"{n}-{n}" for n in range(1_000))
    for field in ("bytes=0-", "bytes=0-,0-", "lines=1-2", "bytes=x", "bytes=" + many, "bytes=", "bytes=--1"):
        answer = database.call("GET", "/a/f", headers={"Range": field})
        assert (answer.status_code, len(answer.content)) == (200, 200_000), field
    answer = database.call("GET", "/a/f", headers={"Range": "bytes=0-1,70000-70001"})
    assert answer.status_code == 206 and answer.headers["Content-Type"].startswith("multipart/byteranges")
    assert content[0:2] in answer.content and content[70_000:70_002] in answer.content
    answer = database.call("GET", "/a/f", headers={"Range": "bytes=0-1", "If-Range": '"other"'})
    assert (answer.status_code, len(answer.content)) == (200, 200_000)


def test_digest_that_is_sent_is_checked(database):
    wrong = {"Content-MD5": md5(b"other")[4:]}
    answer = database.call("PUT", "/a/f", data=b"hi", headers=wrong)
    assert (answer.status_code, answer.json()["error"]) == (400, "content_md5_mismatch")
    assert database.call("PUT", "/a/f", data=b"hi", headers={"Content-MD5": md5(b"hi")[4:]}).status_code == 201


def test_packed_body_is_stored_unpacked(database):
    answer = database.call("PUT", "/a/f", data=gzip.compress(b"hi" * 1_000), headers={"Content-Encoding": "gzip"})
    assert answer.status_code == 201
    assert database.call("GET", "/a/f").content == b"hi" * 1_000


def test_long_attachments_and_their_limits(database):
    guest = database.call("PUT", "/a/f", data=some(MIB))
    assert guest.status_code == 507, "a guest's store holds 1 MiB"
    assert used(database) == 0, "nothing of it stays"


def test_an_attachment_has_10_mib_and_the_administrators_20(account, shared, administrator):
    for database, limit in [(Database(shared, account.token), 10 * MIB), (administrator.create(), 20 * MIB)]:
        answer = database.call("PUT", "/long/f", data=bytes(limit + 1))
        assert (answer.status_code, answer.json()["error"]) == (413, "attachment_too_large")
        answer = database.raw("PUT", "/long/f", data=iter([bytes(limit), b"x"]))
        assert (answer.status_code, answer.json()["error"]) == (413, "attachment_too_large")
        assert database.call("GET", "/long").status_code == 404
    content = bytes(20 * MIB)
    assert database.call("PUT", "/long/f", data=content).status_code == 201
    assert database.call("GET", "/long/f").content == content


def test_same_bytes_are_stored_once(account, shared):
    database, content = Database(shared, account.token), some(3 * MIB)
    before = used(database)
    assert database.call("PUT", "/one/f", data=content).status_code == 201
    assert 3 * MIB <= used(database) - before < 3 * MIB + 1_000
    database.call("PUT", "/two/f", data=content)
    assert database.call("PUT", "/three", json={"_attachments": {"f": inline(content)}}).status_code == 201
    assert used(database) - before < 3 * MIB + 2_000
    assert database.call("GET", "/three/f").content == content


def test_bytes_are_freed_when_no_kept_revision_names_them(administrator):
    database = administrator.create()
    revision = database.call("PUT", "/a/f", data=some(3 * MIB)).json()["rev"]
    size = database.call("GET").json()["sizes"]["file"]
    database.call("DELETE", f"/a?rev={revision}")
    assert database.call("GET", f"/a/f?rev={revision}").status_code == 200, "history keeps it"
    assert database.call("POST", "/_compact", json={}).status_code == 202
    assert database.call("GET", f"/a/f?rev={revision}").status_code == 404
    if size:
        assert database.call("GET").json()["sizes"]["file"] < size - 2 * MIB


def test_copy_has_the_attachments(database):
    revision = database.call("PUT", "/a/f", data=b"hi").json()["rev"]
    database.raw("COPY", "/a", headers={"Destination": "b"})
    assert database.call("GET", "/b/f").content == b"hi"
    database.call("DELETE", f"/a/f?rev={revision}")
    assert database.call("GET", "/b/f").content == b"hi"


def test_attachment_of_another_person_is_not_there(database, shared):
    database.call("PUT", "/a/f", data=b"hi")
    other = Database(shared)
    answer = shared.call("GET", f"/couch/{database.name}/a/f", other.token)
    assert answer.status_code == 404 and b"hi" not in answer.content


def test_what_a_client_broke_off_is_removed(database):
    """The bytes of an attachment whose client goes away are neither counted nor kept."""
    def send():
        yield some(MIB // 2)
        yield some(MIB // 4)
        raise ConnectionError
    with pytest.raises((ConnectionError, requests.exceptions.ConnectionError)):
        database.raw("PUT", "/a/f", data=send())
    wait_until(lambda: used(database) == 0)
    assert database.call("PUT", "/a/f", data=some(MIB // 2)).status_code == 201


@pytest.mark.files
def test_server_that_is_killed_while_attachments_are_written_keeps_what_it_answered(start):
    server = start()
    account = Account(server)
    database, answered = Database(server, account.token), {}

    def write(number):
        session = Database(server, account.token, name=database.name)
        for index in range(100):
            name, content = f"{number}-{index}", some(300_000 + index * 50_000, number)
            try:
                if session.raw("PUT", f"/{name}/f", data=content).status_code == 201:
                    answered[name] = content
            except requests.exceptions.RequestException:
                return

    writers = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for writer in writers:
        writer.start()
    wait_until(lambda: len(answered) >= 6)
    server.kill()
    for writer in writers:
        writer.join()
    database = Database(start(), account.token, name=database.name)
    for name, content in answered.items():
        assert database.raw("GET", f"/{name}/f").content == content, name
    for row in database.call("GET", "/_all_docs?include_docs=true").json()["rows"]:
        [(name, known)] = row["doc"]["_attachments"].items()
        assert md5(database.raw("GET", f"/{row['id']}/{name}").content) == known["digest"]


def test_export_and_import_carry_attachments(shared):
    account, other = Account(shared), Account(shared)
    database = Database(shared, account.token)
    content = some(200_000)
    revision = database.call("PUT", "/a", json={"_attachments": {"f": inline(content), "none": inline(b"")}}).json()["rev"]
    database.call("PUT", f"/a/f?rev={revision}", data=b"new")
    database.call("PUT", "/b/f", data=content)
    export = database.call_v1("GET", "/v1/me/export").content
    assert export.count(b'{"attachment":') == 3
    copy = Database(shared, other.token)
    answer = shared.call("POST", "/v1/me/import", other.token, data=export,
                         headers={"Content-Type": "application/x-ndjson"})
    assert answer.status_code == 200, answer.text
    assert copy.call("GET", "/a/f").content == b"new"
    assert copy.call("GET", f"/a/f?rev={revision}").content == content
    assert copy.call("GET", "/b/f").content == content and copy.call("GET", "/a/none").content == b""
    assert used(copy) == used(database)
    forged = export.replace(base64.b64encode(b"new"), base64.b64encode(b"old"))
    third = Account(shared)
    answer = shared.call("POST", "/v1/me/import", third.token, data=forged,
                         headers={"Content-Type": "application/x-ndjson"})
    assert answer.status_code == 422 and "SHA-256" in answer.json()["reason"], answer.text


def test_guests_attachments_go_with_them_to_their_account(shared):
    database = Database(shared)
    database.call("PUT", "/a", json={"_attachments": {"f": inline(b"hi")}})
    name = Account(shared)
    session = shared.call("POST", "/v1/sessions", json={
        "username": name.name, "password": name.password, "guestToken": database.token})
    assert session.status_code == 200, session.text
    user = Database(shared, session.json()["token"])
    assert user.call("GET", "/a/f").content == b"hi"


def test_clients_of_python(account):
    """PyPI's `couchdb` and `pycouchdb` put, get and delete attachments."""
    database = couchdb.Server(account.url())[account.store]
    document = {"_id": "python"}
    database.save(document)
    database.put_attachment(document, b"hi", "a.txt", "text/plain")
    assert database.get_attachment("python", "a.txt").read() == b"hi"
    database.delete_attachment(database["python"], "a.txt")
    assert database.get_attachment("python", "a.txt") is None
    database = pycouchdb.Server(account.url()).database(account.store)
    document = database.save({"n": 1})
    document = database.put_attachment(document, b"hi", "a.txt", "text/plain")
    assert database.get_attachment(document, "a.txt") in (b"hi", "hi")
    database.delete_attachment(document, "a.txt")


def test_new_facts_of_a_bookmark_keep_its_attachments(database):
    bookmark = "/v1/bookmarks/ritz"
    revision = database.call_v1("PUT", bookmark, json={"name": "The Ritz"}).json()["rev"]
    photo = some(100_000)
    assert database.call("PUT", f"/ritz/room?rev={revision}", data=photo).status_code == 201
    for facts in ({"name": "The Ritz London"}, {"name": "The Ritz London", "city": "London"}):
        assert database.call_v1("PUT", bookmark, json=facts).json()["replaced"]
    assert database.call("GET", "/ritz").json()["city"] == "London"
    shown = database.call_v1("GET", bookmark).json()["hotel"]
    assert database.call_v1("PUT", bookmark, json={**shown, "name": "Ritz"}).json()["replaced"]
    assert database.call("GET", "/ritz/room").content == photo
