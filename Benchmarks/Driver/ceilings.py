"""The ceilings of the lines: what the machine reaches in the same minute without the server's own work."""
import json
import os
import socket
import subprocess
import time

from processes import Process

FILES = 1_000
DOCUMENT = 1_160
"""The bytes of a document of the lines with documents, as an answer."""


class Ceilings:
    """Measures ceilings by name.

    - `empty`: an HTTP server with one route and a constant answer of as many bytes as the server's.
    - `exchanges`: the same with the connections and the answer of the line `get 32`. A line's rows for one of these
      exchanges are its share; it may be more than 1.
    - `static`: nginx, which sends a file of as many bytes. `files`: one of a thousand such files, chosen at random.
    - `sqlite`: a loop that inserts rows and commits. `sqlite2` inserts two rows in each commit.
    - `exchange+sqlite`, `exchange+sqlite2`: an exchange with `empty` and then such a commit, one after the other, as a
      client that waits for each answer does: 1 / (1 / empty + 1 / sqlite).
    - `fsync`: durable writes of one page.
    """

    def __init__(self, options, directory, load):
        self.options, self.directory, self.load = options, directory, load
        self.servers, self.known = {}, {}

    def close(self):
        for server in self.servers.values():
            server.stop()

    def sample(self, name, line, answered):
        """One sample of a ceiling. `--smoke` measures each only once. `answered` is the size of an answer in bytes."""
        if self.options.smoke and name in self.known:
            return self.known[name]
        found = self.known[name] = self.measured(name, line, answered)
        return found

    def measured(self, name, line, answered):
        items = line.items if line.together else 1
        if name.startswith("exchange+"):
            return one_after_other(
                self.exchange("empty", line.connections, answered),
                self.commits(name.removeprefix("exchange+"), items))
        if name == "exchanges":
            return self.exchange("empty", 32, DOCUMENT)
        if name in ("empty", "static", "files"):
            return self.exchange(name, line.connections, answered, items)
        return self.commits(name, items)

    def exchange(self, name, connections, answered, items=1):
        """The rate of a server without work of its own."""
        key = (name, answered)
        if key not in self.servers:
            if name in ("static", "files"):
                count = 1 if name == "static" else FILES
                self.servers[key] = StaticServer(self.directory / f"{name}-{answered}", answered, count)
            else:
                self.servers[key] = Process([self.options.empty, "0", str(answered)], self.directory / "empty.log")
        plan = {"kind": "get", "targets": [{"path": "/couch/db", "headers": {
            "Authorization": "Bearer " + "x" * 400}}], "count": 1 if name == "static" else FILES, "seed": 1,
            "threads": min(2, connections)}
        return self.load(self.servers[key].url, plan, connections, items)

    def commits(self, name, items):
        """The rate of a loop of durable writes."""
        kind, rows = ("sqlite", 2) if name == "sqlite2" else (name, items)
        seconds = "0.2" if self.options.smoke else str(self.options.seconds)
        command = [self.options.ceilings, kind, str(self.directory / "ceiling"), seconds]
        if kind == "fsync":
            return sample(command, 1)
        return sample([*command, str(rows)], 1 if name == "sqlite2" else items)


class StaticServer:
    """nginx with files of this size, on a free port, with as many workers as processors."""

    def __init__(self, directory, size, count):
        directory = directory.absolute()
        (directory / "couch" / "db").mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (directory / "couch" / "db" / f"doc-{number:06d}").write_bytes(b"x" * size)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = directory / "nginx.conf"
        settings.write_text(f"""
daemon off;
{"user root;" if os.geteuid() == 0 else ""}
pid {directory}/pid;
error_log {directory}/errors;
worker_processes auto;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {directory}/bodies;
  sendfile on;
  open_file_cache max=2000;
  keepalive_requests 1000000000;
  default_type application/json;
  server {{ listen 127.0.0.1:{port}; root {directory}; }}
}}
""")
        self.url = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(["/usr/sbin/nginx", "-c", str(settings), "-p", str(directory)])
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"nginx did not start; see {directory}/errors")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=20)


def one_after_other(first, second):
    """A sample of two steps that follow each other. Of the tails, the longer one counts."""
    return {"rate": 1 / (1 / first["rate"] + 1 / second["rate"]), "p50": first["p50"] + second["p50"],
            **{key: max(first[key], second[key]) for key in ("p99", "max")}}


def sample(command, items):
    """Runs a command whose last line of output is JSON, and adds the rate."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stdout}{done.stderr}")
    found = json.loads(done.stdout.strip().splitlines()[-1])
    found["rate"] = (found["requests"] - found["refused"]) * items * 1e6 / found["microseconds"]
    return found
