"""Measures what idle feeds cost, and how soon they end. This is a script and no test:

    python3 Tests/Live/idle_feeds.py path/to/hotel-bookmarks [feeds] [seconds]

It starts a server, makes a guest for every 16 feeds and opens the feeds (continuous, with a heartbeat every 10 s, as
PouchDB's), each guest's from an address of its own. It prints the server's memory before and after, its processor time
while nothing changes, and how long one change takes to reach its 16 readers."""
import asyncio
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time
from waiting import PATIENCE

PER_STORE = 16


async def exchange(address, method, path, token=None, body=None):
    """Sends one request on a new connection. Returns the status and the body."""
    reader, writer = await asyncio.open_connection(*address)
    data = json.dumps(body).encode() if body is not None else b""
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {len(data)}\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    writer.write(head.encode() + b"\r\n" + data)
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), body


async def open_feed(address, source, store, token):
    """Opens a feed from a local address and waits until it has begun. Returns its reader and writer."""
    reader, writer = await asyncio.open_connection(*address, local_addr=(source, 0))
    path = f"/couch/{store}/_changes?feed=continuous&heartbeat=10000&since=now"
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    status = await reader.readline()
    if b" 200 " not in status:
        raise SystemExit(f"a feed was refused: {status}")
    while await reader.readline() != b"\r\n":
        pass
    return reader, writer


def memory(process):
    """Resident memory in KiB."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])


def processor(process):
    """Seconds of processor time used so far."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def change_latency(address, feeds, store, token):
    """Seconds from the start of a write until its last reader has received it."""
    async def row(reader):
        while b'"id"' not in await reader.readline():
            pass

    start = time.monotonic()
    readers = [asyncio.create_task(row(reader)) for reader, _ in feeds]
    status, body = await exchange(address, "PUT", f"/couch/{store}/a", token, {})
    assert status == 201, body
    await asyncio.wait_for(asyncio.gather(*readers), 30)
    return time.monotonic() - start


async def measure(process, address, count, seconds):
    guests = []
    for _ in range(-(-count // PER_STORE)):
        _, body = await exchange(address, "POST", "/v1/guests")
        token = json.loads(body)["token"]
        _, body = await exchange(address, "GET", "/v1/me", token)
        guests.append((json.loads(body)["store"], token))
        await exchange(address, "PUT", f"/couch/{guests[-1][0]}/first", token, {})
    before = memory(process)
    feeds = []
    for number in range(count):
        guest = number // PER_STORE
        source = f"127.1.{guest // 250}.{guest % 250 + 1}"
        feeds.append(await open_feed(address, source, *guests[guest]))
    await asyncio.sleep(2)
    after, start = memory(process), processor(process)
    await asyncio.sleep(seconds)
    used = processor(process) - start
    threads = re.search(r"Threads:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]
    print(f"{count} feeds on {len(guests)} stores, {threads} threads")
    print(f"memory: {before // 1024} MiB before, {after // 1024} MiB after, "
          f"{(after - before) / count:.1f} KiB a feed")
    print(f"processor while idle: {used:.2f} s in {seconds} s, {used / seconds:.1%} of one core")
    own = feeds[:PER_STORE]
    print(f"a change reaches its readers after {await change_latency(address, own, *guests[0]):.3f} s")
    for _, writer in feeds:
        writer.close()


def main(binary, count=2000, seconds=20):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as data:
        process = subprocess.Popen(
            [binary, "serve", "--port", "0", "--data", data, "--guests-per-hour", "100000"],
            stdout=subprocess.PIPE, text=True)
        try:
            host, port = re.search(r"http://(\S+):(\d+)", process.stdout.readline()).groups()
            asyncio.run(measure(process, (host, int(port)), int(count), int(seconds)))
        finally:
            start = time.monotonic()
            process.terminate()
            process.wait(timeout=PATIENCE)
            print(f"stopped after {time.monotonic() - start:.2f} s, status {process.returncode}")


if __name__ == "__main__":
    main(*sys.argv[1:])
