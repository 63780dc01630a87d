"""The server merges conflicts of a person's lists and hotels at once, however many devices were offline."""
from couch import Database

DEVICES = 70


def conflicts(database, name):
    return database.call("GET", f"/{name}?conflicts=true").json().get("_conflicts", [])


def test_seventy_devices_that_were_offline_leave_one_revision(database):
    database.graft("bookmarkedhotels", "1-a", type="bookmarkedhotels", hotels=["first"])
    database.graft("hotel_1", "1-a", type="hotel", city="Rye")
    for device in range(DEVICES):
        database.graft("bookmarkedhotels", f"2-{device:032x} 1-a", type="bookmarkedhotels",
                       hotels=["first", f"of{device}"])
        database.graft("hotel_1", f"2-{device:032x} 1-a", type="hotel", city="Rye", **{f"of{device}": device})
    assert not conflicts(database, "bookmarkedhotels") and not conflicts(database, "hotel_1")
    listed = database.call("GET", "/bookmarkedhotels").json()["hotels"]
    assert sorted(listed) == sorted(["first"] + [f"of{device}" for device in range(DEVICES)])
    hotel = database.call("GET", "/hotel_1").json()
    assert hotel["city"] == "Rye" and all(hotel[f"of{device}"] == device for device in range(DEVICES))


def test_branches_that_a_relay_brings_at_once_are_merged(database):
    """Another server that does not merge collected the branches. One request of a replicator pushes them all."""
    documents = []
    for device in range(300):
        revision = {"_rev": f"1-{device:032x}"}
        documents.append({"_id": "bookmarkedhotels", "type": "bookmarkedhotels", "hotels": [f"of{device}"], **revision})
        documents.append({"_id": "hotel_1", "type": "hotel", f"of{device}": device, **revision})
    assert database.bulk(*documents, new_edits=False) == []
    assert not conflicts(database, "bookmarkedhotels") and not conflicts(database, "hotel_1")
    assert len(database.call("GET", "/bookmarkedhotels").json()["hotels"]) == 300
    assert len([name for name in database.call("GET", "/hotel_1").json() if name.startswith("of")]) == 300


def test_two_servers_that_merge_make_the_same_revision(shared):
    here, there = Database(shared), Database(shared)
    branches = [("2-b 1-a", {"myNote": "quiet"}), ("2-c 1-a", {"stars": 4}), ("2-d 1-a", {"city": "Hove"})]
    for database, order in ((here, branches), (there, branches)):
        database.graft("hotel_1", "1-a", type="hotel", city="Rye")
        peers = [{"_id": "hotel_1", "_revisions": {"start": 2, "ids": [path[2], "a"]}, "type": "hotel", "city": "Rye",
                  **members} for path, members in order]
        assert database.bulk(*peers, new_edits=False) == []
    first, second = (database.call("GET", "/hotel_1").json() for database in (here, there))
    assert first == second
    assert (first["city"], first["myNote"], first["stars"]) == ("Hove", "quiet", 4)


def test_conflicts_of_the_administrators_documents_stay(administrator):
    database = administrator.create()
    for branch in "bc":
        database.graft("hotel_1", f"1-{branch}", type="hotel", city=branch)
    assert conflicts(database, "hotel_1") == ["1-b"]
