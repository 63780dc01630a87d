"""The usual work of honest clients, in steps. This module does not send requests itself: the live tests count the
responses, and `Scripts/bench fair` measures the time.

Each kind takes a person (`call(method, path, value)`, `path` of the person's own database, `newcomer()`) and
returns a function that does step `number`.
"""
import uuid

DOCUMENTS = 20


def read(person):
    """Reads one of twenty documents."""
    made = [{"_id": f"d{number}", "text": "x" * 1000} for number in range(DOCUMENTS)]
    person.call("POST", person.path + "/_bulk_docs", {"docs": made})
    return lambda number: person.call("GET", f"{person.path}/d{number % DOCUMENTS}")


def bookmark(person):
    """Bookmarks twenty hotels, then removes them."""
    def step(number):
        gone = number // DOCUMENTS % 2
        hotel = None if gone else {"name": "The Honest", "city": "Bergen", "country": "Norway"}
        person.call("DELETE" if gone else "PUT", f"/v1/bookmarks/honest-{number % DOCUMENTS}", hotel)
    return step


def search(person):
    """Searches as travellers do."""
    words = ["pool", "breakfast", "garden", "parking", "sea"]
    return lambda number: person.call("GET", f"/v1/hotels?description={words[number % 5]}&limit=5")


def sign_up(person):
    """A new user signs up, from an address that was not used before."""
    def step(number):
        body = {"username": f"honest-{uuid.uuid4().hex}", "password": "a good password"}
        person.newcomer().call("POST", "/v1/users", body)
    return step


def sync(person):
    """A device reads the changes, and pushes a document that the server does not have."""
    since = "0"

    def step(number):
        nonlocal since
        since = person.call("GET", f"{person.path}/_changes?style=all_docs&limit=100&since={since}")["last_seq"]
        # The number of documents stays below a guest's limit.
        name, ids = f"s{number % DOCUMENTS}", [uuid.uuid4().hex]
        lacking = person.call("POST", person.path + "/_revs_diff", {name: ["1-" + ids[0]]})
        if number < DOCUMENTS:
            document = {"_id": name, "_rev": "1-" + ids[0], "_revisions": {"start": 1, "ids": ids}}
            person.call("POST", person.path + "/_bulk_docs", {"docs": [document], "new_edits": False})
        assert lacking[name]["missing"] == ["1-" + ids[0]]
    return step


def feed(person):
    """Waits for a change that is there already."""
    person.call("PUT", person.path + "/waited", {"text": "x"})
    return lambda number: person.call("GET", f"{person.path}/_changes?feed=longpoll&since=0&limit=1")


KINDS = {"read": read, "bookmark": bookmark, "search": search, "sign-up": sign_up, "sync": sync, "feed": feed}
