"""Searches for words that nearly every hotel has, over many hotels."""
import json
import subprocess

import pytest

import hostile
from hostile_load import PART, run_hostile_load
from people import Person
from server import BINARY, Server


def filled(directory, count):
    """A data directory whose catalogue has `count` hotels. Each hotel contains every word of the searches."""
    words = " ".join([*hostile.LETTERS, "the", "hotel", "south", "about"])
    file = directory / "hotels.ndjson"
    with open(file, "w", encoding="utf-8") as lines:
        for number in range(count):
            row = {"id": f"h{number}", "type": "hotel", "name": f"Hotel {number}", "city": "London",
                   "country": "United Kingdom", "description": f"{words} pool breakfast garden parking sea"}
            lines.write(json.dumps(row) + "\n")
    data = directory / "data"
    Server(data).stop()
    subprocess.run([BINARY, "catalogue", "import", str(file), "--data", str(data)], check=True, timeout=300)
    return data


@pytest.mark.nightly
def test_long_searches_hold_nobody_up(start, tmp_path):
    server = start("--guests-per-hour", "100000", data=filled(tmp_path, int(50_000 * PART)))
    statuses = run_hostile_load(server, "words")
    assert set(statuses) <= {200, 400, 429, 503, 504, "cut"}, statuses


def test_more_than_32_different_words_are_refused(shared):
    person = Person(shared)
    few = "+".join(f"w{number}" for number in range(32))
    assert person.ask("GET", "/v1/hotels?description=" + few).status_code == 200
    assert person.ask("GET", f"/v1/hotels?description={few}+{few}").status_code == 200
    answer = person.ask("GET", f"/v1/hotels?description={few}+other")
    assert answer.status_code == 400, answer.text
