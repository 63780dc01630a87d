"""Links that show a list to people without an account, and the days of a trip."""
from browsing import CLIENT
from people import made_list, shared_list, some_name


def test_whoever_has_a_link_sees_the_list_until_it_is_withdrawn(browser):
    owner, guest = browser(), browser(width=390, height=844)
    name = some_name()
    owner.sign_up(name)
    path = made_list(owner, "Lisbon in May")
    owner.visit("/?where=Paris")
    hotel = owner.find(".hotel h2").text
    owner.driver.execute_async_script(f"const client = {CLIENT};" + """
        const [list, done] = arguments
        client.then(async ({ client }) => {
          const { hotels } = await client.search({ location: 'Paris' })
          await client.bookmark(hotels[0], { list })
          await client.changeList(list, { from: '2026-05-01', to: '2026-05-08' })
          await client.putNote(list, 'To pack', '* [ ] An umbrella')
          done()
        })""", path.split("/")[-1])
    owner.synced()
    owner.visit(path + "/members")
    owner.driver.execute_script("navigator.share = async it => { window.shared = it }")
    owner.press("Make a link to look")
    link = owner.find("#link").get_attribute("value")
    assert link.startswith(owner.url + "/shared/")
    owner.press("Send")
    assert owner.driver.execute_script("return window.shared") == {"url": link}
    owner.press("Done")
    owner.says("Withdraw")

    guest.visit(link[len(owner.url):]).says("Lisbon in May", "8 May 2026", hotel, "To pack", "An umbrella")
    assert name not in guest.text() and "Bookmark" not in guest.read("button")
    # The page keeps nothing in the browser and starts no session.
    assert guest.driver.get_cookies() == []
    assert guest.driver.execute_async_script("""
        const done = arguments[0]
        Promise.all([indexedDB.databases(), caches.keys(), navigator.serviceWorker.getRegistrations()])
          .then(all => done(all.map(it => it.length)))""") == [0, 0, 0]
    overflow = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert not guest.driver.execute_script(overflow)

    owner.click(owner.find("ul[aria-label='Links to look'] button"))
    owner.until(lambda: not owner.all("ul[aria-label='Links to look']"))
    assert owner.driver.execute_script("return document.activeElement.textContent") == "Show it to anybody"
    guest.reload()
    guest.says("This link shows nothing")
    assert hotel not in guest.text()


def test_the_days_of_a_trip_are_set_and_shown(browser):
    page = browser()
    page.sign_up(some_name())
    path = made_list(page, "Lisbon")

    def save(first, last):
        page.press("Change title, days and description")
        for field, day in (("list-from", first), ("list-to", last)):
            page.driver.execute_script("document.getElementById(arguments[0]).value = arguments[1]", field, day)
        page.press("Save")

    save("2026-05-01", "2026-05-08")
    page.says("8 May 2026")
    page.synced()
    page.visit("/lists").says("8 May 2026")
    page.visit(path).says("8 May 2026")
    save("2026-05-09", "2026-05-08")
    assert page.find("#list-from").is_displayed()
    page.press("Cancel")
    page.says("8 May 2026")
    save("", "2026-05-08")
    page.says("Until 8 May 2026")
    save("", "")
    page.says_not("May 2026")
    page.synced()
    page.reload()
    page.says_not("May 2026")


def test_a_removed_note_is_brought_back_from_the_lists_history(browser):
    page = browser()
    name = some_name()
    page.sign_up(name)
    path = made_list(page, "Lisbon")
    page.visit(f"{path}/notes/Plan?edit=1").write("#words", "We leave on Monday.")
    page.press("Save for everybody")
    page.says("Changed")
    page.synced()
    page.press("Remove")
    page.until(lambda: page.all("dialog[open]"))
    page.press("Remove")
    page.says("No notes yet")
    page.synced()
    page.press("History")
    page.says(f"{name} removed the note Plan", f"{name} added the list Lisbon")
    page.press("Bring Plan back")
    page.says(f"{name} changed the note Plan")
    page.until(lambda: "Bring Plan back" not in page.read("button"))
    page.visit(path).says("Plan")


def test_history_of_a_list_says_that_a_person_has_joined(browser):
    owner, _, path = shared_list(browser, "reader")
    owner.visit(f"{path}/history").says("The members of Lisbon were changed")


def test_what_a_link_has_shown_stays_when_more_does_not_come(browser):
    owner, guest = browser(), browser()
    owner.sign_up(some_name())
    path = made_list(owner, "Lisbon")
    secret = owner.driver.execute_async_script("""
        const [list, done] = arguments, send = (method, path, body) =>
          fetch(`/v1/lists/${list}/${path}`, { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
        const hotels = Array.from({ length: 101 }, (_, at) => ({ id: `hotel-${at}`, name: `Hotel ${at}` }))
        send("POST", "bookmarks", { add: hotels }).then(() => send("POST", "links")).then(it => it.json()).then(it => done(it.secret))""",
        path.split("/")[-1])
    guest.driver.get(f"{guest.url}/shared/{secret}")
    guest.find("p.more button")
    guest.offline()
    guest.press("Show more")
    guest.says("can't be reached", "Hotel 100")
    guest.offline(False)
    guest.press("Show more")
    guest.until(lambda: len(guest.all(".hotel")) == 101)
    assert "can't be reached" not in guest.text()
