"""The delivery ledger: which device has what, and why something is missing on one. Each cause is made on purpose."""
import threading
import uuid

import pytest

from couch import Account, Database
from phone import Phone
from pouch import Pouch, Stopped
from waiting import wait_until


@pytest.fixture
def account(shared):
    return Account(shared)


def device_of(account, name):
    """A PouchDB device with a name."""
    pouch = Pouch(account.server, account.token, account.store)
    pouch.fields["Device-Name"] = name
    return pouch


def devices(account, query=""):
    found = account.server.call("GET", "/v1/sync/devices" + query, account.token).json()["devices"]
    return {device.get("name", device.get("agent")): device for device in found}


def explain(account, name, query=""):
    answer = account.server.call("GET", f"/v1/sync/explain?id={name}{query}", account.token)
    assert answer.status_code == 200, answer.text
    return answer.json()


def on(explanation, name):
    """The state and the cause on a device."""
    found, = [each for each in explanation["devices"] if each.get("name") == name]
    return found["state"], found["cause"]


def items(account, state, query=""):
    answer = account.server.call("GET", f"/v1/sync/items?state={state}{query}", account.token)
    assert answer.status_code == 200, answer.text
    return answer.json()


def bookmark(account, name):
    assert account.server.call("PUT", "/v1/bookmarks/" + name, account.token, json={"name": name}).status_code == 201


def test_device_that_has_synced_has_what_it_confirmed(account):
    bookmark(account, "h1")
    phone = device_of(account, "Anna's phone")
    phone.sync()
    assert on(explain(account, "h1"), "Anna's phone") == ("delivered", "delivered")
    bookmark(account, "h2")
    assert on(explain(account, "h2"), "Anna's phone") == ("pending", "behind_checkpoint")
    device = devices(account)["Anna's phone"]
    assert device["client"] == "pouchdb" and device["pending"] == 2 and not device["connected"]
    assert [item["id"] for item in items(account, "pending", "&device=" + device["id"])["items"]] == [
        "h2", "bookmarkedhotels"]
    assert [item["id"] for item in items(account, "delivered", "&device=" + device["id"])["items"]] == ["h1"]
    assert items(account, "in_transit", "&device=" + device["id"])["items"] == []
    phone.sync()
    assert devices(account)["Anna's phone"]["pending"] == 0
    assert account.server.call("DELETE", "/v1/bookmarks/h2", account.token).status_code == 204
    assert explain(account, "h2")["reason"] == "It was deleted, and the deletion is stored here"
    phone.sync()
    found = explain(account, "h2")
    assert on(found, "Anna's phone") == ("delivered", "delivered")
    assert found["devices"][0]["reason"] == "The device has been told that it was deleted"


def test_pages_of_items_go_on_where_they_ended(account):
    phone = device_of(account, "P")
    bookmark(account, "h0")
    phone.sync()
    for number in range(5):
        bookmark(account, f"h{number + 1}")
    device, found, after = devices(account)["P"]["id"], [], ""
    while True:
        page = items(account, "pending", f"&device={device}&limit=2{after}")
        found += [item["id"] for item in page["items"]]
        if "next" not in page:
            break
        after = "&after=" + page["next"]
    assert sorted(found) == ["bookmarkedhotels", "h1", "h2", "h3", "h4", "h5"]


def test_connected_device_has_changes_in_transit(account):
    phone = device_of(account, "P")
    bookmark(account, "h1")
    phone.sync()
    waiting = threading.Thread(
        target=lambda: phone.call("GET", "_changes?feed=longpoll&filter=_doc_ids&doc_ids=%5B%22never%22%5D&timeout=5000"
                                         f"&since={phone.local['pull']}"))
    waiting.start()
    wait_until(lambda: devices(account)["P"]["connected"])
    bookmark(account, "h2")
    assert on(explain(account, "h2"), "P") == ("in_transit", "in_transit")
    device = devices(account)["P"]["id"]
    assert "h2" in [item["id"] for item in items(account, "in_transit", "&device=" + device)["items"]]
    assert items(account, "pending", "&device=" + device)["items"] == []
    waiting.join()


def test_what_no_device_sent_and_what_only_one_way_was_synced(account):
    phone = device_of(account, "P")
    phone.put("local", x=1)
    assert explain(account, "local")["cause"] == "not_sent"
    phone.begin()
    phone.push()
    found = explain(account, "local")
    assert (found["state"], found["cause"]) == ("delivered", "stored")
    assert on(found, "P") == ("pending", "sends_only")


def test_revision_that_lost_is_explained(account):
    Database(account.server, account.token, account.store).graft("d", "2-c 1-a", "2-b 1-a")
    phone = device_of(account, "P")
    phone.sync()
    found = explain(account, "d", "&rev=2-b")
    assert (found["cause"], on(found, "P")) == ("conflict_lost", ("delivered", "conflict_lost"))
    assert explain(account, "d", "&rev=1-a")["cause"] == "stored"
    assert explain(account, "d", "&rev=9-f")["cause"] == "not_sent"


def test_couchbase_lite_and_mirror_are_devices(account):
    bookmark(account, "h1")
    assert Database(account.server, account.token, account.store).call("PUT", "/_design/d", json={"language": "query"}).status_code == 201
    phone = Phone(account.server, token=account.token, headers={"Device-Name": "Lite"}).connect()
    phone.pull()
    answer = phone.blip.call(
        "setCheckpoint", {"time": 1, "remote": phone.since}, client="cp-1")
    assert answer.error is None
    assert phone.close() == 1000
    assert devices(account)["Lite"]["client"] == "couchbase-lite"
    assert on(explain(account, "h1"), "Lite") == ("delivered", "delivered")
    assert on(explain(account, "_design/d"), "Lite") == ("rejected", "filtered")

    def mirror(token=""):
        return account.server.call(
            "GET", "/v1/mirror" + token, account.token, headers={"Device-Name": "Page"}).json()["token"]
    token = mirror()
    assert "Page" not in devices(account)  # It may not have arrived.
    mirror("?since=" + token)
    assert devices(account)["Page"]["client"] == "mirror"
    assert on(explain(account, "h1"), "Page") == ("delivered", "delivered")
    bookmark(account, "h2")
    assert on(explain(account, "h2"), "Page") == ("pending", "behind_checkpoint")


class Guest:
    """A guest, whose store is soon full: 200 documents and the list."""

    def __init__(self, server):
        self.server, self.token = server, server.guest()
        self.store = server.call("GET", "/v1/me", self.token).json()["store"]


def test_refused_revision_is_kept_and_can_be_sent_again_or_dropped(shared):
    guest = Guest(shared)
    phone = device_of(guest, "P")
    for number in range(201):
        phone.put(f"d{number}", x=number)
    phone.sync()
    phone.put("more", x="kept")
    with pytest.raises(Stopped) as stopped:
        phone.push()
    assert stopped.value.args[0] == 507
    found = explain(guest, "more")
    assert (found["state"], found["cause"]) == ("rejected", "quota") and found["reason"]
    item, = items(guest, "rejected")["items"]
    assert item["id"] == "more" and item["document"] == {"x": "kept"} and item["canRetry"] and item["name"] == "P"
    assert shared.call("POST", "/v1/sync/items/more/retry", guest.token).status_code == 507
    assert item["retriesLeft"] == 3 and found["reason"].endswith("The server tries again when something was deleted")
    assert phone.call("DELETE", "d0?rev=" + phone.winner("d0")[0][0])[0] == 200
    assert items(guest, "rejected")["items"] == []
    assert explain(guest, "more")["cause"] == "stored"
    for name in ("one", "two"):
        phone.put(name, x=name)
        with pytest.raises(Stopped):
            phone.push()
    assert sorted(item["id"] for item in items(guest, "rejected")["items"]) == ["one", "two"]
    assert phone.call("DELETE", "d1?rev=" + phone.winner("d1")[0][0])[0] == 200
    left, = items(guest, "rejected")["items"]
    assert left["retriesLeft"] == 2
    # The server has tried a moment ago: now it is the person's turn.
    assert phone.call("DELETE", "d2?rev=" + phone.winner("d2")[0][0])[0] == 200
    answer = shared.call("POST", f"/v1/sync/items/{left['id']}/retry", guest.token)
    assert answer.status_code == 200 and answer.json() == {"id": left["id"], "rev": left["rev"]}, answer.text
    assert items(guest, "rejected")["items"] == []
    assert Database(shared, guest.token, guest.store).call("GET", "/more").json()["x"] == "kept"
    assert shared.call("DELETE", "/v1/sync/items/more", guest.token).status_code == 404
    phone.put("last", x="dropped")
    for attempts in (1, 2):
        with pytest.raises(Stopped):
            phone.push()
        assert [item["attempts"] for item in items(guest, "rejected")["items"]] == [attempts]
    assert shared.call("DELETE", "/v1/sync/items/last", guest.token).status_code == 204
    assert explain(guest, "last")["cause"] == "not_sent"
    with pytest.raises(Stopped):
        phone.push()
    assert explain(guest, "last")["cause"] == "quota"
    # Who signs up has more room, and devices that send everything again to the new store.
    body = {"username": "user-" + uuid.uuid4().hex, "password": "a good password"}
    guest.token = phone.token = shared.call("POST", "/v1/users", guest.token, json=body).json()["token"]
    phone.aim(shared.url, shared.call("GET", "/v1/me", guest.token).json()["store"])
    phone.restart()  # The new store has no checkpoint of it.
    phone.sync()
    assert explain(guest, "last")["cause"] == "stored" and items(guest, "rejected")["items"] == []


def test_document_that_a_rule_refuses_is_rejected_with_its_reason(account):
    list_id = account.server.call("POST", "/v1/lists", account.token, json={"title": "Rome"}).json()["id"]
    phone = Pouch(account.server, account.token, "list-" + list_id)
    phone.fields["Device-Name"] = "P"
    phone.put("draft:x", x=1)
    phone.begin()
    phone.push()
    assert phone.denied == ["draft:x"]
    found = explain(account, "draft:x", "&list=" + list_id)
    assert (found["state"], found["cause"]) == ("rejected", "rejected") and "draft" in found["reason"]
    item, = items(account, "rejected", "&list=" + list_id)["items"]
    assert item["error"] == "forbidden" and "document" not in item and not item["canRetry"]


@pytest.mark.parametrize("way", ["lite", "put", "bulk"])
def test_what_a_reader_of_a_list_sends_is_rejected_for_want_of_a_right(account, way):
    reader = Account(account.server)
    list_id = account.server.call("POST", "/v1/lists", account.token, json={"title": "Rome"}).json()["id"]
    invitation = account.server.call(
        "POST", f"/v1/lists/{list_id}/invitations", account.token, json={"role": "reader"}).json()
    account.server.call("POST", f"/v1/invitations/{invitation['token']}/accept", reader.token)
    if way == "lite":
        phone = Phone(account.server, "list-" + list_id, reader.token, headers={"Device-Name": "P"}).connect()
        phone.edit("x", {"x": 1})
        assert phone.push("x")
        phone.close()
    else:
        document = {"x": 1, "_id": "x", "_rev": "1-a"}
        path = f"/couch/list-{list_id}/" + ("x?new_edits=false" if way == "put" else "_bulk_docs")
        account.server.call("PUT" if way == "put" else "POST", path, reader.token, headers={"Device-Name": "P"},
                            json=document if way == "put" else {"new_edits": False, "docs": [document]})
    found = explain(reader, "x", "&list=" + list_id)
    assert (found["state"], found["cause"]) == ("rejected", "no_right") and "read this list" in found["reason"]
    item, = items(reader, "rejected", "&list=" + list_id)["items"]
    assert item["name"] == "P" and item["error"] == "forbidden" and not item["canRetry"]
    # The right may have been given since.
    assert found["reason"].endswith(f". That was at {item['time']}: send it again from the device if it has changed")


@pytest.mark.parametrize("way", ["lite", "put", "bulk"])
def test_document_that_is_too_large_is_rejected_however_it_comes(account, way):
    body = {"text": ["x" * 500_000] * 3}
    if way == "lite":
        phone = Phone(account.server, token=account.token, headers={"Device-Name": "P"}).connect()
        phone.edit("long", body)
        assert phone.push("long")
        phone.close()
    else:
        document = {**body, "_id": "long", "_rev": "1-a"}
        path = f"/couch/{account.store}/" + ("long?new_edits=false" if way == "put" else "_bulk_docs")
        account.server.call("PUT" if way == "put" else "POST", path, account.token, headers={"Device-Name": "P"},
                            json=document if way == "put" else {"new_edits": False, "docs": [document]})
    found = explain(account, "long")
    assert (found["state"], found["cause"]) == ("rejected", "rejected") and "large" in found["reason"]
    item, = items(account, "rejected")["items"]
    assert item["name"] == "P" and item["attempts"] == 1 and not item["canRetry"] and "document" not in item


def test_draft_and_lost_right_in_a_list(account):
    friend = Account(account.server)
    path = "/v1/lists/" + account.server.call(
        "POST", "/v1/lists", account.token, json={"title": "Rome"}).json()["id"]
    invitation = account.server.call("POST", path + "/invitations", account.token, json={"role": "editor"}).json()
    account.server.call("POST", f"/v1/invitations/{invitation['token']}/accept", friend.token)
    account.server.call("PUT", path + "/bookmarks/h1?draft=true", account.token, json={"name": "h"})
    query = "&list=" + path[10:]
    assert explain(account, "h1", query)["cause"] == "draft"
    # A revision that is asked for is no draft.
    assert explain(account, "h1", query + "&rev=1-a")["cause"] == "not_sent"
    published = account.server.call("PUT", path + "/bookmarks/h2", account.token, json={"name": "h"}).json()["rev"]
    account.server.call("PUT", path + "/bookmarks/h2?draft=true", account.token, json={"name": "another"})
    assert explain(account, "h2", f"{query}&rev={published}")["cause"] == "stored"
    assert explain(account, "h2", query)["cause"] == "draft"
    assert explain(friend, "h1", query)["cause"] == "not_sent"
    account.server.call("DELETE", f"{path}/members/{friend.name}", account.token)
    found = explain(friend, "h1", query)
    assert (found["state"], found["cause"]) == ("rejected", "no_right")
    stranger = Account(account.server)
    assert stranger.server.call("GET", "/v1/sync/explain?id=h1" + query, stranger.token).status_code == 404


def test_devices_of_a_list_are_ones_own(account):
    friend = Account(account.server)
    path = "/v1/lists/" + account.server.call(
        "POST", "/v1/lists", account.token, json={"title": "Rome"}).json()["id"]
    invitation = account.server.call("POST", path + "/invitations", account.token, json={"role": "editor"}).json()
    account.server.call("POST", f"/v1/invitations/{invitation['token']}/accept", friend.token)
    for person, name in ((account, "mine"), (friend, "theirs")):
        phone = Pouch(person.server, person.token, "list-" + path[10:])
        phone.fields["Device-Name"] = name
        phone.sync()
        mirror = person.server.call("GET", path + "/mirror", person.token).json()["token"]
        answer = person.server.call("GET", f"{path}/mirror?since={mirror}", person.token,
                                    headers={"Device-Name": "Page"})
        assert answer.status_code == 200
    assert set(devices(account, "?list=" + path[10:])) == {"mine", "Page"}
    assert set(devices(friend, "?list=" + path[10:])) == {"theirs", "Page"}


@pytest.mark.parametrize("query", ["", "?state=all", "?state=pending", "?state=pending&device=none", "?state=rejected&limit=0"])
def test_malformed_questions_say_what_to_change(account, query):
    answer = account.server.call("GET", "/v1/sync/items" + query, account.token)
    assert answer.status_code == (404 if "none" in query else 400) and answer.json()["reason"]
