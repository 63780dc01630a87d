"""A cluster on one machine, to try what a loss costs: etcd, two PostgreSQL servers under Patroni (a primary and a
synchronous standby), nodes of the service over both, and HAProxy in front.

Everything listens on 127.0.0.1, or each part in a network namespace of its own, where links can be cut. All files are
in one scratch directory, and each process is known by its pid and its start: nothing else is ever signalled.

    with Cluster(directory, binary=binary) as cluster:
        cluster.kill("primary")

`Scripts/cluster` is this package's command line (`__main__`).
"""
from .cluster import Cluster
from .network import Loopback, Namespaces

__all__ = ["Cluster", "Loopback", "Namespaces"]
