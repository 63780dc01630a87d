"""Photos: taken on the page, made smaller before they are sent, visible at once and offline, and removed."""
import io

import pytest
import requests
from PIL import Image
from selenium.webdriver.common.by import By

from people import some_name
from slices import first

WIDE, NARROW = {"width": 1200}, {"width": 390, "height": 844}


def photo(path, width=3000, height=1500, orientation=1):
    """A photo as a phone makes it: large, lying on its side if `orientation` says so, with a position."""
    image, exif = Image.effect_mandelbrot((width, height), (-2, -1, 1, 1), 20).convert("RGB"), Image.Exif()
    exif[0x0112] = orientation
    exif[0x8825] = {1: "N", 2: (35.0, 39.0, 31.0), 3: "E", 4: (139.0, 44.0, 43.0)}
    image.save(path, "JPEG", exif=exif.tobytes())
    return str(path)


def user(browser, server, **options):
    """A browser of a user with one bookmark, and the fields of the user's requests."""
    name, page = some_name(), browser(**options)
    token = requests.post(server.url + "/v1/users", json={"username": name, "password": "a good password"}).json()["token"]
    fields = {"Authorization": "Bearer " + token}
    requests.put(server.url + "/v1/bookmarks/h", json={"name": "The Anchor", "city": "Köln"}, headers=fields)
    page.visit("/log-in")
    page.enter(name, "a good password", "Log in")
    return page, fields


def add(page, *paths, within="main"):
    choice = page.driver.find_element(By.CSS_SELECTOR, f"{within} input[type=file][multiple]")
    choice.send_keys("\n".join(paths))


def shown(page):
    """The size of each picture as it is, and its height on the screen."""
    return page.driver.execute_script("""
        return [...document.querySelectorAll("ul.photos img")]
            .filter(it => it.complete && it.naturalWidth).map(it => [it.naturalWidth, it.naturalHeight, it.clientHeight, it.alt])""")


def stored(server, fields, path="/v1/bookmarks/h"):
    return requests.get(server.url + path, headers=fields).json().get("photos", [])


@pytest.mark.parametrize("size", first(1, [NARROW, WIDE]), ids=["narrow", "wide"])
def test_photos_are_smaller_upright_and_at_most_a_third_of_the_screen(browser, server, tmp_path, size):
    page, fields = user(browser, server, **size)
    page.visit("/hotels/h").says("Your photos")
    add(page, photo(tmp_path / "wide.jpg"), photo(tmp_path / "high.jpg", 3000, 1500, 6))
    named = ["Photo 1 of 2: The Anchor", "Photo 2 of 2: The Anchor"]
    # The view is drawn again when a photo comes or is sent, so both are looked at in the same moment.
    sizes = page.until(lambda: (found := shown(page)) and [alt for *_, alt in found] == named and found)
    assert sorted((width, height) for width, height, *_ in sizes) == [(1024, 2048), (2048, 1024)]
    screen = page.driver.execute_script("return innerHeight")
    assert all(height <= screen / 3 + 1 for *_, height, _ in sizes)
    page.until(lambda: len(stored(server, fields)) == 2)
    for it in stored(server, fields):
        data = requests.get(server.url + f"/v1/bookmarks/h/photos/{it['name']}", headers=fields).content
        assert it["type"] == "image/jpeg" and len(data) == it["size"]
        assert max(Image.open(io.BytesIO(data)).size) == 2048 and not Image.open(io.BytesIO(data)).getexif()


def test_photo_that_is_added_offline_is_seen_survives_a_reload_and_arrives(browser, server, tmp_path):
    page, fields = user(browser, server)
    page.visit("/hotels/h").says("Your photos")
    page.synced()
    page.offline()
    add(page, photo(tmp_path / "a.jpg", 600, 400))
    page.until(lambda: len(shown(page)) == 1)
    page.says("Waits")
    page.reload()
    page.until(lambda: len(shown(page)) == 1, "not shown after a reload")
    page.visit("/outbox").says("Add a photo of “The Anchor”")
    assert stored(server, fields) == []
    page.offline(False)
    page.until(lambda: len(stored(server, fields)) == 1)
    # What was sent is still here without a network.
    page.synced()
    page.visit("/hotels/h").says("Your photos")
    page.until(lambda: len(shown(page)) == 1)
    page.offline()
    page.reload()
    page.until(lambda: len(shown(page)) == 1)
    page.press("Remove: Photo 1 of 1: The Anchor")
    page.press("Remove")
    page.until(lambda: not page.all("ul.photos"))
    page.offline(False)
    page.until(lambda: stored(server, fields) == [])


def test_photo_that_was_not_sent_is_dropped_by_its_removal(browser, server, tmp_path):
    page, fields = user(browser, server)
    page.visit("/hotels/h").says("Your photos")
    page.synced()
    page.offline()
    add(page, photo(tmp_path / "a.jpg", 60, 40))
    page.until(lambda: len(shown(page)) == 1)
    page.press("Remove: Photo 1 of 1: The Anchor")
    page.press("Remove")
    page.until(lambda: not page.all("ul.photos"))
    page.visit("/outbox").says("Nothing on its way")
    assert page.driver.execute_async_script("""
        const done = arguments[0], asked = indexedDB.open("hotel-bookmarks")
        asked.onsuccess = () => {
            const all = asked.result.transaction("photos").objectStore("photos").getAllKeys()
            all.onsuccess = () => { asked.result.close(); done(all.result) }
        }""") == []


def test_photos_of_another_device_and_of_a_list_are_shown(browser, server, tmp_path):
    page, fields = user(browser, server)
    picture = open(photo(tmp_path / "a.jpg", 600, 400), "rb").read()
    page.visit("/hotels/h").says("Your photos")
    requests.put(server.url + "/v1/bookmarks/h/photos/phone.jpg", data=picture, headers=fields)
    page.until(lambda: len(shown(page)) == 1)
    listed = requests.post(server.url + "/v1/lists", json={"title": "Rome"}, headers=fields).json()["id"]
    path = f"/v1/lists/{listed}/bookmarks/h"
    requests.put(server.url + path, json={"name": "The Anchor"}, headers=fields)
    page.visit(f"/lists/{listed}").says("The Anchor")
    add(page, photo(tmp_path / "b.jpg", 800, 600), within=".hotel")
    page.until(lambda: len(shown(page)) == 1)
    page.until(lambda: len(stored(server, fields, path)) == 1)
    assert shown(page)[0][:2] == [800, 600]
    requests.put(server.url + path + "/photos/phone.jpg", data=picture, headers=fields)
    page.until(lambda: len(shown(page)) == 2)


def test_file_that_is_no_photo_is_refused_with_words(browser, server, tmp_path):
    page, fields = user(browser, server)
    (tmp_path / "text.jpg").write_text("no photo at all")
    page.visit("/hotels/h").says("Your photos")
    add(page, str(tmp_path / "text.jpg"))
    page.find("#sync .spot.bad")
    page.visit("/outbox").says("Only photos that can be read are taken")
    page.press("Drop: Add a photo of “The Anchor”")
    page.says("Nothing on its way")
    assert stored(server, fields) == []
