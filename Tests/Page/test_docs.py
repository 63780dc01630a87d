"""The page for developers shows the whole contract and the book. Readers can search both and try the operations."""
import json
import os
import subprocess
import sys
import urllib.request

import pytest
import requests
from axe_selenium_python import Axe
from selenium.webdriver.common.keys import Keys
from slices import first
from waiting import PATIENCE


def contract(server):
    with urllib.request.urlopen(server.url + "/openapi.json") as answer:
        return json.load(answer)


def names(document):
    return {operation["operationId"] for item in document["paths"].values() for operation in item.values()
            if isinstance(operation, dict) and "operationId" in operation}


def violations(page):
    axe = Axe(page.driver)
    axe.inject()
    return [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in axe.run()["violations"]]


def test_every_operation_of_the_contract_is_listed_and_shown(browser, server):
    page = browser().visit("/docs")
    wanted = names(contract(server))
    listed = set(page.read("#list a[data-operation]", "data-operation"))
    assert listed == wanted
    # Each run shows every fourth.
    for name in sorted(wanted)[::1 if os.environ.get("BOOKMARKS_NIGHTLY") else 4]:
        page.driver.execute_script("location.hash = arguments[0]", name)
        page.until(lambda: page.driver.execute_script(
            "return document.querySelector('#list a[aria-current]')?.dataset.operation === arguments[0]"
            " && document.querySelector('main h1') && document.querySelector('main .try')", name), name)
    page.reload()
    assert page.find("#list a[aria-current]").get_attribute("data-operation") == name


def test_a_search_finds_by_words_and_enter_opens_the_first(browser):
    page = browser().visit("/docs")
    page.find("body").send_keys("/")
    search = page.driver.switch_to.active_element
    assert search.get_attribute("id") == "search"
    search.send_keys("erase account")
    page.says("operation")
    assert page.read("#list a[data-operation]", "data-operation")[0] == "eraseMe"
    search.send_keys(Keys.ENTER)
    page.until(lambda: "Erase the account" in page.find("main h1").text)


def get_token(page):
    """The token of a new guest, which one click gets."""
    page.press("Get a guest's token")
    page.until(lambda: page.find("#try-token").get_attribute("value"))
    return page.find("#try-token").get_attribute("value")


def test_one_click_gives_a_token_that_stays_until_the_tab_is_closed(browser, server):
    page = browser().visit("/docs#getMe")
    token = get_token(page)
    page.click(page.find(".try button.main"))
    assert page.find("#try-answer").get_attribute("data-status") == "200"
    assert "$TOKEN" in page.find("main pre code").text and token not in page.find("main pre code").text
    page.reload()
    assert page.find("#try-token").get_attribute("value") == token
    stored = page.driver.execute_script("return JSON.stringify([{...localStorage}, document.cookie])")
    assert token not in stored
    first = page.driver.current_window_handle
    page.tab()
    page.visit("/docs#getMe")
    assert page.find("#try-token").get_attribute("value") == ""
    page.driver.close()
    page.driver.switch_to.window(first)


def show(page, name):
    """Shows an operation, with its program and form."""
    page.driver.execute_script("location.hash = arguments[0]", name)
    page.until(lambda: page.driver.execute_script(
        "return document.querySelector('#list a[aria-current]')?.dataset.operation === arguments[0]"
        " && document.querySelector('main .box select')", name), name)


COMMANDS = {"curl": ["bash"], "JavaScript": ["node", "--input-type=module", "-"], "Python": [sys.executable, "-"]}


@pytest.mark.parametrize("language", first(2, ["curl", "JavaScript", "Python"]))
def test_programs_run_as_they_are(browser, language):
    page = browser().visit("/docs#createGuest")
    token = None
    for name, wanted in (("createGuest", "expiresAt"), ("putBookmark", "The Ritz-Carlton"), ("listBookmarks", "hotel_25510"),
                         ("searchHotels", "San Francisco"), ("deleteBookmark", ""), ("changeBookmarks", "undo")):
        show(page, name)
        page.choose("main .box select", language)
        token = token or get_token(page)
        program = page.driver.execute_script("return document.querySelector('main pre code').textContent")
        done = subprocess.run(COMMANDS[language], input=program, capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "TOKEN": token})
        assert done.returncode == 0 and wanted in done.stdout, (name, program, done.stdout, done.stderr)
        assert '"error"' not in done.stdout, (name, program, done.stdout)


def test_bodies_that_are_shown_are_taken(browser, server):
    ada = {"username": "ada", "password": "a good password"}
    post(server, "/v1/users", ada)
    session = post(server, "/v1/sessions", ada)
    shown = post(server, "/v1/lists", {"title": "Rome"}, session["token"])["id"]
    page = browser().visit("/docs#logIn")
    for name, wanted in (("logIn", "expiresAt"), ("travelLogIn", "token"), ("invite", "accept"), ("changeList", "Rome in May")):
        show(page, name)
        program = page.driver.execute_script("return document.querySelector('main pre code').textContent")
        done = subprocess.run(COMMANDS["curl"], input=program.replace("LISTID", shown), capture_output=True, text=True,
                              timeout=PATIENCE, env={**os.environ, "TOKEN": session["token"]})
        assert wanted in done.stdout and '"error"' not in done.stdout, (name, program, done.stdout)


def post(server, path, body, token=None):
    """The answer to a POST, or None if it is refused."""
    answer = requests.post(server.url + path, json=body, headers={"Authorization": f"Bearer {token}"} if token else None, timeout=PATIENCE)
    return answer.json() if answer.ok else None


def parses(page, file):
    """Whether Swift's compiler can read the program that is shown."""
    file.write_text(page.driver.execute_script("return document.querySelector('main pre code').textContent"))
    done = subprocess.run(["swiftc", "-frontend", "-parse", str(file)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


def test_programs_for_a_stream_and_for_a_cookie_can_end_well(browser, server, tmp_path):
    page = browser().visit("/docs#observeChanges")
    page.choose("main .box select", "Swift")
    # Whoever waits for all of a stream waits for ever.
    page.until(lambda: "didReceive data" in page.find("main pre code").text)
    parses(page, tmp_path / "main.swift")
    show(page, "putBookmark")
    page.until(lambda: "URLSession.shared.data" in page.find("main pre code").text)
    parses(page, tmp_path / "main.swift")
    page.choose("#try-who", "cookie")
    page.choose("main .box select", "curl")
    # The server refuses a write by cookie from elsewhere.
    page.until(lambda: f"Origin: {server.url}" in page.find("main pre code").text)


def test_the_book_is_beside_the_reference_and_a_search_finds_both(browser):
    page = browser().visit("/docs")
    page.until(lambda: page.press("Getting started") or True)
    page.until(lambda: page.find("main h1").text == "Getting started")
    page.says("A guest's data lives 97 days", "Idempotency-Key")
    page.write("#search", "snapshots replayed")
    page.says("0 operations and 0 pages found.")
    page.write("#search", "log in guest")
    page.until(lambda: page.all("#list a[data-operation='logIn']") and page.all("#list a[data-place^='book/']"))
    page.write("#search", "retry-after parked")
    page.until(lambda: [link.get_attribute("data-place") for link in page.all("#list a[data-place]")] == ["book/Offline"])
    page.find("#search").send_keys(Keys.ENTER)
    page.until(lambda: page.find("main h1").text == "Offline")
    # The links of the book lead to its pages here.
    page.click(next(link for link in page.all("main .prose a") if link.get_attribute("href").endswith("/docs#book/Receipts")))
    page.until(lambda: page.find("main h1").text == "Receipts")
    page.visit("/docs#limits")
    page.says("requestSeconds", "seconds")


def test_a_schema_within_itself_opens_as_deep_as_one_likes(browser):
    page = browser().visit("/docs#listBookmarks")
    page.find("details.more > summary")
    for _ in range(4):
        closed = [each for each in page.all("details.more:not([open]) > summary") if each.is_displayed()]
        if not closed:
            break
        page.click(closed[0])
    page.find("details.more[open] .field")


@pytest.mark.parametrize("width, height, dark", first(1, [(320, 640, True), (1360, 900, False), (390, 844, True)]))
def test_nothing_is_out_of_reach(browser, width, height, dark):
    page = browser(width=width, height=height, dark=dark)
    for path in ("/docs", "/docs#putBookmark", "/docs#tag/couch", "/docs#book/Receipts", "/docs#limits"):
        page.driver.get("about:blank")
        page.visit(path)
        assert violations(page) == []
        assert page.fits()
