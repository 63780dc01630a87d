import os

import pytest

import postgres
from couch import Account, Administrator, Database
from faults import SmallDisk
from server import FIRST_START, Server, first_start
from stub_upstream import StubUpstream

NIGHTLY = bool(os.environ.get("BOOKMARKS_NIGHTLY"))
OWN = pytest.StashKey()
ABOUT_FILES = {"test_" + name for name in (
    "administration", "backup", "crash", "damage", "damage_pages", "faults_damage", "faults_many", "faults_room",
    "faults_start", "faults_stop", "faults_time", "faults_writes", "growth", "kills", "move", "nodes", "nodes_damage",
    "nodes_erasures", "operators", "portability", "power_loss", "power_model", "stores")}
"""Files of tests that look at a data directory, or break a disk or a clock below it."""
LONG = ["test_" + name for name in (
    "schema", "costs", "nodes_damage", "sweep", "generators", "http_pace", "security_tokens", "faults_stop", "move",
    "security_issuers", "nodes", "upstream", "power_loss", "cluster_nodes", "backup", "replication", "move_serving",
    "security_canary", "security_injection", "damage", "cluster_reads", "operators", "http_tls", "remotes", "faults_room",
    "replicator", "topology", "cluster_receipts", "long_use", "list_kills", "lite_blobs", "couch_dialect_databases",
    "feeds", "replication_batches", "list_members", "receipts", "portability", "http_overload", "nodes_erasures",
    "kills", "lite")]
"""The files of tests that take longest. They begin first, so that none runs alone at the end; beside those that compute,
those that wait for a minute."""


def pytest_configure(config):
    # The processes that share the tests inherit the variables.
    if config.getoption("numprocesses", None):
        os.environ[FIRST_START] = str(first_start())
    if database := os.environ.pop(postgres.VARIABLE, None):
        if database == "own":
            config.stash[OWN] = postgres.Postgres()
            database = config.stash[OWN].url
        os.environ[postgres.INHERITED] = database
    config.addinivalue_line("markers", "fault(code): the line of the list of faults that the test holds")
    config.addinivalue_line("markers", "nightly: takes minutes over a debug build, so it runs at night")
    config.addinivalue_line("markers", "files: about files, logs and disks, so it can't run against a database")


def pytest_unconfigure(config):
    if own := config.stash.get(OWN, None):
        own.close()


def pytest_collection_modifyitems(items):
    rank = {name: index for index, name in enumerate(LONG)}
    items.sort(key=lambda item: rank.get(item.module.__name__, len(LONG)))
    for item in items:
        if item.get_closest_marker("nightly") and not NIGHTLY:
            item.add_marker(pytest.mark.skip(reason="runs at night"))
        is_about_files = item.get_closest_marker("files") or item.module.__name__ in ABOUT_FILES
        if is_about_files and os.environ.get(postgres.INHERITED):
            item.add_marker(pytest.mark.skip(reason="is about files"))


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    """One server, shared by the tests that need no server of their own."""
    server = Server(tmp_path_factory.mktemp("shared") / "data")
    yield server
    assert server.stop() == 0, "".join(server.log[-20:])


@pytest.fixture
def start(tmp_path):
    """Starts servers over the test's own directory."""
    servers = []

    def start(*arguments, data=tmp_path / "data", **options):
        servers.append(Server(data, *arguments, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def stub():
    """Makes upstreams that answer as the test specifies."""
    stubs = []

    def make(script, **options):
        stubs.append(StubUpstream(script, **options))
        return stubs[-1]

    yield make
    for stub in stubs:
        stub.close()


@pytest.fixture
def small_disk(tmp_path):
    """Mounts file systems of a given size for a test. Skips the test where the machine does not allow mounting."""
    disks = []

    def mount(size):
        disks.append(SmallDisk(tmp_path / f"disk-{len(disks)}", size))
        return disks[-1]

    yield mount
    for disk in disks:
        disk.close()


@pytest.fixture
def database(shared):
    """A new guest's store."""
    return Database(shared)


@pytest.fixture(scope="module")
def untouched(shared):
    """One guest's store for all tests of refused requests in a file: nothing is ever stored in it."""
    database = Database(shared)
    yield database
    assert database.changes()["results"] == []


@pytest.fixture(scope="module")
def account(shared):
    """A user of the shared server, one for all tests of a file, because each sign-up costs a password hash."""
    return Account(shared)


@pytest.fixture(scope="session")
def administrator(tmp_path_factory):
    """The administrator of a server that was started with an administrator's password."""
    directory = tmp_path_factory.mktemp("administered")
    administrator = Administrator(directory)
    yield administrator
    assert administrator.server.stop() == 0, "".join(administrator.server.log[-20:])


@pytest.fixture(scope="session")
def rounds():
    """How often a random test is repeated: more often in the nightly run."""
    return 200 if NIGHTLY else 8
