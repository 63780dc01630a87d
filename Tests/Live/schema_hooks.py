"""Tells schemathesis what it cannot know about the service: which calls end the caller's own token, and which
values to use instead. schemathesis loads this module (`hooks` in schemathesis.toml)."""
import json
import os
import pathlib
import sys

import requests
import schemathesis
from schemathesis.specs.openapi import checks
# schemathesis loads this file by its path, so its neighbours are not found by themselves.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from waiting import PATIENCE  # noqa: E402

# After five wrong passwords for one name, the server answers 429, as documented. `ignored_auth` tries the same
# name at every operation and accepts only 401 and 403 as refusals.
assert 401 in checks.AUTH_REJECTION_STATUSES
checks.AUTH_REJECTION_STATUSES = {*checks.AUTH_REJECTION_STATUSES, 429}

# A waiting feed would wait for changes that never come.
FEEDS = {"couchGetChanges", "couchPostChanges"}
# Each of these calls ends the caller's token, so each gets its own guest.
ENDING = {"eraseMe", "logOut", "couchLogOut", "liteLogOut", "signUp", "logIn", "couchLogIn", "liteLogIn"}


def _new_guest(url):
    answer = requests.post(url + "/v1/guests", timeout=PATIENCE)
    answer.raise_for_status()
    return answer.json()["token"]


# The server accepts what apps of the travel-sample send, although the contract is stricter. Apps are generated from it.
LENIENT = {"putBookmark", "changeBookmarks"}


def _is_lenient(body):
    """Whether the body is a hotel without an id or with an integer id, or a batch with such hotels or ids."""
    if not isinstance(body, dict):
        return False
    hotels = [body, *(body[name] for name in ("add", "remove") if isinstance(body.get(name), list))]
    flat = [each for hotel in hotels for each in (hotel if isinstance(hotel, list) else [hotel])]
    return any(
        isinstance(each, int) or isinstance(each, dict)
        and ("id" not in each or isinstance(each["id"], int)) for each in flat)


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """Turns any value into an export, which no schema describes."""
    return value if isinstance(value, bytes) else str(value).encode()


@schemathesis.hook
def filter_case(context, case):
    name = case.operation.definition.raw.get("operationId")
    # `sort=distance` needs the parameter `near`. A schema cannot say this.
    if name == "searchHotels" and (case.query or {}).get("sort") == "distance" and "near" not in case.query:
        return False
    # With a name and a password in `Authorization` the body is not read.
    if name == "liteLogIn" and case.meta and case.meta.generation.mode.is_negative:
        return False
    return not (name in LENIENT and case.meta and case.meta.generation.mode.is_negative and _is_lenient(case.body))


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers if case.headers is not None else {}
    sent = kwargs.get("headers") or {}
    own = os.environ["SCHEMA_AUTHORIZATION"]
    given = headers.get("Authorization") or sent.get("Authorization")
    name = case.operation.definition.raw.get("operationId")
    if name in FEEDS and case.query and case.query.get("feed", "normal") != "normal":
        beat = str(case.query.get("heartbeat", "")).lower()
        if beat.isdigit() or beat == "true":
            del case.query["heartbeat"]
        if str(case.query.get("timeout", "0")).isdigit():
            case.query["timeout"] = 1
    if name == "observeChanges" and case.query is not None and str(case.query.get("timeout", "0")).isdigit():
        case.query["timeout"] = 1
    if name in ENDING and given == own:
        token = "Bearer " + _new_guest(os.environ["SCHEMA_URL"])
        for fields in (headers, sent):
            if "Authorization" in fields:
                fields["Authorization"] = token


@schemathesis.hook
def after_call(context, case, response):
    # OpenAPI 3.1 does not know the method COPY. The contract names it `x-copy`.
    item = case.operation.schema.raw_schema["paths"][case.operation.path]
    name = case.operation.definition.raw.get("operationId")
    if "allow" in response.headers and "x-copy" in item:
        allowed = ", ".join(response.headers["allow"])
        assert "COPY, " in allowed
        response.headers["allow"] = [allowed.replace("COPY, ", "")]
    # A continuous feed has one JSON text per line. A media type's schema describes one text.
    if name in FEEDS and response.status_code == 200 and b"}\n{" in response.content:
        lines = [json.loads(line) for line in response.content.splitlines() if line]
        response.content = json.dumps(lines[-1]).encode()
    # Creates the administrator's database again for the calls that follow.
    if name == "couchDeleteDatabase" and response.status_code == 200:
        requests.put(
            f"{os.environ['SCHEMA_URL']}/couch/{os.environ['SCHEMA_DATABASE']}",
            headers={"Authorization": os.environ["SCHEMA_AUTHORIZATION"]}, timeout=PATIENCE)
