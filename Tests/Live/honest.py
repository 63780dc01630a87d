"""What honest clients do all day, as steps. Knows nothing of how a request is sent: the live tests count what
is answered, and `Scripts/bench fair` takes the time.

Each kind gets a person (`call(method, path, value)`, `path` of their own database, `newcomer()`) and answers
a function that does the step of a number.
"""
import uuid

DOCUMENTS = 20


def read(person):
    """Reads one document of twenty."""
    made = [{"_id": f"d{number}", "text": "x" * 1000} for number in range(DOCUMENTS)]
    person.call("POST", person.path + "/_bulk_docs", {"docs": made})
    return lambda number: person.call("GET", f"{person.path}/d{number % DOCUMENTS}")


def bookmark(person):
    """Bookmarks twenty hotels, then takes them back."""
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
    """Somebody new signs up, from an address where nobody was."""
    def step(number):
        body = {"username": f"honest-{uuid.uuid4().hex}", "password": "a good password"}
        person.newcomer().call("POST", "/v1/users", body)
    return step


def sync(person):
    """A device asks what is new, and pushes a document that the server has not."""
    since = "0"

    def step(number):
        nonlocal since
        since = person.call("GET", f"{person.path}/_changes?style=all_docs&limit=100&since={since}")["last_seq"]
        # Never more documents than a guest may have.
        name, ids = f"s{number % DOCUMENTS}", [uuid.uuid4().hex]
        lacking = person.call("POST", person.path + "/_revs_diff", {name: ["1-" + ids[0]]})
        if number < DOCUMENTS:
            document = {"_id": name, "_rev": "1-" + ids[0], "_revisions": {"start": 1, "ids": ids}}
            person.call("POST", person.path + "/_bulk_docs", {"docs": [document], "new_edits": False})
        assert lacking[name]["missing"] == ["1-" + ids[0]]
    return step


KINDS = {"read": read, "bookmark": bookmark, "search": search, "sign-up": sign_up, "sync": sync}
