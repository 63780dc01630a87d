"""Stored data of a person: a bookmark's history, and no data after an erasure."""
import pytest
from people import made_list, some_name

LEFT = """
const done = arguments[0]
;(async () => {
  const left = []
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((resolve, reject) => {
      const asked = indexedDB.open(name)
      asked.onsuccess = () => resolve(asked.result)
      asked.onerror = () => reject(asked.error)
    })
    for (const store of database.objectStoreNames) {
      await new Promise(resolve => {
        const asked = database.transaction(store).objectStore(store).getAll()
        asked.onsuccess = () => { left.push(...asked.result.map(it => JSON.stringify([store, it]))); resolve() }
      })
    }
    database.close()
  }
  for (const name of await caches.keys()) {
    // The app's own files.
    if (name.startsWith("page")) continue
    for (const { url } of await (await caches.open(name)).keys()) left.push(url)
  }
  return [...left, ...Object.entries({ ...localStorage, ...sessionStorage })]
})().then(done, error => done([String(error)]))
"""


def test_an_earlier_state_of_a_bookmark_is_brought_back(browser):
    page = browser().visit("/?where=Paris")
    name = page.find(".hotel h2").text
    page.bookmark(name)
    page.visit("/bookmarks")
    page.until(lambda: page.bookmarked() == [name])
    path = page.until(lambda: page.find(".hotel .end a").get_attribute("href"))[len(page.url):]
    page.until(lambda: page.click(page.find("button.keep")))
    page.says("no longer bookmarked")
    page.synced()
    page.visit(path).says("Removed", "Earlier")
    page.press("Show change 1")
    page.says("Description")
    page.press("Bring back change 1")
    page.says("Bring this back?")
    page.press("Bring it back")
    page.says("It is as it was then.", "change 3")
    page.visit("/bookmarks")
    page.until(lambda: page.bookmarked() == [name])


@pytest.mark.parametrize("is_user", [True, False])
def test_erasing_leaves_nothing_in_the_browser(browser, is_user):
    page, name = browser(), some_name()
    if is_user:
        page.sign_up(name)
        path = made_list(page, "Tromsø in winter")
        page.visit(path + "/notes/Plan?edit=1").write("#words", "Northern lights.")
        page.press("Save for everybody")
    page.visit("/?where=Paris")
    hotel = page.find(".hotel h2").text
    page.bookmark(hotel)
    page.visit("/bookmarks")
    page.until(lambda: page.bookmarked() == [hotel])
    page.until(lambda: page.driver.execute_async_script(
        "caches.match('/shell.json', { cacheName: 'page' }).then(it => arguments[0](Boolean(it)))"), "no shell")
    assert hotel in "".join(str(it) for it in page.driver.execute_async_script(LEFT))
    page.visit("/account")
    page.press("Erase everything")
    page.says("This cannot be taken back")
    page.press("Erase everything")
    page.says("Everything of yours is erased.")
    assert page.find("#who").text == "You"
    assert page.driver.get_cookies() == []
    assert page.driver.execute_async_script(LEFT) == []
    if is_user:
        page.visit("/log-in")
        page.write("#name", name)
        page.write("#password", "a good password")
        page.click(page.find("main form button.main"))
        page.until(lambda: page.all("main [role=alert], main .wrong") or "password" in page.find("#toasts").text)
        assert page.find("#who").text == "You"
