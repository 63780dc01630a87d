"""History: the arrivals and authors of revisions survive kills, and a restored list is complete or not restored."""
import random
import threading
import time
import uuid

import requests

from test_crash import assert_list_and_hotels_agree


def history(server, token, document):
    answer = server.call("GET", f"/v1/documents/{document}/revisions?limit=100", token)
    assert answer.status_code == 200, answer.text
    return answer.json()["revisions"]


def user(server):
    name = "ada-" + uuid.uuid4().hex
    session = server.call("POST", "/v1/users", json={"username": name, "password": "correct horse"})
    return name, session.json()["token"]


def restore(server, token, document, rev, **options):
    return server.call("POST", f"/v1/documents/{document}/restore", token, json={"rev": rev}, **options)


def test_times_and_authors_outlive_a_kill(start):
    server = start()
    name, token = user(server)
    for number in range(3):
        server.call("PUT", "/v1/bookmarks/one", token, json={"name": f"{number}"})
    store = server.call("GET", "/v1/me", token).json()["store"]
    branch = {"_id": "one", "_rev": "2-b", "_revisions": {"start": 2, "ids": ["b", "a"]}, "type": "hotel",
              "id": "one", "note": "from a phone"}
    pushed = server.call("POST", f"/couch/{store}/_bulk_docs", token, json={"new_edits": False, "docs": [branch]})
    assert pushed.json() == []
    before = history(server, token, "one")
    kinds = {revision["rev"]: revision["by"] for revision in before if "by" in revision}
    assert kinds["2-b"] == {"kind": "user", "name": name}
    # The merge, and the tombstone of the branch that it closed.
    assert sum(by == {"kind": "server"} for by in kinds.values()) == 2
    assert all("time" in revision for revision in before if revision["kept"])
    server.kill()
    server = start()
    assert history(server, token, "one") == before
    first = next(revision["rev"] for revision in before if revision["rev"].startswith("1-") and revision["kept"])
    answer = restore(server, token, "one", first)
    assert answer.status_code == 200, answer.text
    server.kill()
    server = start()
    assert server.call("GET", "/v1/bookmarks/one", token).json()["hotel"]["name"] == "0"
    assert history(server, token, "one")[0]["rev"] == answer.json()["rev"]


def test_kill_while_a_list_is_restored_leaves_one_of_both(start, rounds):
    seed = random.Random(11)
    server = start()
    # A user, because a guest's store would soon be too full to keep the contents of removed hotels.
    _, token = user(server)
    ids = [f"h{number}" for number in range(40)]
    add = [{"id": hotel, "name": hotel * 100} for hotel in ids]
    assert server.call("POST", "/v1/bookmarks", token, json={"add": add}).status_code == 200
    full = history(server, token, "bookmarkedhotels")[0]["rev"]
    assert server.call("POST", "/v1/bookmarks", token, json={"remove": ids[5:]}).status_code == 200
    few = history(server, token, "bookmarkedhotels")[0]["rev"]
    states = [set(ids), set(ids[:5])]
    for _ in range(rounds):
        stop = threading.Event()

        def swap():
            session = requests.Session()
            for rev in [full, few] * 1000:
                if stop.is_set():
                    return
                try:
                    answer = restore(server, token, "bookmarkedhotels", rev, session=session)
                except requests.RequestException:
                    return
                # The contents of the first lists are kept only while there are at most twenty newer ones.
                if answer.status_code == 404:
                    return
                assert answer.status_code == 200, answer.text
                assert "missing" not in answer.json()

        writer = threading.Thread(target=swap)
        writer.start()
        time.sleep(seed.uniform(0.01, 0.1))
        server.kill()
        stop.set()
        writer.join()
        server = start()
        assert assert_list_and_hotels_agree(server, token) in states
        full, few = [next(revision["rev"] for revision in history(server, token, "bookmarkedhotels")
                          if revision["kept"] and said(server, token, revision["rev"]) == state)
                     for state in states]


def said(server, token, rev):
    answer = server.call("GET", f"/v1/documents/bookmarkedhotels/revisions/{rev}", token)
    return set(answer.json().get("hotels", []))
