"""Feeds and sync through nginx: with its shortest configuration, which buffers answers, and with the one in `Deploy`."""
import contextlib
import json
import socket
import threading
import types

import pytest
import requests

from certificates import server_context
from couch import PASSWORD, Account
from phone import Phone
from pouch import Pouch
from proxies import Nginx, deployed
from waiting import PATIENCE, wait_until

FEEDS = {
    "continuous": "/couch/{store}/_changes?feed=continuous&since=now&heartbeat=20000",
    "continuous without a heartbeat": "/couch/{store}/_changes?feed=continuous&since=now",
    "eventsource": "/couch/{store}/_changes?feed=eventsource&since=now&heartbeat=20000",
    "observer": "/v1/changes?since=now",
}


@pytest.fixture
def shortest(shared, tmp_path):
    with Nginx(tmp_path / "nginx", shared.url) as proxy:
        yield proxy


@pytest.mark.parametrize("feed", FEEDS)
def test_each_change_arrives_at_once_through_nginx(shared, shortest, feed):
    """nginx keeps an answer until its buffer is full or the answer ends, unless the answer forbids it."""
    account = Account(shared)
    arrived = []

    def listen():
        path = FEEDS[feed].format(store=account.store)
        with requests.get(shortest.url + path, stream=True, timeout=PATIENCE,
                          headers={"Authorization": "Bearer " + account.token}) as answer:
            assert answer.status_code == 200, answer.text
            # The stream breaks off when nginx ends, after the test.
            with contextlib.suppress(requests.RequestException):
                for line in answer.iter_lines(chunk_size=1):
                    arrived.append(line.decode())

    threading.Thread(target=listen, daemon=True).start()
    for number in range(3):
        name = f"d{number}"

        def write():
            """The feed may open after the first write, so each further write is a new change."""
            shared.call("POST", f"/couch/{account.store}/_bulk_docs", account.token, json={"docs": [{
                "_id": name, "_rev": f"{len(revs) + 1}-{len(revs):032x}",
                "_revisions": {"start": len(revs) + 1, "ids": [f"{each:032x}" for each in range(len(revs), -1, -1)]}}],
                "new_edits": False})
            revs.append(name)
            return any(name in line for line in arrived)

        revs = []
        wait_until(write, f"{name} does not arrive: {arrived}")


def test_longpoll_is_answered_by_the_next_change_through_nginx(shared, shortest):
    account = Account(shared)
    device, other = (Pouch(shared, account.token, account.store) for _ in range(2))
    device.aim(shortest.url, account.store)
    device.sync()
    device.live()
    other.put("news", n=1)
    other.sync()
    wait_until(lambda: "news" in device.documents(), "the change does not arrive")
    assert device.ended is None
    device.ended = "done"


def test_pouchdb_phones_and_the_page_work_through_the_deployed_configuration(start, tmp_path):
    """Over TLS, with 4 MB in one request, a target of 12 KB and a WebSocket, all of which nginx alone refuses."""
    server_context(tmp_path)
    with_proxy = deployed(tmp_path / "certificate.pem", tmp_path / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = start("--trusted-proxies", "127.0.0.1", "--public-url", "https://bookmarks.example", "--port", str(port))
    assert server.url == "https://bookmarks.example"
    server.url = f"http://127.0.0.1:{port}"
    with Nginx(tmp_path / "nginx", server.url, with_proxy) as proxy:
        url = f"https://127.0.0.1:{proxy.port}"

        def call(method, path, **options):
            return requests.request(method, url + path, verify=False, timeout=PATIENCE, **options)

        made = call("POST", "/v1/users", json={"username": "ada", "password": PASSWORD})
        token = made.json()["token"]
        headers = {"Authorization": "Bearer " + token}
        me = call("GET", "/v1/me", headers=headers).json()
        assert me["couch"].startswith("https://bookmarks.example/couch/")
        docs = [{"_id": f"d{number}", "text": "x" * 40_000} for number in range(100)]
        stored = call("POST", f"/couch/{me['store']}/_bulk_docs", json={"docs": docs}, headers=headers)
        assert [row.get("ok") for row in stored.json()] == [True] * 100, stored.text[:300]
        back = call("POST", f"/couch/{me['store']}/_bulk_get", headers=headers, json={
            "docs": [{"id": each["_id"]} for each in docs]}).json()
        assert [row["docs"][0]["ok"]["text"] for row in back["results"]] == [each["text"] for each in docs]
        # The page writes with a cookie. nginx passes the Host on, and its origin is the public one.
        session = call("POST", "/v1/sessions", json={"username": "ada", "password": PASSWORD, "cookie": True},
                       headers={"Origin": "https://bookmarks.example"})
        assert session.status_code == 200, session.text
        long = call("GET", f"/couch/{me['store']}/_all_docs", headers=headers, params={
            "keys": json.dumps([each["_id"] for each in docs] * 8)})
        assert long.status_code == 200 and len(long.json()["rows"]) == 800, long.text[:300]
        phone = Phone(types.SimpleNamespace(url=url), token=token).connect()
        phone.edit("of-a-phone", {"n": 1})
        phone.push("of-a-phone")
        phone.close()
        assert call("GET", f"/couch/{me['store']}/of-a-phone", headers=headers).json()["n"] == 1
        put = call("PUT", "/v1/bookmarks/h1", data=json.dumps({"name": "The Ritz"}), cookies=session.cookies.get_dict(),
                   headers={"Origin": "https://bookmarks.example", "Content-Type": "application/json"})
        assert put.status_code == 201, put.text
