"""Reads whose connections to the database are lost have the same bytes as without, or don't look complete."""
import os
import shutil
import threading
import time

import pytest
import requests

import postgres
from cluster import Cluster
from cluster.parts import wait_until as wait_for_part
from conftest import NIGHTLY
from couch import Account
from reads import Readers, fill, undisturbed
from server import BINARY, Server
from waiting import wait_until

READS = int(os.environ.get("BOOKMARKS_READS") or (10_000 if NIGHTLY else 190))
"""How many answers are compared."""
NEEDED = ("patroni", "etcd", "haproxy", "psql")
REJOINING = 120
"""Seconds within which a member of a cluster takes part again on a busy machine."""
ENDED = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'hotel-bookmarks'"


@pytest.mark.skipif(postgres.programs() is None, reason="Scripts/setup --tests installs PostgreSQL")
@pytest.mark.fault("P14")
def test_every_read_has_the_same_bytes_while_sessions_are_ended(tmp_path):
    database = postgres.Postgres()
    url = postgres.schema(database.url, tmp_path)
    servers = []
    try:
        for number in range(2):
            servers.append(Server(tmp_path / f"node{number}", "--database", url))
        account = Account(servers[0])
        kinds = undisturbed(fill(servers[0], account), servers[0].url, account.token)
        readers = Readers([server.url for server in servers], account.token, kinds, READS // len(kinds))
        ended = 0
        while not readers.have_enough or ended < 100:
            time.sleep(0.3)
            ended += int(postgres.sql(url, ENDED))
        readers.stop()
        print(f"{ended} sessions ended, {readers.told()}")
        assert readers.wrong == []
    finally:
        for server in servers:
            server.stop()
        database.close()


@pytest.fixture(scope="module")
def cluster():
    """On loopback; outside of pytest's directories, where PostgreSQL's user has no way."""
    if not all(map(shutil.which, NEEDED)):
        pytest.skip("Scripts/setup --cluster installs what this needs")
    with Cluster(f"/tmp/hotel-bookmarks-reads-{os.getpid()}", binary=shutil.which(BINARY) or BINARY,
                 nodes=2) as cluster:
        yield cluster


def whole(cluster):
    """Waits until there are a primary and a synchronous standby, and the nodes are ready."""
    wait_for_part(lambda: sorted(member.role() for member in cluster.members) == ["primary", "standby"],
                  "no primary and standby", REJOINING)
    for node in cluster.nodes:
        wait_for_part(node.ready, f"{node.name} is not ready", REJOINING)


class Device(threading.Thread):
    """A copy of a person's bookmarks that asks for what it lacks at one node after the other, while the person
    bookmarks hotels."""

    def __init__(self, nodes, token):
        super().__init__(daemon=True)
        self.nodes, self.headers = nodes, {"Authorization": "Bearer " + token}
        self.stop = threading.Event()
        self.token, self.hotels, self.tokens, self.refused = None, {}, 0, []

    def run(self):
        number = 0
        while not self.stop.is_set() or not self.update(self.nodes[0]):
            number += 1
            node = self.nodes[number % len(self.nodes)]
            try:
                requests.put(f"{node.url}/v1/bookmarks/new_{number:05}", headers=self.headers, timeout=60,
                             json={"name": f"New {number}"})
            except requests.RequestException:
                pass
            self.update(node)

    def update(self, node):
        """Reads one page. Returns whether the copy is whole then."""
        try:
            answer = requests.get(node.url + "/v1/mirror", headers=self.headers, timeout=60,
                                  params={"since": self.token} if self.token else {})
        except requests.RequestException:
            return False
        if answer.status_code != 200:
            if answer.status_code == 410:
                self.refused.append(self.token)
                self.token, self.hotels = None, {}
            return False
        page = answer.json()
        if page["reset"]:
            self.hotels = {}
        self.hotels.update({hotel["id"]: hotel["rev"] for hotel in page["hotels"]})
        for gone in page["removed"]:
            self.hotels.pop(gone["id"], None)
        self.tokens += self.token != page["token"]
        self.token = page["token"]
        return not page["more"]


@pytest.mark.nightly
@pytest.mark.parametrize("fault", ["crash", "switchover"])
def test_every_read_has_the_same_bytes_while_the_primary_changes(cluster, fault):
    """The standby is synchronous, so nothing is lost, and no token of a copy is refused."""
    whole(cluster)
    account = Account(Remote(cluster.nodes[0].url))
    kinds = undisturbed(fill(account.server, account), account.server.url, account.token)
    person = Account(account.server)
    fill(person.server, person)
    devices = [Device(cluster.nodes, person.token) for _ in range(3)]
    readers = Readers([node.url for node in cluster.nodes], account.token, kinds, READS // (5 * len(kinds)))
    for device in devices:
        device.start()
    changes = 0
    while not readers.have_enough or changes < 3:
        whole(cluster)
        time.sleep(2)
        cluster.crash("primary") if fault == "crash" else cluster.switchover()
        changes += 1
        time.sleep(6)
    whole(cluster)
    readers.stop()
    for device in devices:
        device.stop.set()
    for device in devices:
        device.join(timeout=120)
    print(f"{changes} primaries, {readers.told()}, tokens: {[device.tokens for device in devices]}")
    assert readers.wrong == []
    assert [device.refused for device in devices] == [[], [], []]
    stored = Device(cluster.nodes, person.token)
    # The last device to stop may have bookmarked a hotel after the others had read their last page.
    for device in (*devices, stored):
        wait_until(lambda device=device: device.update(cluster.nodes[0]), "the mirror can't be read")
    assert all(device.hotels == stored.hotels for device in devices)


class Remote:
    """A node as `Server` shows it, of which only calls are needed."""

    def __init__(self, url):
        self.url = url

    call, contract = Server.call, Server.contract
