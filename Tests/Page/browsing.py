"""Drives a browser as a person does: tests find elements by what the page shows, not by how it is built."""
import json
import re
import time

from selenium.common.exceptions import (
    ElementClickInterceptedException, ElementNotInteractableException, NoSuchElementException, StaleElementReferenceException)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chromium import Context, set_network
from waiting import PATIENCE

PASSING = (ElementClickInterceptedException, ElementNotInteractableException, NoSuchElementException,
           StaleElementReferenceException)

CLIENT = "import(new URL('bundle.js', document.querySelector('script[type=module]').src))"
"""An expression for the module of the page's client; the URLs of the page's files have its version."""

# Whether nothing waits in the outbox. The button of the page is redrawn a moment after a change.
SENT = f"const done = arguments[0]; {CLIENT}" + """.then(({ client }) => client.outbox())
    .then(entries => done(!entries.some(it => /pending|transit|parked/.test(it.state))), () => done(false))"""

CONTROL = """
    // If a dialog is open, only its buttons can be pressed.
    const inside = document.querySelector("dialog[open]") ? "dialog[open] " : ""
    return [...document.querySelectorAll(`${inside}button, ${inside}a[href]`)].find(it =>
      it.checkVisibility({ opacityProperty: true, visibilityProperty: true })
      && [it.innerText.replaceAll("\u00a0", " ").trim(), it.getAttribute("aria-label")].includes(arguments[0]))"""

# The browser itself logs each response with a status from 400 on and each address that cannot be reached. A page that
# tells the person what happened does not log it as an error.
EXPECTED = re.compile(r"Failed to load resource|net::ERR_")


class Found:
    """The first element with a selector. It is found again when it is used: the page may have replaced it meanwhile."""

    def __init__(self, browser, selector):
        self.browser, self.selector = browser, selector

    def element(self):
        return self.browser.until(
            lambda: self.browser.driver.find_element(By.CSS_SELECTOR, self.selector), f"no {self.selector}")

    @property
    def text(self):
        """What the element shows."""
        return self._use(lambda element: self.browser.driver.execute_script(
            "return arguments[0].checkVisibility() ? arguments[0].innerText.replaceAll('\u00a0', ' ').trim() : ''", element))

    def __getattr__(self, name):
        return lambda *arguments: self._use(lambda element: getattr(element, name)(*arguments))

    def _use(self, use):
        while True:
            try:
                return use(self.element())
            except StaleElementReferenceException:
                continue


class Browser:
    """A new profile of Chromium. `seconds` is how long it waits for an expected result."""

    seconds = PATIENCE

    def __init__(self, url, width=1200, height=900, dark=False, calm=True, language="en-GB"):
        self.context = Context(language)
        self.driver = self.context.driver
        self.url = url
        self.complaints = []
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                    {"name": "prefers-reduced-motion", "value": "reduce" if calm else "no-preference"}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        self.resize(width, height)
        # Without a window, a page may not have the focus. Elements that are shown only on focus would stay hidden.
        self.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})

    def visit(self, path="/"):
        """Opens a path and waits for its view."""
        self.driver.get(self.url + path)
        self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, "main h1"), f"{path}: no heading")
        return self

    def reload(self):
        self.driver.refresh()
        self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, "main h1"), "no heading")

    def until(self, found, what="it did not happen", seconds=None):
        """Waits until a result is true and returns it."""
        end = time.monotonic() + (seconds or self.seconds)
        while True:
            try:
                answer = found()
                if answer:
                    return answer
            except PASSING:
                pass
            if time.monotonic() > end:
                raise AssertionError(f"{what}; the page says: {self.text()[:1500]}")
            time.sleep(0.05)

    def text(self):
        """What the page shows. WebDriver's own texts cost six times as much, and tests ask again and again."""
        return self.driver.execute_script("return document.body?.innerText.replaceAll('\u00a0', ' ') ?? ''")

    def says(self, *words, seconds=None):
        """Waits until the page shows all these words."""
        def is_shown():
            text = self.text()
            return all(word in text for word in words)
        self.until(is_shown, f"{words} not shown", seconds)

    def says_not(self, word):
        self.until(lambda: word not in self.text(), f"{word!r} still shown")

    def find(self, selector):
        """The first element with this selector, waited for now."""
        found = Found(self, selector)
        found.element()
        return found

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def read(self, selector, attribute=None):
        """The texts, or an attribute, of all visible elements with this selector, read in one step: the page may replace
        an element between two."""
        return self.driver.execute_script("""
            const [selector, attribute] = arguments
            return [...document.querySelectorAll(selector)].filter(it => it.checkVisibility())
              .map(it => attribute ? it.getAttribute(attribute) : it.innerText.trim())""", selector, attribute)

    def control(self, name):
        """The button or link with this accessible name, as a screen reader announces it."""
        return self.until(lambda: self.driver.execute_script(CONTROL, name), f"no control {name!r}")

    def press(self, name):
        """Presses the button or follows the link with this name."""
        self.until(lambda: self.click(self.control(name)), f"{name!r} can't be pressed")

    def click(self, element):
        """Scrolls an element to the middle of the window and clicks it."""
        if isinstance(element, Found):
            return self.until(lambda: self.click(element.element()), f"{element.selector} can't be clicked")
        self.driver.execute_script("arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })", element)
        element.click()
        return True

    def write(self, selector, text):
        field = self.find(selector)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text)
        return field

    def choose(self, selector, value):
        self.find(selector)
        self.driver.execute_script(
            "const it = document.querySelector(arguments[0]); it.value = arguments[1];"
            "it.dispatchEvent(new Event('change', { bubbles: true }))", selector, value)

    def bookmarked(self):
        """The names of the bookmarked hotels on the bookmarks page."""
        return self.read("ul[aria-label='Bookmarked hotels'] .hotel h2")

    def bookmark(self, hotel):
        """Presses the bookmark button of a visible hotel and waits until the server has the bookmark."""
        count = self.stored()
        self.press(f"Bookmark {hotel}")
        self.has_stored(count + 1)

    def stored(self):
        """How many bookmarks the server has."""
        return self.driver.execute_async_script("""
            const done = arguments[0]
            fetch("/v1/bookmarks").then(it => it.json()).then(it => done(it.bookmarks.length)).catch(() => done(0))""")

    def has_stored(self, count):
        """Waits until the server has so many bookmarks, and the page knows it. After a click, the change is not yet in
        the outbox, so the page may still say "up to date" for the old state."""
        self.until(lambda: self.stored() >= count, "the server has not got them", 60)
        self.synced()

    def synced(self):
        """Waits until every change in the page's outbox is on the server and the page says so. Wait first for what a
        click shows: only then is its change in the outbox."""
        self.until(lambda: self.driver.execute_async_script(SENT)
            and "Everything is up to date" in "".join(self.read("#sync > button", "aria-label")), "not synced", 60)

    def sign_up(self, name, password="a good password"):
        self.visit("/sign-up")
        self.enter(name, password, "Sign up")

    def enter(self, name, password, button):
        self.write("#name", name)
        self.write("#password", password)
        self.click(self.find("main form button.main"))
        self.until(lambda: self.find("#who").text == name, f"not logged in by {button}")

    def fits(self):
        """Whether nothing is wider than the window. A phone's `innerWidth` grows with what is wider."""
        return self.driver.execute_script("const it = document.documentElement; return it.scrollWidth <= it.clientWidth")

    def resize(self, width, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def offline(self, is_offline=True):
        set_network(self.driver, is_offline)

    def tab(self):
        """Opens another tab, which becomes the current one. Returns its handle."""
        return self.context.tab()

    def picture(self, path):
        self.driver.save_screenshot(str(path))

    def close(self):
        """Closes the browser. Returns the errors that it logged."""
        lines = self.driver.get_log("browser")
        self.context.close()
        return self.complaints + [
            json.dumps(line["message"]) for line in lines
            if line["level"] == "SEVERE" and not EXPECTED.search(line["message"])]
