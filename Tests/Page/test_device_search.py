"""The device finds what people mean: the cases of Tests/Fixtures/searches.json that need no list of words."""
import json
from pathlib import Path

from offline_fixtures import browsers, service  # noqa: F401

TABLE = json.loads((Path(__file__).parent.parent / "Fixtures/searches.json").read_text())

FIND = """
    const { version } = await (await fetch("/shell.json")).json()
    const { find } = await import(`/page/${version}/offline/find.js`)
    const { placesURL, usePlaces } = await import(`/page/${version}/offline/places.js`)
    // What a search without the names of places has read of a hotel must not stay.
    find(args.hotels, { location: "Ireland" })
    usePlaces(await (await fetch(placesURL())).text())
    return args.cases.map(({ field, query, location, begins = [] }) => {
        const { hotels, matched } = find(args.hotels, { location, [field]: query }), ids = hotels.map(({ id }) => id)
        return { query, begins: ids.slice(0, begins.length), finds: ids.sort((one, other) => one - other), matched: matched ?? null }
    })
"""


KEPT = """
    const database = await new Promise((done, failed) => {
        const request = indexedDB.open("hotel-bookmarks")
        request.onsuccess = () => done(request.result)
        request.onerror = () => failed(request.error)
    })
    const kept = await new Promise(done => {
        const store = database.transaction("meta", "readwrite").objectStore("meta"), request = store.get("places")
        if (args.instead) store.put(args.instead, "places")
        store.transaction.oncomplete = () => done(request.result)
    })
    database.close()
    return kept
"""
"""The names of places that are kept, which others may replace."""


def test_a_search_keeps_the_names_of_places_for_searches_without_a_network(browsers):
    browser = browsers().open()
    browser.settled()
    assert browser.run("return (await client.search({ location: 'Paris' })).hotels.length")
    first = browser.until(KEPT)
    # The first start of another version finds names in another form.
    assert browser.run(KEPT, instead={"url": "/page/0/places.txt", "lines": "f|\n" * 7 + "x|(?!)\ne|"}) == first
    browser.open()
    browser.until(f"return (await (async () => {{ {KEPT} }})()).lines.length > 100")
    assert browser.run(KEPT) == first
    browser.offline()
    browser.until("return client.sync.phase === 'offline'")
    found = browser.run("return await client.search({ location: 'Frankreich' })")
    assert found["source"] == "device" and found["hotels"]


def test_the_device_finds_by_the_servers_rules(browsers):
    cases = [case for case in TABLE["cases"] if case.get("on") != "server"]
    assert len(cases) >= 200
    found = browsers().open().run(FIND, cases=cases, hotels=TABLE["hotels"])
    assert found == [
        {"query": case["query"], "begins": case.get("begins", []), "finds": sorted(case["finds"]), "matched": case.get("matched")}
        for case in cases]


SORT = """
    const { version } = await (await fetch("/shell.json")).json()
    const { find } = await import(`/page/${version}/offline/find.js`)
    const { placesURL, usePlaces } = await import(`/page/${version}/offline/places.js`)
    usePlaces(await (await fetch(placesURL())).text())
    const hotels = args.prices.map((price, id) => ({ id, name: id < 5 ? `${["The ", "", "à "][id % 3]}Pool ${9 - id}` : "Skye", price, geo: { lat: id, lon: 0 } }))
    return args.queries.map(([description, sort]) => {
        const { hotels: found, matched } = find(hotels, { description, sort, near: "2.2,0" })
        return [found.map(({ id }) => id), matched ?? null]
    })
"""


def test_the_device_orders_as_the_server_does(browsers):
    prices = ["£1,250.50 a night", 80, "50.5 m away, from €35.", None, "4 nights from 1.100 kr.", None]
    asked = {
        ("pool", "price"): [2, 1, 4, 0, 3], ("pool under 100", ""): [1, 2, 3, 4, 0], ("cheap pool", None): [2, 1, 4, 0, 3],
        ("under 100", "relevance"): [2, 1], ("hotels over 1000", ""): [4, 0], ("cheap", ""): [2, 1, 4, 0, 3, 5],
        ("under 10", ""): [2, 1, 4, 0, 3, 5], ("pool", "name"): [4, 3, 2, 1, 0], ("cheap pool", "distance"): [2, 3, 1, 4, 0],
        # A word that few have says more than one that many have.
        ("pool skye", ""): [5]}
    found = browsers().open().run(SORT, prices=prices, queries=list(asked))
    mostly = [("under 10", ""), ("pool skye", "")]
    assert found == [[ids, "most" if query in mostly else None] for query, ids in asked.items()]
