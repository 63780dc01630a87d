"""PostgreSQL under Patroni."""
import glob
import json
import os
import pathlib

from .parts import Part, Trouble, get, secret
from .processes import Process, family

SCOPE = "hotel-bookmarks"
"""The cluster's name in etcd."""

DYNAMIC = {
    # Seconds after which a primary that is not heard of is replaced, and the pause between two looks. Patroni wants
    # ttl to be at least loop_wait and twice retry_timeout.
    "ttl": 8, "loop_wait": 1, "retry_timeout": 3,
    # A commit is answered once the standby has it on its disk, and only that standby is promoted.
    "synchronous_mode": True,
    # Bytes that a standby without the primary's newest log may lack to be promoted; with a synchronous one, none do.
    "maximum_lag_on_failover": 1_048_576,
    # A primary whose PostgreSQL ended is replaced at once, as the standby has all that was answered.
    "primary_start_timeout": 0,
    # Without etcd the primary goes on as long as it reaches each member.
    "failsafe_mode": True,
    "postgresql": {
        "use_pg_rewind": True, "use_slots": True,
        "parameters": {
            "max_connections": 200, "shared_buffers": "64MB", "wal_keep_size": "256MB",
            # Milliseconds until a standby or a primary that has gone silent is given up.
            "wal_sender_timeout": "3s", "wal_receiver_timeout": "3s",
            "password_encryption": "scram-sha-256"}}}


def programs():
    """The newest PostgreSQL's directory of programs."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
    if not found:
        raise Trouble("there is no PostgreSQL below /usr/lib/postgresql; Scripts/setup --cluster installs it")
    return pathlib.Path(found[-1]).parent


class Member(Part):
    """One PostgreSQL server and the Patroni that looks after it; one dies with the other, as with their machine."""

    port_names = ("port", "rest")

    def __init__(self, cluster, name):
        super().__init__(cluster, name)
        # PostgreSQL refuses root.
        self.user = "postgres" if os.geteuid() == 0 else None
        self.data = self.directory / "data"

    def prepare(self):
        super().prepare()
        # JSON is YAML.
        secret(self.directory / "patroni.yml", json.dumps(self._settings(), indent=1), self.user)

    def _settings(self):
        passwords, cluster = self.cluster.plan["passwords"], self.cluster
        postgres, rest = (f"{self.host}:{self.port(which)}" for which in self.port_names)
        hosts = sorted({member.host for member in cluster.members} | set(cluster.client_hosts()))
        # `etcd` is the second version of etcd's interface. By the third one, `etcd3`, Patroni before 3.0.3 lets a primary
        # that stood still take the lock back from its successor, whose writes are lost then.
        return {
            "scope": SCOPE, "name": self.name,
            "restapi": {"listen": rest, "connect_address": rest,
                        "authentication": {"username": "patroni", "password": passwords["rest"]}},
            "etcd": {"hosts": [cluster.etcd_address()]},
            "bootstrap": {
                "dcs": DYNAMIC,
                "initdb": ["data-checksums", {"encoding": "UTF8"}, {"locale": "C.UTF-8"},
                           {"auth-host": "scram-sha-256"}, {"auth-local": "reject"}]},
            "postgresql": {
                "listen": postgres, "connect_address": postgres, "data_dir": str(self.data),
                "bin_dir": str(programs()), "pgpass": str(self.directory / "pgpass"),
                # Otherwise the copy for the second member waits minutes for the first one's leisure.
                "basebackup": [{"checkpoint": "fast"}],
                "parameters": {"unix_socket_directories": ""},
                "pg_hba": [f"host {what} all {host}/32 scram-sha-256"
                           for host in hosts for what in ("all", "replication")],
                "remove_data_directory_on_rewind_failure": True,
                "authentication": {
                    "superuser": {"username": "postgres", "password": passwords["superuser"]},
                    "replication": {"username": "replicator", "password": passwords["replication"]},
                    "rewind": {"username": "postgres", "password": passwords["superuser"]}}},
            "watchdog": {"mode": "off"}}

    def command(self):
        return ["patroni", self.directory / "patroni.yml"]

    def role(self):
        """`primary`, `standby` (synchronous), `replica` (not synchronous), or nothing where Patroni does not answer
        or has no PostgreSQL that takes part."""
        if not self.runs() or self.paused():
            return ""
        if self._is("/primary"):
            return "primary"
        if self._is("/synchronous"):
            return "standby"
        return "replica" if self._is("/replica") else ""

    def _is(self, path):
        return get(self.host, self.port("rest"), path)[0] == 200

    def ready(self):
        return self.role() in ("primary", "standby")

    def postmaster(self):
        """PostgreSQL's first process, or None: that of the file in the data directory, if it is still that."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            at_home = os.readlink(f"/proc/{pid}/cwd") == str(self.data)
        except (OSError, ValueError, IndexError):
            return None
        return Process(pid) if at_home else None

    def family(self):
        # PostgreSQL outlives Patroni, so it may have another parent.
        return family([self.process, self.postmaster()])


def control_file(cluster):
    """What `patronictl -c` wants."""
    password = cluster.plan["passwords"]["rest"]
    return json.dumps({
        "scope": SCOPE, "etcd": {"hosts": [cluster.etcd_address()]},
        "restapi": {"authentication": {"username": "patroni", "password": password}}})
