"""The main uses of the app, in a real browser with a real server."""
import pytest
import requests
from browsing import CLIENT
from people import shared_list, some_name
from waiting import PATIENCE


def first_hotels(browser, where, count):
    """Bookmarks the first hotels of a search and returns their names."""
    browser.visit(f"/?where={where}")
    browser.find("button.keep")
    names = browser.read(".hotel h2")[:count]
    for name in names:
        browser.press(f"Bookmark {name}")
    browser.has_stored(len(names))
    return names


def test_guest_searches_and_bookmarks_without_a_form(browser):
    page = browser().visit("/")
    page.write("#what", "pool")
    page.write("#where", "San Francisco")
    page.until(lambda: "what=pool" in page.driver.current_url and "where=San+Francisco" in page.driver.current_url)
    page.says("Up to date")
    names = first_hotels(page, "Paris", 2)
    page.visit("/bookmarks")
    page.until(lambda: sorted(page.bookmarked()) == sorted(names))
    page.reload()
    page.until(lambda: sorted(page.bookmarked()) == sorted(names))
    page.click(page.find("button.keep"))
    page.press("Undo")
    page.until(lambda: sorted(page.bookmarked()) == sorted(names))
    assert page.driver.execute_script("return document.cookie + JSON.stringify({ ...localStorage, ...sessionStorage })") == "{}"


def test_places_are_completed_and_an_empty_answer_says_what_there_is(browser):
    page = browser().visit("/")
    page.until(lambda: "United Kingdom" in page.find("#where").get_attribute("placeholder"))
    page.write("#where", "calif")
    page.until(lambda: "California" in [option.get_attribute("value") for option in page.all("#places option")])
    page.write("#where", "xyzzy")
    page.says("There are hotels in these places")
    page.press("France")
    page.until(lambda: page.all(".hotel h2") and "where=France" in page.driver.current_url)
    page.visit("/?what=pool+xyzzy")
    page.says("No hotel has all of it")
    page.find(".hotel h2")


def test_more_hotels_come_and_a_reload_brings_them_back(browser):
    page = browser().visit("/?where=California")
    page.find(".hotel h2")
    first = len(page.all(".hotel"))
    page.press("More hotels")
    page.until(lambda: len(page.all(".hotel")) > first)
    shown = len(page.all(".hotel"))
    page.until(lambda: "pages=2" in page.driver.current_url)
    # The place in the page comes back, too.
    page.driver.execute_script("scrollTo(0, 1500)")
    page.until(lambda: page.driver.execute_script("return history.state?.scroll") == 1500)
    page.reload()
    page.until(lambda: len(page.all(".hotel")) == shown)
    page.until(lambda: page.driver.execute_script("return scrollY") == 1500, "the place was lost")
    page.driver.get(page.url + "/lists")
    page.says("Plan a trip")
    page.driver.back()
    page.until(lambda: len(page.all(".hotel")) == shown)


def test_sign_up_keeps_and_log_in_merges(browser):
    name = some_name()
    first = browser()
    kept = first_hotels(first, "Paris", 1)
    first.visit("/sign-up")
    # A phone's keyboard writes a space behind a word that it completes.
    first.write("#name", name + " ")
    first.write("#password", "a good password")
    first.click(first.find("main form button.main"))
    first.until(lambda: first.find("#who").text == name)
    first.visit("/bookmarks")
    first.until(lambda: first.bookmarked() == kept)
    second = browser()
    other = first_hotels(second, "California", 1)
    second.visit("/log-in")
    second.enter(name, "a good password", "Log in")
    second.visit("/bookmarks")
    second.until(lambda: sorted(second.bookmarked()) == sorted(kept + other))
    first.until(lambda: sorted(first.bookmarked()) == sorted(kept + other), "the first window does not see it")
    second.visit("/account").says("Taken over from a guest")
    second.press("Undo")
    second.press("Undo")
    second.says("It is undone")
    second.visit("/bookmarks")
    second.until(lambda: second.bookmarked() == kept)


def test_two_windows_see_each_others_change(browser):
    page = browser().visit("/bookmarks")
    page.says("Nothing bookmarked yet")
    first = page.driver.current_window_handle
    page.tab()
    names = first_hotels(page, "Paris", 1)
    page.driver.switch_to.window(first)
    page.until(lambda: page.bookmarked() == names)


def test_list_is_shared_by_link_and_edited_by_two(browser):
    owner, other, path = shared_list(browser, "editor")
    owner.visit(path)
    other.write("#note-title", "Ferry")
    other.press("Write it")
    other.write("#words", "# Times\n\nThe ferry goes at **nine**.")
    other.press("Save for everybody")
    owner.says("Ferry")
    owner.press("Ferry")
    owner.says("Times", "The ferry goes at nine.")
    owner.press("Change")
    owner.write("#words", "It goes at ten.")
    owner.press("Save for everybody")
    other.says("It goes at ten.")
    other.press("Change")
    other.write("#words", "a draft of mine")
    other.press("Keep as a draft")
    other.says("Draft: only you see it", "a draft of mine")
    other.synced()
    owner.reload()
    owner.says("It goes at ten.")
    other.press("Show to everybody")
    owner.says("a draft of mine")


def test_reader_has_no_control_to_change_anything(browser):
    owner, other, path = shared_list(browser, "reader")
    owner.visit(f"{path}/notes/Plan?edit=1").write("#words", "We leave on Monday.")
    owner.press("Save for everybody")
    owner.says("Changed")
    owner.synced()
    for place, sign in ((path, "Plan"), (path + "/members", "Can read"), (path + "/notes/Plan?edit=1", "We leave on Monday.")):
        other.visit(place).says(sign)
        shown = other.read("main button, main a.button, main input, main textarea, main select")
        assert [text for text in shown if text != "Leave the list"] == [], place


ATTACK = "<img src=x onerror=\"window.broken=1\"><script>window.broken=1</script>"


def test_what_people_type_never_runs(browser):
    owner, other, path = shared_list(browser, "editor")
    owner.visit("/lists").write("#new-title", ATTACK)
    owner.press("Make it")
    owner.says("No hotels yet")
    owner.driver.execute_async_script("""
        const done = arguments[arguments.length - 1], [attack] = arguments
        """ + CLIENT + """.then(async ({ client }) => {
          await client.bookmark({ id: "<svg onload=window.broken=1>", name: attack, description: attack, city: attack,
            url: "javascript:window.broken=1", phone: attack, amenities: [attack, "`"] }, { facts: true })
        }).then(done, done)""", ATTACK)
    owner.synced()
    owner.visit("/bookmarks").says(ATTACK)
    assert not owner.all("main img, main script")
    owner.until(lambda: owner.click(owner.find(".hotel h2 a")))
    owner.says("Website", "javascript:window.broken=1")
    assert not owner.all("main a[href^='javascript']")
    owner.driver.get(f"{owner.url}{path}/notes/%3Cimg%20src=x%20onerror=window.broken=1%3E?edit=1")
    owner.write("#words", ATTACK + "\n\n[a](javascript:window.broken=1) ![b](data:text/html,x) [c](vbscript:x)\n\n```\n" + ATTACK)
    owner.press("Save for everybody")
    owner.says("onerror")
    assert not owner.all("main img, main script, .prose a")
    for place in ("/?what=%3Cscript%3Ewindow.broken=1%3C/script%3E&sort=%22%3E%3Cimg%20src=x%3E", "/nowhere-%3Cimg%3E/x", "/log-in?then=javascript:window.broken=1",
                  "/invitations/%3Cimg%20src=x%20onerror=window.broken=1%3E", "/lists/%3Cscript%3E", "/hotels/%3Cscript%3E"):
        owner.driver.get(owner.url + place)
        owner.until(lambda: owner.all("main h1, main h2, body pre, body"))
    assert not owner.driver.execute_script("return window.broken")


def test_paper_has_no_navigation_and_no_buttons(browser):
    page = browser()
    page.visit("/?where=Paris").find(".hotel h2")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    page.until(lambda: page.read(".hotel h2") and not page.read("nav, button, .button"))


def test_keyboard_alone_finds_and_bookmarks(browser):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys
    page = browser().visit("/")
    page.find(".hotel button.keep")
    page.driver.execute_script("window.heading = document.querySelector('main h1')")

    def keys(*pressed):
        for key in pressed:
            ActionChains(page.driver).send_keys(key).perform()

    keys(Keys.TAB)
    page.until(lambda: page.driver.switch_to.active_element.text == "Skip to the content", "the first stop is another")
    keys(Keys.ENTER)
    for _ in range(12):
        keys(Keys.TAB)
        if page.until(lambda: page.driver.switch_to.active_element.tag_name) == "button" and page.driver.execute_script(
                "return document.activeElement.classList.contains('keep')"):
            break
    keys(Keys.SPACE)
    page.until(lambda: page.driver.execute_script("return document.activeElement.getAttribute('aria-pressed')") == "true")
    page.synced()
    assert page.driver.execute_script("return window.heading.isConnected"), "the link to the content changed the view"
    page.find("nav a[href='/bookmarks']").send_keys(Keys.ENTER)
    page.until(lambda: page.driver.switch_to.active_element.text == "Bookmarked hotels", "the focus is not on the heading")
    page.until(lambda: len(page.bookmarked()) == 1)


def test_with_the_server_killed_nothing_hangs(browser, own_server):
    page = browser(at=own_server)
    names = first_hotels(page, "Paris", 1)
    page.until(lambda: page.driver.execute_script("return Boolean(navigator.serviceWorker.controller)"), "no worker")
    page.until(lambda: page.driver.execute_async_script(
        "caches.match('/shell.json', { cacheName: 'page' }).then(it => arguments[0](Boolean(it)))"), "no shell is kept")
    page.visit("/?where=Paris").find(".hotel h2")
    own_server.kill()
    with pytest.raises(requests.ConnectionError):
        requests.get(own_server.url, timeout=PATIENCE)
    page.visit("/bookmarks")
    page.until(lambda: page.bookmarked() == names)
    # What a search has found is found again, also what is no bookmark.
    page.visit("/?where=Paris").says("From this device")
    assert len(page.all(".hotel h2")) > len(names) and set(names) <= set(page.read(".hotel h2"))
    page.visit("/lists").says("Plan a trip")
    page.visit("/account").says("on this device")
    page.visit("/bookmarks")
    page.click(page.find("button.keep"))
    page.says("Nothing bookmarked yet")
    page.visit("/outbox").says("Remove the bookmark")
