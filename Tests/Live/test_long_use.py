"""Devices that sync with PouchDB's or RxDB's requests through what happens in months of use: renewed tokens, another
password, a session that ends, a guest who signs up, and a proxy with its shortest configuration.
"""
import uuid

import pytest

from clocks import Clock
from couch import PASSWORD, Account
from pouch import Pouch, Stopped
from proxies import Nginx
from rxdb import Rx
from slices import first

DAY = 86_400
OTHER = "another good password"


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path)


def device(kind, server, token, url=None):
    """A device with a new local database, which syncs with the own store of whoever the token is for."""
    name = server.call("GET", "/v1/me", token).json()["store"]
    if kind == "pouchdb":
        made = Pouch(server, token, name)
        made.aim(url or server.url, name)
        return made
    return Rx(url or server.url, token, name)


def person(kind, server):
    return server.guest() if kind == "guest" else Account(server).token


def stored(server, token):
    """The ids of the documents in a person's own store."""
    name = server.call("GET", "/v1/me", token).json()["store"]
    return {row["id"] for row in server.call("GET", f"/couch/{name}/_all_docs", token).json()["rows"]}


@pytest.mark.files
@pytest.mark.parametrize("client, kind", first(2, [
    ("pouchdb", "guest"), ("rxdb", "user"), ("pouchdb", "user"), ("rxdb", "guest")]))
def test_who_syncs_every_day_is_never_asked_to_log_in(start, clock, client, kind):
    """Forty days. A user's first token ends after 14 of them."""
    server = start(environment=clock.environment, under=["env"])
    first = person(kind, server)
    phone = device(client, server, first)
    for day in range(41):
        clock.step(day * DAY)
        phone.put(f"day{day}", n=day)
        phone.sync()
    assert phone.token != first
    assert stored(server, phone.token) == {f"day{day}" for day in range(41)} == set(phone.documents())
    # A device that kept the first token is out, and is told so.
    if kind == "user":
        forgetful = device(client, server, phone.token)
        forgetful.token = first
        with pytest.raises(Stopped) as stopped:
            forgetful.sync()
        assert stopped.value.args == (401, "unauthorized")


@pytest.mark.parametrize("client", ["pouchdb", "rxdb"])
@pytest.mark.parametrize("how", ["password", "session"])
def test_device_whose_session_ended_goes_on_after_a_new_log_in(shared, client, how):
    account = Account(shared)
    phone = device(client, shared, account.token)
    phone.put("before", n=1)
    phone.sync()
    elsewhere = shared.call("POST", "/v1/sessions", json={"username": account.name, "password": PASSWORD}).json()["token"]
    if how == "password":
        answer = shared.call("PUT", "/v1/me/password", elsewhere, json={
            "currentPassword": PASSWORD, "password": OTHER})
        assert answer.status_code == 204, answer.text
        elsewhere = answer.headers["Renewed-Token"]
    else:
        assert shared.call("DELETE", "/v1/sessions", account.token).status_code == 204
    phone.put("meanwhile", n=2)
    with pytest.raises(Stopped) as stopped:
        phone.sync()
    assert stopped.value.args == (401, "unauthorized")
    tablet = device(client, shared, elsewhere)
    tablet.put("elsewhere", n=3)
    tablet.sync()
    answer = shared.call("POST", "/v1/sessions", json={
        "username": account.name, "password": OTHER if how == "password" else PASSWORD})
    phone.token = answer.json()["token"]
    phone.sync()
    tablet.sync()
    everything = {"before", "meanwhile", "elsewhere"}
    assert stored(shared, phone.token) == set(phone.documents()) == set(tablet.documents()) == everything


@pytest.mark.parametrize("client", ["pouchdb", "rxdb"])
@pytest.mark.parametrize("way", ["sign-up", "log-in"])
def test_guests_device_goes_on_with_its_position_in_the_account(shared, client, way):
    """The app keeps the local database and its position, and only aims it at the account's store."""
    guest = shared.guest()
    phone = device(client, shared, guest)
    for number in range(7):
        phone.put(f"g{number}", n=number)
    phone.sync()
    if way == "sign-up":
        account = None
        body = {"username": "guest-" + uuid.uuid4().hex, "password": PASSWORD}
        answer = shared.call("POST", "/v1/users", guest, json=body)
        assert answer.status_code == 201, answer.text
        token = answer.json()["token"]
    else:
        account = Account(shared)
        other = device(client, shared, account.token)
        other.put("own", n=0)
        other.sync()
        token = shared.call("POST", "/v1/sessions", json={
            "username": account.name, "password": PASSWORD, "guestToken": guest}).json()["token"]
    name = shared.call("GET", "/v1/me", token).json()["store"]
    phone.aim(shared.url, name)
    phone.token = token
    phone.put("after", n=9)
    phone.sync()
    wanted = {f"g{number}" for number in range(7)} | {"after"} | ({"own"} if account else set())
    assert wanted <= stored(shared, token)
    assert wanted <= set(phone.documents())


@pytest.mark.parametrize("client", ["pouchdb", "rxdb"])
def test_devices_sync_through_nginx_with_its_shortest_configuration(shared, client, tmp_path):
    account = Account(shared)
    with Nginx(tmp_path / "nginx", shared.url) as proxy:
        phone, tablet = (device(client, shared, account.token, proxy.url) for _ in range(2))
        for number in range(250):
            phone.put(f"d/{number}", n=number, text="ü" * 500)
        phone.sync()
        tablet.sync()
        phone.sync()
        assert set(tablet.documents()) == set(phone.documents()) == {f"d/{number}" for number in range(250)}
