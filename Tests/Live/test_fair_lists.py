"""A list of bookmarks that sync has merged many times replicates as well as a list without merges."""
import json

import pytest

import hostile
import watched
from hostile_load import PART, run_hostile_load
from people import HOSTILE, Person

NEWEST = 64
"""The number of merged branches that are kept complete."""
MARK = 48
"""The most bytes that an older merged branch takes. It is kept as a mark."""
MARKS = 4096


@pytest.mark.nightly
def test_a_list_of_many_merges_holds_nobody_up(start):
    statuses = run_hostile_load(start("--guests-per-hour", "100000"), "merges", PART / 2)
    assert set(statuses) <= {200, 400, 429, 503}, statuses


@pytest.mark.nightly
def test_a_new_device_pulls_a_list_of_many_merges(start):
    server = start("--guests-per-hour", "100000")
    person = Person(server, HOSTILE)
    count = int(1760 * PART)
    hostile.merged(person, range(count))
    watched.rests(server)
    name = person.path + "/bookmarkedhotels"
    branches = person.ask("GET", name + "?open_revs=all&revs=true")
    assert branches.status_code == 200, branches.text[:300]
    # A branch in JSON has 1,000 revisions of 35 bytes each. A mark has its two revisions and a few members.
    assert len(branches.content) < (NEWEST + 8) * 40_000 + min(count, MARKS) * 300
    asked = {"docs": [{"id": "bookmarkedhotels", "rev": row["ok"]["_rev"]}
                      for row in branches.json() if "ok" in row]}
    pulled = person.ask("POST", person.path + "/_bulk_get?revs=true", asked)
    assert pulled.status_code == 200, pulled.text[:300]
    found = [one["ok"] for row in pulled.json()["results"] for one in row["docs"] if "ok" in one]
    device = Person(server)
    assert device.call("POST", device.path + "/_bulk_docs", {"docs": found, "new_edits": False}) == []
    assert device.call("GET", device.path + "/bookmarkedhotels") == person.call("GET", name)
    assert sorted(json.loads(person.ask("GET", name).text)["hotels"]) == sorted(f"h{each}" for each in range(50))
