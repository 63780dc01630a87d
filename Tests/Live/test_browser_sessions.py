"""Browser sessions: only the cookie has the token, and the guest belongs to the cookie."""
import requests

PASSWORD = "correct horse"


class Page:
    """A page from the server's own origin, which has cookies and no token."""

    def __init__(self, server):
        self.server = server
        self.session = requests.Session()

    def call(self, method, path, origin=None, **options):
        headers = {"Origin": origin or self.server.url}
        return self.server.call(method, path, session=self.session, headers=headers, **options)

    def guest(self):
        return self.call("POST", "/v1/guests", json={"cookie": True})

    def enter(self, path, name):
        return self.call("POST", path, json={"username": name, "password": PASSWORD, "cookie": True})

    def bookmark(self, hotel):
        assert self.call("PUT", f"/v1/bookmarks/{hotel}", json={"name": hotel}).status_code == 201

    def bookmarks(self):
        return [it["id"] for it in self.call("GET", "/v1/bookmarks").json()["bookmarks"]]


def test_a_guests_token_is_in_the_cookie_alone_and_goes_on(start):
    page = Page(start())
    made = page.guest()
    assert made.status_code == 201 and "token" not in made.json() and "HttpOnly" in made.headers["Set-Cookie"]
    page.bookmark("one")
    again = page.guest()
    assert again.status_code == 200 and again.json()["id"] == made.json()["id"] and "Set-Cookie" not in again.headers
    assert page.bookmarks() == ["one"]
    # The server makes or adopts no guest for a page of another origin.
    assert page.call("POST", "/v1/guests", "http://elsewhere.example", json={"cookie": True}).status_code == 403
    # A session that has ended identifies nobody.
    assert page.call("DELETE", "/v1/sessions").status_code == 204
    page.session.cookies.set("AuthSession", "none")
    assert page.guest().status_code == 201


def test_sign_up_keeps_and_log_in_merges_the_cookies_guest(start):
    server = start()
    first, second = Page(server), Page(server)
    first.guest()
    first.bookmark("one")
    made = first.enter("/v1/users", "ada")
    assert made.status_code == 201 and "token" not in made.json()
    assert first.bookmarks() == ["one"] and first.guest().json()["username"] == "ada"
    second.guest()
    second.bookmark("two")
    assert second.call("POST", "/v1/sessions", "http://elsewhere.example", json={
        "username": "ada", "password": PASSWORD, "cookie": True}).status_code == 403
    entered = second.enter("/v1/sessions", "ada")
    assert entered.status_code == 200 and "token" not in entered.json()
    assert sorted(second.bookmarks()) == ["one", "two"]


def test_a_cookie_is_no_guests_proof_unless_the_page_says_so(start):
    server = start()
    page = Page(server)
    server.call("POST", "/v1/users", json={"username": "ada", "password": PASSWORD})
    page.guest()
    page.bookmark("one")
    entered = page.call("POST", "/v1/sessions", json={"username": "ada", "password": PASSWORD})
    assert "token" in entered.json()
    assert page.bookmarks() == []


def test_a_password_is_changed_without_a_token_in_sight(start):
    page = Page(start())
    page.enter("/v1/users", "ada")
    changed = page.call("PUT", "/v1/me/password", json={"currentPassword": PASSWORD, "password": "another horse"})
    assert changed.status_code == 204 and "Renewed-Token" not in changed.headers
    assert page.call("GET", "/v1/me").json()["username"] == "ada"


def test_a_cookie_that_has_ended_is_nobodys_where_nobody_may_ask(start):
    server = start()
    page = Page(server)
    page.enter("/v1/users", "ada")
    assert server.call("PUT", "/v1/me/password", auth=("ada", PASSWORD), json={
        "currentPassword": PASSWORD, "password": "another horse"}).status_code == 204
    assert page.call("GET", "/v1/me").status_code == 401
    assert page.call("GET", "/v1/hotels?description=pool").status_code == 200
    assert page.call("GET", "/v1/hotels/hotel_25510").status_code == 200
    assert page.call("POST", "/v1/users", "http://elsewhere.example", json={
        "username": "eve", "password": PASSWORD}).status_code == 403
    assert page.enter("/v1/users", "eve").status_code == 201
    assert page.call("GET", "/v1/me").json()["username"] == "eve"
    # A token that a script has chosen to send is still refused.
    assert server.call("GET", "/v1/hotels?description=pool", token="nobodys").status_code == 401
