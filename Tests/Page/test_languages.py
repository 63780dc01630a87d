"""The page's texts: each is in every language, and no view has words of its own."""
import re

import pytest
import requests

from people import some_name
from server import ROOT
from slices import first

FILES = ROOT / "Sources/Page/Files"
LANGUAGES = ["en", "de", "ja"]
ELSEWHERE = ("docs", "admin", "texts-", "coast", "boot", "worker")
"""The pages for developers and operators are in English; `boot.js` runs when there are no texts."""

WORD = "\u0396\u0397\u0398"
"""What people write in these tests: Greek, so that Latin words are the page's."""


def texts(language):
    """The keys with the parameters of each, in their order. A line has texts, or one function."""
    found = []
    for line in (FILES / f"texts-{language}.js").read_text().split("\n"):
        if re.match(r"  \w+: \"", line):
            found += [(key, "") for key in re.findall(r"(?:^ +|\", )(\w+): \"", line)]
        else:
            found += re.findall(r"^ +(\w+): (\([^)]*\) =>|\w+ =>|\{)", line)
    return found


def modules():
    return {file.name: file.read_text() for file in FILES.glob("*.js") if not file.name.startswith(ELSEWHERE)}


def test_each_text_is_in_every_language_and_used():
    for language in LANGUAGES[1:]:
        assert texts(language) == texts("en"), language
    used = set(re.findall(r"\bt\.(\w+)", "".join(modules().values())))
    actions = texts("en").index(("actions", "{"))
    assert used == {key for key, _ in texts("en")[:actions + 1]}


def test_no_module_has_a_sentence_of_its_own():
    found = {}
    for name, source in modules().items():
        code = "\n".join(line for line in source.split("\n") if not re.match(r"\s*(//|/?\*)", line))
        sentences = [text for text in re.findall(r'"([^"\n]*)"|`([^`\n]*)`', code) for text in text
                     if re.match(r"[A-Z][a-z]+( [a-z]|$)|.*[a-z] [a-z]+ [a-z]|[a-z]+ \$\{", text) and text not in ("Escape", "noopener noreferrer nofollow")]
        found |= {name: sentences} if sentences else {}
    assert found == {}


def test_each_failure_of_the_offline_module_has_words_of_the_page():
    thrown = {code for file in (FILES / "offline").glob("*.js")
              for code in re.findall(r'\b(?:OfflineError|fail)\(\s*"(\w+)"', file.read_text())}
    spoken = set(re.findall(r"\b(\w+): t\.", (FILES / "reasons.js").read_text()))
    # The page asks what is to become of the outbox, offers no form to who is logged in, and has one server.
    assert thrown - spoken == {"outbox_not_empty", "signed_in", "other_server"}


REFUSED = {
    "ja": "この名前は使えません。文字と数字だけの短い名前をお試しください。",
    "de": "Dieser Name geht nicht. Versuche einen kürzeren, nur aus Buchstaben und Ziffern."}
"""What becomes of a sign-up with a name that has a slash."""

LATIN = r"""
    const walk = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT), texts = [document.title]
    while (walk.nextNode()) if (!walk.currentNode.parentElement.closest("script, style, noscript, .hotel")) texts.push(walk.currentNode.data)
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]"))
      for (const name of ["aria-label", "title", "placeholder"]) if (!element.closest(".hotel")) texts.push(element.getAttribute(name) ?? "")
    return [...new Set(texts)].filter(text => /[a-z]{3}/i.test(text.replace(/Hotel Bookmarks|anna-\w+|https|United Kingdom.*/g, "")))"""


def of_a_user(server, name):
    """Bookmarks and a list of a user, by HTTP. Returns the list's path."""
    token = requests.post(server.url + "/v1/users", json={"username": name, "password": "a good password"}).json()["token"]

    def send(method, path, body):
        answer = requests.request(method, server.url + path, json=body, headers={"Authorization": "Bearer " + token})
        assert answer.ok, answer.text
        return answer.json()

    hotels = [{"id": f"x{number}", "name": WORD, "city": WORD, "address": WORD, "geo": {"lat": 48, "lon": number}} for number in range(3)]
    send("POST", "/v1/bookmarks", {"add": hotels})
    path = "/lists/" + send("POST", "/v1/lists", {"title": WORD, "from": "2027-05-01", "to": "2027-05-09"})["id"]
    send("POST", f"/v1{path}/bookmarks", {"add": hotels})
    send("PUT", f"/v1{path}/notes/{WORD}", {"markdown": WORD})
    send("PUT", f"/v1{path}/notes/{WORD}2?draft=true", {"markdown": WORD})
    send("POST", f"/v1{path}/links", {})
    return path


@pytest.mark.parametrize(("language", "width"), first(1, [("de", 390), ("ja", 1200)]))
def test_views_are_in_the_browsers_language(browser, server, language, width):
    name = some_name()
    path = of_a_user(server, name)
    page = browser(width=width, height=844, language=language)
    places = ["/", "/?what=" + "+".join(f"{WORD}{number}" for number in range(40)), "/sign-up", "/reset", "/lists", "/account", "/log-in"]
    own = ["/bookmarks", "/bookmarks?map=", "/hotels/x1", "/bookmarks/x1/history", "/lists", path, path + "/members", path + "/drafts",
           path + "/history", f"{path}/notes/{WORD}?edit=1", "/invitations/x", "/outbox", "/account"]
    found = {}
    for place in places + own:
        if place == own[0]:
            page.enter(name, "a good password", "")
        page.visit(place)
        page.until(lambda: not page.all("main [aria-busy=true]"))
        assert page.driver.execute_script("return document.documentElement.lang") == language
        if place == "/sign-up":
            page.write("#name", "a/b")
            page.write("#password", "a good password")
            page.click(page.find("main form button.main"))
            page.until(lambda: page.read("#told") == [REFUSED[language]])
        if language == "ja" and (words := page.driver.execute_script(LATIN)):
            found[place] = words
        if not page.fits():
            found[place + " is wider"] = True
    assert not found


def test_another_language_without_a_network_gives_way_to_the_one_that_is_kept(browser, own_server):
    page = browser(at=own_server, language="de")
    page.visit("/").says("Wo möchtest du aufwachen?")
    page.until(lambda: page.driver.execute_async_script("caches.match('/shell.json').then(it => arguments[0](Boolean(it)))"))
    kept = page.driver.execute_async_script("""
        const done = arguments[0]
        caches.keys().then(async names => done((await Promise.all(names.map(async name => (await (await caches.open(name)).keys()).map(it => it.url)))).flat()))""")
    assert sorted(url.rpartition("/")[2] for url in kept if "/texts-" in url) == ["texts-de.js"]
    page.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": "other", "acceptLanguage": "ja"})
    # The worker asks the network past the browser's switch.
    own_server.stop()
    page.visit("/bookmarks").says("Noch nichts gemerkt")
