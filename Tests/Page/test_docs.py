"""The page for developers shows the whole contract. Readers can search it and try its operations."""
import json
import urllib.request

import pytest
from axe_selenium_python import Axe
from selenium.webdriver.common.keys import Keys


def contract(server):
    with urllib.request.urlopen(server.url + "/openapi.json") as answer:
        return json.load(answer)


def names(document):
    return {operation["operationId"] for item in document["paths"].values() for operation in item.values()
            if isinstance(operation, dict) and "operationId" in operation}


def click(page, element):
    page.driver.execute_script("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element)
    element.click()


def violations(page):
    axe = Axe(page.driver)
    axe.inject()
    return [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in axe.run()["violations"]]


def test_every_operation_of_the_contract_is_listed_and_shown(browser, server):
    page = browser().visit("/docs")
    wanted = names(contract(server))
    listed = {link.get_attribute("data-operation") for link in page.all("#list a[data-operation]")}
    assert listed == wanted
    for name in sorted(wanted):
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
    assert [link.get_attribute("data-operation") for link in page.all("#list a[data-operation]")][0] == "eraseMe"
    search.send_keys(Keys.ENTER)
    page.until(lambda: "Erase the account" in page.find("main h1").text)


def test_an_operation_can_be_tried_with_a_token_that_stays_in_memory(browser, server):
    page = browser().visit("/docs#createGuest")
    click(page, page.find(".try button.main"))
    answer = page.find("#try-answer")
    assert answer.get_attribute("data-status") == "201"
    token = json.loads(page.all("#try-answer pre")[1].text)["token"]
    page.visit("/docs#getMe")
    page.choose("#try-who", "token")
    page.write("#try-token", token)
    click(page, page.find(".try button.main"))
    assert page.find("#try-answer").get_attribute("data-status") == "200"
    assert "$TOKEN" in page.find("main pre code").text and token not in page.find("main pre code").text
    stored = page.driver.execute_script("return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert token not in stored


def test_a_schema_within_itself_opens_as_deep_as_one_likes(browser):
    page = browser().visit("/docs#listBookmarks")
    page.find("details.more > summary")
    for _ in range(4):
        closed = [each for each in page.all("details.more:not([open]) > summary") if each.is_displayed()]
        if not closed:
            break
        click(page, closed[0])
    page.find("details.more[open] .field")


@pytest.mark.parametrize("width, height", [(390, 844), (320, 640), (1360, 900)])
@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_out_of_reach(browser, width, height, dark):
    page = browser(width=width, height=height, dark=dark)
    for path in ("/docs", "/docs#putBookmark", "/docs#tag/couch"):
        page.driver.get("about:blank")
        page.visit(path)
        assert violations(page) == []
        assert page.driver.execute_script("return document.documentElement.scrollWidth <= innerWidth")
