"""Forged bearer tokens: each is answered 401 in the same words, whatever is wrong with it.

Names carry the rows of the catalogue of faults (S01, S02, S03)."""
import base64
import hashlib
import hmac
import json
import re

import pytest
import requests


def part(value):
    text = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def unpack(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


@pytest.fixture(scope="module")
def good(shared):
    """A good token's three parts."""
    token = shared.guest()
    assert shared.call("GET", "/v1/me", token).status_code == 200
    return token.split(".")


@pytest.fixture
def refused(shared):
    """Asks with a token; the answer is the one that all bad tokens get."""
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


@pytest.mark.parametrize("algorithm", [
    "none", "None", "NONE", "nOnE", "", None, "HS384", "HS512", "RS256", "ES256", "PS256", "EdDSA",
    "hs256", "HS256 ", ["HS256"], {"alg": "HS256"}, 256, True])
def test_s01_other_algorithms_are_refused(good, refused, algorithm):
    header = {**unpack(good[0]), "alg": algorithm}
    for signature in (good[2], "", part(b"\0" * 32)):
        refused(f"{part(header)}.{good[1]}.{signature}")


@pytest.mark.parametrize("key", [b"", b"secret", b"\0" * 32, b"hotel-bookmarks"])
def test_s01_signatures_under_guessed_keys_are_refused(good, refused, key):
    signed = f"{good[0]}.{good[1]}"
    signature = hmac.new(key, signed.encode(), hashlib.sha256).digest()
    refused(f"{signed}.{part(signature)}")


def test_s01_other_forms_are_refused(good, refused):
    head, claims, signature = good
    whole = ".".join(good)
    for token in (
            f"{head}.{claims}", f"{head}.{claims}.", f"{head}.{claims}.{signature}.",
            f".{claims}.{signature}", f"{head}..{signature}", f"{whole}.{signature}", "." + whole,
            whole + "=", f"{head}=.{claims}.{signature}", whole + "A", whole[:-1],
            whole.replace(".", ".."), whole.swapcase(), whole + "\u00e9", "..", "...",
            whole[:-1] + ("B" if whole[-1] != "B" else "C"), f"{head}.{claims}.{signature[::-1]}"):
        refused(token.encode("latin-1").decode("latin-1"))


def test_s01_repeated_members_are_refused(good, refused):
    header = json.dumps(unpack(good[0]))
    twice = header[:-1] + ',"alg":"none"}'
    refused(f"{part(twice.encode())}.{good[1]}.{good[2]}")
    claims = json.dumps(unpack(good[1]))
    refused(f"{good[0]}.{part((claims[:-1] + ',' + claims[1:]).encode())}.{good[2]}")


@pytest.mark.parametrize("kid", [
    None, "", "0" * 16, "../../etc/passwd", "/dev/null", "x' OR '1'='1", "1; DROP TABLE keys",
    "a" * 10_240,
    "\0", "%00", "https://evil.example/jwks.json", 0, [], {"kid": 1}],
    ids=lambda kid: str(kid)[:20])
def test_s02_unknown_keys_are_refused(shared, good, refused, kid):
    header = {**unpack(good[0]), "kid": kid}
    token = f"{part(header)}.{good[1]}.{good[2]}"
    if len(token) > 8_192:
        assert shared.call("GET", "/v1/me", token).status_code == 401
    else:
        refused(token)


@pytest.mark.parametrize("name", ["jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "cty", "p2c"])
def test_s02_headers_that_bring_keys_are_refused(good, refused, name):
    for value in ("https://evil.example/jwks.json", {"kty": "oct", "k": "AA"}, ["b64"], False):
        refused(f"{part({**unpack(good[0]), name: value})}.{good[1]}.{good[2]}")


def test_s02_many_unknown_keys_leave_the_server_as_it_was(shared, good):
    session = requests.Session()
    for number in range(500):
        header = {**unpack(good[0]), "kid": f"{number:016x}"}
        answer = session.get(
            shared.url + "/v1/me", timeout=60,
            headers={"Authorization": f"Bearer {part(header)}.{good[1]}.{good[2]}"})
        assert answer.status_code == 401
    assert shared.call("GET", "/v1/me", ".".join(good)).status_code == 200


@pytest.mark.parametrize("changes", [
    {"exp": 1_700_000_000}, {"exp": None}, {"exp": "2999-01-01"}, {"exp": 1e300},
    {"exp": 4102444800.5}, {"exp": 2**63}, {"nbf": 4102444800}, {"iat": 4102444800},
    {"iss": "evil"}, {"iss": None}, {"aud": "evil"}, {"aud": ["hotel-bookmarks"]},
    {"kind": "admin"}, {"kind": "user"}, {"name": "admin"}, {"sub": "0" * 32}, {"epoch": -1}],
    ids=lambda changes: str(changes)[:30])
def test_s03_changed_claims_are_refused(good, refused, changes):
    claims = {**unpack(good[1]), **changes}
    claims = {name: value for name, value in claims.items() if value is not None}
    refused(f"{good[0]}.{part(claims)}.{good[2]}")
