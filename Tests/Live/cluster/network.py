"""The addresses of a cluster's parts, and how to cut a link between two parts."""
import ctypes
import os
import random
import socket
import subprocess

PORTS = range(20_000, 32_000)
"""Below the ports of outgoing connections, so that the port of a part is still free when the part restarts."""


def is_free(port):
    """Whether no process listens on a port of 127.0.0.1."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_ports(count):
    """Returns `count` ports of 127.0.0.1 on which no process listens."""
    found = []
    while len(found) < count:
        port = random.choice(PORTS)
        if port not in found and is_free(port):
            found.append(port)
    return found


class Loopback:
    """All parts listen on 127.0.0.1. Links can't be cut."""

    def host(self, name):
        """The address of a part."""
        return "127.0.0.1"

    def prefix(self, name):
        """The first words of a part's command."""
        return []

    def cut(self, sender, receiver):
        raise OSError("on loopback no link can be cut; make the cluster with Namespaces(), as root")

    def heal(self):
        pass

    def close(self):
        pass


class Namespaces:
    """Each part has its own network namespace, and one bridge connects them all. Nothing else reaches the bridge. This
    class needs root.

    The thread that creates an object enters another namespace at the bridge, `tester`, until `close()`. So do the
    threads and processes that it starts later. A cut link silently drops packets, in one direction.
    """

    def __init__(self, names):
        self.mark = f"hb{os.getpid()}"
        self.names = ["tester", *names]
        self.cuts = []
        self.home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        try:
            self._make()
        except BaseException:
            self._remove()
            raise
        with open(f"/run/netns/{self._space('tester')}", "rb") as file:
            self._enter(file.fileno())

    def _make(self):
        self._ip("netns", "add", self._space("bridge"))
        self._inside("bridge", "link", "add", "bridge", "type", "bridge")
        self._inside("bridge", "link", "set", "bridge", "up")
        for number, name in enumerate(self.names):
            space = self._space(name)
            self._ip("netns", "add", space)
            # Creates the interface in its final namespace, so that its name never appears outside.
            self._inside("bridge", "link", "add", f"at{number}", "type", "veth", "peer", "name", "wire", "netns", space)
            self._inside("bridge", "link", "set", f"at{number}", "master", "bridge", "up")
            self._inside(name, "address", "add", f"{self.host(name)}/24", "dev", "wire")
            self._inside(name, "link", "set", "lo", "up")
            self._inside(name, "link", "set", "wire", "up")

    def _remove(self):
        for name in [*self.names, "bridge"]:
            if os.path.exists(f"/run/netns/{self._space(name)}"):
                self._ip("netns", "delete", self._space(name))

    def host(self, name):
        """The address of a part."""
        return f"10.77.0.{self.names.index(name) + 1}"

    def prefix(self, name):
        """The first words of a part's command."""
        return ["nsenter", f"--net=/run/netns/{self._space(name)}"]

    def cut(self, sender, receiver):
        """Cuts a link in one direction: packets then go to a hardware address that no interface has."""
        self._inside(sender, "neighbour", "replace", self.host(receiver), "lladdr", "02:00:00:00:00:00",
                     "nud", "permanent", "dev", "wire")
        self.cuts.append((sender, receiver))

    def heal(self):
        """Restores all links."""
        for sender, receiver in self.cuts:
            self._inside(sender, "neighbour", "delete", self.host(receiver), "dev", "wire")
        self.cuts = []

    def close(self):
        """Returns the thread to its former namespace and removes the others, in which no process may run any more."""
        self._enter(self.home)
        os.close(self.home)
        self._remove()

    def _space(self, name):
        return f"{self.mark}-{name}"

    def _enter(self, descriptor):
        library = ctypes.CDLL(None, use_errno=True)
        new_network = 0x40000000  # CLONE_NEWNET
        if library.setns(descriptor, new_network) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def _inside(self, name, *words):
        self._ip("-netns", self._space(name), *words)

    def _ip(self, *words):
        subprocess.run(["ip", *words], check=True, capture_output=True, timeout=20)
