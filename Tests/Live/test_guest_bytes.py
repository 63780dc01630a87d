"""What new guests write counts for the address that it comes from."""
import hostile
from faults import listed, refused


def test_new_guests_of_one_address_share_what_they_write(start):
    server = start("--guest-bytes-per-day", str(1 << 20), "--trusted-proxies", "127.0.0.1")
    limits = {row["name"]: row["value"] for row in server.call("GET", "/v1/limits").json()["limits"]}
    assert limits["guestBytesPerDay"] == 1 << 20

    def at(address):
        return {"headers": {"X-Forwarded-For": address}}

    def write(person, hotel, address, size=20_000):
        return server.call("PUT", f"/v1/bookmarks/{hotel}", person, **at(address), json={
            "id": hotel, "name": hotel, "description": "x" * size})

    first, second, third = server.guest(), server.guest(), server.guest()
    kept = []
    for number in range(60):
        answer = write(first, f"h{number}", "192.0.2.1")
        if answer.status_code != 201:
            break
        kept.append(f"h{number}")
    # Half of the bytes may come at once.
    assert 20 <= len(kept) <= 30
    for refusal in (answer, write(second, "one", "192.0.2.1", 10)):
        assert refused(refusal) == (429, "too_many_requests"), refusal.text
        assert "for a day" in refusal.json()["reason"] and int(refusal.headers["Retry-After"]) > 0
    assert listed(server, first) == set(kept) and listed(server, second) == set()
    # Nor is a history written that has no body, nor a local document.
    store = "/couch/" + server.call("GET", "/v1/me", first, **at("192.0.2.1")).json()["store"]
    for answer in (
            server.call("POST", store + "/_bulk_docs", first, **at("192.0.2.1"), json={
                "docs": [hostile.branch("gone", 0, 1000)], "new_edits": False}),
            server.call("PUT", store + "/_local/note", first, **at("192.0.2.1"), json={"text": "x"})):
        assert refused(answer) == (429, "too_many_requests"), answer.text
    answer = server.call("GET", store + "/gone", first, **at("192.0.2.1"))
    assert (answer.status_code, answer.json()["reason"]) == (404, "missing")
    # A guest reads and deletes. Other addresses, and users of this one, write on.
    assert server.call("DELETE", f"/v1/bookmarks/{kept[0]}", first, **at("192.0.2.1")).status_code == 204
    assert write(third, "one", "192.0.2.2").status_code == 201
    assert write(third, "two", "2001:db8::1").status_code == 201
    answer = server.call("POST", "/v1/users", first, **at("192.0.2.1"), json={
        "username": "ada", "password": "long enough"})
    assert write(answer.json()["token"], "more", "192.0.2.1").status_code == 201


def test_an_ipv6_network_is_one_address(start):
    server = start("--guest-bytes-per-day", str(1 << 20), "--trusted-proxies", "127.0.0.1")
    statuses = []
    for number in range(60):
        body = {"id": "h", "name": "h", "description": "x" * 20_000}
        answer = server.call(
            "PUT", "/v1/bookmarks/h", server.guest(), json=body,
            headers={"X-Forwarded-For": f"2001:db8::{number + 1:x}"})
        statuses.append(answer.status_code)
    assert statuses[0] == 201 and statuses[-1] == 429
