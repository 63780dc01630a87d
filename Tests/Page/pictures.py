"""Takes screenshots of the app's states for a person to check, at the width of a phone and of a desktop, light and dark.
`pictures.py URL DIRECTORY` uses a running server and creates two users and a guest on it."""
import pathlib
import sys
import uuid

from browsing import Browser
from chromium import Context

SIZES = {"phone": (390, 844), "desktop": (1280, 900)}


def story(browser, take):
    """Uses the app as two people who plan a trip, and takes a screenshot of each state."""
    name = "anna-" + uuid.uuid4().hex[:6]
    browser.visit("/bookmarks").says("Nothing bookmarked yet")
    take("bookmarks-empty")
    browser.visit("/?what=nothing+like+this").says("No hotel matches")
    take("search-empty")
    browser.visit("/?where=California").says("hotels")
    for button in browser.all("button.keep")[:5]:
        browser.click(button)
    browser.synced()
    take("search")
    browser.visit("/bookmarks").says("guest")
    take("bookmarks")
    browser.click(browser.find("button.keep"))
    browser.says("no longer bookmarked")
    take("bookmarks-undo")
    browser.click(browser.find(".hotel .end a"))
    browser.says("History of")
    take("history")
    browser.visit("/sign-up").says("bookmarks")
    take("sign-up")
    browser.sign_up(name)
    browser.visit("/lists").write("#new-title", "Pacific Coast in May")
    browser.press("Make it")
    browser.says("No hotels yet")
    browser.synced()
    take("list-empty")
    address = browser.driver.current_url[len(browser.url):]
    browser.write("#note-title", "What to pack")
    browser.press("Write it")
    browser.write("#words", "# For the road\n\n* walking shoes\n* a **good** book\n\n> The sea is cold in May.\n\nSee [the coast](https://example.org).")
    take("note-edit")
    browser.press("Save for everybody")
    browser.says("For the road")
    browser.synced()
    take("note")
    browser.visit("/?where=California")
    browser.click(browser.all(".hotel h2 a")[2])
    browser.says("Put it on a list")
    take("hotel")
    browser.press("Put it on a list")
    take("hotel-lists")
    browser.click(browser.find("dialog input[type=checkbox]"))
    browser.press("Keep")
    browser.says(" is on “")
    browser.synced()
    browser.visit(address).says("Take off")
    take("list")
    browser.visit(address + "/members").says("Invite a person")
    take("members")
    browser.visit("/lists").says("Pacific Coast")
    take("lists")
    browser.visit("/account").says("Take it with you")
    take("account")
    browser.visit("/outbox").says("up to date")
    take("outbox")
    browser.visit("/bookmarks")
    browser.offline()
    browser.click(browser.find("button.keep"))
    browser.find("#sync > button").click()
    browser.until(lambda: "ffline" in browser.text() or "sent" in browser.text())
    take("sync-offline")
    browser.driver.get(browser.url + "/outbox")
    browser.says("Remove the bookmark")
    take("outbox-waiting")
    browser.offline(False)


def main(url, directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for size, (width, height) in SIZES.items():
        for dark in (False, True):
            browser = Browser(url, width, height, dark)
            try:
                story(browser, lambda name: browser.picture(directory / f"{name}-{size}-{'dark' if dark else 'light'}.png"))
            finally:
                for line in browser.close():
                    print(size, line)
    Context.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
