"""Forged bearer tokens: each gets the same 401 response, whatever is wrong with it.

S01 to S04 and S07 in names are rows of the catalogue of faults."""
import asyncio
import base64
import hashlib
import hmac
import json
import re
import secrets
import time

import pytest
import requests

from async_http import Connection
from backups import run
from couch import Account, Database
from sites import NIGHTLY
from waiting import PATIENCE, wait_until
from test_couch_feeds import open_feed, rows


def part(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def unpack(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


@pytest.fixture(scope="module")
def good(shared):
    """A valid token's three parts."""
    token = shared.guest()
    assert shared.call("GET", "/v1/me", token).status_code == 200
    return token.split(".")


@pytest.fixture
def refused(shared):
    """Sends a token and asserts that it gets the response of all invalid tokens."""
    def normal(answer):
        return re.sub(r'"requestId":"[0-9a-f]+"', "", answer.text)

    usual = shared.call("GET", "/v1/me", "bad")

    def ask(token):
        for path in ("/v1/me", "/v1/bookmarks"):
            answer = shared.call("GET", path, token)
            assert answer.status_code == 401, (token[:80], answer.text)
            assert normal(answer) == normal(usual)
            assert answer.headers["WWW-Authenticate"] == usual.headers["WWW-Authenticate"]
    return ask


@pytest.mark.fault("S01")
@pytest.mark.parametrize("algorithm", [
    "none", "None", "NONE", "nOnE", "", None, "HS384", "HS512", "RS256", "ES256", "PS256", "EdDSA",
    "hs256", "HS256 ", ["HS256"], {"alg": "HS256"}, 256, True])
def test_other_algorithms_are_refused(good, refused, algorithm):
    header = {**unpack(good[0]), "alg": algorithm}
    for signature in (good[2], "", part(b"\0" * 32)):
        refused(f"{part(header)}.{good[1]}.{signature}")


@pytest.mark.fault("S01")
@pytest.mark.parametrize("key", [b"", b"secret", b"\0" * 32, b"hotel-bookmarks"])
def test_signatures_under_guessed_keys_are_refused(good, refused, key):
    signed = f"{good[0]}.{good[1]}"
    signature = hmac.new(key, signed.encode(), hashlib.sha256).digest()
    refused(f"{signed}.{part(signature)}")


@pytest.mark.fault("S01")
def test_other_forms_are_refused(good, refused):
    head, claims, signature = good
    whole = ".".join(good)
    for token in (
            f"{head}.{claims}", f"{head}.{claims}.", f"{head}.{claims}.{signature}.",
            f".{claims}.{signature}", f"{head}..{signature}", f"{whole}.{signature}", "." + whole,
            whole + "=", f"{head}=.{claims}.{signature}", whole + "A", whole[:-1],
            whole.replace(".", ".."), whole.swapcase(), whole + "\u00e9", "..", "...",
            whole[:-1] + ("B" if whole[-1] != "B" else "C"), f"{head}.{claims}.{signature[::-1]}"):
        refused(token.encode("latin-1").decode("latin-1"))


@pytest.mark.fault("S01")
def test_repeated_members_are_refused(good, refused):
    header = json.dumps(unpack(good[0]))
    twice = header[:-1] + ',"alg":"none"}'
    refused(f"{part(twice.encode())}.{good[1]}.{good[2]}")
    claims = json.dumps(unpack(good[1]))
    refused(f"{good[0]}.{part((claims[:-1] + ',' + claims[1:]).encode())}.{good[2]}")


@pytest.mark.fault("S02")
@pytest.mark.parametrize("kid", [
    None, "", "0" * 16, "../../etc/passwd", "/dev/null", "x' OR '1'='1", "1; DROP TABLE keys",
    "a" * 10_240,
    "\0", "%00", "https://evil.example/jwks.json", 0, [], {"kid": 1}],
    ids=lambda kid: str(kid)[:20])
def test_unknown_keys_are_refused(shared, good, refused, kid):
    header = {**unpack(good[0]), "kid": kid}
    token = f"{part(header)}.{good[1]}.{good[2]}"
    if len(token) > 8_192:
        assert shared.call("GET", "/v1/me", token).status_code == 401
    else:
        refused(token)


@pytest.mark.fault("S02")
@pytest.mark.parametrize("name", ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "cty", "p2c"])
def test_headers_that_bring_keys_are_refused(good, refused, name):
    for value in ("https://evil.example/jwks.json", {"kty": "oct", "k": "AA"}, ["b64"], False):
        refused(f"{part({**unpack(good[0]), name: value})}.{good[1]}.{good[2]}")


@pytest.mark.fault("S02")
def test_many_unknown_keys_leave_the_server_as_it_was(shared, good):
    session = requests.Session()
    for number in range(500):
        header = {**unpack(good[0]), "kid": f"{number:016x}"}
        answer = session.get(
            shared.url + "/v1/me", timeout=PATIENCE,
            headers={"Authorization": f"Bearer {part(header)}.{good[1]}.{good[2]}"})
        assert answer.status_code == 401
    assert shared.call("GET", "/v1/me", ".".join(good)).status_code == 200


@pytest.mark.fault("S03")
@pytest.mark.parametrize("changes", [
    {"exp": 1_700_000_000}, {"exp": None}, {"exp": "2999-01-01"}, {"exp": 1e300},
    {"exp": 4102444800.5}, {"exp": 2**63}, {"nbf": 4102444800}, {"iat": 4102444800},
    {"iss": "evil"}, {"iss": None}, {"aud": "evil"}, {"aud": ["hotel-bookmarks"]},
    {"kind": "admin"}, {"kind": "user"}, {"name": "admin"}, {"sub": "0" * 32}, {"epoch": -1}],
    ids=lambda changes: str(changes)[:30])
def test_changed_claims_are_refused(good, refused, changes):
    claims = {**unpack(good[1]), **changes}
    claims = {name: value for name, value in claims.items() if value is not None}
    refused(f"{good[0]}.{part(claims)}.{good[2]}")


def kid(token):
    """The id of the key that signed a token."""
    return unpack(token.split(".")[0])["kid"]


def keep_newest(file):
    """Removes the replaced keys from the key file, as an operator does after a key has leaked."""
    content = json.loads(file.read_text())
    content["keys"] = [key for key in content["keys"] if "until" not in key]
    draft = file.with_suffix(".new")
    draft.touch(0o600)
    draft.write_text(json.dumps(content))
    draft.rename(file)


def rest(lines):
    """The rows of a feed until its end. There is a time limit, which heartbeats do not extend."""
    deadline = time.monotonic() + PATIENCE
    for line in lines:
        assert time.monotonic() < deadline, "the feed does not end"
        if line:
            yield json.loads(line)


@pytest.mark.fault("S04")
@pytest.mark.files
def test_tokens_and_feeds_outlive_a_rotation_and_end_with_their_key(start):
    server = start()
    ada = Account(server)
    old = Database(server, ada.token)
    feed, lines = open_feed(old, "continuous", "since=now&heartbeat=1000")
    with feed:
        run("keys", "rotate", "--data", server.data)
        wait_until(lambda: kid(server.guest()) != kid(ada.token), "the new key is not taken")
        body = {"username": ada.name, "password": ada.password}
        new = Database(server, server.call("POST", "/v1/sessions", json=body).json()["token"])
        assert kid(new.token) != kid(old.token)
        assert old.call_v1("GET", "/v1/me").status_code == 200
        old.rev("overlap")
        assert next(rows(lines))["id"] == "overlap"
        keep_newest(server.data / "keys.json")
        wait_until(lambda: old.call_v1("GET", "/v1/me").status_code == 401, "the old key is still taken")
        assert ["last_seq" in row for row in rest(lines)] == [True]
    assert new.call_v1("GET", "/v1/me").status_code == 200


@pytest.mark.fault("S07")
@pytest.mark.files
def test_guessed_guests_are_refused(shared, good):
    """1,000 tokens that are valid except for their signature, in the nightly run 10,000. With the right signature, each
    would be accepted."""
    claims = unpack(good[1])
    [key] = json.loads((shared.data / "keys.json").read_text())["keys"]

    def unsigned():
        drawn = {**claims, **{name: secrets.token_hex(16) for name in ("sub", "sid", "jti")}}
        return f"{good[0]}.{part(json.dumps(drawn, separators=(',', ':')).encode())}"

    async def guess(count):
        async with Connection(shared.url, "") as connection:
            for _ in range(count):
                token = f"{unsigned()}.{part(secrets.token_bytes(32))}"
                connection.authorization = "Bearer " + token
                status, answer = await connection.call("GET", "/v1/me")
                assert status == 401, answer

    async def everybody():
        await asyncio.gather(*(guess(1_250 if NIGHTLY else 125) for _ in range(8)))

    asyncio.run(everybody())
    assert shared.call("GET", "/v1/me", ".".join(good)).status_code == 200
    token = unsigned()
    signature = hmac.new(bytes.fromhex(key["secret"]), token.encode(), hashlib.sha256).digest()
    assert shared.call("GET", "/v1/me", f"{token}.{part(signature)}").status_code == 200
