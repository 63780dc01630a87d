"""Checks every page of the app with axe's accessibility rules."""
import uuid

import pytest
from axe_selenium_python import Axe
from browsing import CLIENT
from slices import first

LONG = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
HOTEL = f"const done = arguments[0]; {CLIENT}.then(({{ client }}) => client.bookmarks()).then(it => done(it[0].id))"
# The page's content security policy allows no foreign script. The debugger's interface is exempt from it.
RUN = "axe.run(document).then(it => JSON.stringify(it.violations.map(one => [one.id, one.nodes.map(node => node.html.slice(0, 200)).slice(0, 4)])))"


def violations(page):
    with open(Axe(page.driver).script_url) as script:
        page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": script.read()})
    return page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": RUN, "awaitPromise": True, "returnByValue": True})["result"]["value"]


@pytest.mark.parametrize("width, dark", first(1, [(320, True), (1200, False), (320, False), (1200, True)]))
def test_no_page_has_a_violation_or_is_wider_than_the_window(browser, width, dark):
    page = browser(width=width, dark=dark)
    page.visit("/?where=Paris")
    page.click(page.find("button.keep"))
    page.has_stored(1)
    page.sign_up("anna-" + uuid.uuid4().hex[:8])
    page.visit("/lists").write("#new-title", LONG)
    page.press("Make it")
    page.says("No hotels yet")
    page.synced()
    page.until(lambda: "/lists/new-" not in page.driver.current_url)
    path = page.driver.current_url[len(page.url):]
    hotel = page.driver.execute_async_script(HOTEL)
    page.driver.execute_async_script("""
        const [name, list, done] = arguments, body = JSON.stringify({ name, city: name, amenities: [name] })
        const put = place => fetch(place + "/bookmarks/long", { method: "PUT", headers: { "content-type": "application/json" }, body })
        put("/v1").then(() => put("/v1" + list)).then(() => done())""", LONG, path)
    # The device has it then; the page of a hotel does not follow lists.
    page.visit(path).says("Take off")
    page.visit("/hotels/long").until(lambda: LONG in page.read(".panel .rows a"))
    found = {}
    for place in ("/", "/?what=nothing+like+this", "/bookmarks", "/bookmarks?map=", f"/hotels/{hotel}", "/hotels/long", f"/bookmarks/{hotel}/history", "/lists", path,
                  path + "/members", path + "/drafts", path + "/notes/New?edit=1", "/invitations/x", "/outbox", "/account", "/log-in",
                  "/sign-up"):
        page.visit(place)
        page.until(lambda: not page.all("main [aria-busy=true]"))
        if (answer := violations(page)) != "[]":
            found[place] = answer
        if not page.fits():
            found[place + " is wider"] = True
        if fields := page.all("main :is(strong, dd, pre, input, textarea):not([dir=auto])"):
            found[place + " has words of one direction"] = len(fields)
    # The header of a user with a name, on tablets and in narrow windows.
    for width in (768, 834, 961):
        page.resize(width)
        page.until(lambda: page.driver.execute_script("return innerWidth") == width)
        if not page.fits():
            found[width] = page.driver.execute_script("return document.documentElement.scrollWidth")
    # Letters twice as large on a phone.
    page.resize(360)
    for place in ("/", "/lists"):
        page.visit(place)
        page.driver.execute_script("document.documentElement.style.fontSize = '200%'")
        if not page.fits():
            found[place + " with large letters"] = page.driver.execute_script("return document.documentElement.scrollWidth")
    assert not found
