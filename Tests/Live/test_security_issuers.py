"""ID tokens of other issuers (OpenID Connect) are only good to get a token of this server.

S01 to S04, S09 and U05 in names are rows of the catalogue of faults."""
import re
import threading
import time
import uuid

import pytest

from issuer import CLIENT, Issuer, part
from slices import first
from waiting import PATIENCE, wait_until
from stub_upstream import answer, drip

HOTEL = {"id": "hotel_1", "name": "Inn"}


@pytest.fixture
def issuer():
    """An issuer with a key of each kind."""
    issuer = Issuer(["RS256", "ES256", "EdDSA"])
    yield issuer
    issuer.close()


@pytest.fixture
def serve(start):
    """Starts servers that trust the issuer."""
    def serve(issuer, *arguments):
        return start("--issuers", f"{issuer.url}#{CLIENT}#{CLIENT}-web", *arguments)
    return serve


def sign_in(server, token, status=200, **options):
    reply = server.call("POST", "/v1/sessions", json={"idToken": token, **options.pop("body", {})}, **options)
    assert reply.status_code == status, reply.text
    return reply


def me(server, token):
    reply = server.call("GET", "/v1/me", token)
    assert reply.status_code == 200, reply.text
    return reply.json()


def bookmark(server, token):
    assert server.call("PUT", "/v1/bookmarks/hotel_1", token, json=HOTEL).status_code == 201


def bookmarks(server, token):
    return [row["id"] for row in server.call("GET", "/v1/bookmarks", token).json()["bookmarks"]]


def words(reply):
    return re.sub(r'"requestId":"[^"]*"', "", reply.text), reply.headers["WWW-Authenticate"]


def test_signing_in_lasts_beyond_a_restart(issuer, serve):
    server = serve(issuer)
    for kid in issuer.keys:
        session = sign_in(server, issuer.token(kid, kid=kid)).json()
        assert me(server, session["token"])["id"] == session["id"]
    token = issuer.token()
    session = sign_in(server, token).json()
    assert re.fullmatch("oidc:[0-9a-f]{64}", session["username"])
    bookmark(server, session["token"])
    # An ID token gives no access by itself, and is good for one session.
    assert server.call("GET", "/v1/me", token).status_code == 401
    sign_in(server, token, 401)
    assert server.stop() == 0

    server = serve(issuer)
    assert bookmarks(server, session["token"]) == ["hotel_1"]
    sign_in(server, token, 401)
    again = sign_in(server, issuer.token()).json()
    assert again["id"] == session["id"]
    assert bookmarks(server, again["token"]) == ["hotel_1"]
    assert server.call("DELETE", "/v1/sessions", again["token"]).status_code == 204
    assert server.call("GET", "/v1/me", again["token"]).status_code == 401
    assert me(server, session["token"])["id"] == session["id"]


@pytest.mark.parametrize("in_body", [False, True])
def test_guest_goes_into_the_account_once(issuer, serve, in_body):
    server = serve(issuer)
    guest = server.guest()
    bookmark(server, guest)
    proof = {"body": {"guestToken": guest}} if in_body else {"token_of": guest}
    bearer = proof.pop("token_of", None)
    headers = {"Authorization": "Bearer " + bearer} if bearer else {}
    # A guest's token without a valid ID token is not enough.
    sign_in(server, issuer.token(aud="other"), 401, headers=headers, **proof)
    session = sign_in(server, issuer.token(), headers=headers, **proof).json()
    assert bookmarks(server, session["token"]) == ["hotel_1"]
    assert server.call("GET", "/v1/me", guest).status_code == 410
    sign_in(server, issuer.token("another"), 410, headers=headers, **proof)
    assert bookmarks(server, sign_in(server, issuer.token("another")).json()["token"]) == []


@pytest.mark.fault("S09")
def test_account_made_in_a_victims_name_stays_anothers(issuer, serve):
    server = serve(issuer)
    hijacked = []
    for name in ("victim@example.com", "victim", "somebody"):
        reply = server.call("POST", "/v1/users", json={"username": name, "password": "a good password"})
        assert reply.status_code == 201
        hijacked.append(reply.json()["id"])
    session = sign_in(server, issuer.token()).json()
    assert session["id"] not in hijacked
    bookmark(server, session["token"])
    for name in (session["username"], "victim@example.com"):
        user = {"username": name, "password": "a good password"}
        made = server.call("POST", "/v1/users", json=user)
        assert made.status_code == (400 if name.startswith("oidc:") else 409)
        reply = server.call("POST", "/v1/sessions", json=user)
        assert reply.status_code == (401 if name.startswith("oidc:") else 200)
        if reply.status_code == 200:
            assert bookmarks(server, reply.json()["token"]) == []


def test_erased_account_comes_back_empty(issuer, serve):
    server = serve(issuer)
    token = issuer.token()
    first = sign_in(server, token).json()
    bookmark(server, first["token"])
    assert server.call("DELETE", "/v1/me", first["token"]).status_code == 204
    assert server.call("GET", "/v1/me", first["token"]).status_code == 401
    sign_in(server, token, 401)
    second = sign_in(server, issuer.token()).json()
    assert second["id"] != first["id"]
    assert bookmarks(server, second["token"]) == []


@pytest.mark.fault("S01")
@pytest.mark.fault("S03")
def test_every_bad_token_gets_the_same_answer(issuer, serve):
    server = serve(issuer)
    sign_in(server, issuer.token())
    now, stranger = int(time.time()), Issuer(["RS256", "ES256"])
    good = issuer.token().split(".")
    claims = part(issuer.claims())
    unsigned = [part({"alg": name, "kid": "ES256"}) + f".{claims}." for name in ("none", "None", "")]
    bad = [
        issuer.token(aud="other"), issuer.token(aud=[CLIENT, "other"], azp=CLIENT), issuer.token(azp="other"),
        issuer.token(aud=[CLIENT, CLIENT + "-web"]), issuer.token(iss=issuer.url + "/"),
        issuer.token(iss="https://accounts.example"), issuer.token(exp=now - 120, iat=now - 300),
        issuer.token(iat=now + 300, exp=now + 600), issuer.token(nbf=now + 300), issuer.token(exp=None),
        issuer.token(iat=now - 7_200), issuer.token(exp=now + 100_000), issuer.token(sub=""),
        issuer.token(exp=now + 300.5), issuer.token(named="unknown"), issuer.token(named="ES256"),
        issuer.token(named="../../etc/passwd"), issuer.token(named="x' OR '1'='1"),
        issuer.token(headers={"jku": stranger.url + "/keys"}), issuer.token(headers={"crit": ["exp"]}),
        issuer.token(headers={"jwk": stranger.public()["keys"][0]}), issuer.token(headers={"typ": "at+jwt"}),
        *[issuer.confused(kid) for kid in issuer.keys],
        *[issuer.confused(kid, algorithm=algorithm) for kid in issuer.keys for algorithm in ("RS256", "none")],
        stranger.token(), stranger.token(iss=issuer.url), stranger.token(kid="RS256", iss=issuer.url),
        *unsigned, ".".join([*good[:2], ""]), ".".join([*good, "x"]), ".".join([*good[:2], good[2][::-1]]),
        "", "x", "..", "\0", server.guest(), "x" * 9_000,
    ]
    usual = words(server.call("GET", "/v1/me", "bad"))
    for number, token in enumerate(bad):
        reply = server.call("POST", "/v1/sessions", json={"idToken": token})
        # Wrong signatures for one subject count as guesses, which are limited.
        if reply.status_code == 429:
            time.sleep(int(reply.headers["Retry-After"]))
            reply = server.call("POST", "/v1/sessions", json={"idToken": token})
        assert reply.status_code == 401, (number, reply.text)
        assert words(reply) == usual
    assert not stranger.site.calls
    stranger.close()
    wait_until(lambda: server.call(
        "POST", "/v1/sessions", json={"idToken": issuer.token()}).status_code == 200)


@pytest.mark.parametrize("body", [
    {"idToken": 7}, {"idToken": None}, {"idToken": "x", "username": "a"}, {"idToken": "x", "guestToken": 7}])
def test_body_that_is_none_is_told_so(shared, body):
    assert shared.call("POST", "/v1/sessions", json=body).status_code == 400


def test_server_without_issuers_trusts_nobody(shared, issuer):
    sign_in(shared, issuer.token(), 401)
    assert not issuer.site.calls


@pytest.mark.fault("S02")
def test_flood_of_key_names_is_one_request_in_thirty_seconds(issuer, serve):
    server = serve(issuer)
    sign_in(server, issuer.token())
    began, stop = time.monotonic(), threading.Event()
    found = []

    def flood(number):
        while not stop.is_set() and time.monotonic() - began < 20:
            reply = server.call("POST", "/v1/sessions", json={
                "idToken": issuer.token(f"flood-{number}", named=uuid.uuid4().hex)})
            found.append(reply.status_code)

    threads = [threading.Thread(target=flood, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(found) >= 200 or not any(thread.is_alive() for thread in threads))
    stop.set()
    for thread in threads:
        thread.join()
    # 429: the limit of log-ins from one address.
    assert set(found) <= {401, 429} and 401 in found
    attempts = 2 + (time.monotonic() - began) // 30
    assert issuer.asked() <= attempts
    assert issuer.asked("/realm/.well-known/openid-configuration") <= attempts


@pytest.mark.fault("S04")
def test_rotated_keys_are_found_and_old_ones_end(issuer, serve):
    server = serve(issuer)
    sign_in(server, issuer.token(kid="ES256"))
    issuer.add("ES256", "next")
    old = issuer.keys.pop("ES256")
    began = time.monotonic()
    # One attempt per second, so that the limit of log-ins from one address is not reached.
    wait_until(lambda: time.sleep(1) or server.call("POST", "/v1/sessions", json={
        "idToken": issuer.token(kid="next")}).status_code == 200, seconds=3 * PATIENCE)
    assert issuer.asked() <= 2 + (time.monotonic() - began) // 30
    issuer.keys["ES256"] = old
    sign_in(server, issuer.token(kid="ES256"), 401)


def test_issuer_that_is_down_keeps_nobody_out_whose_keys_are_known(issuer, serve):
    server = serve(issuer)
    sign_in(server, issuer.token())
    issuer.close()
    sign_in(server, issuer.token("newcomer"))
    assert server.stop() == 0
    server = serve(issuer)
    reply = sign_in(server, issuer.token(), 503)
    assert reply.json()["error"] == "issuer_unavailable" and int(reply.headers["Retry-After"]) > 0
    user = {"username": "demo", "password": "a good password"}
    assert server.call("POST", "/v1/users", json=user).status_code == 201
    assert server.call("POST", "/v1/sessions", json=user).status_code == 200
    server.logged("an issuer's keys can't be fetched")


def padded(issuer, size):
    return answer({**issuer.public(), "padding": "x" * size})


HOSTILE = {
    "huge": lambda issuer: padded(issuer, 1 << 20),
    "endless": lambda issuer: [b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 65_536] * 2_000],
    "slow": lambda issuer: drip(answer(issuer.public()), 2 * PATIENCE),
    "silent": lambda issuer: drip(b"HT", 2 * PATIENCE),
    "redirect": lambda issuer: answer(b"", 302, Location=issuer.url + "/elsewhere"),
    "no JSON": lambda issuer: answer(b"<html>", kind="text/html"),
    "JSON by another name": lambda issuer: answer(issuer.public(), kind="text/html"),
    "failure": lambda issuer: answer(issuer.public(), 500),
    "packed": lambda issuer: answer(issuer.public(), Content_Encoding="gzip"),
    "repeated": lambda issuer: answer(b'{"keys":[],"keys":[]}'),
    "deep": lambda issuer: answer(b"[" * 100_000),
    "no HTTP": lambda issuer: b"\0" * 1_000,
    "nothing": lambda issuer: b"",
}


@pytest.mark.fault("U04")
@pytest.mark.parametrize("kind", first(4, HOSTILE))
def test_answers_that_are_no_key_set_let_nobody_in(issuer, serve, kind):
    server = serve(issuer)
    issuer.key_set = lambda: HOSTILE[kind](issuer)
    reply = sign_in(server, issuer.token(), 503)
    assert reply.json()["error"] == "issuer_unavailable"
    assert issuer.asked("/realm/elsewhere") == 0
    # The next request does not wait again.
    sign_in(server, issuer.token(), 503)
    assert issuer.asked() == 1
    assert server.call("GET", "/healthz").status_code == 200


@pytest.mark.fault("U05")
@pytest.mark.parametrize("document", first(4, [
    {"issuer": "{url}/", "jwks_uri": "{url}/keys"}, {"jwks_uri": "{url}/keys"}, {"issuer": "{url}"},
    {"issuer": "{url}", "jwks_uri": "file:///etc/passwd"},
    {"issuer": "{url}", "jwks_uri": "http://169.254.169.254/latest"},
    {"issuer": "{url}", "jwks_uri": "https://169.254.169.254/latest"},
    {"issuer": "{url}", "jwks_uri": "https://127.0.0.1:{port}/realm/keys"},
    {"issuer": "{url}", "jwks_uri": "https://localhost:{port}/realm/keys"},
    {"issuer": "{url}", "jwks_uri": "http://user@127.0.0.1:{port}/realm/keys"},
    {"issuer": "{url}", "jwks_uri": 7}]))
def test_discovery_leads_nowhere_else(issuer, serve, document):
    server = serve(issuer)
    issuer.discovery = answer({
        name: value.format(url=issuer.url, port=issuer.site.port) if isinstance(value, str) else value
        for name, value in document.items()})
    sign_in(server, issuer.token(), 503)
    assert issuer.asked() == 0


def test_key_set_may_be_named(issuer, start):
    issuer.discovery = answer({}, 404)
    server = start("--issuers", f"{issuer.url}#{CLIENT}", "--issuer-keys", f"{issuer.url}#{issuer.url}/keys")
    sign_in(server, issuer.token())
    assert issuer.asked("/realm/.well-known/openid-configuration") == 0


def name_oneself(server, token, name, status=204):
    reply = server.call("PATCH", "/v1/me", token, json={"displayName": name})
    assert reply.status_code == status, reply.text
    return reply


def test_others_see_the_display_name_until_its_user_is_erased(issuer, serve):
    """Everywhere at once, beside the user name, which tells apart two people of one name."""
    server = serve(issuer)
    owner, twin = (sign_in(server, issuer.token(subject)).json() for subject in ("owner", "twin"))
    user = {"username": "Ann", "password": "a good password"}
    assert server.call("POST", "/v1/users", json=user).status_code == 201
    ann = server.call("POST", "/v1/sessions", json=user).json()["token"]

    def members(reader):
        reply = server.call("GET", place, reader)
        shown = {member["username"]: member.get("displayName") for member in reply.json()["members"]}
        tag = {"If-None-Match": reply.headers["ETag"]}
        assert server.call("GET", place, reader, headers=tag).status_code == 304
        assert server.call("GET", "/v1/lists", reader).json()["lists"][0]["members"] == reply.json()["members"]
        return shown, tag

    name_oneself(server, owner["token"], "  Ann ")
    assert me(server, owner["token"])["displayName"] == "Ann" and "displayName" not in me(server, twin["token"])
    made = server.call("POST", "/v1/lists", owner["token"], json={"title": "Rome"})
    assert [member["displayName"] for member in made.json()["members"]] == ["Ann"]
    place = f"/v1/lists/{made.json()['id']}"
    for name, token in (("Ann", ann), (twin["username"], twin["token"])):
        assert server.call(
            "PUT", f"{place}/members/{name}", owner["token"], json={"role": "editor"}).status_code == 202
        received = server.call("GET", "/v1/invitations", token).json()["invitations"][0]
        assert (received["inviter"], received["inviterDisplayName"]) == (owner["username"], "Ann")
        assert server.call("POST", f"/v1/invitations/{received['id']}/accept", token).status_code == 200
    shown, tag = members(ann)
    assert shown == {owner["username"]: "Ann", "Ann": None, twin["username"]: None}

    name_oneself(server, twin["token"], "Ann")
    assert server.call("GET", place, ann, headers=tag).status_code == 200
    assert members(ann)[0] == {owner["username"]: "Ann", "Ann": None, twin["username"]: "Ann"}
    note = server.call("PUT", f"{place}/notes/plan", twin["token"], json={"markdown": "x"})
    assert note.status_code == 201, note.text
    history = server.call("GET", f"{place}/documents/{made.json()['id']}:plan/revisions", ann).json()
    assert history["revisions"][0]["by"] == {"kind": "user", "name": twin["username"], "displayName": "Ann"}
    export = server.call("GET", "/v1/me/export", twin["token"])
    assert '"displayName":"Ann"' in export.text.splitlines()[0]
    blocked = server.call("POST", "/v1/lists", twin["token"], json={"title": "Oslo"}).json()["id"]
    assert server.call(
        "PUT", f"/v1/lists/{blocked}/members/Ann", twin["token"], json={"role": "reader"}).status_code == 202
    received = server.call("GET", "/v1/invitations", ann).json()["invitations"][0]
    assert server.call("POST", f"/v1/invitations/{received['id']}/block", ann).status_code == 204
    expected = [{"username": twin["username"], "displayName": "Ann"}]
    assert server.call("GET", "/v1/blocked", ann).json()["blocked"] == expected

    name_oneself(server, owner["token"], "Zoë-Unheard-Of")
    assert server.stop() == 0
    server = serve(issuer)
    assert members(ann)[0][owner["username"]] == "Zoë-Unheard-Of"
    name_oneself(server, twin["token"], None)
    assert members(ann)[0][twin["username"]] is None
    assert server.call("DELETE", "/v1/me?lists=handOn", owner["token"]).status_code == 204
    assert owner["username"] not in members(ann)[0]
    again = sign_in(server, issuer.token("owner")).json()
    assert again["username"] == owner["username"] and "displayName" not in me(server, again["token"])
    assert server.stop() == 0
    assert not [path for path in server.data.rglob("*")
                if path.is_file() and "Unheard-Of".encode() in path.read_bytes()]


@pytest.mark.parametrize("name", ["", "  ", "x" * 65, "é" * 33, "a\nb", "a\u0000", "a\u202eb"])
def test_display_name_that_is_none_is_refused(issuer, serve, name):
    server = serve(issuer)
    token = sign_in(server, issuer.token()).json()["token"]
    name_oneself(server, token, "Ann")
    reply = name_oneself(server, token, name, 400)
    assert reply.json()["error"] == "invalid_username" and "display name" in reply.json()["reason"]
    assert me(server, token)["displayName"] == "Ann"
