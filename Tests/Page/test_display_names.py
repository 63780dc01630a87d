"""Users of another issuer on the page: others see the name that they choose, with digits that nobody chooses."""
import pytest
import requests
from browsing import CLIENT
from issuer import CLIENT as AUDIENCE, Issuer
from people import some_name
from server import Server
from waiting import PATIENCE


@pytest.fixture
def issuer():
    issuer = Issuer()
    yield issuer
    issuer.close()


@pytest.fixture
def server(issuer, tmp_path):
    """A server that trusts the issuer."""
    server = Server(tmp_path / "data", "--issuers", f"{issuer.url}#{AUDIENCE}")
    yield server
    server.stop()


def seen(name, username):
    """What others see of a user."""
    return f"\u2068{name}\u2069 · {username[5:11]}"


def signed_in(browser, issuer):
    """A browser with the session of an issuer's user, and the user name."""
    page = browser()
    page.visit("/")
    username = page.driver.execute_async_script("""
        const [idToken, done] = arguments
        fetch("/v1/sessions", { method: "POST", headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ idToken, cookie: true }) }).then(it => it.json()).then(it => done(it.username))""",
        issuer.token())
    page.driver.execute_async_script(f"""
        const done = arguments[0]
        {CLIENT}.then(({{ client }}) => client.start().then(() => client.check())).then(() => done())""")
    return page, username


def test_a_user_of_an_issuer_chooses_the_name_that_others_see(browser, issuer, server):
    page, username = signed_in(browser, issuer)
    page.visit("/account").says("Choose a name by which the people on your lists know you.", username)
    page.says_not("Change the password")
    assert page.find("h1").text == page.find("#who").text == seen("Somebody", username)
    page.write("#display-name", "Ann")
    page.press("Save the name")
    page.until(lambda: page.find("h1").text == page.find("#who").text == seen("Ann", username))
    page.says_not("Choose a name by which")

    other, name = browser(), some_name()
    other.sign_up(name)
    auth = (name, "a good password")
    call = lambda method, path, **more: requests.request(  # noqa: E731
        method, server.url + "/v1" + path, timeout=PATIENCE, **more)
    path = "/lists/" + call("POST", "/lists", auth=auth, json={"title": "Lisbon"}).json()["id"]
    invited = call("PUT", f"{path}/members/{username}", auth=auth, json={"role": "editor"})
    assert invited.status_code == 202, invited.text
    other.visit(path + "/members").says(seen("Somebody", username))
    page.visit("/lists").says("Lisbon")
    page.press("Accept Lisbon")
    other.visit(path + "/members").says(seen("Ann", username))

    page.visit("/account")
    # A name has 64 bytes at most.
    for name, is_too_long in (("é" * 33, True), ("é" * 32, False)):
        page.write("#display-name", name)
        assert bool(page.all("#display-name:invalid")) == is_too_long
    page.write("#display-name", "Zoë")
    page.press("Save the name")
    page.until(lambda: page.find("#who").text == seen("Zoë", username))
    other.visit("/lists").visit(path + "/members").says(seen("Zoë", username))
    other.says_not("Ann")
