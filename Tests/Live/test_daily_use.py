"""Forty days of daily use, by the wall clock: whoever comes every day stays logged in."""
import pytest
import requests

from clocks import Clock
from pouch import Pouch

DAY, DAYS = 86_400, 40


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)


@pytest.mark.parametrize("is_user", [True, False])
def test_a_device_that_syncs_every_day_stays_logged_in(start, clock, is_user):
    server = start(environment=clock.environment, under=["env"])
    if is_user:
        made = server.call("POST", "/v1/users", json={"username": "ada", "password": "correct horse"}).json()
        token = made["token"]
    else:
        token = server.guest()
    name = server.call("GET", "/v1/me", token).json()["store"]
    device = Pouch(server, token, name)
    tokens = set()
    for day in range(DAYS):
        clock.step(day * DAY)
        device.put(f"day{day}", n=day)
        device.begin()
        device.push()
        tokens.add(device.token)
    assert len(tokens) == day + 1
    assert server.call("GET", "/v1/me", device.token).json()["usage"]["documents"] >= day + 1


def test_a_browser_that_comes_every_day_stays_logged_in(start, clock):
    server = start(environment=clock.environment, under=["env"])
    page, headers = requests.Session(), {"Origin": server.url}
    body = {"username": "ada", "password": "correct horse", "cookie": True}
    assert server.call("POST", "/v1/users", session=page, headers=headers, json=body).status_code == 201
    for day in range(DAYS):
        clock.step(day * DAY)
        # The cookies are the server's business here: the client's own clock does not move.
        answer = server.call("PUT", f"/v1/bookmarks/day{day}", session=page, headers=headers, json={"name": "it"})
        assert answer.status_code == 201, (day, answer.text)
        assert ("Set-Cookie" in answer.headers) == (day > 0)
        assert "Renewed-Token" not in answer.headers
    # A stolen copy of the session ends with all others.
    stolen = page.cookies["AuthSession"]
    assert server.call("DELETE", "/v1/sessions?all=true", session=page, headers=headers).status_code == 204
    assert server.call("GET", "/v1/me", stolen).status_code == 401
