"""Blobs of Couchbase Lite, both ways, and what hostile clients make of them."""
import base64
import hashlib
import json
import zlib

import pytest

from attachments import some, used
from blip_client import ANSWER, ERROR, MORE, Closed, varint
from couch import Account, Administrator
from phone import Phone
from test_lite import account, another, database, phone  # noqa: F401
from waiting import wait_until

MIB = 1 << 20


def digest_of(data):
    return "sha1-" + base64.b64encode(hashlib.sha1(data).digest()).decode()


def test_blobs_of_one_phone_come_to_others(phone, account):
    small, long, none = some(11), some(3 * MIB), b""
    body = {
        "pic": phone.blob(small), "rooms": [{"a/b": phone.blob(long, "image/jpeg")}, {"~": phone.blob(none)}],
        "no blob": {"@type": "other", "digest": digest_of(b"x")}}
    phone.edit("a", body)
    phone.edit("plain", {"n": 1})
    assert phone.push("a", "plain") == {}
    assert phone.asked == ["getAttachment"] * 3
    other = another(account)
    other.pull()
    assert other.documents == phone.documents and other.blobs == phone.blobs and not other.lacking
    # Other clients see them as attachments.
    couch = database(account)
    stubs = couch.call("GET", "/a").json()["_attachments"]
    assert {name: (stub["length"], stub["content_type"]) for name, stub in stubs.items()} == {
        "blob_/pic": (11, "image/png"), "blob_/rooms/0/a~1b": (3 * MIB, "image/jpeg"), "blob_/rooms/1/~0": (0, "image/png")}
    assert couch.raw("GET", "/a/blob_%2Frooms%2F0%2Fa~1b").content == long


def test_what_the_server_asks_about_a_collection_names_it(phone, account):
    """Couchbase Lite 4 names the default collection too, and has no blob for a request that doesn't."""
    database(account).raw("PUT", "/other/f", data=some(300))
    phone.blip.call("getCollections", {"collections": ["_default"], "checkpoint_ids": ["cp-a"]})
    phone.collection = "0"
    phone.edit("a", {"pics": [phone.blob(some(200)), phone.blob(some(300))]})
    assert phone.push("a", collection="0") == {}
    assert sorted(phone.asked) == ["getAttachment", "proveAttachment"]


def test_a_blob_that_the_document_has_is_not_asked_for(phone, account):
    data = some(2 * MIB)
    phone.edit("a", {"pic": phone.blob(data), "n": 1})
    assert phone.push("a") == {}
    before = used(database(account))
    for number in range(3):
        phone.edit("a", {"pic": phone.blob(data), "thumb": [phone.blob(data)], "n": number})
        assert phone.push("a") == {}
    assert phone.asked == ["getAttachment"]
    assert used(database(account)) - before < MIB
    phone.edit("a", {"n": 4})
    assert phone.push("a") == {}
    assert "_attachments" not in database(account).call("GET", "/a").json()


def test_attachments_of_other_clients_come_and_stay(phone, account):
    couch, photo = database(account), some(200_000)
    revision = couch.rev("a", n=1)
    couch.raw("PUT", "/a/photo.jpg?rev=" + revision, data=photo, headers={"Content-Type": "image/jpeg"})
    phone.pull()
    stub = phone.documents["a"][1]["_attachments"]["photo.jpg"]
    assert stub == {
        "content_type": "image/jpeg", "revpos": 2, "digest": digest_of(photo), "length": 200_000, "stub": True}
    assert phone.blobs == {digest_of(photo): photo}
    phone.edit("a", {**phone.documents["a"][1], "n": 2})
    assert phone.push("a") == {} and phone.asked == []
    known = couch.call("GET", "/a").json()
    assert known["n"] == 2 and known["_attachments"]["photo.jpg"]["revpos"] == 2
    assert couch.raw("GET", "/a/photo.jpg").content == photo


def test_attachments_that_a_device_would_take_for_blobs_come_and_stay(phone, account):
    """LiteCore drops `blob_1.png`. It never stores a document with `blob_x`, so that its pull had no end."""
    couch = database(account)
    contents = {name: some(100 + number) for number, name in enumerate(
        ["blob_x", "blob_1.png", "blob_/list/x", "blob_/list/0", "~blob_x", "blob", "blob_" + "n" * 507])}
    couch.rev("a", list=[1], _attachments={
        name: {"content_type": "text/plain", "data": base64.b64encode(data).decode()} for name, data in contents.items()})
    phone.pull()
    body = phone.documents["a"][1]
    assert {name: stub["digest"] for name, stub in body["_attachments"].items()} == {
        name if name == "blob" else "~" + name: digest_of(data) for name, data in contents.items()}
    phone.edit("a", {**body, "n": 2})
    assert phone.push("a") == {} and phone.asked == []
    assert couch.call("GET", "/a").json()["_attachments"].keys() == contents.keys()
    assert couch.raw("GET", "/a/blob_1.png").content == contents["blob_1.png"]


def test_blobs_in_places_that_a_device_does_not_find_come_to_others(phone, account):
    """LiteCore does not undo the escapes of a pointer, and there are pointers that no attachment has for its name."""
    couch, first, second = database(account), some(100), some(200)
    phone.edit("a", {"k" * 300: {"m" * 300: phone.blob(first)}, "a/b": [phone.blob(second)]})
    phone.edit("b", {"a/b": phone.blob(first)})
    assert phone.push("a", "b") == {}
    couch.raw("PUT", "/b/photo.jpg?rev=" + phone.documents["b"][0][0], data=some(300))
    other = another(account)
    other.pull()
    assert other.documents["a"] == phone.documents["a"] and not other.lacking
    body = other.documents["b"][1]
    assert body["a/b"] == phone.blob(first) and body["_attachments"].keys() == {"photo.jpg", "~blob_/a~1b"}
    # The device keeps the attachment of the blob that it replaces.
    other.edit("b", {**body, "a/b": other.blob(second)})
    assert other.push("b") == {}
    assert couch.raw("GET", "/b/blob_%2Fa~1b").content == second
    phone.pull()
    assert phone.documents["b"][1]["a/b"] == phone.blob(second) and not phone.lacking


def test_a_blob_that_another_client_removes_is_null_on_devices(phone, account):
    """Its bytes are gone sooner or later, and a device does not store a document whose blob it does not get."""
    couch, kept = database(account), some(300)
    phone.edit("a", {"pics": [phone.blob(some(100)), phone.blob(kept)], "say": {"cover": phone.blob(some(200))}, "n": 1})
    assert phone.push("a") == {}
    revision = phone.documents["a"][0][0]
    for name in ("blob_%2Fpics%2F0", "blob_%2Fsay%2Fcover"):
        answer = couch.raw("DELETE", f"/a/{name}?rev={revision}")
        assert answer.status_code == 200, answer.text
        revision = answer.json()["rev"]
    couch.call("POST", "/_compact", headers={"Content-Type": "application/json"})
    for device in (phone, another(account)):
        device.pull()
        assert device.documents["a"][1] == {"pics": [None, phone.blob(kept)], "say": {"cover": None}, "n": 1}
        assert not device.lacking
    phone.edit("a", {**phone.documents["a"][1], "n": 2})
    assert phone.push("a") == {}
    assert couch.call("GET", "/a").json()["_attachments"].keys() == {"blob_/pics/1"}


def test_a_device_that_removes_a_blob_keeps_what_others_added(phone, account):
    couch, photo = database(account), some(500)
    phone.edit("a", {"pic": phone.blob(some(100)), "other": phone.blob(some(200))})
    assert phone.push("a") == {}
    couch.raw("PUT", "/a/photo.jpg?rev=" + phone.documents["a"][0][0], data=photo, headers={"Content-Type": "image/jpeg"})
    phone.pull()
    body = {key: value for key, value in phone.documents["a"][1].items() if key != "pic"}
    phone.edit("a", body)
    assert phone.push("a") == {}
    stubs = couch.call("GET", "/a").json()["_attachments"]
    assert {name: stub["revpos"] for name, stub in stubs.items()} == {"blob_/other": 1, "photo.jpg": 2}
    # What comes back is new again for whoever has the revision without it.
    phone.edit("a", {**body, "pic": phone.blob(some(100))})
    assert phone.push("a") == {}
    assert couch.call("GET", "/a").json()["_attachments"]["blob_/pic"]["revpos"] == 4


def test_bytes_that_others_stored_have_to_be_proven(phone, account):
    secret = some(150_000)
    database(account).raw("PUT", "/other/f", data=secret)
    phone.edit("a", {"pic": phone.blob(secret)})
    assert phone.push("a") == {} and phone.asked == ["proveAttachment"]
    # One that only knows the digest.
    liar = another(account)
    liar.edit("b", {"pic": liar.blob(secret)})
    liar.blobs[digest_of(secret)] = b"guess"
    assert liar.push("b") == {"b": ("HTTP", 400)} and liar.asked == ["proveAttachment", "getAttachment"]
    liar.blobs.clear()
    assert liar.push("b") == {"b": ("HTTP", 404)}
    assert database(account).call("GET", "/b").status_code == 404


def test_a_blob_that_a_device_cannot_read_now_refuses_its_document_for_the_time_being(phone):
    phone.edit("a", {"pic": phone.blob(some(300))})
    # Without a domain an error is BLIP's own; without a number it says nothing.
    for error, code in (({"Error-Domain": "POSIX", "Error-Code": "24"}, 503), ({}, 503), ({"Error-Code": "404"}, 404)):
        phone.blip.serve = lambda request, error=error: not phone.blip.reply(request, b"", ERROR, **error)
        assert phone.push("a") == {"a": ("HTTP", code)}
    phone.blip.serve = phone._serve
    assert phone.push("a") == {}


def test_wrong_bytes_are_refused_and_the_rest_goes_on(phone, account):
    couch, before = database(account), used(database(account))
    blob, long = phone.blob(some(20)), phone.blob(some(2 * MIB))
    phone.blobs[long["digest"]] = some(2 * MIB, 1)
    bodies = {
        "longer": {"pic": {**blob, "length": 19}}, "shorter": {"pic": {**blob, "length": 21}},
        "wrong": {"pic": long}, "none": {"pic": {**blob, "digest": digest_of(b"none")}},
        "type": {"pic": {**blob, "content_type": "a\nb"}}, "size": {"pic": {**blob, "length": 10 * MIB + 1}},
        "many": {"pics": [phone.blob(some(5, seed)) for seed in range(101)]},
        "right": {"pic": {key: value for key, value in blob.items() if key != "length"}}, "plain": {"n": 1}}
    for name, body in bodies.items():
        phone.edit(name, body)
    errors = phone.push(*bodies)
    assert {name: code for name, (_, code) in errors.items()} == {
        "longer": 400, "shorter": 400, "wrong": 400, "none": 404, "type": 400, "size": 413, "many": 400}
    assert {row["id"] for row in couch.call("GET", "/_all_docs").json()["rows"]} == {"right", "plain"}
    assert used(couch) - before < MIB, "what was refused is not kept"


def test_ten_mib_and_twenty_in_the_administrators_databases(tmp_path):
    administrator = Administrator(tmp_path)
    try:
        made = administrator.create()
        admin = Phone(administrator.server, made.name, auth=administrator.auth, compress=False).connect()
        user = Phone(administrator.server, token=Account(administrator.server).token, compress=False).connect()
        for client, limit in ((admin, 20 * MIB), (user, 10 * MIB)):
            client.edit("a", {"pic": client.blob(bytes(limit))})
            client.edit("b", {"pic": client.blob(bytes(limit + 1))})
            assert client.push("a", "b") == {"b": ("HTTP", 413)}
            fresh = Phone(administrator.server, made.name if client is admin else "bookmarks")
            fresh.headers = client.headers
            fresh.connect().pull()
            assert [len(data) for data in fresh.blobs.values()] == [limit]
    finally:
        administrator.server.stop()


def test_a_full_store_refuses_for_the_time_being_and_the_session_goes_on(shared):
    guest = Phone(shared, token=shared.guest(), compress=False).connect()
    guest.edit("a", {"pics": [guest.blob(some(2 * MIB)), guest.blob(some(3 * MIB))]})
    guest.edit("b", {"pic": guest.blob(some(100))})
    assert guest.push("a", "b") == {"a": ("HTTP", 503)}
    # The rest of its bytes is taken, because a client waits until it has sent them.
    guest.edit("c", {"pic": guest.blob(some(3 * MIB))})
    assert guest.push("c", "b") == {"c": ("HTTP", 503)}
    assert guest.asked.count("getAttachment") >= 3


def test_a_document_that_is_too_long_is_refused_alone(phone, account):
    phone.blip.compress = False
    phone.edit("long", {"text": "x" * (40 * MIB)})
    phone.edit("b", {"n": 1})
    assert phone.push("long", "b") == {"long": ("HTTP", 413)}
    assert database(account).call("GET", "/b").json()["n"] == 1
    # As LiteCore packs it: one short frame of many bytes.
    phone.blip.compress, phone.blip.frame_bytes = True, 40 * MIB
    phone.edit("packed", {"text": "x" * (15 * MIB)})
    assert phone.push("packed", "b") == {"packed": ("HTTP", 413)}


def test_an_answer_without_end_is_stopped(phone, account):
    """A client that ignores that its bytes are not acknowledged any more breaks the protocol."""
    phone.blip.serve = lambda request: False
    phone.edit("a", {"pic": phone.blob(bytes(1_000))})
    number = phone.send("a")
    request = phone.blip.request()
    assert request.properties["Profile"] == "getAttachment"
    data = bytes(16_000)
    sent, first = 0, b"\0"
    with pytest.raises(Closed) as closed:
        while sent < 12 * MIB:
            part = first + data
            first, sent = b"", sent + len(part)
            phone.blip.crc_out = zlib.crc32(part, phone.blip.crc_out)
            phone.blip.websocket.send(
                varint(request.number) + varint(ANSWER | MORE) + part + phone.blip.crc_out.to_bytes(4, "big"))
        while True:
            phone.blip.pump()
    assert closed.value.code in (1002, None) and sent > 10 * MIB
    assert number not in phone.blip.answers or phone.blip.answers[number].error == ("HTTP", 400)


def test_a_hundred_open_answers_that_nobody_acknowledges(phone, account):
    data = some(400_000)
    database(account).raw("PUT", "/a/f", data=data)
    phone.blip.acknowledges = False
    numbers = [phone.blip.ask("getAttachment", digest=digest_of(data)) for _ in range(100)]
    # Meanwhile other messages are answered.
    assert phone.blip.call("getCheckpoint", client="x").error == ("HTTP", 404)
    assert not set(numbers) & phone.blip.answers.keys()
    received = sum(len(message.data) for message in phone.blip.open.values())
    assert received <= 16 * 150_000, "a few answers are begun, each until its window is full"
    assert another(account).pull().keys() == {"a"}


def test_many_blobs_come_in_turns_with_other_messages(phone, account):
    data = [some(300_000, seed) for seed in range(20)]
    for seed, content in enumerate(data):
        database(account).raw("PUT", f"/d{seed}/f", data=content)
    numbers = [phone.blip.ask("getAttachment", digest=digest_of(content)) for content in data]
    checkpoint = phone.blip.ask("getCheckpoint", client="x")
    phone.blip.answer(checkpoint)
    assert len(set(numbers) & phone.blip.answers.keys()) < len(numbers)
    assert [phone.blip.answer(number).body for number in numbers] == data
    for digest in (digest_of(b"none"), "md5-x", "sha1-x", ""):
        assert phone.blip.call("getAttachment", digest=digest).error == ("HTTP", 404)


def test_what_a_phone_broke_off_is_removed(account):
    couch = database(account)
    couch.put("b")
    before = used(couch)
    phone = another(account)
    phone.blip.serve = lambda request: False
    phone.edit("a", {"pic": phone.blob(some(5 * MIB))})
    phone.send("a")
    request = phone.blip.request()
    frames = phone.blip.frames(ANSWER, request.number, {}, some(5 * MIB), compress=False)
    for _ in range(200):
        phone.blip.websocket.send(next(frames))
    wait_until(lambda: used(couch) > before + MIB)
    phone.blip.websocket.drop()
    wait_until(lambda: used(couch) <= before)
    phone = another(account)
    phone.edit("a", {"pic": phone.blob(some(5 * MIB))})
    assert phone.push("a") == {}


def test_hotels_with_photos_are_merged(account):
    phones = [another(account) for _ in range(2)]
    hotel = {"type": "hotel", "name": "one"}
    phones[0].edit("hotel_1", hotel)
    assert phones[0].push("hotel_1") == {}
    phones[1].pull()
    for number, phone in enumerate(phones):
        phone.edit("hotel_1", {**hotel, f"pic{number}": phone.blob(some(1_000, number))})
        assert phone.push("hotel_1") == {}
    for phone in phones:
        phone.pull()
        assert {"pic0", "pic1"} <= phone.documents["hotel_1"][1].keys() and not phone.lacking
    assert json.dumps(phones[0].live(), sort_keys=True) == json.dumps(phones[1].live(), sort_keys=True)
