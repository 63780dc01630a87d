"""Couchbase Lite's sync, as a client of our own speaks it: the handshake, each message, and what two phones make of it."""

import pytest

from blip_client import TREES, VECTORS, Refused, WebSocket
from couch import Account, Database
from phone import Phone


@pytest.fixture
def account(shared):
    return Account(shared)


@pytest.fixture
def phone(account):
    phone = Phone(account.server, token=account.token).connect()
    yield phone
    phone.blip.websocket.drop()


def another(account, **options):
    return Phone(account.server, token=account.token, **options).connect()


def database(account):
    return Database(account.server, account.token)


# The handshake.

@pytest.mark.parametrize("offered,chosen", [
    (TREES, "BLIP_3+CBMobile_3"), ("BLIP_3+CBMobile_2", "BLIP_3+CBMobile_2"), (VECTORS, VECTORS),
    ("BLIP_3+CBMobile_4,BLIP_3+CBMobile_3", "BLIP_3+CBMobile_3"), ("chat, BLIP_3+CBMobile_2", "BLIP_3+CBMobile_2")])
def test_one_offered_protocol_is_chosen(account, offered, chosen):
    phone = another(account, protocols=offered)
    assert phone.blip.websocket.fields["sec-websocket-protocol"] == chosen
    assert phone.blip.websocket.fields.get("sec-websocket-extensions") is None
    assert phone.close() == 1000


@pytest.mark.parametrize("headers,status", [
    ({"Sec-WebSocket-Protocol": "chat"}, 400), ({"Sec-WebSocket-Protocol": None}, 400), ({"Upgrade": None}, 426),
    ({"Connection": "keep-alive"}, 426), ({"Sec-WebSocket-Version": "8"}, 426), ({"Sec-WebSocket-Key": "a"}, 426),
    ({"Content-Length": "5"}, 400), ({"Transfer-Encoding": "chunked"}, 400),
    ({"Authorization": None}, 401), ({"Authorization": "Bearer x"}, 401)], ids=str)
def test_request_that_is_no_handshake_gets_its_status(account, headers, status):
    headers = {"Authorization": "Bearer " + account.token, **headers}
    with pytest.raises(Refused) as refused:
        Phone(account.server, headers=headers).connect()
    assert refused.value.status == status


def test_an_app_is_asked_for_name_and_password_and_a_browser_is_not(account):
    """Couchbase Lite 2.8 for C and 3.0.11 for Android send them only then, and 2.8 reads only the first challenge. A browser
    would open a window for them."""
    path, origin = "/couch/bookmarks/_blipsync", {"Origin": account.server.url}
    handshake = {
        "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Protocol": TREES}
    answers = [account.server.call("GET", path, headers=fields) for fields in (handshake, {**handshake, **origin}, {})]
    assert [answer.status_code for answer in answers] == [401] * 3
    challenges = [answer.headers["WWW-Authenticate"] for answer in answers]
    assert [text.startswith('Basic realm="') for text in challenges] == [True, False, False]
    assert all("Basic" not in text for text in challenges[1:])


def test_every_kind_of_credentials_opens_a_session(account):
    server, token = account.server, account.token
    for options in (
            {"token": token}, {"auth": (account.name, account.password)},
            {"headers": {"Cookie": "AuthSession=" + token}}, {"headers": {"Cookie": "SyncGatewaySession=" + token}},
            {"protocols": TREES + ",SyncGatewaySession_" + token}):
        assert Phone(server, **options).connect().close() == 1000


def test_a_browser_gets_a_session_by_name_and_password(account):
    """As Couchbase Lite for JavaScript does it."""
    path, sent = "/couch/bookmarks/_session?one_time=true", {"name": account.name, "password": account.password}
    origin = {"Origin": account.server.url}
    for options in ({"auth": (account.name, account.password)}, {"json": sent}):
        answer = account.server.call("POST", path, headers=origin, **options)
        assert answer.status_code == 200, answer.text
        session = answer.json()
        assert session["userCtx"] == {"name": account.name, "roles": []} and "Set-Cookie" not in answer.headers
        offered = f"BLIP_3+CBMobile_4,SyncGatewaySession_{session['one_time_session_id']}"
        phone = Phone(account.server, protocols=offered, headers=origin).connect()
        assert phone.blip.websocket.fields["sec-websocket-protocol"] == VECTORS
        assert phone.close() == 1000
    # Another app takes it from the cookie, as Sync Gateway's.
    [cookie, *_] = account.server.call("POST", "/couch/bookmarks/_session", json=sent).headers["Set-Cookie"].split(";")
    assert cookie.startswith("SyncGatewaySession=")
    phone = Phone(account.server, headers={"Cookie": cookie})
    assert phone.connect().close() == 1000
    # It is asked about and ended where it was made.
    about = account.server.call("GET", path, headers={"Cookie": cookie}).json()
    assert about["userCtx"] == {"name": account.name, "roles": []} and about["info"]["authenticated"] == "cookie"
    ended = account.server.call("DELETE", path, headers={"Cookie": cookie})
    assert ended.json() == {"ok": True} and "SyncGatewaySession=; Path=/; Max-Age=0" in ended.headers["Set-Cookie"]
    assert account.server.call("GET", path, headers={"Cookie": cookie}).json()["userCtx"]["name"] is None
    with pytest.raises(Refused) as refused:
        phone.connect()
    assert refused.value.status == 401
    assert account.server.call("POST", path).status_code == 400
    assert account.server.call("POST", path, auth=(account.name, "another password")).status_code == 401
    evil = {"Origin": "https://evil.example"}
    assert account.server.call("POST", path, json=sent, headers=evil).status_code == 403


def test_a_page_of_another_origin_opens_no_session_with_the_cookie(account):
    cookie = {"Cookie": "AuthSession=" + account.token}
    with pytest.raises(Refused) as refused:
        Phone(account.server, headers={**cookie, "Origin": "https://evil.example"}).connect()
    assert refused.value.status == 403
    Phone(account.server, headers={**cookie, "Origin": account.server.url}).connect().close()


def test_names_of_databases(shared, account):
    assert another(account, database=account.store).close() == 1000
    guest = shared.guest()
    assert Phone(shared, token=guest).connect().close() == 1000
    other = Account(shared)
    for name in (other.store, "list-" + "0" * 32, "absent", "_users"):
        with pytest.raises(Refused) as refused:
            another(account, database=name)
        assert refused.value.status == 404


# Push and pull.

def test_what_one_phone_pushes_another_pulls(phone, account):
    phone.edit("a", {"n": 1})
    phone.edit("ä/b c", {"nested": {"list": [1, 2.50, "x"]}})
    phone.edit("gone", {})
    assert phone.push(*phone.documents) == {}
    phone.edit("a", {"n": 2})
    phone.edit("gone", {}, deleted=True)
    assert phone.push("a", "gone") == {}
    assert phone.push("a") == {}, "a known revision is not sent again"
    other = another(account)
    other.pull()
    assert other.documents == phone.documents
    fresh = another(account)
    assert fresh.pull(activeOnly="true").keys() == {"a", "ä/b c"}
    stored = database(account).documents()
    assert stored["a"]["n"] == 2 and stored["a"]["_rev"] == phone.documents["a"][0][0]


def test_phones_and_replicators_see_one_history(phone, account):
    couch = database(account)
    couch.graft("word", "2-b 1-a", n=1)
    first = couch.rev("a", n=1)
    phone.pull()
    assert phone.documents["a"][0] == [first]
    revision = phone.documents["word"][0][0]
    assert revision.startswith("2-") and len(revision) == 34, "LiteCore takes only hexadecimal digits"
    for name in ("a", "word"):
        phone.edit(name, {"n": 2})
    assert phone.push("a", "word") == {}
    tree = couch.call("GET", "/word?revs=true").json()
    assert tree["_revisions"]["start"] == 3 and tree["_revisions"]["ids"][1:] == ["b", "a"]
    assert couch.call("GET", "/a?revs=true").json()["_revisions"]["ids"][1] == first.split("-")[1]


def test_continuous_sessions_pass_changes_on(phone, account):
    other = another(account)
    other.subscribe(continuous=True)
    while not other.caught_up:
        other.take()
    for number in range(3):
        phone.edit("a", {"n": number})
        assert phone.push("a") == {}
        while other.live().get("a") != {"n": number}:
            other.take()
    database(account).put("b", n=1)
    while "b" not in other.live():
        other.take()
    assert not other.refused


def test_a_pull_continues_where_it_was(phone, account):
    couch = database(account)
    for number in range(5):
        couch.put(f"d{number}")
    phone.pull()
    since = phone.since
    phone.subscribe()
    phone.take()
    assert phone.caught_up and phone.since == since
    couch.put("new")
    assert phone.pull().keys() == {"new", *(f"d{number}" for number in range(5))}
    # A position of another store, or of another server, is no position here: everything comes again.
    for position in ("7-" + "0" * 16, "2::5", [1, 2], ""):
        fresh = another(account)
        fresh.since = position
        assert len(fresh.pull()) == 6


def test_named_documents_only(phone, account):
    couch = database(account)
    couch.bulk(*({"_id": f"d{number}"} for number in range(20)))
    assert phone.pull(documents=["d3", "d5", "absent"]).keys() == {"d3", "d5"}
    assert phone.blip.call("subChanges", filter="app/mine").error == ("HTTP", 400)


def test_channels_only(phone, account):
    """As with the standard sync function of Sync Gateway: a document names its channels."""
    couch, channels = database(account), {"filter": "sync_gateway/bychannel", "channels": "red,blue"}
    revs = {name: couch.rev(name, **body) for name, body in {
        "red": {"channels": ["green", "red"]}, "blue": {"channels": "blue"}, "leaves": {"channels": ["red"]},
        "gone": {"channels": ["red"]}, "green": {"channels": ["green"]}, "none": {"n": 1}, "odd": {"channels": {"red": 1}},
        "other": {"say": "\"channels\":[\"red\"]"}}.items()}
    # Couchbase Lite 2 asks for no revocations.
    second = another(account, protocols="BLIP_3+CBMobile_2")
    old = {**channels, "revocations": "false"}
    assert phone.pull(**channels).keys() == second.pull(**old).keys() == {"red", "blue", "leaves", "gone"}
    assert another(account).pull(filter="sync_gateway/bychannel", channels="*").keys() == revs.keys()
    couch.put("leaves", _rev=revs["leaves"], channels=["green"])
    couch.call("DELETE", "/gone?rev=" + revs["gone"])
    couch.put("none", _rev=revs["none"], channels=["blue"])
    assert phone.pull(**channels).keys() == {"red", "blue", "none", "gone"} and "gone" not in phone.live()
    assert second.pull(**old).keys() == phone.documents.keys() and second.documents == phone.documents
    # A client that can't forget documents is not told.
    fresh = another(account)
    assert fresh.pull(**channels, revocations="false", activeOnly="true").keys() == {"red", "blue", "none"}
    assert another(account).pull(filter="sync_gateway/bychannel", channels="absent") == {}


def test_two_thousand_documents_both_ways(phone, account):
    names = [f"d{number}" for number in range(2_000)]
    for name in names:
        phone.edit(name, {"name": name, "text": "x" * 100})
    assert phone.push(*names) == {}
    other = another(account)
    assert other.pull() == phone.documents


def test_long_documents_pass_the_window_both_ways(phone, account):
    for name in ("a", "b"):
        phone.edit(name, {"texts": [name * 450_000, "x" * 450_000]})
    phone.blip.compress = False
    numbers = []
    for name in ("a", "b"):
        assert phone.propose(name) == [0]
        numbers.append(phone.send(name))
    assert all(phone.blip.answer(number).error is None for number in numbers)
    assert phone.blip.acknowledgements >= 2 * (900_000 // 65_552 - 2)
    other = another(account)
    other.pull()
    assert other.documents == phone.documents


def test_a_document_that_changes_before_it_is_sent_comes_with_its_next_change(phone, account):
    couch = database(account)
    first = couch.rev("a", n=1)
    phone.subscribe(continuous=True)
    request = phone.blip.request()
    couch.put("a", n=2, _rev=first)
    phone._take_changes(request)
    seen = []
    while phone.live().get("a") != {"n": 2}:
        seen.append(phone.take().properties["Profile"])
    assert "norev" in seen and not phone.rows


# Checkpoints and collections.

def test_checkpoints_are_kept_and_guarded(phone, account):
    client = "cp-ab+/c="
    assert phone.blip.call("getCheckpoint", client=client).error == ("HTTP", 404)
    body = b'{"time":1,"local":12,"localCompleted":[0,5,6,2],"remote":"2::5"}'
    first = phone.blip.call("setCheckpoint", body, client=client, rev="")
    again = phone.blip.call("setCheckpoint", b'{"time":2,"local":13}', client=client, rev="")
    assert first.error is None and again.error == ("HTTP", 409)
    other = another(account)
    known = other.blip.call("getCheckpoint", client=client)
    assert known.body == body and known.properties["rev"] == first.properties["rev"]
    second = other.blip.call("setCheckpoint", b'{"time":2,"local":13}', client=client, rev=first.properties["rev"])
    assert second.error is None and second.properties["rev"] != first.properties["rev"]
    assert phone.blip.call("setCheckpoint", b"[]", client=client, rev="").error == ("HTTP", 400)


def test_only_the_default_collection_exists(phone):
    body = {"collections": ["_default", "inv.items", "_default._default"], "checkpoint_ids": ["cp-a", "cp-b", "cp-c"]}
    phone.blip.call("setCheckpoint", b'{"time":1,"local":1}', client="cp-a", rev="")
    [one, absent, none] = phone.blip.call("getCollections", body).json
    assert one["local"] == 1 and one["rev"] and absent is None and none == {}
    phone.edit("a", {})
    assert phone.push("a", collection="0") == {}
    for unknown in ("1", "9", "x"):
        assert phone.blip.call("proposeChanges", [], collection=unknown).error == ("HTTP", 400)
    phone.subscribe(collection="0")
    request = phone.blip.request()
    assert request.properties["Profile"] == "changes" and request.properties["collection"] == "0"


# Version vectors.

def pull_versions(phone):
    """Pulls everything. Returns the version of each document, its history and its body."""
    phone.since = None
    found = {}
    phone.subscribe(versioning="version-vectors")
    while not (phone.caught_up and not phone.rows):
        request = phone.blip.request()
        if request.properties["Profile"] == "changes":
            phone._take_changes(request)
        else:
            found[request.properties["id"]] = (
                request.properties["rev"], request.properties.get("history"), request.json)
            phone.blip.reply(request)
            phone._done(request.properties["sequence"])
    return found


def test_versions_become_revisions_and_come_back(account):
    maker, other_maker = "dGhlIG1ha2VyIG9mIGl0IQ", "YW5vdGhlciBtYWtlciBvZg"
    couch = database(account)
    tree = couch.rev("tree", n=1)
    one, two = (another(account, protocols=VECTORS) for _ in range(2))

    def push(phone, name, version, history, body, ancestor=None):
        vector = version + (f"; {history}" if history else "")
        verdict = phone.blip.call("proposeChanges", [[name, vector, ancestor or history or ""]], conflictIncludesRev="true").json
        if verdict and verdict[0]:
            return verdict[0]
        properties = {"history": history} if history else {}
        return phone.blip.call("rev", body, id=name, rev=version, noconflicts="true", sequence="1", **properties).error

    assert push(one, "a", f"18ea3cf2a0b40000@{maker}", "", {"n": 1}) is None
    assert push(one, "a", f"18ea3cf2a0b50000@{maker}", "", {"n": 2}, f"18ea3cf2a0b40000@{maker}") is None
    assert push(one, "a", f"18ea3cf2a0b50000@{maker}", "", {"n": 2}) == 304
    found = pull_versions(two)
    assert found["a"] == (f"18ea3cf2a0b50000@{maker}", None, {"n": 2})
    encoded = f"1{tree.split('-')[1][:10]}@Revision+Tree+Encoding"
    assert found["tree"] == (encoded, None, {"n": 1})
    # Each edits what the other has made.
    assert push(two, "a", f"18ea3cf2a0b60000@{other_maker}", f"18ea3cf2a0b50000@{maker}", {"n": 3}) is None
    assert push(two, "tree", f"18ea3cf2a0b60000@{other_maker}", encoded, {"n": 2}) is None
    conflict = push(one, "a", f"18ea3cf2a0b70000@{maker}", "", {"n": "lost"}, f"18ea3cf2a0b50000@{maker}")
    assert conflict == {"status": 409, "rev": f"18ea3cf2a0b60000@{other_maker}"}
    found = pull_versions(one)
    assert found["a"] == (f"18ea3cf2a0b60000@{other_maker}", f"18ea3cf2a0b50000@{maker}", {"n": 3})
    assert found["tree"] == (f"18ea3cf2a0b60000@{other_maker}", encoded, {"n": 2})
    merged = push(one, "a", f"18ea3cf2a0b80000@{maker}", f"18ea3cf2a0b70000@{maker}, 18ea3cf2a0b60000@{other_maker};", {"n": 4})
    assert merged is None
    # A client with trees sees generations of hexadecimal digits, and its children are encoded for the others.
    old = another(account)
    old.pull()
    assert [revision.split("-")[0] for revision in old.documents["a"][0]] == ["4", "3", "2", "1"]
    old.edit("a", {"n": 5})
    assert old.push("a") == {}
    revision, history, body = pull_versions(two)["a"]
    assert revision == f"5{old.documents['a'][0][0][2:12]}@Revision+Tree+Encoding" and body == {"n": 5}
    assert history == f"18ea3cf2a0b80000@{maker}, 18ea3cf2a0b60000@{other_maker}"
    # What devices got from each other is older for the server, too.
    assert push(one, "shared", f"18ea3cf2a0b90000@{maker}", f"18ea3cf2a0b10000@{other_maker}", {"n": 1}) is None
    assert push(two, "shared", f"18ea3cf2a0b10000@{other_maker}", "", {"n": 0}) == 304
    assert pull_versions(two)["shared"] == (
        f"18ea3cf2a0b90000@{maker}", f"18ea3cf2a0b10000@{other_maker}", {"n": 1})
    for version in (f"0@{maker}", "18ea@" + "A" * 22, f"18EA@{maker}"):
        assert two.blip.call("rev", {}, id="bad", rev=version, noconflicts="1", sequence="1").error == ("HTTP", 400)


# Errors.

def test_errors_that_may_pass_are_transient_and_others_not(phone):
    def rev(body, **properties):
        return phone.blip.call("rev", body, **{"id": "a", "rev": "1-" + "a" * 40, "sequence": "1", **properties}).error

    attachments = {"_attachments": {"blob_/pic": {
        "digest": "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "length": 11, "content_type": "text/plain", "stub": True, "revpos": 1}}}
    assert rev(attachments) == ("HTTP", 404), "the client itself does not have it"
    assert rev({"texts": ["x" * 500_000] * 3}) == ("HTTP", 413)
    assert rev(b"{") == ("HTTP", 400) and rev(b"[]") == ("HTTP", 400)
    assert rev({}, rev="1-?") == ("HTTP", 400) and rev({}, id="_bad") == ("HTTP", 400)
    assert rev({"3": ["x"]}, deltaSrc="1-a") == ("HTTP", 422)
    assert phone.blip.call("nonsense").error == ("BLIP", 404)
    assert phone.blip.call("PING").error is None, "as Couchbase Lite for JavaScript asks"
    assert phone.blip.call("unsubChanges").error is None, "as Sync Gateway, also if nothing is sent"
    assert phone.blip.call("changes", [[1, "a", "1-a"]]).error == ("BLIP", 409)
    assert phone.blip.call("getAttachment", digest="sha1-x").error == ("HTTP", 404)
    assert phone.blip.call("proposeChanges", b"{}").error == ("HTTP", 400)
    assert phone.blip.call("proposeChanges", []).json == []
    phone.edit("b", {})
    assert phone.push("b") == {}


def test_no_reply_is_not_answered(phone, account):
    phone.blip.ask("rev", {"n": 1}, no_reply=True, id="a", rev="1-" + "a" * 40, sequence="1")
    phone.blip.ask("nonsense", no_reply=True)
    assert phone.blip.call("getCheckpoint", client="x").error == ("HTTP", 404)
    assert not phone.blip.answers
    assert database(account).call("GET", "/a").json()["n"] == 1


# The transport.
