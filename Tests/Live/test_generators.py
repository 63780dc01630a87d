"""Clients that generators make from openapi.yaml, without options: complete, well named, and run for a first day."""
import importlib
import os
import pathlib
import re
import subprocess
import sys
import uuid

import openapi_spec_validator
import pytest
import yaml

from conftest import NIGHTLY
from server import ROOT
from slices import first
from waiting import PATIENCE

BIN = pathlib.Path(sys.executable).parent
CONTRACT = ROOT / "openapi.yaml"
RITZ = "hotel_25510"
PASSWORD = "a good password"
SHORT_RUN = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java's virtual machine for a program that runs for seconds: half the processor time for the same files."""

# For each generator of openapi-generator: the file of a hotel, the file of the calls about bookmarks, the type of a
# hotel's name there, and where undocumented members are kept. Each run has the first two, whose clients it runs.
LANGUAGES = {
    "typescript-fetch": ("Hotel.ts", "BookmarksApi.ts", "name?: string | null;", "[key: string]: any"),
    "python": ("hotel.py", "bookmarks_api.py", "name: Optional[StrictStr]", "additional_properties: Dict[str, Any]"),
    "swift6": ("Hotel.swift", "BookmarksAPI.swift", "public var name: String?", "additionalProperties"),
    "kotlin": ("Hotel.kt", "BookmarksApi.kt", "val name: kotlin.String?", "HashMap<String, kotlin.Any>"),
    "swift5": ("Hotel.swift", "BookmarksAPI.swift", "public var name: String?", "additionalProperties"),
}
METHODS = ("listBookmarks", "putBookmark", "getBookmark", "deleteBookmark", "changeBookmarks", "getMirror",
           "getReceipt")


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    """The output of all generators of openapi-generator, made in one run of its virtual machine."""
    directory = tmp_path_factory.mktemp("clients")
    for name in LANGUAGES if NIGHTLY else ("typescript-fetch", "python"):
        (directory / f"{name}.yaml").write_text(yaml.safe_dump({
            "generatorName": name, "inputSpec": str(CONTRACT), "outputDir": str(directory / name)}))
    made = subprocess.run(
        [BIN / "openapi-generator-cli", "batch", "--fail-fast", "-r", "2",
         *sorted(str(path) for path in directory.glob("*.yaml"))],
        capture_output=True, text=True, timeout=300, env={**os.environ, "JDK_JAVA_OPTIONS": SHORT_RUN})
    said = made.stdout + made.stderr
    assert made.returncode == 0, said[-4000:]
    complaints = [line for line in said.splitlines() if re.search(r" (WARN|ERROR) ", line)]
    assert not complaints, complaints
    return directory


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """The package that openapi-python-client makes. It leaves out what it cannot read, and reports that."""
    directory = tmp_path_factory.mktemp("python")
    config = directory / "config.yaml"
    config.write_text(yaml.safe_dump({"post_hooks": []}))
    made = subprocess.run(
        [BIN / "openapi-python-client", "generate", "--path", CONTRACT, "--meta", "none",
         "--output-path", directory / "bookmarks_client", "--config", config],
        capture_output=True, text=True, timeout=PATIENCE)
    said = made.stdout + made.stderr
    assert made.returncode == 0 and "will not be generated" not in said, said[-4000:]
    # What no app reads: the document itself, and the administrator's jobs line by line. The other reports are of one of an
    # operation's types.
    omitted = re.findall(r"WARNING parsing (\S+ \S+) within[^{]*will be omitted", said)
    assert [each for each in omitted if " /v1/admin/" not in each] == ["GET /openapi.yaml"], said[-4000:]
    sys.path.insert(0, str(directory))
    yield lambda name: importlib.import_module("bookmarks_client" + name)
    sys.path.remove(str(directory))


@pytest.fixture(scope="module")
def openapi_client(clients):
    """The package that openapi-generator makes for Python."""
    sys.path.insert(0, str(clients / "python"))
    yield importlib.import_module("openapi_client")
    sys.path.remove(str(clients / "python"))


def only(directory, name):
    found = [path for path in directory.rglob(name) if "docs" not in path.parts and "test" not in path.parts]
    assert len(found) == 1, found
    return found[0].read_text()


def test_contract_has_no_aliases():
    tokens = yaml.scan(CONTRACT.read_text(), Loader=yaml.CSafeLoader)
    assert not [token for token in tokens if isinstance(token, (yaml.AnchorToken, yaml.AliasToken))]


def test_schemas_that_are_enumerations_share_no_value():
    """Each value becomes a constant of the package in Go, without the schema's name."""
    schemas = yaml.load(CONTRACT.read_text(), Loader=yaml.CSafeLoader)["components"]["schemas"]
    values = [value for schema in schemas.values() for value in schema.get("enum", [])]
    assert len(values) > 10 and len(values) == len(set(values)), sorted(values)


@pytest.mark.parametrize("language", first(2, LANGUAGES))
def test_hotel_has_its_members_and_room_for_others(clients, language):
    hotel, _, name, others = LANGUAGES[language]
    text = only(clients / language, hotel)
    assert name in text and others in text
    for member in ("address", "amenities", "city", "country", "description", "geo", "phone", "state", "url"):
        assert re.search(rf"\b{member}\b", text), member


@pytest.mark.parametrize("language", first(2, LANGUAGES))
def test_calls_have_good_names_and_schemas_names_of_their_own(clients, language):
    text = only(clients / language, LANGUAGES[language][1])
    for method in METHODS:
        name = re.sub("[A-Z]", lambda letter: "_" + letter.group().lower(), method) if language == "python" else method
        assert re.search(rf"\b{name}\b", text), name
    made_up = [path.name for path in (clients / language).rglob("*")
               if re.search("inner|inline|[a-z]any_?of|[a-z]one_?of", path.name, re.I)]
    assert not made_up


def test_every_operation_is_a_call_in_python(python):
    document = yaml.safe_load(CONTRACT.read_text())
    for path, item in document["paths"].items():
        for method in {"get", "put", "post", "delete"} & item.keys():
            tag, name = item[method]["tags"][0], item[method]["operationId"]
            name = re.sub("[A-Z]", lambda letter: "_" + letter.group().lower(), name)
            name = re.sub("([a-z])_?v([12])", r"\1_v\2", name)
            assert python(f".api.{tag.replace('-', '_')}.{name}").sync_detailed, f"{method} {path}"


def test_first_day_with_the_generated_client(shared, python):
    accounts, bookmarks, models = ".api.accounts", ".api.bookmarks", python(".models")
    anonymous = python("").Client(shared.url, raise_on_unexpected_status=True)

    def signed_in(token):
        return python("").AuthenticatedClient(shared.url, token, raise_on_unexpected_status=True)

    def ids(client):
        return [each.id for each in python(bookmarks + ".list_bookmarks").sync(client=client).bookmarks]

    guest = python(accounts + ".create_guest").sync(client=anonymous)
    client = signed_in(guest.token)
    search, put = python(".api.hotels.search_hotels"), python(bookmarks + ".put_bookmark")
    found = search.sync(client=client, description="pool", location="san francisco")
    assert found.source == "upstream" and RITZ in [hotel.id for hotel in found.hotels]
    assert not any(hotel.bookmarked for hotel in found.hotels)
    ritz, other = next(hotel for hotel in found.hotels if hotel.id == RITZ), found.hotels[0]
    if other.id == RITZ:
        other = found.hotels[1]
    assert ritz.name and ritz.city == "San Francisco" and ritz.geo.lat

    # A hotel that is sent back keeps its members, and its flag is not stored.
    ritz["myNote"] = "sea view"
    stored = put.sync(RITZ, client=client, body=ritz).hotel
    assert stored.to_dict() == {key: value for key, value in ritz.to_dict().items() if key != "bookmarked"}
    again = put.sync_detailed(RITZ, client=client)
    assert again.status_code == 200 and again.parsed.hotel["myNote"] == "sea view"
    assert put.sync_detailed(other.id, client=client).status_code == 201
    kept = put.sync_detailed(other.id, client=client, if_none_match="*")
    assert kept.status_code == 412 and kept.parsed.error == "precondition_failed"
    assert ids(client) == [other.id, RITZ]

    change = python(bookmarks + ".change_bookmarks")
    removed = change.sync(client=client, body=models.Batch(remove=[RITZ, other.id]), idempotency_key="one")
    assert [item.status for item in removed.results] == [204, 204] and ids(client) == []
    undone = change.sync(client=client, body=removed.undo)
    assert [item.status for item in undone.results] == [201, 201] and ids(client) == [other.id, RITZ]
    mirror = python(bookmarks + ".get_mirror").sync(client=client)
    assert mirror.order == [other.id, RITZ] and {each.id for each in mirror.hotels} == {other.id, RITZ}
    since = python(bookmarks + ".get_mirror").sync(client=client, since=mirror.token)
    assert since.hotels == [] and not since.reset

    name = "generated-" + uuid.uuid4().hex
    credentials = models.Credentials(name, "a good password")
    user = python(accounts + ".sign_up").sync(client=client, body=credentials)
    client = signed_in(user.token)
    assert python(accounts + ".get_me").sync(client=client).username == name
    assert python(bookmarks + ".get_bookmark").sync(RITZ, client=client).hotel["myNote"] == "sea view"
    assert python(bookmarks + ".delete_bookmark").sync_detailed(RITZ, client=client).status_code == 204
    assert ids(client) == [other.id]
    assert python(accounts + ".log_out").sync_detailed(client=client).status_code == 204
    late = python(accounts + ".get_me").sync(client=client)
    assert late.status == 401 and late.error == "unauthorized"


def test_export_is_read_into_another_account_with_the_generated_client(shared, python):
    accounts, bookmarks, models = ".api.accounts", ".api.bookmarks", python(".models")
    tokens = [sign_up(shared) for _ in range(2)]
    first, second = (python("").AuthenticatedClient(shared.url, token) for token in tokens)
    python(bookmarks + ".put_bookmark").sync(RITZ, client=first)
    export = python(accounts + ".export_me").sync(client=first)
    body = python(".types").File(payload=export.payload)
    assert python(accounts + ".import_me").sync(client=second, body=body).documents == 2
    assert python(bookmarks + ".get_bookmark").sync(RITZ, client=second).id == RITZ
    octets = {"Accept": "application/octet-stream"}
    again = shared.call("GET", "/v1/me/export", tokens[0], headers=octets)
    assert again.headers["Content-Type"] == octets["Accept"]
    login = models.LogIn(username="nobody", password="a wrong password")
    refused = python(accounts + ".log_in").sync(client=python("").Client(shared.url), body=login)
    assert refused.status == 401


def test_part_for_apps_makes_a_client_of_its_own(shared, tmp_path):
    part = shared.call("GET", "/openapi.yaml", params={"part": "app"}).content
    openapi_spec_validator.validate(yaml.safe_load(part))
    assert len(part) < CONTRACT.stat().st_size * 2 / 3
    (tmp_path / "part.yaml").write_bytes(part)
    made = subprocess.run(
        [BIN / "openapi-python-client", "generate", "--path", tmp_path / "part.yaml", "--meta", "none",
         "--output-path", tmp_path / "app_client"], capture_output=True, text=True, timeout=PATIENCE)
    said = made.stdout + made.stderr
    assert made.returncode == 0 and "will be omitted" not in said and "will not be" not in said, said[-4000:]
    assert {path.name for path in (tmp_path / "app_client/api").iterdir() if path.is_dir()} == {
        "accounts", "hotels", "bookmarks", "history", "lists", "sync"}
    sys.path.insert(0, str(tmp_path))
    try:
        client = importlib.import_module("app_client").Client(shared.url)
        guest = importlib.import_module("app_client.api.accounts.create_guest").sync(client=client)
        assert shared.call("GET", "/v1/me", guest.token).json()["id"] == guest.id
    finally:
        sys.path.remove(str(tmp_path))


def sign_up(server):
    """The token of a new user."""
    answer = server.call("POST", "/v1/users", json={"username": "generated-" + uuid.uuid4().hex, "password": PASSWORD})
    assert answer.status_code == 201, answer.text
    return answer.json()["token"]


def test_first_day_with_openapi_generators_python(shared, openapi_client):
    client = openapi_client

    def connected(token=None):
        return client.ApiClient(client.Configuration(host=shared.url, access_token=token))

    guest = client.AccountsApi(connected()).create_guest()
    api = connected(guest.token)
    bookmarks = client.BookmarksApi(api)
    found = client.HotelsApi(api).search_hotels(description="pool", location="san francisco")
    ritz = next(hotel for hotel in found.hotels if hotel.id == RITZ)
    ritz.additional_properties["myNote"] = "sea view"
    assert bookmarks.put_bookmark(RITZ, hotel=ritz).hotel.additional_properties["myNote"] == "sea view"
    removed = bookmarks.change_bookmarks(client.Batch(remove=[RITZ]))
    assert [result.status for result in bookmarks.change_bookmarks(removed.undo).results] == [201]
    assert bookmarks.get_mirror().order == [RITZ]
    late = bookmarks.delete_bookmark_with_http_info(RITZ, prefer="respond-async")
    assert late.status_code == 202 and late.data is None
    assert bookmarks.get_receipt(late.headers["Location"].rsplit("/")[-1]).status in ("pending", "committed")

    names = ["generated-" + uuid.uuid4().hex for _ in range(2)]
    signed = [client.AccountsApi(api if name == names[0] else connected()).sign_up(
        client.Credentials(username=name, password=PASSWORD)) for name in names]
    again = client.AccountsApi(connected()).log_in(client.LogIn(username=names[0], password=PASSWORD))
    own, other = connected(again.token), connected(signed[1].token)
    lists, theirs = client.ListsApi(own), client.ListsApi(other)
    trip = lists.make_list(client.NewList(title="Trip"))
    lists.put_note(trip.id, "Plan a/b", client.NoteText(markdown="# hi"))
    lists.put_note(trip.id, "Plan a/b", client.NoteText(markdown="# hey"), draft=True)
    assert lists.publish_note(trip.id, "Plan a/b").markdown == "# hey"
    lists.delete_note(trip.id, "Plan a/b", draft=True)
    assert lists.publish_note(trip.id, "Plan a/b").deleted
    invited = lists.put_member(trip.id, names[1], client.MemberRole(role="editor"))
    assert theirs.accept_invitation(invited.id).role == "editor"
    assert lists.put_member(trip.id, names[1], client.MemberRole(role="reader")) is None
    assert lists.change_list(trip.id, client.ListChange(owner=names[1])).status == "invited"
    export = client.AccountsApi(own).export_me()
    assert client.AccountsApi(other).import_me(bytes(export)).documents > 0
    with pytest.raises(client.exceptions.UnauthorizedException) as refused:
        client.AccountsApi(connected("bad")).get_me()
    assert refused.value.data.error == "unauthorized"


def test_first_day_with_openapi_generators_typescript(shared, clients, tmp_path):
    """Debian's compiler is older than what the generator's strict mode needs."""
    compiled = subprocess.run(
        ["tsc", "--outDir", tmp_path, "--target", "es2020", "--module", "commonjs", "--moduleResolution", "node",
         "--lib", "es2020,dom", clients / "typescript-fetch" / "index.ts"],
        capture_output=True, text=True, timeout=PATIENCE)
    assert compiled.returncode == 0, compiled.stdout[-4000:]
    day = subprocess.run(
        ["node", ROOT / "Tests/Live/first_day.js", tmp_path / "index.js", shared.url],
        capture_output=True, text=True, timeout=PATIENCE)
    assert day.returncode == 0 and day.stdout == "done\n", day.stdout + day.stderr


@pytest.mark.nightly
def test_first_day_with_openapi_generators_swift(shared, clients, tmp_path):
    """`swift build` of the generated package takes most of a minute."""
    package = clients / "swift6"
    program = package / "Sources/FirstDay"
    program.mkdir()
    (program / "FirstDay.swift").write_text((ROOT / "Tests/Live/first_day.swift").read_text())
    manifest = package / "Package.swift"
    manifest.write_text(manifest.read_text() + '''
package.targets.append(.executableTarget(name: "FirstDay", dependencies: ["OpenAPIClient"]))
''')
    built = subprocess.run(["swift", "build"], cwd=package, capture_output=True, text=True, timeout=PATIENCE)
    assert built.returncode == 0, built.stdout[-4000:]
    day = subprocess.run(
        [package / ".build/debug/FirstDay", shared.url], capture_output=True, text=True, timeout=PATIENCE)
    assert day.returncode == 0 and day.stdout == "done\n", day.stdout + day.stderr
