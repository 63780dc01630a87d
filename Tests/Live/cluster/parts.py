"""What every part of a cluster has, and the two that need little more: etcd and HAProxy."""
import http.client
import json
import os
import shutil
import time

from .processes import Process, family


class Trouble(Exception):
    """A part is not what it should be; the text is for who started it."""


def get(host, port, path, headers=None):
    """A GET's status and body; 0 and nothing where nobody answers within a second."""
    connection = http.client.HTTPConnection(host, port, timeout=1)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def until(holds, what, seconds, part=None):
    """Asks again and again until the answer is true; that answer. A part that has ended is not waited for."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        ended = part is not None and not part.runs()
        if ended or time.monotonic() > deadline:
            said = part.last_lines() if part else ""
            raise Trouble(f"{what}: {'it has ended' if ended else f'not within {seconds} s'}\n{said}".rstrip())
        time.sleep(0.1)
    return found


def secret(path, text, user=None):
    """Writes a file of mode 600, which is root's or a user's."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    if user:
        shutil.chown(path, user, user)


class Part:
    """One part: a directory with all its files, ports, and a process, perhaps.

    `ports` are names of its ports; `user` is who it runs as, where that is not who started the cluster.
    """

    port_names = ("port",)
    user = None

    def __init__(self, cluster, name):
        self.cluster, self.name = cluster, name
        self.directory = cluster.directory / name
        self.host = cluster.network.host(name)
        self.process = None

    def port(self, which="port"):
        return self.cluster.plan["ports"][self.name][which]

    def prepare(self):
        """Writes its files."""
        self.directory.mkdir(mode=0o700, exist_ok=True)
        if self.user:
            shutil.chown(self.directory, self.user, self.user)

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def start(self):
        """Starts its process; whether it is ready is another question."""
        if self.runs():
            raise Trouble(f"{self.name} runs already")
        as_user = ["setpriv", "--reuid", self.user, "--regid", self.user, "--init-groups"] if self.user else []
        self.process = Process.spawn(
            [*self.cluster.network.prefix(self.name), *as_user, *self.command()],
            self.directory / "log", self.environment())

    def runs(self):
        return self.process is not None and self.process.runs()

    def ready(self):
        """Whether it does its work."""
        raise NotImplementedError

    def family(self):
        """All its processes."""
        return family([self.process])

    def paused(self):
        """Whether its processes stand still."""
        found = self.family()
        return bool(found) and found[0].state() == "T"

    def last_lines(self, count=12):
        """The end of its log, as it helps to tell what is wrong."""
        try:
            lines = (self.directory / "log").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        return "\n".join(f"  {self.name}: {line}" for line in lines[-count:])


class Etcd(Part):
    """Who is primary is agreed on here. One of them, so a trial's agreement does not survive its loss."""

    port_names = ("port", "peers")

    def command(self):
        client, peers = (f"http://{self.host}:{self.port(which)}" for which in self.port_names)
        return ["etcd", "--name", self.name, "--data-dir", self.directory / "data", "--enable-v2",
                "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
                "--initial-cluster", f"{self.name}={peers}", "--initial-cluster-state", "new"]

    def ready(self):
        status, body = get(self.host, self.port(), "/health")
        return status == 200 and json.loads(body).get("health") == "true"


class Proxy(Part):
    """HAProxy before the nodes: it asks each node's readiness, and sends requests to those that are ready.

    When none is ready, as all of them see the same database, requests go to any that lives, so that clients get the
    service's own answer with its reason.
    """

    def prepare(self):
        super().prepare()
        root = os.geteuid() == 0
        (self.directory / "haproxy.cfg").write_text("\n".join([
            "global",
            "  maxconn 4000",
            *(["  user haproxy", "  group haproxy"] if root else []),
            "defaults",
            "  mode http",
            "  timeout connect 1s",
            # A feed is quiet for a minute at most.
            "  timeout client 130s",
            "  timeout server 130s",
            "  timeout check 1s",
            "  option forwardfor",
            # What did not reach a node goes to another one; what did is never sent twice.
            "  option redispatch 1",
            "  retries 2",
            "frontend service",
            f"  bind {self.host}:{self.port()}",
            "  use_backend ready if { nbsrv(ready) gt 0 }",
            "  default_backend alive",
            *self._backend("ready", "/readyz"), *self._backend("alive", "/healthz"), ""]))

    def _backend(self, name, path):
        lines = [f"backend {name}", "  balance leastconn", f"  option httpchk GET {path}",
                 "  http-check expect status 200"]
        for node in self.cluster.nodes:
            lines.append(
                f"  server {node.name} {node.host}:{node.port()} check port {node.port('operations')}"
                " inter 500ms fall 2 rise 1 observe layer4 error-limit 3 on-error mark-down")
        return lines

    def command(self):
        return ["haproxy", "-db", "-f", self.directory / "haproxy.cfg"]

    def ready(self):
        return get(self.host, self.port(), "/readyz")[0] == 200
