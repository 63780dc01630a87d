"""The operator's page: it shows nothing before the password, then every panel. It runs no text of users as a script."""
import json
import pathlib
import re
import sys
import urllib.parse

import pytest
import requests
from selenium.webdriver.common.keys import Keys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Live"))

from between import Between  # noqa: E402
from server import Server  # noqa: E402
from slices import first  # noqa: E402
from test_docs import violations  # noqa: E402

PASSWORD = "the operator's password"
AUTH = ("admin", PASSWORD)
EVIL = "<img src=x onerror=document.title='run'>"


@pytest.fixture(scope="module")
def administered(tmp_path_factory):
    """A server with a known password, people whose names contain scripts, and a database with conflicts."""
    directory = tmp_path_factory.mktemp("administered")
    (directory / "password").write_text(PASSWORD)
    server = Server(directory / "data", "--admin-password-file", str(directory / "password"), "--audit", "on")
    fill(server.url)
    yield server
    server.stop()


@pytest.fixture
def server(administered):
    return administered


def fill(url):
    guest = requests.post(url + "/v1/guests").json()
    requests.put(url + "/v1/bookmarks/secret-hotel", json={"name": "secret-hotel"},
                 headers={"Authorization": "Bearer " + guest["token"]}).raise_for_status()
    for name in ("anna", EVIL):
        requests.post(url + "/v1/users", json={"username": name, "password": "a good password"}).raise_for_status()
    database = url + "/couch/plans"
    requests.put(database, auth=AUTH).raise_for_status()
    documents = [{"_id": f"doc-{number:03}", "n": number} for number in range(130)]
    documents.append({"_id": EVIL, "text": EVIL, EVIL: 1})
    requests.post(database + "/_bulk_docs", json={"docs": documents}, auth=AUTH).raise_for_status()
    grafts = [{"_id": "trip", "_rev": f"2-{letter * 32}", "title": f"to {letter}", "days": 2,
               "_revisions": {"start": 2, "ids": [letter * 32, "0" * 32]}} for letter in "ab"]
    requests.post(database + "/_bulk_docs", json={"docs": grafts, "new_edits": False}, auth=AUTH).raise_for_status()


def enter(page, at="/admin"):
    page.visit(at)
    page.write("#password", PASSWORD)
    page.press("Sign in")
    page.find("#nav a[aria-current]")
    return page


def show(page, place, *words):
    page.driver.execute_script("location.hash = arguments[0]", place)
    page.says(*words)


def test_nothing_is_shown_before_the_password(browser, server):
    page = browser().visit("/admin#/users")
    page.find("#password")
    assert not page.find("#nav").is_displayed()
    for word in ("anna", "plans", "guest-", "Commits", "Back up"):
        assert word not in page.driver.page_source
    page.write("#password", "a wrong password")
    page.press("Sign in")
    page.until(lambda: page.find("[role=alert]").text)
    assert not page.find("#nav").is_displayed() and "anna" not in page.driver.page_source
    page.write("#name", "anna")
    page.write("#password", "a good password")
    page.press("Sign in")
    page.says("not the administrator")
    assert not page.find("#nav").is_displayed()


def test_each_panel_is_there_after_the_password_and_gone_after_signing_out(browser):
    page = enter(browser())
    page.says("Commits", "Limits met", "Processor", "Waiting feeds")
    show(page, "#/stores", "Size", "Sequence", "guest-")
    assert "secret-hotel" not in page.driver.page_source
    show(page, "#/users", "anna")
    show(page, "#/guests", "guest-", "97 days")
    show(page, "#/lists", "No list is shared yet.")
    show(page, "#/sessions", "administrator")
    show(page, "#/upstreams", "embedded")
    show(page, "#/databases", "plans")
    page.reload()
    page.says("plans")
    page.driver.back()
    page.says("Upstreams")
    page.press("Sign out")
    page.find("#password")
    assert "embedded" not in page.find("main").text


def test_a_backup_a_check_and_an_import_run_to_their_ends(browser, tmp_path):
    page = enter(browser())
    show(page, "#/work", "Back up now")
    for button, title in (("Back up now", "Backup"), ("Check all stores", "Check of all stores")):
        page.press(button)
        page.until(lambda: page.find(".job h3").text == title and page.find(".job").get_attribute("data-state") == "done")
    rows = tmp_path / "hotels.ndjson"
    rows.write_text("".join(json.dumps({"id": f"x{number}", "name": f"Hotel {number}"}) + "\n" for number in range(500)))
    page.find("#file").send_keys(str(rows))
    page.press("Import")
    page.says("Done: 500 hotels")
    rows.write_text("{}\n")
    page.find("#file").send_keys(str(rows))
    page.press("Import")
    page.says("Not imported")
    rows.write_text('{"name":"The only one"}\n{}\n')
    page.find("#file").send_keys(str(rows))
    page.press("Import")
    page.says("Not imported", "1 of 2 rows are bad")
    page.find("#replace").click()
    page.press("Import")
    page.says("Done: 1 hotels")
    page.press("Bring back the former hotels")
    page.says("The former hotels are back.", "500 hotels")


def test_a_database_is_made_and_a_name_that_none_can_have_is_refused(browser):
    page = enter(browser())
    show(page, "#/databases", "A new database")
    page.write("#new", "Trips")
    page.press("Make it")
    page.until(lambda: "lowercase" in page.find("form [role=alert]").text)
    page.write("#new", "trips")
    page.press("Make it")
    page.says("There is no document in it.")
    assert requests.delete(page.url + "/couch/trips", auth=AUTH).status_code == 200


def test_documents_are_paged_and_found(browser):
    page = enter(browser())
    show(page, "#/databases/plans", "doc-000", "Page 1")
    page.press("Next")
    page.says("doc-129", "Page 2")
    page.press("Previous")
    page.says("doc-000", "Page 1")
    page.write("#query", '{"selector": {"n": 77}}')
    page.press("Find")
    page.until(lambda: page.find("[aria-label=Found]").text.count("doc-") == 1 and "doc-077" in page.text())
    page.press("Explain")
    page.says("selector")
    page.write("#query", "{")
    page.press("Find")
    page.says("The query is no JSON")


def test_a_tree_is_drawn_and_conflicts_stand_side_by_side(browser):
    page = enter(browser())
    show(page, "#/databases/plans/trip", "3 revisions, 1 conflict", "Conflicts side by side")
    assert len(page.all(".tree circle")) == 3 and len(page.all(".tree path")) == 2
    assert page.find(".tree .winner") and page.find(".tree .conflict")
    assert [text.split()[0] for text in page.read(".beside .differs th")] == ["title"]
    page.press("2-aaaaaaaa…")
    page.until(lambda: '"to a"' in page.find("#body").text)
    page.press("1-00000000…")
    page.says("no longer kept")


def test_what_people_type_never_runs(browser, server):
    page = enter(browser())
    for place in ("#/users", "#/databases/plans", "#/databases/plans/" + urllib.parse.quote(EVIL, safe=""),
                  "#/databases/" + urllib.parse.quote(EVIL, safe=""), "#/" + EVIL, "#/%E0%A4%A"):
        page.driver.execute_script("location.hash = arguments[0]", place)
        page.until(lambda: page.all("main h1, main [role=alert]"))
        assert page.driver.title != "run" and not page.all("main img, main script")
    show(page, "#/users", EVIL)


@pytest.mark.parametrize("width, height, dark", first(1, [(320, 640, False), (1360, 900, True), (390, 844, True), (1360, 900, False)]))
def test_nothing_is_out_of_reach(browser, width, height, dark):
    page = browser(width=width, height=height, dark=dark)
    page.visit("/admin")
    assert violations(page) == []
    enter(page)
    for place, word in (("#/server", "Commits"), ("#/stores", "Sequence"), ("#/work", "Back up now"), ("#/databases", "plans"),
                        ("#/databases/plans", "doc-000"), ("#/databases/plans/trip", "Conflicts side by side")):
        show(page, place, word)
        assert violations(page) == [], place
        assert page.fits(), place


def test_a_page_whose_server_is_gone_says_so(browser, tmp_path):
    (tmp_path / "password").write_text(PASSWORD)
    own = Server(tmp_path / "own", "--admin-password-file", str(tmp_path / "password"))
    page = enter(browser(at=own))
    own.stop()
    page.driver.execute_script("location.hash = '#/users'")
    page.says("can't be reached", "Try again")


def test_users_are_found_by_name_and_their_sessions_end(browser, server):
    session = requests.post(server.url + "/v1/sessions", json={"username": "anna", "password": "a good password"}).json()
    mine = {"Authorization": "Bearer " + session["token"]}
    long = {"username": "W" * 200, "password": "a good password"}
    assert requests.post(server.url + "/v1/users", json=long).status_code in (201, 409)
    page = enter(browser())
    show(page, "#/users", "anna", long["username"])
    assert page.driver.execute_script(
        "return document.querySelector('main th:last-child').getBoundingClientRect().right < innerWidth"), "the name hides the acts"
    page.write("#name", "ANN")
    page.find("#name").send_keys(Keys.ENTER)
    page.until(lambda: len(page.all("main tbody tr")) == 1 and "anna" in page.find("main tbody").text)
    page.until(lambda: page.click(page.find("main tbody summary")))
    page.press("End sessions: anna")
    page.says("The sessions of anna have ended.")
    assert requests.get(server.url + "/v1/me", headers=mine).status_code == 401
    page.until(lambda: page.click(page.find("main tbody summary")))
    page.driver.execute_script("window.confirm = () => true")
    page.press("Reset the password: anna")
    page.says("is not shown again")
    link = page.driver.execute_script("return document.querySelector('main tbody input').value")
    assert link.startswith(server.url + "/reset#")
    chosen = {"token": link.partition("#")[2], "password": "another password"}
    assert requests.post(server.url + "/v1/password-resets", json=chosen).status_code == 204
    # The log is written once a second.
    page.until(lambda: "passwordChanged" in requests.get(server.url + "/v1/admin/audit?newest=true", auth=AUTH).text)
    show(page, "#/audit", "resetMade", "passwordChanged")
    show(page, "#/users", "anna")
    page.choose("#sort", "name")
    page.says("by name")


def test_an_action_counts_only_if_the_server_has_answered(browser, server):
    between = Between(server)
    page = enter(browser(at=between))
    show(page, "#/users", "anna")
    page.write("#name", "ANN")
    page.find("#name").send_keys(Keys.ENTER)
    page.until(lambda: len(page.all("main tbody tr")) == 1 and "anna" in page.find("main tbody").text)
    page.until(lambda: page.click(page.find("main tbody summary")))
    between.answer = lambda handler: handler.command == "DELETE" and Between.send(handler, 200, None)
    page.press("End sessions: anna")
    page.says("Something between this browser and the server")
    between.close()


def test_an_erased_user_is_gone_and_a_backup_is_verified_and_removed(browser, server):
    requests.post(server.url + "/v1/users", json={"username": "gone", "password": "a good password"}).raise_for_status()
    page = enter(browser())
    page.driver.execute_script("window.confirm = () => true")
    show(page, "#/users", "gone")
    page.write("#name", "gone")
    page.find("#name").send_keys(Keys.ENTER)
    page.until(lambda: len(page.all("main tbody tr")) == 1)
    page.until(lambda: page.click(page.find("main tbody summary")))
    page.press("Erase: gone")
    page.says("There is no such user.")
    show(page, "#/work", "Back up now")
    page.press("Back up now")
    page.until(lambda: page.find(".job").get_attribute("data-state") == "done")
    name = page.until(lambda: re.search(r"\S+T\d{6}\.\d{3}Z", page.find(".job .hint").text))[0]
    page.press(f"Verify: {name}")
    page.until(lambda: f"{name}: sound" in page.find(".job").text)
    page.press(f"Remove: {name}")
    page.until(lambda: f"Remove: {name}" not in page.read("main button", "aria-label"))
    assert not (server.data / "backups" / name).exists()


def test_the_server_tells_its_version_and_its_disk(browser):
    page = enter(browser())
    page.says("Version ", "of the disk's", "are free")


def test_the_app_tells_the_operator_why_it_does_not_sync(browser):
    page = enter(browser()).visit("/bookmarks")
    page.until(lambda: "The operator is signed in here" in page.find("#sync > button").get_attribute("aria-label"))
