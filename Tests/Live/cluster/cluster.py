"""A cluster: its parts, and the operations on them."""
import json
import os
import pathlib
import secrets
import shutil
import signal
import subprocess

from .members import SCOPE, Member, control_file
from .network import Loopback, free_ports
from .nodes import Node
from .parts import ClusterError, Etcd, Proxy, secret, wait_until
from .processes import Process, end_all, signal_all

MEMBERS = ("postgres1", "postgres2")
PATIENCE = 120
"""How many seconds a part may take to become ready, on a busy machine."""


def part_names(nodes):
    """The names of all parts of a cluster with this number of nodes. Without nodes there is only the database."""
    return ["etcd", *MEMBERS, *[f"node{number + 1}" for number in range(nodes)], *(["proxy"] if nodes else [])]


class Cluster:
    """A cluster in one scratch directory, which must not exist yet. `stop()` removes it.

    `binary` is the service's program. `arguments` are additional flags for its `serve`. `port` is HAProxy's port; 0
    selects a free one. The name of a part is a key of `parts`, or `primary` or `standby` for the member that has this
    role at present.
    """

    def __init__(self, directory, binary=None, nodes=3, port=0, arguments=(), network=None):
        self._set(pathlib.Path(directory).resolve(), network, {
            "binary": str(binary), "nodes": nodes, "arguments": list(arguments),
            "passwords": {who: secrets.token_hex(16) for who in
                          ("superuser", "replication", "rest", "service", "admin")},
            "ports": {}})
        needed = [(part, which) for part in self.parts.values() for which in part.port_names]
        for (part, which), free in zip(needed, free_ports(len(needed))):
            chosen = port if part.name == "proxy" and port else free
            self.plan["ports"].setdefault(part.name, {})[which] = chosen

    @classmethod
    def load(cls, directory):
        """Returns the cluster that another process has started on loopback in a directory."""
        directory = pathlib.Path(directory).resolve()
        try:
            plan = json.loads((directory / "plan.json").read_text())
        except FileNotFoundError:
            raise ClusterError(f"there is no cluster in {directory}") from None
        self = cls.__new__(cls)
        self._set(directory, None, plan)
        self._look_up()
        return self

    def _set(self, directory, network, plan):
        self.directory, self.plan = directory, plan
        self.network = network or Loopback()
        self.keeper = Process(os.getpid())
        kinds = {"etcd": Etcd, "proxy": Proxy, **dict.fromkeys(MEMBERS, Member)}
        self.parts = {name: kinds.get(name, Node)(self, name) for name in part_names(plan["nodes"])}
        self.members = [self.parts[name] for name in MEMBERS]
        self.nodes = [part for part in self.parts.values() if isinstance(part, Node)]

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    # Starting and stopping

    def start(self):
        """Starts all parts. Each part starts when the parts that it needs are ready."""
        self._make_directory()
        for part in self.parts.values():
            part.prepare()
        self._begin("etcd")
        first, second = MEMBERS
        self._begin(first)
        self._make_database()
        self._begin(second)
        wait_until(
            lambda: self.parts[second].role() == "standby", "no synchronous standby", PATIENCE, self.parts[second])
        for node in self.nodes:
            node.start()
        self._note()
        for node in self.nodes:
            wait_until(node.ready, f"{node.name} is not ready", PATIENCE, node)
        if self.nodes:
            self._begin("proxy")

    def stop(self):
        """Stops the running parts in this order: HAProxy, nodes, PostgreSQL, etcd. Then removes the directory."""
        self._look_up()
        for part in self.parts.values():
            signal_all(part.family, signal.SIGCONT)
        for names in (["proxy"], [node.name for node in self.nodes], MEMBERS, ["etcd"]):
            parts = [self.parts[name] for name in names if name in self.parts]
            for part in parts:
                if part.process:
                    part.process.signal(signal.SIGTERM)
            end_all(lambda parts=parts: [process for part in parts for process in part.family()], 15)
        self.network.close()
        # Removes only a directory that a cluster has created.
        if (self.directory / "plan.json").exists():
            shutil.rmtree(self.directory)

    def restart(self, name):
        """Starts a part that was killed. Does not wait until it is ready."""
        part = self.part(name)
        part.start()
        self._note()
        return part

    def _begin(self, name):
        part = self.restart(name)
        wait_until(part.ready, f"{name} is not ready", PATIENCE, part)

    def _make_directory(self):
        try:
            # Other users, such as PostgreSQL's, can reach files below the directory but can't list it.
            self.directory.mkdir(mode=0o711, parents=True)
        except FileExistsError:
            raise ClusterError(
                f"{self.directory} is there already; Scripts/cluster stop ends a cluster in it") from None
        secret(self.directory / "plan.json", json.dumps(self.plan))
        self._note()
        for user in {part.user for part in self.members if part.user}:
            if subprocess.run(["setpriv", "--reuid", user, "--clear-groups", "test", "-x", self.directory],
                              check=False, timeout=20).returncode:
                raise ClusterError(f"the user {user} can't get to {self.directory}; choose another --directory")

    def _note(self):
        """Saves the pids and start times of the processes, for the command that stops them."""
        known = {name: [process.pid, process.started] for name, process in
                 [("keeper", self.keeper), *((name, part.process) for name, part in self.parts.items())] if process}
        secret(self.directory / "draft", json.dumps(known))
        (self.directory / "draft").rename(self.directory / "processes.json")

    def _look_up(self):
        """Reads the pids and start times that this or another command has saved."""
        try:
            known = json.loads((self.directory / "processes.json").read_text())
        except FileNotFoundError:
            return
        self.keeper = Process(*known.pop("keeper"))
        for name, (pid, started) in known.items():
            self.parts[name].process = Process(pid, started)

    # The database

    def etcd_address(self):
        etcd = self.parts["etcd"]
        return f"{etcd.host}:{etcd.port()}"

    def client_hosts(self):
        """The addresses of the database's clients."""
        named = [node.name for node in self.nodes] + (["tester"] if not isinstance(self.network, Loopback) else [])
        return [self.network.host(name) for name in named]

    def _url(self, user, database, member=None):
        hosts = ",".join(f"{one.host}:{one.port()}" for one in ([member] if member else self.members))
        attributes = "any" if member else "read-write"
        return (f"postgres://{user}@{hosts}/{database}?target_session_attrs={attributes}&connect_timeout=2"
                f"&tcp_user_timeout=1500&passfile={self.directory}/{user}.pgpass")

    @property
    def database_url(self):
        """The database's URL for the nodes. It names both members; libpq finds the one that accepts writes."""
        return self._url("hotel", "hotel")

    @property
    def url(self):
        proxy = self.parts["proxy"]
        return f"http://{proxy.host}:{proxy.port()}"

    def sql(self, statements, user="hotel", member=None):
        """Runs statements with psql as the service's role, or as `postgres`, at the primary or at this member. Returns
        their unaligned output."""
        url = self._url(user, {"hotel": "hotel"}.get(user, "postgres"), member)
        done = subprocess.run(["psql", "-XAtq", "-v", "ON_ERROR_STOP=1", "-d", url], input=statements, text=True,
                              capture_output=True, check=False, timeout=60)
        if done.returncode:
            raise ClusterError(done.stderr.strip())
        return done.stdout.strip()

    def _make_database(self):
        passwords = self.plan["passwords"]
        for user, which in (("postgres", "superuser"), ("hotel", "service")):
            secret(self.directory / f"{user}.pgpass", f"*:*:*:{user}:{passwords[which]}\n")
        secret(self.directory / "patronictl.yml", control_file(self))
        self.sql(f"CREATE ROLE hotel LOGIN PASSWORD '{passwords['service']}';\n"
                 "CREATE DATABASE hotel OWNER hotel;\n", user="postgres")

    # Faults

    def part(self, name):
        """The part with this name, which may be `primary` or `standby`."""
        if name in ("primary", "standby"):
            found = [member for member in self.members if member.role() == name]
            if not found:
                raise ClusterError(f"there is no {name} at present")
            return found[0]
        if name not in self.parts:
            raise ClusterError(f"no part is called {name}; there are {', '.join(self.parts)}, primary and standby")
        return self.parts[name]

    def kill(self, name):
        """Kills all processes of a part at once, like a machine that is switched off. Returns the pids."""
        return signal_all(self.part(name).family, signal.SIGKILL)

    def crash(self, name):
        """Kills PostgreSQL's first process. Its other processes then end; Patroni continues. Returns the pid."""
        postmaster = self.part(name).postmaster()
        if not postmaster:
            raise ClusterError(f"{name} runs no PostgreSQL")
        postmaster.signal(signal.SIGKILL)
        return [postmaster.pid]

    def pause(self, name):
        """Stops all processes of a part with SIGSTOP, like a machine that hangs. Returns the pids."""
        return signal_all(self.part(name).family, signal.SIGSTOP)

    def resume(self, name):
        """Continues a paused part. Returns the pids. A paused part has no role: use its name."""
        return signal_all(self.part(name).family, signal.SIGCONT)

    def kill_manager(self, name):
        """Kills a member's Patroni only; its PostgreSQL lives on, as with Debian's `KillMode=process`. Returns the pid."""
        return self._signal_manager(name, signal.SIGKILL)

    def pause_manager(self, name):
        """Stops a member's Patroni only, with SIGSTOP. `resume` continues it. Returns the pid."""
        return self._signal_manager(name, signal.SIGSTOP)

    def _signal_manager(self, name, number):
        process = self.part(name).process
        process.signal(number)
        return [process.pid]

    def configure(self, **settings):
        """Changes settings of Patroni that all members share, such as `synchronous_mode_strict`."""
        words = [word for key, value in settings.items() for word in ("-s", f"{key}={json.dumps(value)}")]
        self._run(self._control("edit-config", SCOPE, "--quiet", "--force", *words))

    def partition(self, one, other, one_way=False):
        """Cuts the link from `one` to `other`, and the opposite direction unless `one_way`. `tester` is the network
        namespace of the process that created the cluster, with its writers and clients."""
        one, other = (name if name == "tester" else self.part(name).name for name in (one, other))
        self.network.cut(one, other)
        if not one_way:
            self.network.cut(other, one)

    def heal(self):
        """Restores all links."""
        self.network.heal()

    def switchover_command(self):
        """The command that makes the standby the primary, without a failure."""
        return self._control("switchover", SCOPE, "--candidate", self.part("standby").name, "--force")

    def _control(self, *words):
        return ["patronictl", "-c", str(self.directory / "patronictl.yml"), *words]

    def switchover(self):
        """Makes the standby the primary. Returns Patroni's output."""
        return self._run(self.switchover_command())

    def _run(self, command):
        done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=60)
        if done.returncode:
            raise ClusterError((done.stderr or done.stdout).strip())
        return done.stdout.strip()
