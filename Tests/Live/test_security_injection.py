"""Every parameter that takes text treats syntax of SQL, of full-text search and of JSON paths as text.

S15 in names is a row of the catalogue of faults."""
import pytest

from conftest import NIGHTLY
from couch import Database
from operations import OPERATIONS, resolve, sample

SYNTAX = [
    "'", '"', "' OR '1'='1", '" OR 1=1 --', "'; DROP TABLE documents; --",
    "x'/**/UNION/**/SELECT/**/1--", "`", "\\", "%", "_", "?", "?1", ":name", "@x", "$x",
    "x\\' OR 1", "0x41", "char(65)", "*", "^pool", "pool*", "pool OR bar", "pool NOT bar",
    "pool AND", "NEAR(pool bar, 5)", "name:pool", "{name}:pool", "-name:pool", "+pool", "(", ")",
    '""', '"pool', "$.a", "$[0]", "$.a[#-1]", "a.b", "a\\.b", "..", "load_extension('x')",
    "\u2018", "\uff07"]


@pytest.fixture(scope="module")
def store(shared):
    """A guest's store with a few documents, which no request changes."""
    database = Database(shared)
    database.rev("known", a={"b": 1})
    return database


def strings(operation):
    """The names of the query parameters that are text or any JSON."""
    for node in operation.parameters:
        schema = node.get("schema", {})
        is_text = schema.get("type", "string") == "string" and "enum" not in schema
        if node["in"] == "query" and is_text:
            yield node["name"]


@pytest.mark.fault("S15")
@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.method == "GET"], ids=repr)
def test_syntax_in_any_parameter_is_text(shared, store, operation):
    plain = [name for name in operation.names("path") if name != "db"]
    # In each run an operation has a quarter of them, its neighbours the others.
    for text in SYNTAX if NIGHTLY else SYNTAX[OPERATIONS.index(operation) % 4::4]:
        if text == "..":
            continue  # No path segment may be this, see H13.
        queries = [{}] + [{name: text} for name in strings(operation)]
        for query in queries if not plain else [{}]:
            values = {"db": store.name, **{name: text for name in plain}}
            if operation.name.endswith("Changes"):
                query = {**query, "timeout": "0"}
            answer = shared.call("GET", operation.path(values, query), store.token)
            assert answer.status_code < 500 or answer.status_code == 501, (text, answer.text)
    assert list(store.documents()) == ["known"]


@pytest.mark.fault("S15")
@pytest.mark.parametrize("text", SYNTAX)
def test_search_takes_texts_literally(shared, text):
    for name in ("description", "location"):
        answer = shared.call("GET", "/v1/hotels", params={name: text, "limit": 100})
        assert answer.status_code == 200, answer.text
        letters = "".join(c for c in text.lower() if c.isalnum())
        if not letters:
            continue
        # The text counts as words only: no operator adds a hotel that lacks one of them, unless all hotels lack one. "Not"
        # is a word for people, too: hotels without what follows are meant.
        enough = any if answer.json().get("matched") == "most" else all
        for hotel in answer.json()["hotels"]:
            facts = str(hotel).lower()
            words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
            refused = words.index("not") if "not" in words else len(words)
            words = [word for word in words[:refused] + words[refused + 2:] if word not in ("and", "or")]
            assert enough(word in facts for word in words), (text, hotel["id"])


@pytest.mark.fault("S15")
@pytest.mark.parametrize("text", [text for text in SYNTAX if text != ".."])
def test_ids_and_names_are_literal(shared, text):
    database = Database(shared)
    if not text.startswith("_"):
        revision = database.rev(text, value=text)
        assert database.documents() == {text: {"_id": text, "_rev": revision, "value": text}}
        rows = database.call("POST", "/_all_docs", json={"keys": [text, "none"]}).json()["rows"]
        assert [row["id"] if "id" in row else None for row in rows] == [text, None]
    other = database.rev("other", **{"field" + text: "there"})
    selector = {"selector": {"field" + text.replace("\\", "\\\\").replace(".", "\\."): "there"}}
    found = database.call("POST", "/_find", json=selector)
    assert [document["_rev"] for document in found.json()["docs"]] == [other], found.text
    none = database.call("POST", "/_find", json={"selector": {"value": text + "x"}})
    assert none.json()["docs"] == []


@pytest.mark.fault("S15")
@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.schema], ids=repr)
def test_syntax_in_bodies_is_text(shared, operation):
    database = Database(shared)
    # Each password costs a hash, so fewer texts are tried. The check is the same for all operations with a password.
    texts = SYNTAX[::6] if "password" in str(resolve(operation.schema)) else SYNTAX
    for text in texts:
        answer = shared.call(
            operation.method, operation.path({"db": database.name}), database.token,
            json=sample(operation.schema, text))
        assert answer.status_code < 500 or answer.status_code in (501, 507), (text, answer.text)
        if operation.name == "signUp" and answer.status_code == 201:
            database = Database(shared)  # The new user has adopted the guest.
