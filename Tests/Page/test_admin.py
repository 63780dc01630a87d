"""The operator's page: it shows nothing before the password, then every panel. It runs no text of users as a script."""
import json
import pathlib
import sys
import urllib.parse

import pytest
import requests

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Live"))

from server import Server  # noqa: E402
from test_docs import violations  # noqa: E402

PASSWORD = "the operator's password"
AUTH = ("admin", PASSWORD)
EVIL = "<img src=x onerror=document.title='run'>"


@pytest.fixture(scope="module")
def administered(tmp_path_factory):
    """A server with a known password, people whose names contain scripts, and a database with conflicts."""
    directory = tmp_path_factory.mktemp("administered")
    (directory / "password").write_text(PASSWORD)
    server = Server(directory / "data", "--admin-password-file", str(directory / "password"))
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
    show(page, "#/guests", "guest-")
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
    assert [row.text.split()[0] for row in page.all(".beside .differs th")] == ["title"]
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


@pytest.mark.parametrize("width, height, dark", [(390, 844, True), (320, 640, False), (1360, 900, False), (1360, 900, True)])
def test_nothing_is_out_of_reach(browser, width, height, dark):
    page = browser(width=width, height=height, dark=dark)
    page.visit("/admin")
    assert violations(page) == []
    enter(page)
    for place, word in (("#/server", "Commits"), ("#/stores", "Sequence"), ("#/work", "Back up now"), ("#/databases", "plans"),
                        ("#/databases/plans", "doc-000"), ("#/databases/plans/trip", "Conflicts side by side")):
        show(page, place, word)
        assert violations(page) == [], place
        assert page.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth"), place


def test_a_page_whose_server_is_gone_says_so(browser, tmp_path):
    (tmp_path / "password").write_text(PASSWORD)
    own = Server(tmp_path / "own", "--admin-password-file", str(tmp_path / "password"))
    page = enter(browser(at=own))
    own.stop()
    page.driver.execute_script("location.hash = '#/users'")
    page.says("can't be reached", "Try again")
