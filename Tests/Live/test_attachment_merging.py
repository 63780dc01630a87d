"""Y01: attachments of a hotel that several devices change at once."""
import base64

from attachments import inline, md5
from couch import Account, Database

BASE = {"type": "hotel", "name": "Inn"}


def write(database, revision, *ancestors, **attachments):
    """Writes a hotel's revision as a device that was offline does: with bytes, or as a stub of an ancestor's."""
    digits, ids = revision.split("-")[0], [each.split("-")[1] for each in (revision, *ancestors)]
    sent = {name: {"stub": True} if content is None else {**inline(content), "revpos": int(digits)}
            for name, content in attachments.items()}
    document = {**BASE, "_id": "h", "_rev": revision, "_revisions": {"start": int(digits), "ids": ids}, "_attachments": sent}
    assert database.bulk(document, new_edits=False) == []


def read(database):
    document = database.call("GET", "/h?attachments=true&conflicts=true").json()
    assert "_conflicts" not in document
    return {name: base64.b64decode(each["data"]) for name, each in document.get("_attachments", {}).items()}


def test_photos_that_two_devices_added_offline_both_stay(database):
    write(database, "1-a", old=b"old")
    write(database, "2-b", "1-a", old=None, **{"left.jpg": b"left", "room.jpg": b"room of the left"})
    write(database, "2-c", "1-a", old=None, **{"right.jpg": b"right", "room.jpg": b"room of the right"})
    merged = {"old": b"old", "left.jpg": b"left", "right.jpg": b"right", "room.jpg": b"room of the right",
              "room (2).jpg": b"room of the left"}
    assert read(database) == merged
    for name, content in merged.items():
        assert database.raw("GET", f"/h/{name}").content == content
    write(database, "2-d", "1-a", old=None, **{"third.jpg": b"third", "room.jpg": b"room of the left"})
    assert read(database) == {**merged, "third.jpg": b"third"}


def test_what_one_device_removed_or_changed_is_so(database):
    write(database, "1-a", kept=b"kept", changed=b"old", removed=b"removed", both=b"old")
    write(database, "2-b", "1-a", kept=None, changed=b"new", both=b"new")
    write(database, "2-c", "1-a", kept=None, changed=None, removed=None)
    assert read(database) == {"kept": b"kept", "changed": b"new", "both": b"new"}, "a change outlives a removal"


def test_peer_that_has_the_winner_gets_what_was_merged_into_it(database):
    write(database, "1-a", old=b"old")
    write(database, "2-b", "1-a", old=None, left=b"left")
    write(database, "2-c", "1-a", old=None, right=b"right")
    found = database.call("GET", '/h?atts_since=["2-c"]').json()
    named = found["_attachments"]
    assert named["old"]["stub"] and named["right"]["stub"]
    assert base64.b64decode(named["left"]["data"]) == b"left"
    assert named["left"]["revpos"] == int(found["_rev"].split("-")[0]), "others judge by it what a peer has"


def test_peer_gets_what_a_restored_revision_has_again(database):
    one = database.call("PUT", "/n", json={"type": "page", "_attachments": {"f": inline(b"hi")}}).json()["rev"]
    two = database.call("DELETE", f"/n/f?rev={one}").json()["rev"]
    answer = database.call_v1("POST", "/v1/documents/n/restore", json={"rev": one})
    assert answer.status_code == 200, answer.text
    found = database.call("GET", f'/n?atts_since=["{two}"]').json()["_attachments"]["f"]
    assert base64.b64decode(found["data"]) == b"hi" and found["revpos"] == 3, "replicators judge by it what a peer has"


def test_photo_of_a_bookmark_that_comes_back_is_new_for_peers(database):
    write(database, "1-a", kept=b"kept")
    write(database, "2-b", "1-a", kept=None, back=b"back")
    assert database.call_v1("PUT", "/v1/bookmarks/h", json=BASE).status_code == 201
    done = database.call_v1("POST", "/v1/bookmarks", json={"remove": ["h"]}).json()
    assert database.call_v1("POST", "/v1/bookmarks", json=done["undo"]).status_code == 200
    found = database.call("GET", "/h").json()
    generation = int(found["_rev"].split("-")[0])
    assert {name: stub["revpos"] for name, stub in found["_attachments"].items()} == {"kept": generation, "back": generation}
    # What the revision before has too keeps its own.
    assert database.call("PUT", "/h", json={**found, "n": 1}).status_code == 201
    answer = database.call_v1("POST", "/v1/documents/h/restore", json={"rev": "1-a"})
    assert answer.status_code == 200, answer.text
    assert database.call("GET", "/h").json()["_attachments"]["kept"]["revpos"] == generation


def test_guests_photos_join_those_of_the_account(shared, account):
    guest, own = Database(shared), Database(shared, account.token)
    for database, attachments in [(guest, {"g": inline(b"guest"), "f": inline(b"of the guest")}), (own, {"f": inline(b"of the account")})]:
        answer = database.call_v1("PUT", "/v1/bookmarks/h", json={"name": "Inn"})
        assert answer.status_code == 201, answer.text
        document = database.call("GET", "/h").json()
        assert database.call("PUT", "/h", json={**document, "_attachments": attachments}).status_code == 201
    body = {"username": account.name, "password": account.password, "guestToken": guest.token}
    assert shared.call("POST", "/v1/sessions", json=body).status_code == 200
    assert read(own) == {"f": b"of the account", "g": b"guest", "f (2)": b"of the guest"}


def test_published_draft_names_no_attachments_without_bytes(shared):
    account = Account(shared)
    own = Database(shared, account.token)
    made = own.call_v1("POST", "/v1/lists", json={"title": "Trip"}).json()
    stub = {"content_type": "text/plain", "revpos": 1, "digest": md5(b"gone"), "length": 4, "stub": True}
    content = {**BASE, "_attachments": {"f": stub}}
    draft = {"type": "draft", "list": made["id"], "document": "h", "content": content}
    assert own.put(f"draft:{made['id']}:h", **draft).status_code == 201
    answer = own.call_v1("POST", f"/v1/lists/{made['id']}/bookmarks/h/publish")
    assert answer.status_code == 200, answer.text
    of_list = Database(shared, account.token, name="list-" + made["id"])
    document = of_list.call("GET", "/h").json()
    assert document["name"] == "Inn" and "_attachments" not in document
