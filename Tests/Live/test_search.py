"""Search over HTTP: order, counts, typing errors, and what an upstream does not support."""
import re
import unicodedata

import pytest

from searching import answered


def search(server, **parameters):
    return server.call("GET", "/v1/hotels", params=parameters)


def test_total_counts_the_hotels_of_all_pages(shared):
    first = search(shared, description="hotel", limit=1).json()
    assert first["total"] > 1
    seen, offset = set(), 0
    while offset is not None:
        page = search(shared, description="hotel", limit=100, offset=offset).json()
        seen.update(hotel["id"] for hotel in page["hotels"])
        assert page["total"] == first["total"]
        offset = page.get("next")
    assert len(seen) == first["total"]


def in_order(name):
    """A name without marks, punctuation and a leading article."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    words = re.findall("[a-z0-9]+", plain)
    return words[1:] if len(words) > 1 and words[0] in ("the", "a", "an", "le", "la", "les", "l") else words


def test_hotels_come_by_name_and_by_distance(shared):
    names = [in_order(hotel["name"]) for hotel in search(shared, sort="name", limit=50).json()["hotels"]]
    assert names == sorted(names)
    near = search(shared, near="51.5,-0.12", limit=100).json()["hotels"]
    assert near == search(shared, near="51.5,-0.12", sort="distance", limit=100).json()["hotels"]

    def angle(hotel):
        return (hotel["geo"]["lat"] - 51.5) ** 2 + ((hotel["geo"]["lon"] + 0.12) * 0.6225) ** 2

    placed = [hotel for hotel in near if hotel.get("geo")]
    assert placed and angle(placed[0]) < 0.05
    assert angle(placed[0]) <= angle(placed[-1])


@pytest.mark.parametrize("text", ["breakfasts", "breakfst", "resturant"])
def test_a_plural_or_a_typing_error_still_finds(shared, text):
    assert search(shared, description=text).json()["total"] > 0


def test_an_answer_says_that_no_hotel_has_all_words(shared):
    page = search(shared, description="xyzzy pool", location="california").json()
    assert page["matched"] == "most" and page["hotels"] and page["total"] >= len(page["hotels"])
    assert "matched" not in search(shared, description="pool", location="california").json()
    assert search(shared, description="xyzzy").json() == {"source": "upstream", "total": 0, "hotels": []}


def test_places_are_completed_from_the_catalogue(shared):
    def names(**parameters):
        return [place["name"] for place in shared.call("GET", "/v1/places", params=parameters).json()["places"]]

    assert names(prefix="san fr") == ["San Francisco"]
    assert names(prefix="uk") == ["United Kingdom"] and names(prefix="Engl") == ["England"]
    first = shared.call("GET", "/v1/places", params={"limit": 3}).json()
    assert [place["hotels"] for place in first["places"]] == sorted(
        (place["hotels"] for place in first["places"]), reverse=True)
    assert {"relevance", "name", "distance"} <= set(first["sorts"])
    for wrong in ({"limit": 0}, {"limit": 51}, {"prefix": "x" * 129}, {"colour": "red"}):
        assert shared.call("GET", "/v1/places", params=wrong).status_code == 400


@pytest.mark.parametrize("parameters", [
    {"sort": "stars"}, {"sort": "distance"}, {"sort": ""}, {"near": "here"}, {"near": "91,0"}, {"near": "1"},
])
def test_another_order_is_refused_with_what_to_change(shared, parameters):
    answer = search(shared, **parameters)
    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_parameter"


@pytest.mark.nightly
def test_the_first_search_after_a_start_has_all_of_its_time(start, tmp_path):
    """The names of places are made then, which takes longer than a search may. At night nothing runs beside it."""
    data = tmp_path / "data"
    assert start(data=data).stop() == 0
    server = start("--search-milliseconds", "300", data=data)
    answer = search(server, description="hotel", location="Londres")
    assert answer.status_code == 200 and answer.json()["hotels"], answer.text


def test_an_upstream_says_no_total_and_knows_one_order(start, tmp_path):
    upstream = start(data=tmp_path / "upstream")
    front = start("--upstream", upstream.url, data=tmp_path / "front")
    page = answered(front, "breakfast")
    assert page.json()["hotels"] and "total" not in page.json()
    for parameters in ({"sort": "name"}, {"near": "51.5,-0.12"}):
        answer = search(front, **parameters)
        assert (answer.status_code, answer.json()["error"]) == (400, "not_supported_by_upstream")
    assert search(front, description="breakfast", sort="relevance").status_code == 200


def test_lists_are_packed_for_who_takes_that_and_answers_end_with_a_newline(shared):
    token = shared.guest()
    path = "/v1/hotels?description=hotel&limit=50"
    plain = shared.call("GET", path, token, headers={"Accept-Encoding": "identity"})
    assert plain.content.endswith(b"}\n") and "Content-Encoding" not in plain.headers
    for hotel in plain.json()["hotels"][:8]:
        assert shared.call("PUT", "/v1/bookmarks/" + hotel["id"], token).status_code == 201
    for path in (path, "/v1/bookmarks", "/v1/mirror"):
        packed = shared.call("GET", path, token, headers={"Accept-Encoding": "gzip"}, stream=True)
        assert packed.headers["Content-Encoding"] == "gzip"
        assert packed.headers["Vary"] == "Accept-Encoding"
        assert packed.content.endswith(b"}\n")
    assert shared.call("GET", "/v1/bookmarks/none", token).content.endswith(b"}\n")
