"""Kills: no acknowledged write is lost, and the list always agrees with the hotels."""
import random
import threading
import time

import requests


def assert_list_and_hotels_agree(server, token):
    listed = [b["id"] for b in server.call("GET", "/v1/bookmarks?limit=100", token).json()["bookmarks"]]
    assert len(listed) == len(set(listed))
    used = server.call("GET", "/v1/me", token).json()["usage"]["documents"]
    assert used == (len(listed) + 1 if used else 0), (used, listed)
    return set(listed)


def test_kill_mid_batch_leaves_no_half(start, rounds):
    """Each batch adds two hotels and removes an earlier pair. Each pair is stored completely or not at all."""
    seed = random.Random(5)
    server = start()
    token = server.guest()
    acknowledged, number = [], 0
    for _ in range(rounds):
        stop = threading.Event()

        def write():
            nonlocal number
            session = requests.Session()
            while not stop.is_set():
                number += 1
                pair = [{"id": f"{number}-{side}", "name": "x" * 900} for side in "ab"]
                old = acknowledged[0] if len(acknowledged) > 8 else None
                remove = [f"{old}-{side}" for side in "ab"] if old else []
                try:
                    answer = server.call("POST", "/v1/bookmarks", token, session=session,
                                         json={"add": pair, "remove": remove})
                except requests.RequestException:
                    return
                assert answer.status_code == 200, answer.text
                acknowledged.append(number)
                if old:
                    acknowledged.remove(old)

        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(seed.uniform(0.05, 0.5))
        server.kill()
        stop.set()
        writer.join()
        server = start()
        listed = assert_list_and_hotels_agree(server, token)
        pairs = {hotel.split("-")[0] for hotel in listed}
        assert all({f"{pair}-a", f"{pair}-b"} <= listed for pair in pairs)
        # The last batch may be committed without a response: then its pair is stored and the oldest pair is removed.
        unsure = {acknowledged[0]} if acknowledged else set()
        assert {str(pair) for pair in set(acknowledged) - unsure} <= pairs
        acknowledged = sorted(int(pair) for pair in pairs)
        number = max([number, *acknowledged])


def test_idempotent_retry_after_kill_replays(start):
    server = start()
    token = server.guest()
    body = {"add": [{"id": "once", "name": "Once"}]}
    headers = {"Idempotency-Key": "day-one"}
    first = server.call("POST", "/v1/bookmarks", token, json=body, headers=headers)
    server.kill()
    server = start()
    assert server.call("POST", "/v1/bookmarks", token, json=body, headers=headers).content == first.content
    other = server.call("POST", "/v1/bookmarks", token, json={"remove": ["once"]}, headers=headers)
    assert other.status_code == 422


def test_32_clients_bookmark_at_once(shared):
    token = shared.guest()
    answers = []

    def bookmark(number):
        # A slow machine may have no place for some of them at once.
        for _ in range(20):
            status = shared.call("PUT", f"/v1/bookmarks/at-once-{number}", token, json={"name": "N"}).status_code
            if status != 503:
                break
        answers.append(status)

    clients = [threading.Thread(target=bookmark, args=(n,)) for n in range(32)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert answers == [201] * 32
    assert len(assert_list_and_hotels_agree(shared, token)) == 32


def test_stop_finishes_and_exits_well(start):
    server = start()
    token = server.guest()
    server.call("PUT", "/v1/bookmarks/last", token, json={"name": "Last"})
    assert server.stop() == 0
    server = start()
    assert server.call("GET", "/v1/bookmarks/last", token).status_code == 200
