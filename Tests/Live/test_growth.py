"""Data that grows with use: receipts of batches, merged branches of the list, names that are taken."""
import uuid

from couch import PASSWORD, Database

LIST = "bookmarkedhotels"


def conflict(database, number):
    """A phone's revision of the list that does not know the latest ones."""
    revision = f"2-{uuid.UUID(int=number).hex} 1-a"
    database.graft(LIST, revision, type=LIST, hotels=[f"hotel{number}"])
    return revision.split()[0]


def leaves(database):
    rows = database.changes("&doc_ids=" + LIST)["results"]
    return [change["rev"] for row in rows if row["id"] == LIST for change in row["changes"]]


def test_a_new_device_pulls_a_list_with_many_merges(shared):
    database = Database(shared)
    database.graft(LIST, "1-a", type=LIST, hotels=[])
    revisions = [conflict(database, number) for number in range(1, 151)]
    open_leaves = leaves(database)
    assert len(open_leaves) <= 65

    # As replicators do, the device fetches all leaves that the feed names.
    asked = {"docs": [{"id": LIST, "rev": leaf} for leaf in open_leaves]}
    answer = database.call("POST", "/_bulk_get?revs=true", json=asked)
    assert answer.status_code == 200
    documents = [result["docs"][0] for result in answer.json()["results"]]
    assert all("ok" in document for document in documents)
    live = [document["ok"] for document in documents if not document["ok"].get("_deleted")]
    assert len(live) == 1
    assert sorted(live[0]["hotels"]) == sorted(f"hotel{number}" for number in range(1, 151))
    every = database.call("GET", f"/{LIST}?open_revs=all", headers={"Accept": "application/json"})
    assert every.status_code == 200 and len(every.json()) == len(open_leaves)

    # A phone with an old branch is told that it need not push it. If it pushes it, nothing changes.
    known = database.call("POST", "/_revs_diff", json={LIST: revisions})
    assert known.json() == {}
    conflict(database, 1)
    assert sorted(leaves(database)) == sorted(open_leaves)
    document = database.call("GET", f"/{LIST}?conflicts=true&deleted_conflicts=true").json()
    assert "_conflicts" not in document and len(document["_deleted_conflicts"]) <= 64


def test_a_peers_last_generation_is_an_error_of_its_element(shared):
    database = Database(shared)
    last = {"_id": LIST, "_rev": f"{1 << 53}-a", "type": LIST, "hotels": ["x"]}
    answers = database.bulk(last, new_edits=False)
    assert [answer["id"] for answer in answers if "error" in answer] == [LIST]
    answer = shared.call("PUT", "/v1/bookmarks/a", database.token, json={"id": "a"})
    assert answer.status_code == 201


def test_first_sync_with_more_keys_than_the_former_thousand_is_done_once(shared):
    """Issue 34, number 25: the 1,001st write with a key was refused with 507."""
    token, count = shared.guest(), 1_100
    limits = {limit["name"]: limit["value"] for limit in shared.call("GET", "/v1/limits").json()["limits"]}
    assert limits["storeReceipts"] >= 10_000

    def put(number):
        return shared.call(
            "PUT", f"/v1/bookmarks/h{number % 20}", token, json={"id": f"h{number % 20}", "number": number},
            headers={"Idempotency-Key": str(number)})

    first = put(0)
    assert first.status_code == 201
    for number in range(1, count):
        assert put(number).status_code in (200, 201), number
    again = put(0)
    assert again.status_code == 201 and again.content == first.content
    kept = shared.call("GET", "/v1/bookmarks/h0", token).json()
    assert kept["hotel"]["number"] == count - 20, "the repeat was carried out"


def test_names_in_another_width_are_one_and_lookalikes_of_the_administrator_are_taken(shared):
    name = "wide" + uuid.uuid4().hex
    wide = "".join(chr(ord(letter) + 0xFEE0) for letter in name)

    def sign_up(name):
        return shared.call("POST", "/v1/users", json={"username": name, "password": PASSWORD})

    made = sign_up(wide)
    assert made.status_code == 201 and made.json()["username"] == name
    assert sign_up(name).status_code == 409
    for spelling in (name, wide, name.upper()):
        session = {"username": spelling, "password": PASSWORD}
        assert shared.call("POST", "/v1/sessions", json=session).status_code in (200, 201)
    for lookalike in ("adrnin", "\u0430dmin", "admin"):
        assert sign_up(lookalike).status_code == 409
    assert sign_up("smile\U0001F600").status_code == 400
