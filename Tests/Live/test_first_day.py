"""The main use: a guest searches, bookmarks and returns; a user does the same and sees only their own bookmarks."""
import uuid

from searching import answered

RITZ = "hotel_25510"


def bookmarks(server, token):
    return [b["id"] for b in server.call("GET", "/v1/bookmarks", token).json()["bookmarks"]]


def test_guest_finds_bookmarks_again_after_kill(start):
    server = start()
    token = server.guest()
    found = server.call("GET", "/v1/hotels?description=pool&location=san+francisco", token).json()
    assert found["source"] == "upstream"
    ids = [hotel["id"] for hotel in found["hotels"]]
    assert RITZ in ids and not any(hotel["bookmarked"] for hotel in found["hotels"])
    other = next(hotel for hotel in ids if hotel != RITZ)
    for hotel in (RITZ, other):
        assert server.call("PUT", f"/v1/bookmarks/{hotel}", token).status_code == 201
    assert server.call("PUT", f"/v1/bookmarks/{RITZ}", token).status_code == 200
    assert server.call("DELETE", f"/v1/bookmarks/{other}", token).status_code == 204
    before = server.call("GET", "/v1/bookmarks", token)
    assert [b["id"] for b in before.json()["bookmarks"]] == [RITZ]
    server.kill()

    server = start()
    after = server.call("GET", "/v1/bookmarks", token)
    assert after.content == before.content
    assert after.headers["ETag"] == before.headers["ETag"]
    found = server.call("GET", "/v1/hotels?description=pool&location=san+francisco", token).json()
    assert {h["id"] for h in found["hotels"] if h["bookmarked"]} == {RITZ}


def test_guest_keeps_bookmarks_by_signing_up(shared):
    guest = shared.guest()
    shared.call("PUT", f"/v1/bookmarks/{RITZ}", guest)
    name = "anna-" + uuid.uuid4().hex
    misplaced = shared.call("POST", "/v1/users", json={
        "username": name, "password": "correct horse", "guestToken": guest})
    assert misplaced.status_code == 400 and "Authorization" in misplaced.json()["reason"], misplaced.text
    session = shared.call(
        "POST", "/v1/users", guest, json={"username": name, "password": "correct horse"})
    assert session.status_code == 201, session.text
    token = session.json()["token"]
    assert bookmarks(shared, token) == [RITZ]
    again = shared.call("POST", "/v1/sessions", json={
        "username": name, "password": "correct horse", "guestToken": guest})
    assert again.status_code == 200, again.text
    assert bookmarks(shared, again.json()["token"]) == [RITZ]


def test_users_see_nobody_elses(shared):
    tokens = []
    for person in range(2):
        name = f"person-{person}-{uuid.uuid4().hex}"
        session = shared.call(
            "POST", "/v1/users", json={"username": name, "password": "password-" + name})
        tokens.append(session.json()["token"])
    shared.call("PUT", "/v1/bookmarks/mine", tokens[0], json={"name": "Mine"})
    assert bookmarks(shared, tokens[1]) == []
    theirs = shared.call("GET", "/v1/bookmarks/mine", tokens[1])
    absent = shared.call("GET", "/v1/bookmarks/none", tokens[1])
    assert theirs.status_code == absent.status_code == 404
    strip = lambda answer: {**answer.json(), "requestId": ""}
    assert strip(theirs) == strip(absent)


def test_log_out_ends_the_token(shared):
    name = "bert-" + uuid.uuid4().hex
    token = shared.call(
        "POST", "/v1/users", json={"username": name, "password": "long enough"}).json()["token"]
    assert shared.call("GET", "/v1/me", token).json()["username"] == name
    assert shared.call("DELETE", "/v1/sessions", token).status_code == 204
    assert shared.call("GET", "/v1/me", token).status_code == 401


def test_hotel_keeps_every_byte(shared):
    token = shared.guest()
    body = b'{"name":"Caf\\u00e9 \xc3\xa9","price":1.0,"zero":-0,"big":12345678901234567890,"x":[1e2,{"a":null}]}'
    answer = shared.call("PUT", "/v1/bookmarks/exact", token, data=body,
                         headers={"Content-Type": "application/json"})
    assert answer.status_code == 201, answer.text
    stored = shared.call("GET", "/v1/bookmarks/exact", token).content
    assert body[1:-1] in stored


def test_second_server_serves_as_upstream(start, tmp_path):
    upstream = start(data=tmp_path / "upstream")
    server = start("--upstream", upstream.url, data=tmp_path / "own")
    token = server.guest()
    found = answered(server, "pool", token, location="San Francisco")
    assert RITZ in [hotel["id"] for hotel in found.json()["hotels"]]
    assert server.call("PUT", f"/v1/bookmarks/{RITZ}", token).status_code == 201
    upstream.kill()
    kept = server.call("GET", "/api/hotels/pool/San%20Francisco/")
    assert kept.status_code == 200 and kept.json()["source"] == "cache"
    assert kept.headers["Age"] and "hit" in kept.headers["Cache-Status"]
    down = server.call("GET", "/v1/hotels?description=spa&location=London", token)
    assert down.status_code in (502, 503, 504)
    assert bookmarks(server, token) == [RITZ]
