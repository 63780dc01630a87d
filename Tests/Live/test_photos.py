"""Photos of bookmarks: what is stored of them, by Pillow's own reading, and that every protocol has the same ones."""
import base64
import hashlib
import io
import random

import pillow_heif
import pytest
from PIL import ExifTags, Image, ImageChops, ImageCms, PngImagePlugin

from couch import Account
from waiting import wait_until

pillow_heif.register_heif_opener()

MIB = 1 << 20
XMP = (b'<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF '
       b'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description '
       b'xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="35,39.5N"/></rdf:RDF></x:xmpmeta>')
# What would say whose photo it is, and where it was taken.
TELLING = [b"Camera & Co", b"xpacket", b"taken at home", b"\x88\x25\x00\x04", b"\x25\x88\x04\x00", b"GPSLatitude"]


def picture(width=320, height=200, seed=0):
    image = Image.new("RGB", (width, height))
    image.putdata([((x + seed) % 256, y % 256, (x * y + seed) % 256) for y in range(height) for x in range(width)])
    return image


def exif(orientation):
    made = Image.Exif()
    made[0x0112] = orientation
    made[0x010F] = "Camera & Co"
    made[0x8825] = {1: "N", 2: (35.0, 39.0, 31.0), 3: "E", 4: (139.0, 44.0, 43.0)}
    return made.tobytes()


def saved(kind, orientation=6, image=None, **options):
    """A photo with a position, as bytes."""
    image, out = image or picture(), io.BytesIO()
    if kind == "PNG":
        options["pnginfo"] = PngImagePlugin.PngInfo()
        options["pnginfo"].add_text("Comment", "taken at home")
        options["pnginfo"].add_itxt("XML:com.adobe.xmp", XMP.decode())
    elif kind == "GIF":
        options["comment"] = b"taken at home"
    else:
        options["xmp"] = XMP
    if kind == "JPEG":
        options["comment"] = b"taken at home"
    if kind != "GIF":
        options["exif"] = exif(orientation)
    image.save(out, kind, **options)
    return out.getvalue()


def profile():
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def frames(data):
    image = Image.open(io.BytesIO(data))
    for at in range(getattr(image, "n_frames", 1)):
        image.seek(at)
        yield image.convert("RGBA")


PHOTOS = {
    "jpeg": ("JPEG", "image/jpeg", 6, {}),
    "progressive": ("JPEG", "image/jpeg", 8, {"progressive": True, "quality": 30}),
    "profile": ("JPEG", "image/jpeg", 3, {"icc_profile": profile()}),
    "png": ("PNG", "image/png", 6, {}),
    "webp": ("WEBP", "image/webp", 6, {}),
    "lossless": ("WEBP", "image/webp", 5, {"lossless": True, "icc_profile": profile()}),
    "animation": ("WEBP", "image/webp", 6, {"save_all": True, "append_images": [picture(seed=80)]}),
    "gif": ("GIF", "image/gif", None, {"save_all": True, "append_images": [picture(seed=80)], "loop": 0}),
    "heic": ("HEIF", "image/heic", None, {"quality": 60}),
}


@pytest.fixture
def hotel(shared):
    """A guest's token, and the path of a bookmark's photos."""
    token = shared.guest()
    assert shared.call("PUT", "/v1/bookmarks/h", token, json={"name": "H"}).status_code == 201
    return token, "/v1/bookmarks/h/photos/"


@pytest.fixture
def room(shared):
    """The same of a user, who has room for large photos."""
    token = Account(shared).token
    assert shared.call("PUT", "/v1/bookmarks/h", token, json={"name": "H"}).status_code == 201
    return token, "/v1/bookmarks/h/photos/"


@pytest.mark.parametrize("name", PHOTOS)
def test_nothing_of_the_person_is_stored_and_the_picture_stays(shared, hotel, name):
    kind, content_type, orientation, options = PHOTOS[name]
    token, path = hotel
    sent = saved(kind, orientation or 1, **options)
    assert any(mark in sent for mark in TELLING)
    # What the client says of the type does not count.
    answer = shared.call("PUT", path + name, token, data=sent, headers={"Content-Type": "text/html"})
    assert answer.status_code == 201, answer.text
    got = shared.call("GET", path + name, token)
    stored = got.content
    assert got.headers["Content-Type"] == content_type
    assert not any(mark in stored for mark in TELLING)
    assert answer.json() == {
        "name": name, "type": content_type, "size": len(stored), "rev": answer.json()["rev"],
        "digest": "md5-" + base64.b64encode(hashlib.md5(stored).digest()).decode()}
    assert answer.headers["Location"] == path + name and "ETag" not in answer.headers
    image = Image.open(io.BytesIO(stored))
    data = image.getexif()
    assert not data.get_ifd(ExifTags.IFD.GPSInfo) and set(data) <= {0x0112}
    if orientation:
        assert data[0x0112] == orientation
    assert image.info.get("icc_profile") == options.get("icc_profile")
    assert not image.info.get("xmp") and not image.info.get("comment") and not getattr(image, "text", None)
    before, after = list(frames(sent)), list(frames(stored))
    assert len(before) == len(after) == 1 + len(options.get("append_images", []))
    for one, other in zip(before, after):
        assert ImageChops.difference(one, other).getbbox() is None
    # What is clean stays as it is.
    again = shared.call("PUT", path + name, token, data=stored)
    assert (again.status_code, again.json()) == (200, answer.json())


def test_photo_is_in_every_answer_with_its_bookmark(shared, hotel):
    token, path = hotel
    photo = shared.call("PUT", path + "a%20b.jpg", token, data=saved("JPEG")).json()
    shared.call("PUT", path + "c", token, data=saved("PNG"))
    rev = photo.pop("rev")
    assert photo["name"] == "a b.jpg" and rev.startswith("2-")
    bookmark = shared.call("GET", "/v1/bookmarks/h", token).json()
    assert bookmark["photos"][0] == photo and [it["name"] for it in bookmark["photos"]] == ["a b.jpg", "c"]
    assert shared.call("GET", "/v1/bookmarks", token).json()["bookmarks"] == [bookmark]
    assert shared.call("GET", "/v1/mirror", token).json()["hotels"] == [bookmark]
    # New facts keep them.
    assert shared.call("PUT", "/v1/bookmarks/h", token, json={"name": "I"}).json()["photos"] == bookmark["photos"]
    assert shared.call("DELETE", path + "a%20b.jpg", token).status_code == 204
    assert [it["name"] for it in shared.call("GET", "/v1/bookmarks/h", token).json()["photos"]] == ["c"]
    assert shared.call("GET", path + "a%20b.jpg", token).status_code == 404
    assert shared.call("DELETE", path + "a%20b.jpg", token).status_code == 404
    shared.call("DELETE", path + "c", token)
    assert "photos" not in shared.call("GET", "/v1/bookmarks/h", token).json()


def test_photos_and_attachments_of_sync_are_the_same(shared, hotel):
    token, one, two = hotel[0], saved("JPEG"), saved("WEBP")
    couch = shared.call("GET", "/v1/me", token).json()["couch"].removeprefix(shared.url)
    shared.call("PUT", "/v1/bookmarks/h/photos/v1", token, data=one)
    document = shared.call("GET", couch + "/h", token).json()
    stub = document["_attachments"]["v1"]
    assert stub["content_type"] == "image/jpeg" and stub["revpos"] == 2
    assert shared.call("GET", couch + "/h/v1", token).content == shared.call(
        "GET", "/v1/bookmarks/h/photos/v1", token).content
    # As PouchDB sends it, with an attachment that is no photo.
    document["_attachments"]["phone/2"] = {
        "content_type": "image/webp", "data": base64.b64encode(two).decode()}
    document["_attachments"]["bill"] = {"content_type": "text/plain", "data": "MTAw"}
    answer = shared.call("PUT", couch + "/h", token, json=document)
    assert answer.status_code == 201, answer.text
    bookmark = shared.call("GET", "/v1/bookmarks/h", token).json()
    assert [it["name"] for it in bookmark["photos"]] == ["v1", "phone/2"]
    got = shared.call("GET", "/v1/bookmarks/h/photos/phone%2F2", token)
    assert got.content == two and got.headers["Content-Type"] == "image/webp"
    assert shared.call("GET", "/v1/bookmarks/h/photos/bill", token).status_code == 404
    assert shared.call("DELETE", "/v1/bookmarks/h/photos/bill", token).status_code == 404
    taken = shared.call("PUT", "/v1/bookmarks/h/photos/bill", token, data=one)
    assert (taken.status_code, taken.json()["error"]) == (409, "conflict")
    shared.call("DELETE", "/v1/bookmarks/h/photos/v1", token)
    assert sorted(shared.call("GET", couch + "/h", token).json()["_attachments"]) == ["bill", "phone/2"]


def test_reads_by_range_tag_and_head(shared, room):
    token, path = room
    shared.call("PUT", path + "p", token, data=saved("PNG", image=noise(2)))
    whole = shared.call("GET", path + "p", token)
    tag = whole.headers["ETag"]
    assert len(whole.content) > 256 << 10, "it is answered in parts"
    assert whole.headers["X-Content-Type-Options"] == "nosniff"
    assert whole.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert whole.headers["Cache-Control"] == "private, no-cache"
    assert shared.call("GET", path + "p", token, headers={"If-None-Match": tag}).status_code == 304
    part = shared.call("GET", path + "p", token, headers={"Range": "bytes=8-15"})
    assert (part.status_code, part.content) == (206, whole.content[8:16])
    assert part.headers["Content-Range"] == f"bytes 8-15/{len(whole.content)}"
    beyond = shared.call("GET", path + "p", token, headers={"Range": f"bytes={len(whole.content)}-"})
    assert beyond.status_code == 416 and beyond.headers["Content-Type"] == "application/problem+json"
    stale = shared.call("GET", path + "p", token, headers={"Range": "bytes=8-15", "If-Range": '"other"'})
    assert stale.status_code == 200 and stale.content == whole.content
    assert shared.call("GET", path + "p", shared.guest()).status_code == 404


def test_conditions_are_about_the_photo(shared, hotel):
    token, path = hotel
    one, two = saved("PNG"), saved("PNG", image=picture(seed=7))
    assert shared.call("PUT", path + "p", token, data=one, headers={"If-Match": "*"}).status_code == 412
    assert shared.call("PUT", path + "p", token, data=one, headers={"If-None-Match": "*"}).status_code == 201
    tag = shared.call("GET", path + "p", token).headers["ETag"]
    assert shared.call("PUT", path + "p", token, data=two, headers={"If-None-Match": "*"}).status_code == 412
    assert shared.call("PUT", path + "p", token, data=two, headers={"If-Match": '"none"'}).status_code == 412
    assert shared.call("PUT", path + "p", token, data=two, headers={"If-Match": tag}).status_code == 200
    assert shared.call("DELETE", path + "p", token, headers={"If-Match": tag}).status_code == 412
    tag = shared.call("GET", path + "p", token).headers["ETag"]
    assert shared.call("DELETE", path + "p", token, headers={"If-Match": tag}).status_code == 204


REFUSED = {
    "nothing": (b"", 415), "text": (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 415),
    "bitmap": (None, 415), "cut off": (None, 422), "sequence": (b"\0\0\0\x18ftypheic\0\0\0\0heicmif1\0\0\0\x08moov", 422),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_readable_photo_is_refused_and_leaves_nothing(shared, room, name):
    token, path = room
    data, status = REFUSED[name]
    if name == "bitmap":
        out = io.BytesIO()
        picture().save(out, "BMP")
        data = out.getvalue()
    if name == "cut off":
        data = saved("PNG", image=noise(1))[:-300]
        assert len(data) > MIB, "a part of it was written"
    answer = shared.call("PUT", path + "p", token, data=data)
    assert answer.status_code == status, answer.text
    assert answer.json()["error"] == {415: "unsupported_photo", 422: "malformed_photo"}[status]
    assert status == 422 or "JPEG, PNG, WebP, GIF or HEIC" in answer.json()["reason"]
    assert "photos" not in shared.call("GET", "/v1/bookmarks/h", token).json()
    usage = shared.call("GET", "/v1/me", token).json()["usage"]
    assert usage["bytes"] < 10_000


def test_limits_of_photos(shared, room):
    token, path = room
    limits = shared.call("GET", "/v1/limits").json()["limits"]
    limits = {it["name"]: it["value"] for it in limits}
    assert limits["photos"] == 20 and limits["photoBytes"] == 10 * MIB
    large = saved("JPEG") + bytes(10 * MIB)
    # What follows the picture counts while it arrives, and is not stored.
    assert shared.call("PUT", path + "p", token, data=large[:10 * MIB]).json()["size"] < MIB
    refused = shared.call("PUT", path + "q", token, data=large[:10 * MIB + 1])
    assert (refused.status_code, refused.json()["error"]) == (413, "attachment_too_large")
    refused = shared.call("PUT", path + "q", token, data=iter([large]))
    assert (refused.status_code, refused.json()["error"]) == (413, "attachment_too_large")
    small = saved("GIF", image=picture(8, 8))
    for at in range(19):
        assert shared.call("PUT", path + str(at), token, data=small).status_code == 201
    refused = shared.call("PUT", path + "one more", token, data=small)
    assert (refused.status_code, refused.json()["error"]) == (422, "too_many_photos")
    assert shared.call("PUT", path + "p", token, data=small).status_code == 200, "one of them may change"


def test_quota_of_a_guest_counts_photos(shared, hotel):
    token, path = hotel
    quota = shared.call("GET", "/v1/me", token).json()["quota"]["bytes"]
    assert quota == MIB
    photo = saved("PNG", image=noise(0, 300))
    answers = [shared.call("PUT", path + "0", token, data=photo)]
    while answers[-1].status_code == 201:
        answers.append(shared.call("PUT", path + str(len(answers)), token, data=saved("PNG", image=noise(len(answers), 300))))
    assert 2 < len(answers) < 6
    assert (answers[-1].status_code, answers[-1].json()["error"]) == (507, "quota_exceeded")
    refused = shared.call("PUT", path + "large", token, data=saved("PNG", image=noise(1)))
    assert (refused.status_code, refused.json()["error"]) == (507, "quota_exceeded")
    assert shared.call("DELETE", path + "0", token).status_code == 204


def noise(seed, side=1000):
    return Image.frombytes("RGB", (side, side), random.Random(seed).randbytes(side * side * 3))


def test_repeated_put_with_a_key_gets_the_first_answer(shared, hotel):
    token, path = hotel
    data, key = saved("JPEG"), {"Idempotency-Key": "once"}
    first = shared.call("PUT", path + "p", token, data=data, headers=key)
    shared.call("DELETE", path + "p", token)
    again = shared.call("PUT", path + "p", token, data=data, headers=key)
    assert (again.status_code, again.json(), again.headers["Location"]) == (201, first.json(), path + "p")
    assert shared.call("GET", path + "p", token).status_code == 404
    other = shared.call("PUT", path + "p", token, data=saved("PNG"), headers=key)
    assert (other.status_code, other.json()["error"]) == (422, "idempotency_key_reused")
    later = shared.call("PUT", path + "q", token, data=data, headers={"Prefer": "respond-async"})
    assert later.status_code == 202
    wait_until(lambda: shared.call("GET", later.headers["Location"], token).json()["status"] == "committed")
    assert shared.call("GET", path + "q", token).status_code == 200


def test_photo_needs_a_bookmark(shared, hotel):
    token, _ = hotel
    for method in "PUT", "GET", "DELETE":
        answer = shared.call(method, "/v1/bookmarks/none/photos/p", token, data=saved("JPEG") if method == "PUT" else None)
        assert answer.status_code == 404, answer.text
    answer = shared.call("PUT", "/v1/bookmarks/h/photos/_p", token, data=saved("JPEG"))
    assert answer.status_code == 400


def test_lists_have_photos_by_role(shared):
    names = {}
    for role in "owner", "editor", "reader", "stranger":
        name = f"{role}-{hashlib.sha256(shared.guest().encode()).hexdigest()[:12]}"
        answer = shared.call("POST", "/v1/users", json={"username": name, "password": "a good password"})
        names[role] = (name, answer.json()["token"])
    owner = names["owner"][1]
    made = shared.call("POST", "/v1/lists", owner, json={"title": "Rome"}).json()
    path = f"/v1/lists/{made['id']}"
    for role in "editor", "reader":
        invitation = shared.call("POST", path + "/invitations", owner, json={"role": role}).json()
        accepted = shared.call("POST", f"/v1/invitations/{invitation['token']}/accept", names[role][1])
        assert accepted.status_code == 200, accepted.text
    shared.call("PUT", path + "/bookmarks/h", owner, json={"name": "H"})
    photo, data = path + "/bookmarks/h/photos/p", saved("JPEG")
    assert shared.call("PUT", photo, names["reader"][1], data=data).status_code == 403
    assert shared.call("PUT", photo, names["stranger"][1], data=data).status_code == 404
    answer = shared.call("PUT", photo, names["editor"][1], data=data)
    assert answer.status_code == 201 and answer.headers["Location"] == photo
    for role in "owner", "editor", "reader":
        token = names[role][1]
        assert shared.call("GET", photo, token).headers["Content-Type"] == "image/jpeg"
        shown = shared.call("GET", path + "/bookmarks", token).json()["bookmarks"][0]
        assert shown["photos"][0]["name"] == "p" and shown["addedBy"] == names["owner"][0]
        assert shared.call("GET", path + "/mirror", token).json()["hotels"][0]["photos"] == shown["photos"]
    assert shared.call("GET", photo, names["stranger"][1]).status_code == 404
    # A draft says nothing of photos: its author sees those of the list, and they stay when it is published.
    draft = shared.call("PUT", path + "/bookmarks/h?draft=true", names["editor"][1], json={"name": "I"})
    assert draft.status_code in (200, 201), draft.text
    seen = shared.call("GET", path + "/bookmarks/h", names["editor"][1]).json()
    assert seen["draft"] and seen["photos"] == shown["photos"]
    published = shared.call("POST", path + "/bookmarks/h/publish", names["editor"][1])
    assert published.status_code == 200 and published.json()["photos"] == shown["photos"]
    assert shared.call("GET", photo, owner).status_code == 200
    # A link shows hotels, and nothing that a member has added to them.
    link = shared.call("POST", path + "/links", owner).json()
    linked = shared.call("GET", "/v1/links/" + link["secret"]).json()["hotels"][0]
    assert "photos" not in linked and "_attachments" not in linked
    assert shared.call("DELETE", photo, names["reader"][1]).status_code == 403
    assert shared.call("DELETE", photo, names["editor"][1]).status_code == 204


def test_photo_that_two_phones_add_at_once_is_not_lost(shared, hotel):
    """Both have changed the same revision: the merge keeps what each has added and removed."""
    token = hotel[0]
    shared.call("PUT", "/v1/bookmarks/h/photos/old", token, data=saved("GIF", image=picture(8, 8)))
    couch = shared.call("GET", "/v1/me", token).json()["couch"].removeprefix(shared.url)
    document = shared.call("GET", couch + "/h?revs=true", token).json()
    line = document["_revisions"]
    for phone, digit in (("one", "0"), ("two", "f")):
        attachments = dict(document["_attachments"]) if phone == "one" else {}
        attachments[phone] = {"content_type": "image/jpeg", "revpos": 3,
                              "data": base64.b64encode(saved("JPEG", image=picture(16, 16))).decode()}
        body = {**document, "_rev": f"3-{digit * 32}", "_attachments": attachments,
                "_revisions": {"start": 3, "ids": [digit * 32, *line["ids"]]}}
        answer = shared.call("POST", couch + "/_bulk_docs", token, json={"docs": [body], "new_edits": False})
        assert answer.json() == [], answer.text
    wait_until(lambda: "_conflicts" not in shared.call("GET", couch + "/h?conflicts=true", token).json())
    bookmark = shared.call("GET", "/v1/bookmarks/h", token).json()
    assert sorted(it["name"] for it in bookmark["photos"]) == ["one", "two"]
    for name in "one", "two":
        assert shared.call("GET", f"/v1/bookmarks/h/photos/{name}", token).status_code == 200


def test_photo_of_a_guest_comes_along_into_the_account(shared):
    name = "photos-" + hashlib.sha256(shared.guest().encode()).hexdigest()[:12]
    user = {"username": name, "password": "a good password"}
    token = shared.call("POST", "/v1/users", json=user).json()["token"]
    guest = shared.guest()
    for person, photo in ((token, "user"), (guest, "guest")):
        shared.call("PUT", "/v1/bookmarks/h", person, json={"name": "H"})
        shared.call("PUT", f"/v1/bookmarks/h/photos/{photo}", person, data=saved("JPEG"))
    shared.call("PUT", "/v1/bookmarks/i", guest, json={"name": "I"})
    shared.call("PUT", "/v1/bookmarks/i/photos/p", guest, data=saved("PNG"))
    session = shared.call("POST", "/v1/sessions", json={**user, "guestToken": guest})
    assert session.status_code == 200, session.text
    for path in "h/photos/user", "h/photos/guest", "i/photos/p":
        assert shared.call("GET", "/v1/bookmarks/" + path, token).status_code == 200, path
