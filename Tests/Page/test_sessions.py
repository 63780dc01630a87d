"""What a person meets in the app when the session has ended elsewhere: nobody is locked out, and nothing is lost."""
import requests
from chromium import set_network
from people import made_list, some_name
from test_app import first_hotels
from waiting import PATIENCE

PASSWORD = "a good password"


def change_password(page, name, new):
    """Changes the password of a user on another device."""
    answer = requests.put(page.url + "/v1/me/password", auth=(name, PASSWORD), timeout=PATIENCE,
                          json={"currentPassword": PASSWORD, "password": new})
    assert answer.status_code == 204, answer.text


def logged_out(browser):
    """A browser whose user has changed the password elsewhere, with one change that waits. Returns it and the name."""
    page, name = browser(), some_name()
    page.sign_up(name)
    page.visit("/?where=Paris")
    change_password(page, name, "another good password")
    page.click(page.find("button.keep"))
    page.says("You have been logged out")
    return page, name


def test_whoever_changed_the_password_elsewhere_logs_in_again_and_the_changes_arrive(browser):
    page, name = logged_out(browser)
    # The public search goes on.
    page.visit("/?where=California").says("Up to date")
    page.visit("/account").says(name, "Log in again", "1 bookmark on this device")
    page.press("Log in again")
    page.says("1 change of " + name)
    assert page.find("#name").get_attribute("value") == name
    page.enter(name, "another good password", "Log in")
    page.says("Good to see you")
    page.visit("/bookmarks")
    page.until(lambda: len(page.bookmarked()) == 1)
    page.has_stored(1)
    assert not page.find("#banner").is_displayed()


def sync_by_hand(page):
    """Chooses that nothing is sent or fetched by itself."""
    page.find("#sync > button").click()
    # The panel is drawn again while it syncs.
    page.until(lambda: page.click(page.find("input[name=mode]:not(:checked)")), "the mode can't be chosen")
    page.until(lambda: page.driver.execute_async_script("""
        const done = arguments[0], asked = indexedDB.open("hotel-bookmarks")
        asked.onsuccess = () => {
          const read = asked.result.transaction("meta").objectStore("meta").get("mode")
          read.onsuccess = () => { asked.result.close(); done(read.result === "manual") }
        }"""))


def test_whoever_is_shown_as_logged_in_and_is_not_gets_the_form(browser):
    page, name = browser(), some_name()
    page.sign_up(name)
    sync_by_hand(page)
    change_password(page, name, "another good password")
    page.visit("/log-in").says(name + " has been logged out here")
    page.enter(name, "another good password", "Log in")
    page.says("Good to see you")


def test_another_user_takes_over_the_browser_only_after_a_question(browser):
    other = browser()
    second = some_name()
    other.sign_up(second)
    page, first = logged_out(browser)
    page.visit("/log-in")
    page.write("#name", second)
    page.write("#password", PASSWORD)
    page.click(page.find("main form button.main"))
    page.says(f"Some changes of {first} are not on the server yet")
    page.press("Cancel")
    page.says_not("not on the server yet")
    assert page.find("#who").text == first
    assert page.driver.get_cookies() == []
    page.click(page.find("main form button.main"))
    page.press("Enter and lose them")
    page.until(lambda: page.find("#who").text == second)
    page.visit("/outbox").says("Nothing on its way")
    # Nor does the second see what the first has searched for.
    assert page.driver.execute_async_script("""
        const done = arguments[0], asked = indexedDB.open("hotel-bookmarks")
        asked.onsuccess = () => {
          const count = asked.result.transaction("found").objectStore("found").count()
          count.onsuccess = () => { asked.result.close(); done(count.result) }
        }""") == 0


def test_a_log_out_without_a_network_does_not_end_the_next_session(browser):
    page, first, second = browser(), some_name(), some_name()
    requests.post(page.url + "/v1/users", json={"username": second, "password": PASSWORD}, timeout=PATIENCE)
    page.sign_up(first)
    sync_by_hand(page)
    page.visit("/account").says("Log out or erase")
    # What others have changed since is not known.
    assert "up to date" not in page.find("#sync > button").get_attribute("aria-label")
    page.offline()
    page.press("Log out")
    page.says("Nothing of yours is left in this browser")
    page.offline(False)
    page.press("Log in")
    page.enter(second, PASSWORD, "Log in")
    page.says("Good to see you")
    page.find("#sync > button").click()
    page.press("Sync now")
    page.says("Last time")
    assert page.driver.execute_async_script("fetch('/v1/me').then(it => arguments[0](it.status))") == 200
    assert page.find("#who").text == second and not page.find("#banner").is_displayed()


def test_a_question_is_closed_when_its_person_has_logged_out_in_another_tab(browser):
    page = browser()
    page.sign_up(some_name())
    first_hotels(page, "Paris", 1)
    page.visit("/bookmarks")
    page.press("Add note")
    page.write("#my-note", "Only for me.")
    asked = page.driver.current_window_handle
    page.tab()
    page.visit("/account")
    page.press("Log out")
    page.press("Log out and lose them")
    page.says("Nothing of yours is left in this browser")
    page.driver.switch_to.window(asked)
    page.says("Nothing bookmarked yet")
    assert not page.all("dialog")


def elapse(page, **days):
    """Sets how many days from now the guest's data is kept and the last round ended."""
    page.driver.execute_async_script("""
        const [days, done] = arguments, asked = indexedDB.open("hotel-bookmarks")
        const after = count => new Date(Date.now() + count * 86_400_000).toISOString()
        asked.onsuccess = () => {
          const change = asked.result.transaction("meta", "readwrite"), meta = change.objectStore("meta")
          meta.get("session").onsuccess = ({ target }) => meta.put({ ...target.result, keptUntil: after(days.kept) }, "session")
          meta.put(after(days.synced), "lastSync")
          change.oncomplete = () => { asked.result.close(); done() }
        }""", days)


def test_a_guest_is_warned_before_the_data_is_erased_and_coming_back_keeps_it(browser):
    page = browser()
    first_hotels(page, "Paris", 1)
    page.visit("/account").says("Without a visit before")
    page.until(lambda: page.driver.execute_async_script(
        "caches.match('/shell.json', { cacheName: 'page' }).then(it => arguments[0](Boolean(it)))"), "no shell is kept")
    page.synced()
    page.offline()
    # For the clock of this browser three days are left, but it was at the server a moment ago.
    elapse(page, kept=3, synced=0)
    page.visit("/bookmarks")
    page.until(lambda: len(page.bookmarked()) == 1)
    assert not page.find("#banner").is_displayed()
    # The browser was not here for so long that three days are left.
    elapse(page, kept=3, synced=-94)
    page.visit("/bookmarks").says("It erases them on")
    page.offline(False)
    page.until(lambda: not page.find("#banner").is_displayed())
    page.visit("/bookmarks")
    page.until(lambda: len(page.bookmarked()) == 1)
    assert not page.find("#banner").is_displayed()


def test_log_out_everywhere_ends_the_session_on_another_device(browser):
    first, second, name = browser(), browser(), some_name()
    first.sign_up(name)
    second.visit("/log-in")
    second.enter(name, PASSWORD, "Log in")
    second.says("Good to see you")
    first.visit("/account")
    first.press("Log out everywhere")
    first.says("All your devices and browsers")
    first.press("Log out everywhere")
    first.says("Nothing of yours is left in this browser")
    second.visit("/account").says("Log in again")
    second.press("Log in again")
    second.enter(name, PASSWORD, "Log in")
    second.says("Good to see you")


def test_what_is_kept_of_a_user_is_removed_without_logging_in(browser):
    page, name = logged_out(browser)
    page.visit("/account")
    page.press("Remove it here")
    page.says("Some changes are not on the server yet")
    page.press("Log out and lose them")
    page.says("Nothing of yours is left in this browser")
    first_hotels(page, "Paris", 1)
    assert page.find("#who").text == "You"


def test_a_tab_with_an_older_version_is_named_and_the_page_goes_on_once_it_is_closed(browser):
    page = browser()
    # A page of the same origin without the app.
    page.driver.get(page.url + "/healthz")
    page.driver.execute_async_script("""
        const request = indexedDB.open('hotel-bookmarks', 1)
        request.onsuccess = () => { window.older = request.result; arguments[0]() }""")
    older = page.driver.current_window_handle
    newer = page.tab()
    page.visit("/bookmarks").says("Another tab with an older version of this page is open: close it.")
    page.driver.switch_to.window(older)
    page.driver.close()
    page.driver.switch_to.window(newer)
    page.press("Try again")
    page.says("Nothing bookmarked yet")


def test_whoever_logs_out_is_asked_about_a_note_that_is_not_saved(browser):
    page = browser()
    page.sign_up(some_name())
    path = made_list(page, "Lisbon")
    page.visit(path + "/notes/Plan?edit=1").write("#words", "We leave on Monday.")
    page.visit("/account").press("Log out")
    page.says("Some changes are not on the server yet")
    page.press("Cancel")
    page.visit(path + "/notes/Plan")
    assert page.find("#words").get_attribute("value") == "We leave on Monday."
    page.visit("/account").press("Log out")
    page.press("Log out and lose them")
    page.says("You are logged out")


def test_a_slow_first_log_in_says_nothing_of_what_is_not_known_yet(browser):
    first, second = browser(), browser()
    name = some_name()
    first.sign_up(name)
    path = made_list(first, "Lisbon")
    first.visit("/?where=Paris")
    first.click(first.find("button.keep"))
    first.has_stored(1)
    for place, there in ((path, "No hotels yet"), ("/lists", "Lisbon"), ("/bookmarks", "1 hotel")):
        second.visit("/log-in?then=" + place)
        second.driver.execute_script("""
            window.said = ""
            new MutationObserver(() => { said += document.querySelector("main").innerText })
              .observe(document.querySelector("main"), { childList: true, subtree: true })""")
        set_network(second.driver, is_offline=False, latency=400)
        second.enter(name, PASSWORD, "Log in")
        second.says(there)
        said = second.driver.execute_script("return said")
        assert not any(it in said for it in ("That did not work", "No lists yet", "Nothing bookmarked yet")), said
        second.offline(False)
        second.synced()
        second.visit("/account").press("Log out")
        second.says("You are logged out")
