"""5,000 devices of one list's members wait at the same time, and each receives a change."""
import asyncio
import resource
import urllib.parse

import pytest

from couch import Account
from waiting import PATIENCE

MEMBERS, DEVICES = 50, 100
PER_ADDRESS = 200
"""Connections from one address: fewer than the server accepts from one."""


async def device(place, path, token, number):
    """Starts to wait, from one of several addresses. Returns the connection after the response's header was read."""
    source = f"127.71.{number // PER_ADDRESS + 1}.1"
    reader, writer = await asyncio.open_connection(*place, local_addr=(source, 0))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    status = await reader.readline()
    assert b" 200 " in status, status
    while await reader.readline() != b"\r\n":
        pass
    return reader, writer


async def row(reader):
    """The next row of a waiting feed."""
    while (line := await reader.readline()) and b'"id"' not in line:
        pass
    return line


@pytest.fixture
def descriptors():
    """Raises this process's limit of open files for the connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 3 * MEMBERS * DEVICES:
        pytest.skip(f"a process may have {hard} open files only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * MEMBERS * DEVICES), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def wait_together(calls, change):
    """Lets all devices wait, makes the change, and collects the rows that they receive."""
    waiting = []
    for start in range(0, len(calls), 50):
        part = enumerate(calls[start:start + 50], start)
        waiting += await asyncio.wait_for(asyncio.gather(*(device(*call, number) for number, call in part)), PATIENCE)
    await asyncio.to_thread(change)
    told = await asyncio.wait_for(asyncio.gather(*(row(reader) for reader, _ in waiting)), PATIENCE)
    for _, writer in waiting:
        writer.close()
    return told


@pytest.mark.nightly
def test_five_thousand_devices_of_one_list_hear_of_a_change(start, descriptors):
    server = start()
    owner = Account(server)
    made = server.call("POST", "/v1/lists", owner.token, json={"title": "For all"})
    assert made.status_code == 201, made.text
    path = "/v1/lists/" + made.json()["id"]
    database = urllib.parse.urlsplit(server.call("GET", path, owner.token).json()["couch"]).path
    members = [Account(server) for _ in range(MEMBERS)]
    for member in members:
        answer = server.call("PUT", f"{path}/members/{member.name}", owner.token, json={"role": "reader"})
        assert answer.status_code == 202, answer.text
        accept = f"/v1/invitations/{answer.json()['id']}/accept"
        assert server.call("POST", accept, member.token).status_code == 200
    place = urllib.parse.urlsplit(server.url)
    feed = f"{database}/_changes?feed=continuous&heartbeat=30000&since=now"
    calls = [((place.hostname, place.port), feed, member.token) for member in members for _ in range(DEVICES)]

    def change():
        answer = server.call("PUT", f"{path}/bookmarks/hotel_1", owner.token, json={"name": "Hotel 1"})
        assert answer.status_code == 201, answer.text

    told = asyncio.run(wait_together(calls, change))
    assert len(told) == MEMBERS * DEVICES
    assert all(b"hotel_1" in line or b"bookmarkedhotels" in line for line in told), [
        line for line in told if b'"id"' not in line][:3]
