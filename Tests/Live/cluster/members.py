"""PostgreSQL under Patroni."""
import glob
import json
import os
import pathlib

from .parts import ClusterError, Part, get, secret
from .processes import Process, family

SCOPE = "hotel-bookmarks"
"""The cluster's name in etcd."""

DYNAMIC = {
    # Seconds. A primary that does not renew its lock within ttl is replaced; Patroni checks every loop_wait. Patroni
    # requires ttl to be at least loop_wait + 2 * retry_timeout.
    "ttl": 8, "loop_wait": 1, "retry_timeout": 3,
    # PostgreSQL answers a commit when the standby has it on its disk. Only this standby can be promoted.
    "synchronous_mode": True,
    # The most bytes of the primary's log that a promoted standby may lack. A synchronous standby lacks none.
    "maximum_lag_on_failover": 1_048_576,
    # A primary whose PostgreSQL has ended is replaced at once: the standby has all acknowledged commits.
    "primary_start_timeout": 0,
    # If etcd is unavailable, the primary stays primary as long as it reaches every member.
    "failsafe_mode": True,
    "postgresql": {
        "use_pg_rewind": True, "use_slots": True,
        "parameters": {
            "max_connections": 200, "shared_buffers": "64MB", "wal_keep_size": "256MB",
            # After this time without a message, the primary and the standby close their connection.
            "wal_sender_timeout": "3s", "wal_receiver_timeout": "3s",
            "password_encryption": "scram-sha-256"}}}


def programs():
    """The directory with the programs of the newest installed PostgreSQL."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
    if not found:
        raise ClusterError("there is no PostgreSQL below /usr/lib/postgresql; Scripts/setup --cluster installs it")
    return pathlib.Path(found[-1]).parent


class Member(Part):
    """One PostgreSQL server and its Patroni. `kill` and `pause` affect both, like a fault of their machine."""

    port_names = ("port", "rest")

    def __init__(self, cluster, name):
        super().__init__(cluster, name)
        # PostgreSQL refuses to run as root.
        self.user = "postgres" if os.geteuid() == 0 else None
        self.data = self.directory / "data"

    def prepare(self):
        super().prepare()
        # Every JSON document is a YAML document.
        secret(self.directory / "patroni.yml", json.dumps(self._settings(), indent=1), self.user)

    def _settings(self):
        passwords, cluster = self.cluster.plan["passwords"], self.cluster
        postgres, rest = (f"{self.host}:{self.port(which)}" for which in self.port_names)
        hosts = sorted({member.host for member in cluster.members} | set(cluster.client_hosts()))
        # `etcd` is version 2 of etcd's API. With version 3, `etcd3`, Patroni before 3.0.3 lets a primary that was
        # paused take the lock back from its successor. The successor's writes are then lost.
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
                # Otherwise the copy for the second member waits minutes for the next checkpoint of the first one.
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
        """`primary`, `standby` (synchronous) or `replica` (not synchronous). Empty when Patroni does not answer or its
        PostgreSQL has no such role."""
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
        """PostgreSQL's first process, or None. The data directory has a file with its pid, which may be outdated."""
        try:
            pid = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            at_home = os.readlink(f"/proc/{pid}/cwd") == str(self.data)
        except (OSError, ValueError, IndexError):
            return None
        return Process(pid) if at_home else None

    def family(self):
        # PostgreSQL continues when Patroni ends; its parent is then another process.
        return family([self.process, self.postmaster()])


def control_file(cluster):
    """The configuration file for `patronictl -c`."""
    password = cluster.plan["passwords"]["rest"]
    return json.dumps({
        "scope": SCOPE, "etcd": {"hosts": [cluster.etcd_address()]},
        "restapi": {"authentication": {"username": "patroni", "password": password}}})
