"""The base class of a cluster's parts, and two small parts: etcd and HAProxy."""
import http.client
import json
import os
import shutil
import time

from .processes import Process, family


class ClusterError(Exception):
    """An error of a cluster, with a text for the person who started it."""


def get(host, port, path, headers=None):
    """Sends a GET request. Returns status and body; 0 and no bytes when there is no answer within a second."""
    connection = http.client.HTTPConnection(host, port, timeout=1)
    try:
        connection.request("GET", path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException):
        return 0, b""
    finally:
        connection.close()


def wait_until(holds, what, seconds, part=None):
    """Calls `holds` until its result is true, and returns the result. Fails at once when the part has ended."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        ended = part is not None and not part.runs()
        if ended or time.monotonic() > deadline:
            said = part.last_lines() if part else ""
            raise ClusterError(f"{what}: {'it has ended' if ended else f'not within {seconds} s'}\n{said}".rstrip())
        time.sleep(0.1)
    return found


def secret(path, text, user=None):
    """Writes a file with mode 600. It belongs to the current user, or to `user`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    if user:
        shutil.chown(path, user, user)


class Part:
    """One part of a cluster: a directory with all its files, ports, and a process when it is started.

    `port_names` are the names of its ports. `user` is the user that it runs as, or None for the user of the cluster.
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
        """Writes the files that the part needs to start."""
        self.directory.mkdir(mode=0o700, exist_ok=True)
        if self.user:
            shutil.chown(self.directory, self.user, self.user)

    def command(self):
        raise NotImplementedError

    def environment(self):
        return {}

    def start(self):
        """Starts the process. Does not wait until the part is ready."""
        if self.runs():
            raise ClusterError(f"{self.name} runs already")
        as_user = ["setpriv", "--reuid", self.user, "--regid", self.user, "--init-groups"] if self.user else []
        self.process = Process.spawn(
            [*self.cluster.network.prefix(self.name), *as_user, *self.command()],
            self.directory / "log", self.environment())

    def runs(self):
        return self.process is not None and self.process.runs()

    def ready(self):
        """Whether the part is ready for use."""
        raise NotImplementedError

    def family(self):
        """All processes of the part."""
        return family([self.process])

    def paused(self):
        """Whether the part was stopped by SIGSTOP."""
        found = self.family()
        return bool(found) and found[0].state() == "T"

    def last_lines(self, count=12):
        """The last lines of the log, for an error message."""
        try:
            lines = (self.directory / "log").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            return ""
        return "\n".join(f"  {self.name}: {line}" for line in lines[-count:])


class Etcd(Part):
    """etcd, which stores which member is the primary. There is only one, so this state does not survive its loss."""

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
    """HAProxy, which checks the readiness of each node and forwards requests to the nodes that are ready.

    All nodes use the same database, so it can happen that none is ready. HAProxy then forwards requests to any node
    that is alive, so that clients get the service's own answer, with its reason.
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
            # A feed sends nothing for at most a minute.
            "  timeout client 130s",
            "  timeout server 130s",
            "  timeout check 1s",
            "  option forwardfor",
            # A request that did not reach a node is sent to another one. One that did is never sent twice.
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
