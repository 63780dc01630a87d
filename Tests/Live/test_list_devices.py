"""PouchDB's protocol on a list's database: members' devices in live sync. One member is removed meanwhile."""
import time

from couch import Account, Database
from waiting import wait_until
from pouch import Pouch
from test_observers import make_list


def server_has(owner, name):
    rows = Database(owner.server, owner.token, name).call("GET", "/_all_docs").json()["rows"]
    return {row["id"]: row["value"]["rev"] for row in rows}


def draft(account, path, markdown):
    answer = account.server.call(
        "PUT", path + "?draft=true", account.token, json={"markdown": markdown})
    assert answer.status_code in (200, 201), answer.text


def test_words_of_a_replaced_draft_are_in_its_history(shared):
    """Two devices that send neither `base` nor `If-Match` replace one another's draft."""
    author = Account(shared)
    list_id = (path := make_list(author))[10:]
    for words in ("of the phone", "of the laptop"):
        draft(author, f"{path}/notes/Plan", words)
    document = f"/v1/documents/draft%3A{list_id}%3A{list_id}%3APlan"
    history = shared.call("GET", document + "/revisions", author.token).json()["revisions"]
    assert [revision["kept"] for revision in history] == [True, True]
    former = shared.call("GET", f"{document}/revisions/{history[1]['rev']}", author.token).json()
    assert former["content"]["markdown"] == "of the phone"
    answer = shared.call("POST", document + "/restore", author.token, json={"rev": history[1]["rev"]})
    assert answer.status_code == 200, answer.text
    assert shared.call("GET", f"{path}/notes/Plan?draft=true", author.token).json()["markdown"] == "of the phone"


def test_edits_of_a_reader_reach_the_list_when_the_reader_may_write(shared):
    """A device goes on without what was refused of it. Nobody would send it again before it is changed."""
    owner, reader = Account(shared), Account(shared)
    path = make_list(owner, (reader, "reader"))
    device = Pouch(shared, reader.token, "list-" + path[10:])
    for number in range(2):
        device.sync()
        device.put(f"mine{number}", n=number)
        device.put("both", n=number)
        device.sync()
        assert sorted(device.denied) == ["both", f"mine{number}"]
        device.denied.clear()
        for role in ("editor", "reader"):
            body = {"role": role}
            assert shared.call("PUT", f"{path}/members/{reader.name}", owner.token, json=body).status_code == 204
            device.restart()
            device.sync()
            assert server_has(owner, device.name) == device.documents() and device.denied == []
    found = Database(shared, owner.token, device.name).call("GET", "/both").json()
    assert found["n"] == 1 and found["_rev"].startswith("2-")


def in_step(device, owner):
    wait_until(lambda: device.documents() == server_has(owner, device.name), f"{device.name} is not in step")


def test_removed_members_device_stops_and_the_others_stay_in_step(shared):
    owner, editor, reader = (Account(shared) for _ in range(3))
    path = make_list(owner, (editor, "editor"), (reader, "reader"))
    list_id = path[10:]
    name = "list-" + list_id
    writing, reading = (Pouch(shared, account.token, name).live() for account in (editor, reader))
    # The editor's own store also syncs to a device of theirs. Drafts replicate to that device only.
    own = Pouch(shared, editor.token, editor.store).live()
    for number in range(20):
        writing.put(f"h{number}", type="hotel", id=f"h{number}", name=f"Hotel {number}")
        if number % 5 == 0:
            draft(editor, f"{path}/notes/Plan", f"draft {number}")
        if number % 7 == 0:
            shared.call("PUT", f"{path}/bookmarks/r{number}", owner.token, json={"name": "by REST"})
    in_step(writing, owner)
    in_step(reading, owner)
    mark = f"draft:{list_id}:"
    wait_until(lambda: any(each.startswith(mark) for each in list(own.seen)), "the author's device has no draft")
    # What a reader writes on a device is not replicated.
    reading.put("mine", type="hotel", id="mine", name="Mine")
    wait_until(lambda: reading.denied == ["mine"], "the reader's write was not refused")
    # The reader is removed while the editor's device continues.
    assert shared.call("DELETE", f"{path}/members/{reader.name}", owner.token).status_code == 204
    for number in range(20, 40):
        writing.put(f"h{number}", type="hotel", id=f"h{number}", name=f"Hotel {number}")
        draft(editor, f"{path}/notes/Plan", f"draft {number}")
    wait_until(lambda: reading.ended, "the removed reader's device goes on")
    assert reading.ended == (403, "forbidden"), reading.ended
    assert not any(f"h{number}" in reading.seen for number in range(20, 40))
    # Other members see the draft only after it is published.
    assert f"{list_id}:Plan" not in writing.seen | reading.seen
    assert shared.call("POST", f"{path}/notes/Plan/publish", editor.token).status_code == 200
    wait_until(lambda: f"{list_id}:Plan" in writing.documents(), "the published note did not come")
    assert writing.winner(f"{list_id}:Plan")[1]["markdown"] == "draft 39"
    in_step(writing, owner)
    in_step(own, editor)
    for device in (writing, reading):
        assert not [each for each in list(device.seen) if each.startswith("draft:")]
    assert "mine" not in server_has(owner, name) and writing.ended is None and writing.denied == []
    writing.ended = own.ended = "the test"


def test_two_devices_that_were_offline_agree_on_a_list(shared):
    """Two members edit one hotel on their devices and push one after the other."""
    owner, editor = Account(shared), Account(shared)
    path = make_list(owner, (editor, "editor"))
    one, other = (Pouch(shared, account.token, "list-" + path[10:]) for account in (owner, editor))
    one.put("h1", type="hotel", id="h1", name="One")
    one.begin()
    one.push()
    other.begin()
    while other.pull():
        pass
    one.put("h1", type="hotel", id="h1", name="One", stars=4)
    other.put("h1", type="hotel", id="h1", name="One", pool=True)
    for device in (one, other, one, other):
        device.push()
        while device.pull():
            pass
    assert one.documents() == other.documents() == server_has(owner, "list-" + path[10:])
    assert {"stars", "pool"} <= set(one.winner("h1")[1])
