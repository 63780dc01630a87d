"""The command line of `Scripts/cluster`. The first lines of that script list the commands."""
import argparse
import os
import pathlib
import shlex
import signal
import sys
import tempfile
import time

from .advice import advice, status
from .cluster import Cluster
from .network import is_free
from .parts import ClusterError
from .processes import Process

DIRECTORY = pathlib.Path(tempfile.gettempdir()) / f"hotel-bookmarks-cluster-{os.getuid()}"
ON_PARTS = {"kill": "kill -9", "crash": "kill -9", "pause": "kill -STOP", "resume": "kill -CONT"}


def arguments(words):
    """Parses the command line."""
    parser = argparse.ArgumentParser(prog="Scripts/cluster", description="See the head of Scripts/cluster.")
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("start", help="starts everything and stays until Ctrl-C")
    start.add_argument("--nodes", type=int, default=3, help="nodes of the service; 0 for the database alone (3)")
    start.add_argument("--port", type=int, default=8080, help="where HAProxy listens, 0 for a free one (8080)")
    start.add_argument("--binary", type=pathlib.Path, help="the service, instead of a release build")
    start.add_argument("serve", nargs="*", metavar="-- FLAG", help="more flags for each node's serve")
    for command in ("status", "stop", "switchover"):
        commands.add_parser(command)
    for command in (*ON_PARTS, "restart"):
        commands.add_parser(command).add_argument("part", help="such as node1, postgres1, primary, standby, etcd")
    for command in commands.choices.values():
        command.add_argument("--directory", type=pathlib.Path, default=DIRECTORY,
                             help="a scratch directory, made at the start and removed at the end (%(default)s)")
    return parser.parse_args(words)


def keep(options):
    """Starts a cluster, waits for a signal, and stops the cluster."""
    def leave(*_):
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, leave)
    if options.nodes and not options.binary:
        raise ClusterError("a cluster with nodes needs --binary")
    if options.nodes and not is_free(options.port):
        raise ClusterError(f"port {options.port} is taken; choose another --port")
    binary = options.binary and options.binary.resolve()
    cluster = Cluster(options.directory, binary, options.nodes, options.port, options.serve)
    if cluster.directory.exists():
        raise ClusterError(f"{cluster.directory} is there already; Scripts/cluster stop ends the cluster in it")
    try:
        print(f"starting etcd, PostgreSQL and {options.nodes} nodes in {cluster.directory}", flush=True)
        cluster.start()
        print(advice(cluster, options.directory != DIRECTORY), flush=True)
        while cluster.directory.exists():
            time.sleep(0.5)
            for part in cluster.parts.values():
                # Reaps processes that have ended.
                part.runs()
    except KeyboardInterrupt:
        pass
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        print("\nstopping", flush=True)
        cluster.stop()


def stop(directory):
    """Stops a cluster. The process that started it does that; if it has ended, this process does."""
    cluster = Cluster.load(directory)
    keeper = cluster.keeper
    keeper.signal(signal.SIGTERM)
    deadline = time.monotonic() + 90
    while keeper.runs() and time.monotonic() < deadline:
        time.sleep(0.1)
    if cluster.directory.exists():
        cluster.stop()


def act(options):
    """Runs a command on a running cluster and prints what it did."""
    cluster, command = Cluster.load(options.directory), options.command
    if command == "status":
        print(status(cluster))
    elif command == "switchover":
        print(shlex.join(cluster.switchover_command()), flush=True)
        print(cluster.switchover())
    elif command == "restart":
        part = cluster.restart(options.part)
        print(f"{part.name} is process {part.process.pid}")
    else:
        pids = getattr(cluster, command)(options.part)
        print(ON_PARTS[command], *pids)


def main():
    options = arguments(sys.argv[1:])
    try:
        if options.command == "start":
            keep(options)
        elif options.command == "stop":
            stop(options.directory)
        else:
            act(options)
    except ClusterError as error:
        raise SystemExit(f"Scripts/cluster: {error}") from None


if __name__ == "__main__":
    main()
