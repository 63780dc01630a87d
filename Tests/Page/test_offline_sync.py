"""Live changes, tabs, sessions and the worker of `/offline.js`."""
import pytest
from browsing import CLIENT
from offline_browser import BLANK, Refused
from offline_fixtures import browsers, service  # noqa: F401
from test_offline_outbox import FAILING, FIRST, sign_up


def ids(browser):
    return [it["id"] for it in browser.run("return await client.bookmarks()")]


def two_tabs(browsers):
    """A browser with the page in two tabs: the first leads, the second is shown."""
    browser = browsers().open()
    browser.settled()
    first = browser.driver.current_window_handle
    second = browser.tab()
    browser.open()
    return browser, first, second


def test_two_tabs_share_one_outbox_and_one_stream(browsers):
    browser, first, second = two_tabs(browsers)
    browser.until("return client.sync.live && client.sync.phase === 'idle'")
    hotel = browser.run(FIRST)
    # The second tab makes the change. The first tab is the leader and sends it.
    browser.run(FAILING, answer={"status": 503})
    entry = browser.run("return await client.bookmark(args.hotel)", hotel=hotel)
    browser.run("await client.settled(args.id)", id=entry["id"])
    assert browser.run("return tries.length") == 0
    browser.show(first)
    browser.until("return heard.some(([name, detail]) => name === 'change' && detail.places.includes('own'))")
    assert ids(browser) == [hotel["id"]] and browser.entries()[0]["state"] == "delivered"
    # The leader's tab closes, and the other tab continues.
    browser.driver.close()
    browser.show(second)
    browser.run("window.refusal = null")
    browser.until("return client.sync.live")
    browser.run("await client.settled((await client.unbookmark(args.id)).id)", id=hotel["id"])
    assert ids(browser) == []


def test_the_tab_that_leads_follows_the_mode_that_another_tab_chooses(browsers):
    browser, first, second = two_tabs(browsers)
    browser.until("return client.sync.live")
    for mode, live in (("manual", "false"), ("continuous", "true")):
        browser.run("await client.setMode(args.mode)", mode=mode)
        browser.show(first)
        browser.until(f"return client.sync.mode === '{mode}' && client.sync.live === {live}")
        browser.show(second)


def test_a_page_whose_locks_are_refused_keeps_running(browsers):
    browser = browsers()
    # As a browser refuses them to a page that is being left: at once, and each time.
    browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
        window.refused = 0
        LockManager.prototype.request = () => {
            refused += 1
            return refused < 100000 ? Promise.reject(new DOMException('', 'InvalidStateError')) : new Promise(() => {})
        }"""})
    browser.open()
    assert browser.run("await new Promise(resolve => setTimeout(resolve, 500)); return refused") < 100


def test_without_web_locks_it_is_still_right(browsers):
    browser = browsers()
    browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {
        "source": "Object.defineProperty(Navigator.prototype, 'locks', { value: undefined })"})
    browser.open()
    browser.settled()
    # A tab that was closed before the clock was put back by a day.
    browser.driver.get("about:blank")
    browser.driver.get(browser.url + BLANK)
    browser.run("""
        await new Promise((resolve, reject) => {
            const request = indexedDB.open("hotel-bookmarks")
            request.onerror = () => reject(request.error)
            request.onsuccess = () => {
                const transaction = request.result.transaction("meta", "readwrite")
                transaction.objectStore("meta").put({ tab: "closed", until: Date.now() + 86_400_000 }, "leader")
                transaction.oncomplete = () => { request.result.close(); resolve() }
            }
        })""")
    browser.attach()
    browser.settled()
    hotel = browser.run("if (navigator.locks) throw 'locks'; " + FIRST)
    browser.run("await client.settled((await client.bookmark(args.hotel)).id)", hotel=hotel)
    assert ids(browser) == [hotel["id"]]


def test_another_devices_change_comes_by_itself(browsers):
    phone, laptop = browsers().open(), browsers().open()
    phone.settled()
    sign_up(phone)
    laptop.settled()
    laptop.run("await client.logIn({ username: 'ada', password: 'correct horse' })")
    for device in [phone, laptop]:
        device.settled()
    hotel = phone.run(FIRST)
    phone.run("await client.settled((await client.bookmark(args.hotel)).id)", hotel=hotel)
    laptop.until("return (await client.bookmarks()).length === 1")
    list = phone.run("return (await client.settled((await client.makeList({ title: 'Rome' })).id)).list")
    laptop.until("return (await client.lists()).length === 1")
    phone.run("await client.settled((await client.putNote(args.list, 'Plan', 'one')).id)", list=list)
    laptop.until("return (await client.notes(args.list))[0]?.markdown === 'one'", list=list)
    phone.run("await client.settled((await client.putNote(args.list, 'Plan', 'two', { draft: true })).id)", list=list)
    laptop.until("return (await client.notes(args.list))[0]?.draft && (await client.drafts(args.list)).length === 1", list=list)
    laptop.run("await client.settled((await client.publish(args.list, (await client.drafts(args.list))[0])).id)", list=list)
    phone.until("const [it] = await client.notes(args.list); return it.markdown === 'two' && !it.draft", list=list)
    # Changes that happen while no page is open appear afterwards.
    laptop.driver.get("about:blank")
    phone.run("await client.settled((await client.unbookmark(args.id)).id)", id=hotel["id"])
    laptop.open()
    laptop.until("return (await client.bookmarks()).length === 0")


def test_a_note_that_somebody_changed_is_refused_with_theirs(browsers):
    browser = browsers().open()
    browser.settled()
    sign_up(browser)
    browser.settled()
    list = browser.run("""
        const { list } = await client.settled((await client.makeList({ title: 'Rome' })).id)
        await client.settled((await client.putNote(list, 'Plan', 'one')).id)
        return list""")
    # A round that began before the mode changed would fetch the other text first; this waits until it is over.
    browser.run("await client.setMode('manual'); await client.syncNow()")
    browser.run("""
        await fetch(`/v1/lists/${args.list}/notes/Plan`, { method: 'PUT', body: '{"markdown":"theirs"}',
            headers: { 'content-type': 'application/json' } })
        await client.putNote(args.list, 'Plan', 'mine')
        await client.syncNow()""", list=list)
    entry = browser.entries()[-1]
    assert (entry["state"], entry["status"], entry["theirs"]["markdown"]) == ("rejected", 409, "theirs")
    browser.run("await client.change(args.id, { markdown: 'both' }); await client.syncNow()", id=entry["id"])
    assert browser.run("return (await client.notes(args.list))[0].markdown", list=list) == "both"


def test_a_log_in_says_why_the_guests_bookmarks_wait(service, browsers):
    user, _ = service.full_account()
    browser = browsers().open()
    browser.settled()
    browser.run("await client.bookmark(args.hotel)", hotel=browser.run(FIRST))
    entered = browser.run("return await client.logIn(args.user)", user=user)
    assert entered["username"] == user["username"] and entered["waiting"]["error"] == "quota_exceeded"
    assert "waiting" not in browser.run("return client.session")


def test_sign_up_keeps_and_log_in_merges_the_guests_bookmarks(browsers):
    first = browsers().open()
    first.settled()
    hotels = first.run("return (await client.search({ description: 'pool', limit: 2 })).hotels")
    first.run("await client.bookmark(args.hotel)", hotel=hotels[0])
    sign_up(first)
    assert first.run("return client.session")["kind"] == "user"
    first.settled()
    assert ids(first) == [hotels[0]["id"]]
    second = browsers().open()
    second.settled()
    second.run("await client.bookmark(args.hotel)", hotel=hotels[1])
    with pytest.raises(Refused, match="invalid_credentials|unauthorized"):
        second.run("await client.logIn({ username: 'ada', password: 'wrong horse' })")
    assert second.run("return client.session.kind") == "guest"
    second.run("await client.logIn({ username: 'ada', password: 'correct horse' })")
    second.settled()
    second.until("return (await client.bookmarks()).length === 2")
    adopted = second.run("return await client.adoptions()")
    assert [it["bookmarks"] for it in adopted] == [1, 1]
    assert second.run("return document.cookie") == ""
    second.run("""
        for (const { id } of await client.adoptions()) {
            if (id === args.id) await client.undoAdoption(id)
        }""", id=[it for it in adopted][-1]["id"])
    assert len(ids(second)) == 1


def test_logging_out_leaves_nothing(browsers):
    browser = browsers()
    browser.driver.get(browser.url + "/offline.js")
    browser.attach(worker=True)
    browser.settled()
    first = browser.driver.current_window_handle
    hotel = browser.run(FIRST)
    browser.run("await client.settled((await client.bookmark(args.hotel)).id)", hotel=hotel)
    browser.until("return Boolean(await caches.match('/shell.json', { cacheName: 'page' }))")
    browser.run("localStorage.setItem('draft', 'mine'); sessionStorage.setItem('draft', 'mine')")
    other = browser.tab()
    browser.open()
    browser.run("await client.setMode('manual'); await client.bookmark({ id: 'nosuch' })")
    browser.show(first)
    with pytest.raises(Refused, match="outbox_not_empty"):
        browser.run("await client.logOut()")
    browser.run("await client.logOut({ discard: true })")
    assert set(browser.records().values()) == {0}
    assert browser.run("return [localStorage.length, sessionStorage.length]") == [0, 0]
    # The app's own files are nobody's: the next user opens it without a network, too.
    assert browser.run("""return Boolean(await caches.match('/shell.json', { cacheName: 'page' }))
        && (await caches.keys()).every(it => it.startsWith('page'))""")
    assert browser.run("return client.session") == {"state": "none"}
    assert browser.run("return (await fetch('/v1/me')).status") == 401
    browser.show(other)
    browser.until("return client.session.state === 'none' && (await client.bookmarks()).length === 0")
    # The client makes a new guest only on request.
    browser.run("await client.start()")
    assert browser.run("return client.session.kind") == "guest" and ids(browser) == []


def test_a_copy_that_cannot_be_brought_up_to_date_starts_over(browsers, service):
    browser = browsers().open()
    browser.settled()
    hotel = browser.run(FIRST)
    browser.run("await client.settled((await client.bookmark(args.hotel)).id)", hotel=hotel)
    browser.settled()
    # The server answers 410 to the token of another store's mirror.
    stranger = service.guest()
    service.call("PUT", f"/v1/bookmarks/{hotel['id']}", stranger)
    token = service.call("GET", "/v1/mirror", stranger).json()["token"]
    assert browser.run("return (await fetch('/v1/mirror?since=' + args.token)).status", token=token) == 410
    browser.run("""
        const database = await new Promise(resolve => {
            const request = indexedDB.open('hotel-bookmarks')
            request.onsuccess = () => resolve(request.result)
        })
        const change = database.transaction(['orders', 'bookmarks'], 'readwrite')
        change.objectStore('orders').put({ place: 'own', ids: ['ghost'], token: args.token })
        change.objectStore('bookmarks').put({ place: 'own', id: 'ghost', bookmarkedAt: '', hotel: { id: 'ghost' } })
        await new Promise(resolve => { change.oncomplete = resolve })
        database.close()""", token=token)
    assert ids(browser) == ["ghost"]
    browser.run("await client.syncNow()")
    assert ids(browser) == [hotel["id"]]


def test_the_worker_opens_the_page_with_the_server_dead(browsers, service):
    browser = browsers()
    browser.driver.get(browser.url + "/offline.js")
    browser.attach(worker=True)
    browser.until("return Boolean((await navigator.serviceWorker.ready).active)")
    kept = browser.until("""
        if (!await caches.match('/shell.json', { cacheName: 'page' })) return false
        const kept = []
        for (const name of await caches.keys()) kept.push(...await (await caches.open(name)).keys())
        return kept.map(it => new URL(it.url).pathname)""")
    assert not [path for path in kept if path != "/shell.json" and not path.startswith("/page/")]
    assert not [path for path in kept if "/docs" in path or "/admin" in path]
    browser.driver.get(browser.url + "/")
    title = browser.driver.title
    service.kill()
    for path in ["/", "/lists/" + "0" * 32]:
        browser.driver.get(browser.url + path)
        # A view of a list that is not here says so in the title, once it has been looked for.
        assert browser.driver.title.endswith(title) and title
    browser.run(f"window.client = (await {CLIENT}).client")
    assert browser.run("return (await client.search({ description: 'pool' })).source") == "device"
    with pytest.raises(Refused, match="offline"):
        browser.run("await client.syncNow()")
    assert browser.run("return client.sync.phase") == "offline"


def test_storage_that_is_missing_or_newer_is_told(browsers):
    browser = browsers()
    browser.driver.get(browser.url + "/offline.js")
    browser.run("""
        await new Promise(resolve => {
            const request = indexedDB.open('hotel-bookmarks', 99)
            request.onsuccess = () => { request.result.close(); resolve() }
        })""")
    with pytest.raises(Refused, match="storage_newer"):
        browser.attach()
    browser.run("Object.defineProperty(window, 'indexedDB', { value: { open() { throw new Error() } } })")
    with pytest.raises(Refused, match="storage_unavailable"):
        browser.attach()


def test_a_guest_whose_session_has_ended_brings_the_bookmarks_along_at_log_in(browsers, service):
    browser = browsers().open()
    browser.settled()
    service.call("POST", "/v1/users", json={"username": "ada", "password": "correct horse"})
    hotel = browser.run(FIRST)
    browser.run("await client.settled((await client.bookmark(args.hotel)).id); await client.setMode('manual')", hotel=hotel)
    browser.driver.delete_all_cookies()
    browser.run("await client.logIn({ username: 'ada', password: 'correct horse' }); await client.syncNow()")
    assert ids(browser) == [hotel["id"]]
    theirs = browser.run("return await (await fetch('/v1/bookmarks')).json()")
    assert [it["id"] for it in theirs["bookmarks"]] == [hotel["id"]]


def test_a_name_in_another_spelling_is_the_same_user(browsers):
    browser = browsers().open()
    browser.settled()
    sign_up(browser)
    browser.settled()
    browser.driver.delete_all_cookies()
    browser.run("await client.check()")
    assert browser.run("return client.session.state") == "ended"
    hotel = browser.run(FIRST)
    browser.run("await client.bookmark(args.hotel)", hotel=hotel)
    browser.run("await client.logIn({ username: 'Ada', password: 'correct horse' })")
    browser.settled()
    assert ids(browser) == [hotel["id"]] and browser.entries()[-1]["state"] == "delivered"


def test_a_users_changes_wait_when_another_logs_in_without_the_module(browsers, service):
    browser = browsers().open()
    browser.settled()
    sign_up(browser)
    browser.settled()
    service.call("POST", "/v1/users", json={"username": "eve", "password": "correct horse"})
    browser.run("await client.setMode('manual'); await client.bookmark(args.hotel)", hotel=browser.run(FIRST))
    browser.run("""
        await fetch('/v1/sessions', { method: 'POST', headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ username: 'eve', password: 'correct horse', cookie: true }) })
        await client.check()""")
    assert browser.run("return [client.session.username, client.session.state]") == ["ada", "ended"]
    browser.run("await client.logIn({ username: 'ada', password: 'correct horse' }); await client.syncNow()")
    assert browser.entries()[-1]["state"] == "delivered"
