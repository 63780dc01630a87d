"""Kills of either end of a replication. What was not noted in a checkpoint is repeated, which changes nothing."""
import threading

import requests

from attachments import inline, some
from conftest import NIGHTLY
from couch import Administrator, Database
from server import Server
from test_replicator import LOOPBACK, content, url


def begin(administrator, source, target):
    """Begins a replication in a thread, which a kill may end."""
    def run():
        try:
            administrator.call("POST", "/_replicate", json={
                "source": source, "target": target, "checkpoint_interval": 100})
        except requests.RequestException:
            pass
    thread = threading.Thread(target=run)
    thread.start()
    return thread


def restart(administrator, *arguments):
    administrator.server.kill()
    administrator.server = Server(administrator.server.data, *arguments)


def test_kills_of_either_end_lose_nothing(tmp_path):
    for name in ("here", "there"):
        tmp_path.joinpath(name).mkdir()
    here, there = (Administrator(tmp_path / name, *LOOPBACK) for name in ("here", "there"))
    secrets = {end: ("--admin-password-file", str(tmp_path / name / "password"), *LOOPBACK)
               for end, name in ((here, "here"), (there, "there"))}
    source, target = there.create("source"), here.create("target")
    written = 0
    turns = 5 if NIGHTLY else 2
    for victim in (here, there, here, there, here)[:turns]:
        source = Database(there.server, name="source", auth=there.auth)
        for part in range(4):
            documents = [{"_id": f"d{written}-{part}-{n}", "n": n} for n in range(100)]
            documents += [{"_id": f"f{written}-{part}-{n}", "_attachments": {"f": inline(some(20_000, n))}} for n in range(5)]
            source.bulk(*documents)
        written += 1
        thread = begin(here, url(source, there), "target")
        seen = here.server.call("GET", "/couch/target", auth=here.auth).json()["doc_count"]
        for _ in range(1_000):
            now = here.server.call("GET", "/couch/target", auth=here.auth).json()["doc_count"]
            if now > seen or not thread.is_alive():
                break
        restart(victim, *secrets[victim])
        thread.join()
    source = Database(there.server, name="source", auth=there.auth)
    target = Database(here.server, name="target", auth=here.auth)
    done = here.call("POST", "/_replicate", json={"source": url(source, there), "target": "target"})
    assert done.status_code == 200, done.text
    assert done.json()["history"][0]["doc_write_failures"] == 0
    copied = content(target)
    assert copied == content(source)
    assert len(copied) == turns * 4 * 105
    for end in (here, there):
        assert end.server.stop() == 0
