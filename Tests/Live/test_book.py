"""Files and pages that the book names exist."""
import re
import subprocess

from server import BINARY, ROOT

SOURCES = ROOT / "Sources"
BOOK = SOURCES / "HotelBookmarks" / "HotelBookmarks.docc"
PAGES = sorted(BOOK.rglob("*.md"))


def test_files_that_the_book_sends_readers_to_are_there():
    named = re.findall(r"`([\w+/]+\.swift|\w+/\w+)`", (BOOK / "WhereIsWhat.md").read_text())
    assert len(named) > 25
    assert [name for name in named if not (SOURCES / name).exists()] == []


def test_links_between_pages_lead_somewhere():
    known = {page.stem for page in PAGES}
    dead = [
        (page.name, link) for page in PAGES for link in re.findall(r"<doc:([\w-]+)>", page.read_text())
        if link not in known]
    assert dead == []


def test_every_setting_of_the_book_is_a_flag():
    named = set(re.findall(r"^\| `(--[\w-]+)` \|", (BOOK / "Operations.md").read_text(), re.M))
    text = subprocess.run([BINARY, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    assert len(named) > 25
    assert named - set(re.findall(r"--[\w-]+", text)) == set()
