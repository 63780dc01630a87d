"""A cluster on one machine, to measure the effect of failures: etcd, two PostgreSQL servers under Patroni (a primary
and a synchronous standby), nodes of the service that use them, and HAProxy, which forwards requests to the nodes.

All parts listen on 127.0.0.1, or each part has its own network namespace, where links can be cut. All files are in one
scratch directory. Each process is identified by its pid and its start time, so that no other process gets a signal.

    with Cluster(directory, binary=binary) as cluster:
        cluster.kill("primary")

`Scripts/cluster` is this package's command line (`__main__`).
"""
from .cluster import Cluster
from .network import Loopback, Namespaces

__all__ = ["Cluster", "Loopback", "Namespaces"]
