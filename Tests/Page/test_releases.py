"""The page's versions: a visit keeps its own, no mixture is ever kept, and other pages of the origin stay themselves."""
import re

import pytest
from browsing import Browser
from releases import MARK, SECOND, Releases
from server import ROOT

OLD, NEW = (text.decode() for text in MARK)


@pytest.fixture
def site(shared):
    site = Releases(shared)
    yield site
    site.close()


@pytest.fixture
def page(site):
    """A browser whose errors are not looked at: here files are missing or broken."""
    page = Browser(site.url)
    yield page
    page.close()


def kept(page):
    """The version that the worker uses, when it is whole; None if there is none."""
    return page.driver.execute_async_script("""
        const done = arguments[0]
        ;(async () => {
          const manifest = await caches.match("/shell.json", { cacheName: "page" })
          if (!manifest) return null
          const { version, files } = await manifest.json()
          const cache = await caches.open("page-" + version)
          for (const { path, sha256 } of files) {
            const file = await cache.match(path)
            if (!file && /texts-(?!en)/.test(path)) continue
            if (!file) return `${path} is missing`
            const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer())
            const text = [...new Uint8Array(digest)].map(byte => byte.toString(16).padStart(2, "0")).join("")
            if (text !== sha256) return `${path} is another file`
          }
          return version
        })().then(done, error => done(String(error)))""")


def controlled(page):
    page.until(lambda: page.driver.execute_script("return Boolean(navigator.serviceWorker.controller)"), "no worker")


def test_a_visit_keeps_its_version_and_the_next_one_has_the_new(site, page):
    page.visit("/")
    controlled(page)
    page.until(lambda: kept(page) == site.first)
    site.release()
    # The first visit after a release begins with the version that is kept, finds the new one, and goes on as it began.
    page.visit("/")
    page.until(lambda: kept(page) == SECOND)
    page.says("There is a new version of this page.")
    page.press("Lists")
    page.says(OLD)
    page.press("Reload")
    page.says(NEW)
    site.versions = [1]
    # The version before may come back.
    page.visit("/lists").says(NEW)
    page.until(lambda: kept(page) == site.first)
    page.visit("/lists").says(OLD)


@pytest.mark.parametrize("source", [
    "Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined })",
    "ServiceWorkerContainer.prototype.register = () => new Promise((_, refuse) => { window.refuse = refuse })"], ids=["none", "refused"])
def test_a_visit_without_a_worker_keeps_its_version(site, page, source):
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": source})
    page.visit("/")
    page.driver.execute_async_script("window.refuse?.(new TypeError('refused')); setTimeout(arguments[0])")
    assert page.read(".toast") == []
    site.release()
    for place, word in (("Lists", OLD), ("Bookmarked", "Nothing bookmarked yet"), ("You", "You are a guest")):
        page.press(place)
        page.says(word)


def test_two_versions_behind_one_address_are_never_kept_as_a_mixture(site, page):
    site.versions = [1, 2]
    page.driver.get(site.url + "/")
    for _ in range(6):
        page.driver.refresh()
        page.until(lambda: page.text())
    assert kept(page) in (None, site.first, SECOND)
    site.release()
    page.visit("/")
    page.reload()
    page.until(lambda: kept(page) == SECOND)
    page.visit("/lists").says(NEW)


@pytest.mark.parametrize("broken", [
    "bundle.js", "index.html", *(pytest.param(file, marks=pytest.mark.nightly) for file in ("boot.js", "base.css", "shell.json"))])
def test_a_proxys_page_in_the_place_of_a_file_is_never_kept(site, page, broken):
    page.visit("/")
    controlled(page)
    page.until(lambda: kept(page) == site.first)
    site.broken = lambda path: path.endswith(broken)
    site.release()
    for _ in range(2):
        page.visit("/lists").says(OLD)
        assert kept(page) == site.first
    site.broken = lambda path: False
    page.visit("/lists")
    page.until(lambda: kept(page) == SECOND)
    page.visit("/lists").says(NEW)


def test_a_first_visit_behind_a_proxys_page_can_be_tried_again(site, page):
    site.broken = lambda path: path.endswith("bundle.js")
    page.driver.get(site.url + "/")
    page.says("Load the page again")
    site.broken = lambda path: False
    page.press("Load the page again")
    page.says("370 hotels")
    page.visit("/lists").says(OLD)


def test_a_cache_that_is_not_whole_is_not_used_and_is_completed(site, page):
    page.visit("/")
    controlled(page)
    page.until(lambda: kept(page) == site.first)
    page.driver.execute_async_script("""
        const [version, done] = arguments
        caches.open("page-" + version).then(it => it.delete(`/page/${version}/bundle.js`)).then(done)""", site.first)
    page.visit("/lists").says(OLD)
    page.until(lambda: kept(page) == site.first)


OWN = b"""<!doctype html><title>My trip</title><h1>My own page</h1><p id="found"></p>
<script type="module">
import { open } from "/offline.js"
window.client = await open()
document.querySelector("#found").textContent = (await client.search({ description: "pool" })).hotels.length + " hotels"
</script>"""


def test_a_developers_own_page_stays_at_its_second_visit(site, page):
    for path in ("/my-trip", "/lists.html", "/trips/paris", "/index.html"):
        site.pages[path] = OWN
        for _ in range(2):
            page.driver.get(site.url + path)
            page.says("My own page", " hotels")
    # Without being asked for, the worker is not registered.
    assert page.driver.execute_async_script(
        "navigator.serviceWorker.getRegistrations().then(it => arguments[0](it.length))") == 0
    assert page.driver.execute_async_script("caches.keys().then(arguments[0])") == []
    # With the app's worker beside it, the page is still itself.
    page.visit("/")
    controlled(page)
    page.until(lambda: kept(page) == site.first)
    for path in site.pages:
        page.driver.get(site.url + path)
        page.says("My own page", " hotels")


def test_the_worker_answers_every_view_of_the_app_and_nothing_else():
    source = (ROOT / "Sources/Page/Files/worker.js").read_text()
    views = re.compile(re.search(r"^const views = /(.*)/$", source, re.M).group(1).replace(r"\/", "/"))
    contract = (ROOT / "openapi.yaml").read_text()
    paths = re.findall(r'^  (/\S*):\n(?:    parameters: .*\n)?    get: \{operationId: \w+, tags: \[page\].* summary: "The app: ', contract, re.M)
    assert len(paths) == 16
    for path in paths:
        assert views.match(re.sub(r"\{\w+\}", "a%20b", path)), path
    for path in re.findall(r"^  (/\S*):$", contract, re.M):
        if path not in paths:
            assert not views.match(re.sub(r"\{\w+\}", "a", path)), path
