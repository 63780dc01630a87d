"""Bookmarks by the hundred: words of one's own, finding, sorting, and a page that has only what is seen."""
import gzip
import subprocess

import pytest
import requests
from selenium.webdriver import ActionChains
from selenium.webdriver.common.keys import Keys

from browsing import CLIENT
from people import some_name
from server import BINARY
from slices import first
from test_app import first_hotels

WIDE, NARROW = {"width": 1200}, {"width": 390, "height": 844}


def kept_by_a_user(browser, server, count, **options):
    """A browser of a user who has so many bookmarks, and the user's token."""
    name, page = some_name(), browser(**options)
    token = requests.post(server.url + "/v1/users", json={"username": name, "password": "a good password"}).json()["token"]
    fields = {"Authorization": "Bearer " + token}
    hotels = [{
        "id": f"m{number}", "name": ["Écluse", "Zebra", "The Anchor"][number % 3] + f" {number}", "city": ["Paris", "Köln"][number % 2],
        "country": "France" if number % 2 == 0 else "Germany", "description": "pool" if number % 5 == 0 else "garden",
        "geo": {"lat": 40 + number % 10, "lon": 2}} for number in range(count)]
    for start in range(0, count, 100):
        answer = requests.post(server.url + "/v1/bookmarks", json={"add": hotels[start:start + 100]}, headers=fields)
        assert answer.status_code == 200
    page.visit("/log-in")
    page.enter(name, "a good password", "Log in")
    page.visit("/bookmarks").says(f"{count} hotel")
    return page, fields


@pytest.mark.parametrize("size", first(1, [NARROW, WIDE]), ids=["narrow", "wide"])
def test_hundreds_of_bookmarks_are_found_and_sorted_and_few_are_in_the_page(browser, server, size):
    page, _ = kept_by_a_user(browser, server, 300, **size)
    assert len(page.bookmarked()) < 100
    page.driver.execute_script("window.scrollTo(0, document.body.scrollHeight)")
    page.until(lambda: any(name.endswith(" 0") for name in page.bookmarked()))
    assert len(page.bookmarked()) < 100
    page.driver.execute_script("window.scrollTo(0, 0)")
    page.write("#words", "ecluse pool koln")
    page.says("10 hotels of 300")
    assert all("Écluse" in name for name in page.bookmarked())
    page.choose("#order", "name")
    page.until(lambda: page.bookmarked()[0] == "Écluse 15")
    page.reload()
    page.until(lambda: page.bookmarked()[:2] == ["Écluse 15", "Écluse 45"])
    # The reading of a Japanese word is not looked for until it is confirmed.
    page.find("#words").send_keys(Keys.CONTROL, "a")
    page.driver.execute_cdp_cmd("Input.imeSetComposition", {"text": "しろ", "selectionStart": 2, "selectionEnd": 2})
    assert "q=ecluse" in page.driver.execute_script("return location.search")
    page.driver.execute_cdp_cmd("Input.insertText", {"text": "城"})
    page.says("No bookmark has that")
    page.press("Show all")
    page.until(lambda: page.bookmarked()[0] == "Écluse 0")
    # Paper has all of them, and nothing to fill in.
    page.driver.execute_cdp_cmd("Page.printToPDF", {"pageRanges": "1"})
    assert len(page.bookmarked()) == 300
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert page.read(".tools") == []


def test_a_note_that_is_typed_stays_until_it_is_kept_or_given_up(browser, server):
    page, _ = kept_by_a_user(browser, server, 3)
    for words in ("Quiet", ""):
        page.press("Your note on The Anchor 2")
        if words:
            page.write("#my-note", words)
            page.reload()
            page.press("Your note on The Anchor 2")
        assert page.find("#my-note").get_attribute("value") == words
        page.press("Cancel")
    assert page.driver.execute_script("return localStorage.length") == 0


@pytest.mark.parametrize("size", first(1, [WIDE, NARROW]), ids=["wide", "narrow"])
def test_note_and_tags_are_kept_offline_too_and_come_to_the_other_device(browser, server, size):
    page, fields = kept_by_a_user(browser, server, 3, **size)
    page.offline()
    page.press("Your note on The Anchor 2")
    page.write("#my-note", "Ask for the room above the garden")
    page.write("#my-tags", "summer, kids, summer")
    page.press("Keep")
    page.says("Ask for the room above the garden", "summer", "Waits to be sent")
    page.offline(False)
    page.driver.execute_async_script(f"{CLIENT}.then(({{ client }}) => client.syncNow()).finally(arguments[0])")
    page.synced()
    hotel = requests.get(server.url + "/v1/bookmarks/m2", headers=fields).json()["hotel"]
    assert (hotel["myNote"], hotel["myTags"], hotel["city"]) == ("Ask for the room above the garden", ["summer", "kids"], "Paris")
    page.press("kids")
    page.says("1 hotel of 3")
    page.visit("/hotels/m2").says("Your note", "Ask for the room above the garden")


WHERE = """
    const [name] = arguments, map = document.querySelector(".sea canvas"), { left, top } = map.getBoundingClientRect()
    for (let x = 0; x < map.clientWidth; x += 5) for (let y = 0; y < map.clientHeight; y += 5) {
      map.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y }))
      if (map.title === name) return [x - map.clientWidth / 2, y - map.clientHeight / 2]
    }
    return null"""


@pytest.mark.parametrize("size", first(1, [NARROW, WIDE]), ids=["narrow", "wide"])
def test_map_shows_bookmarks_without_a_network(browser, server, size):
    page, fields = kept_by_a_user(browser, server, 300, **size)
    far = {"id": "far", "name": "Far away", "city": "Sydney", "geo": {"lat": -33.9, "lon": 151.2}}
    assert requests.post(server.url + "/v1/bookmarks", json={"add": [far]}, headers=fields).status_code == 200
    page.until(lambda: page.driver.execute_async_script("caches.match('/shell.json').then(it => arguments[0](Boolean(it)))"))
    page.visit("/bookmarks").says("301 hotels")
    page.offline()
    page.reload()
    page.press("Map")
    page.says("301 hotels here", "Far away")
    # Land has the colour of the buttons on the map, circles that of links.
    land, circles = page.driver.execute_script("""
        const map = document.querySelector(".sea canvas"), { data } = map.getContext("2d").getImageData(0, 0, map.width, map.height)
        const styleOf = selector => getComputedStyle(document.querySelector(selector))
        return [styleOf(".zoom button").backgroundColor, styleOf(".map a").color].map(colour => {
          const wanted = colour.match(/[0-9]+/g).map(Number)
          let count = 0
          for (let at = 0; at < data.length; at += 4) if (wanted.every((it, next) => data[at + next] === it)) count++
          return count * 4 / data.length
        })""")
    assert land > 0.08 and circles > 0.001, (land, circles)
    page.find(".sea canvas").send_keys("++++")
    page.until(lambda: "Far away" not in page.read(".map a"))
    page.press("Show all")
    page.until(lambda: "Far away" in page.read(".map a"))
    page.write("#words", "far")
    page.says("1 hotel of 301", "1 here")
    spot = page.until(lambda: page.driver.execute_script(WHERE, "Far away"))
    canvas = page.find(".sea canvas").element()
    page.driver.execute_script("arguments[0].scrollIntoView({ block: 'center' })", canvas)
    ActionChains(page.driver).move_to_element_with_offset(canvas, *map(int, spot)).click().perform()
    page.until(lambda: page.read("h1") == ["Far away"])


def test_words_of_two_devices_are_joined(browser, server):
    page, fields = kept_by_a_user(browser, server, 2)
    page.offline()
    page.press("Your note on Zebra 1")
    page.write("#my-note", "Quiet")
    page.write("#my-tags", "north, work")
    page.press("Keep")
    page.says("Quiet")
    known = requests.get(server.url + "/v1/bookmarks/m1", headers=fields).json()
    other = requests.put(server.url + "/v1/bookmarks/m1", headers={**fields, "If-Match": f'"{known["rev"]}"'},
                         json={**known["hotel"], "myNote": "Good breakfast", "myTags": ["south"]})
    assert other.status_code == 200
    page.offline(False)
    page.driver.execute_async_script(f"{CLIENT}.then(({{ client }}) => client.syncNow()).finally(arguments[0])")
    page.synced()
    page.says("Good breakfast", "Quiet", "north", "south", "work")
    hotel = requests.get(server.url + "/v1/bookmarks/m1", headers=fields).json()["hotel"]
    assert (hotel["myNote"], hotel["myTags"]) == ("Good breakfast\nQuiet", ["south", "north", "work"])


def test_hotel_is_put_on_lists_from_its_card(browser, server):
    page = browser()
    page.sign_up(some_name())
    page.visit("/?where=Paris")
    name = page.find(".hotel h2").text
    page.press(f"Lists of {name}")
    page.write("#other-list", "Paris in May")
    page.press("Keep")
    page.says(f"{name} is on “Paris in May”")
    page.synced()
    page.press(name)
    page.says("Change its lists", "Paris in May")
    page.press("Change its lists")
    page.click(page.find("dialog input[type=checkbox]"))
    page.press("Keep")
    page.says("It is on none of your lists")


def test_hotel_that_no_catalogue_has_is_put_on_a_list_without_the_persons_own_words(browser, server):
    page, fields = kept_by_a_user(browser, server, 1)
    facts = {"name": "Écluse 0", "city": "Paris", "price": "120", "currency": "EUR"}
    words = {**facts, "myNote": "sea view", "myTags": ["summer"], "rating": 5}
    requests.put(server.url + "/v1/bookmarks/m0", json=words, headers=fields).raise_for_status()
    page.says("sea view")
    page.press("Lists of Écluse 0")
    page.write("#other-list", "Paris in May")
    page.press("Keep")

    def on_lists():
        lists = requests.get(server.url + "/v1/lists", headers=fields).json()["lists"]
        pages = [requests.get(f"{server.url}/v1/lists/{it['id']}/bookmarks", headers=fields).json() for it in lists]
        return [it["hotel"] for page in pages for it in page["bookmarks"]]

    page.until(on_lists)
    assert on_lists() == [{**facts, "id": "m0", "type": "hotel"}]
    page.visit("/hotels/m0").says("120 EUR")


def test_link_of_the_operator_sets_another_password(browser, own_server):
    name, page = some_name(), browser(at=own_server)
    page.sign_up(name)
    told = subprocess.run([BINARY, "user", "reset", name, "--data", str(own_server.data)], capture_output=True, text=True, check=True)
    link = told.stdout.split()[-1]
    other = browser(at=own_server)
    other.visit("/log-in").says("Whoever runs this server")
    other.visit("/reset#" + link.rpartition("#")[2]).says("Another password")
    other.write("#password", "a much better one")
    other.press("Keep this password")
    other.says("Log in with it")
    other.enter(name, "a much better one", "Log in")
    other.visit("/reset#" + link.rpartition("#")[2]).says("used before", "Log in")
    assert not other.all("main input")
    # Another link in the same tab does not load the page again.
    told = subprocess.run([BINARY, "user", "reset", name, "--data", str(own_server.data)], capture_output=True, text=True, check=True)
    other.driver.get(other.url + "/reset#" + told.stdout.split()[-1].rpartition("#")[2])
    other.says_not("used before")
    other.write("#password", "a third one")
    other.press("Keep this password")
    other.says("Log in with it")


@pytest.mark.parametrize("size", first(1, [WIDE, NARROW]), ids=["wide", "narrow"])
def test_nearest_bookmarks_come_first_and_say_how_far_they_are(browser, server, size):
    page, fields = kept_by_a_user(browser, server, 1, **size)
    hotels = [{"id": "far", "name": "Far away", "geo": {"lat": 51.5, "lon": -0.1}}, {"id": "near", "name": "Nearby", "geo": {"lat": 48.8, "lon": 2.3}}]
    requests.post(server.url + "/v1/bookmarks", json={"add": hotels}, headers=fields)
    page.visit("/bookmarks").says("Far away", "Nearby")

    def position(setting, **point):
        page.context.send("Browser.setPermission", permission={"name": "geolocation"}, setting=setting, origin=server.url,
                          browserContextId=page.context.id)
        page.driver.execute_cdp_cmd("Emulation.setGeolocationOverride", point)

    position("denied")
    page.choose("#order", "near")
    page.says("was not allowed to say where you are")
    assert page.find("#order").get_attribute("value") == "newest"
    position("granted")
    page.choose("#order", "near")
    page.says("does not say where you are")
    position("granted", latitude=48.85, longitude=2.35, accuracy=10)
    page.choose("#order", "near")
    page.says("6.7 km away")
    page.until(lambda: page.bookmarked() == ["Nearby", "Far away", "Écluse 0"])
    assert all(place.endswith("km away") for place in page.read(".hotel .place"))
    # A search that is begun again is not near anything.
    page.visit("/?what=xyzzy").press("Near me")
    page.until(lambda: "near=" in page.driver.current_url)
    page.press("Start again")
    page.until(lambda: page.driver.current_url == server.url + "/")
    assert page.control("Near me").get_attribute("aria-pressed") == "false"


def test_saved_file_is_read_into_a_new_account(browser, server, tmp_path):
    page = browser()
    names = first_hotels(page, "Paris", 2)
    saved = page.driver.execute_async_script("fetch('/v1/me/export').then(it => it.text()).then(arguments[0])")
    (tmp_path / "saved.ndjson").write_text(saved)
    other = browser()
    other.sign_up(some_name())
    other.visit("/account").says("Read a saved file in")
    packed = gzip.compress(saved.encode())
    damaged = {"cut.ndjson": saved[:-300].encode(), "none.ndjson": b"", "picture.ndjson": b"\x89PNG\r\n", "cut.ndjson.gz": packed[:-9],
               "plain.ndjson.gz": saved.encode(), "twice.ndjson": saved.encode() * 2}
    other.driver.execute_script("document.querySelector('#toasts').replaceChildren()")
    for file, content in damaged.items():
        (tmp_path / file).write_bytes(content)
        other.driver.execute_script("document.querySelectorAll('.toast').forEach(it => { it.dataset.seen = 1 })")
        other.find("#file").send_keys(str(tmp_path / file))
        # The same message again takes the place of the one before.
        said = other.until(lambda: other.driver.execute_script("""
            return document.querySelector(".toast:not([data-seen])") && [...document.querySelectorAll(".toast")].map(it => it.innerText)"""), file)
        assert said == ["This is no saved file of Hotel Bookmarks, or a part of it is missing."], file
    (tmp_path / "saved.ndjson.gz").write_bytes(packed)
    other.find("#file").send_keys(str(tmp_path / "saved.ndjson.gz"))
    other.says("of the file are here now", "before anything is in it")
    other.visit("/bookmarks")
    other.until(lambda: sorted(other.bookmarked()) == sorted(names))


def test_box_of_a_note_is_ticked_for_everybody(browser, server):
    page, fields = kept_by_a_user(browser, server, 1)
    made = requests.post(server.url + "/v1/lists", json={"title": "Rome"}, headers=fields).json()
    path = f"{server.url}/v1/lists/{made['id']}/notes/Plan"
    text = "```\n- [ ] code\n```\n- [ ] book\n- [x] pack\n\n|what|price|\n|--|--:|\n|bed|12|\n\n[city](https://example.org/Rome_(city))"
    requests.put(path, json={"markdown": text}, headers=fields)
    page.visit("/lists").says("Rome")
    page.press("Rome")
    page.press("Plan")
    page.says("bed", "12")
    assert page.find(".prose a").get_attribute("href") == "https://example.org/Rome_(city)"
    # Faster than the page is shown again.
    page.driver.execute_script("for (const box of document.querySelectorAll('.task input')) box.click()")
    ticked = text.replace("[ ] book", "[x] book").replace("[x] pack", "[ ] pack")
    page.until(lambda: requests.get(path, headers=fields).json()["markdown"] == ticked)
