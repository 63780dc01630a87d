"""What becomes of edits that two phones made without knowing of each other."""
import pytest

from blip_client import VECTORS
from test_lite import account, another, database, phone, pull_versions  # noqa: F401


def test_a_revision_that_was_replaced_is_a_conflict(phone, account):
    couch = database(account)
    first = couch.rev("a", n=1)
    phone.pull()
    phone.edit("a", {"n": "phone"})
    other = another(account)
    other.pull()
    other.edit("a", {"n": "other"})
    assert other.push("a") == {}
    current = other.documents["a"][0][0]
    assert phone.push("a") == {"a": {"status": 409, "rev": current}}
    row = ["a", phone.documents["a"][0][0], first]
    assert phone.blip.call("proposeChanges", [row, ["new", "1-" + "a" * 40]]).json == [409, 0], "as 2.8 reads it"
    # A client that goes on although its proposal was refused, or has become wrong meanwhile.
    assert phone.blip.answer(phone.send("a")).error == ("HTTP", 409)
    other.pull()
    assert other.documents["a"][1] == {"n": "other"}
    # The resolver puts its revision on the server's branch.
    phone.documents["a"] = [current, first], {"n": "merged"}, False
    phone.edit("a", {"n": "merged"})
    assert phone.push("a") == {}
    assert couch.call("GET", "/a?conflicts=true").json().get("_conflicts") is None


def test_a_document_that_was_often_edited_offline_is_taken(phone, account):
    """LiteCore keeps 20 revisions of a document, and the last one that the server has."""
    couch = database(account)
    first = couch.rev("a", n=0)
    phone.pull()
    for number in range(100):
        phone.edit("a", {"n": number})
    history, body, deleted = phone.documents["a"]
    phone.documents["a"] = [*history[:20], first], body, deleted
    assert phone.propose("a", remote={"a": first}) == [0]
    assert phone.blip.answer(phone.send("a")).error is None
    found = couch.call("GET", "/a?revs=true&conflicts=true").json()
    assert found["n"] == 99 and "_conflicts" not in found
    digests = found["_revisions"]["ids"]
    assert len(digests) == 101 and [digests[0], digests[-1]] == [history[0].split("-")[1], first.split("-")[1]]
    phone.edit("a", {"n": 100})
    assert phone.push("a") == {}


def test_a_phone_with_versions_gets_the_winner_that_was_a_conflict(account):
    """Its generation is lower than that of the deleted branch, and a version with a lower time is an older one."""
    couch, phone = database(account), another(account, protocols=VECTORS)
    couch.graft("a", "3-aaaaaaaaaa 2-c 1-c", n="kept")
    couch.graft("a", "3-bbbbbbbbbb 2-c 1-c", n="deleted")
    former, _, body = pull_versions(phone)["a"]
    assert body["n"] == "deleted"
    assert couch.call("DELETE", "/a?rev=3-bbbbbbbbbb").status_code == 200
    version, _, body = pull_versions(phone)["a"]
    times = [int(text.split("@")[0], 16) for text in (former, version)]
    assert body["n"] == "kept" and times == sorted(set(times))
    # Its next edit is no conflict.
    edit = "18ea3cf2a0b60000@dGhlIG1ha2VyIG9mIGl0IQ"
    assert not any(phone.blip.call("proposeChanges", [["a", f"{edit}; {version}", version]]).json)
    answer = phone.blip.call("rev", {"n": "edited"}, id="a", rev=edit, history=version, noconflicts="true", sequence="1")
    assert answer.error is None
    found = couch.call("GET", "/a?conflicts=true").json()
    assert found["n"] == "edited" and found["_rev"].startswith("4-") and "_conflicts" not in found


def test_a_phone_with_versions_that_keeps_its_own_side_of_a_conflict_wins(account):
    """Couchbase Lite 4 makes no new version then. Only its vector says that it has seen the other side."""
    couch, phone, other = database(account), *(another(account, protocols=VECTORS) for _ in range(2))
    mine, later = (f"18ea3cf2a0b{digit}0000@dGhlIG1ha2VyIG9mIGl0IQ" for digit in "67")

    def push(version, history, body):
        [verdict] = phone.blip.call("proposeChanges", [["a", f"{version}; {history}", history]]).json or [0]
        answer = phone.blip.call("rev", body, id="a", rev=version, history=history, noconflicts="true", sequence="1")
        return verdict, answer.error

    couch.graft("a", "1-a", n=0)
    first, _, _ = pull_versions(phone)["a"]
    assert push(mine, first, {"n": "phone"}) == (0, None)
    couch.graft("a", "3-cccccccccc 2-b 1-a", n="other")
    theirs, _, body = pull_versions(phone)["a"]
    assert body["n"] == "other" and push(mine, first, {"n": "phone"}) == (304, None)
    assert couch.call("GET", "/a").json()["n"] == "other"
    assert push(mine, theirs, {"n": "phone"}) == (0, None)
    # The branch that it had before ends in a tombstone.
    found = couch.call("GET", "/a?conflicts=true").json()
    assert found["n"] == "phone" and "_conflicts" not in found
    version, history, body = pull_versions(other)["a"]
    assert (version, body) == (mine, {"n": "phone"}) and history >= theirs and history.startswith("3")
    # What it sends again is known, and its next edit follows.
    assert push(mine, theirs, {"n": "phone"}) == (304, None)
    assert push(later, theirs, {"n": "edited"}) == (0, None)
    assert push(mine, theirs, {"n": "phone"}) == (304, None)
    assert couch.call("GET", "/a").json()["n"] == "edited"


def test_a_document_is_new_after_its_tombstone(phone, account):
    couch = database(account)
    revision = couch.rev("a", n=1)
    couch.call("DELETE", "/a?rev=" + revision)
    phone.edit("a", {"n": 2})
    assert phone.push("a") == {}
    assert couch.call("GET", "/a").json()["n"] == 2


def test_two_phones_that_were_offline_lose_no_bookmark(account):
    phones = [another(account) for _ in range(2)]
    hotels = ["hotel_1", "hotel_2", "hotel_3", "hotel_4"]
    phones[0].edit("bookmarkedhotels", {"type": "bookmarkedhotels", "hotels": hotels[:1]})
    phones[0].edit(hotels[0], {"type": "hotel", "name": "one"})
    assert phones[0].push("bookmarkedhotels", hotels[0]) == {}
    phones[1].pull()
    for number, phone in enumerate(phones):
        added = hotels[1 + number]
        phone.edit("bookmarkedhotels", {"type": "bookmarkedhotels", "hotels": [hotels[0], added]})
        phone.edit(added, {"type": "hotel", "name": added})
        phone.edit(hotels[0], {"type": "hotel", "name": "one", f"note{number}": "x"})
    for number, phone in enumerate(phones):
        assert phone.push("bookmarkedhotels", hotels[0], hotels[1 + number]) == {}
    listed = account.server.call("GET", "/v1/bookmarks", account.token).json()["bookmarks"]
    assert {entry["id"] for entry in listed} == set(hotels[:3])
    for phone in phones:
        phone.pull()
        assert set(phone.documents["bookmarkedhotels"][1]["hotels"]) == set(hotels[:3])
        assert {"note0", "note1"} <= phone.documents[hotels[0]][1].keys()
    assert phones[0].live() == phones[1].live()


@pytest.mark.parametrize("name", ["user::guest", "a list of an app's own"])
def test_a_list_of_the_app_under_its_own_id_loses_no_bookmark(account, name):
    """The server merges such a list into the one of the account, and leaves a tombstone. A phone that edits the list before
    it knows that would have to delete it, as Couchbase Lite resolves conflicts with deletions."""
    phones = [another(account) for _ in range(2)]
    for number, phone in enumerate(phones):
        phone.edit(name, {"type": "bookmarkedhotels", "hotels": [f"hotel_{number}"]})
        assert phone.push(name) == {}
    for number, phone in enumerate(phones):
        phone.edit(name, {"type": "bookmarkedhotels", "hotels": [f"hotel_{number}", f"hotel_{number + 2}"]})
        assert phone.push(name) == {}
    listed = database(account).documents()["bookmarkedhotels"]["hotels"]
    assert sorted(listed) == [f"hotel_{number}" for number in range(4)]
    for phone in phones:
        phone.pull()
        assert phone.live().keys() == {"bookmarkedhotels"}
    # Another document is a conflict beside its tombstone.
    couch = database(account)
    revision = couch.rev("note", n=1)
    phones[0].pull()
    couch.call("DELETE", "/note?rev=" + revision)
    phones[0].edit("note", {"n": 2})
    assert phones[0].push("note")["note"]["status"] == 409
    assert phones[0].blip.answer(phones[0].send("note")).error == ("HTTP", 409)


def test_a_hotel_that_was_edited_offline_survives_its_deletion(account):
    phone, couch = another(account), database(account)
    revision = couch.rev("hotel_1", type="hotel", n=1)
    phone.pull()
    couch.call("DELETE", "/hotel_1?rev=" + revision)
    phone.edit("hotel_1", {"type": "hotel", "n": 2})
    assert phone.push("hotel_1") == {}
    assert couch.call("GET", "/hotel_1").json()["n"] == 2
