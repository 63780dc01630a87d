"""Nodes of the service."""
from .parts import Part, get, secret


class Node(Part):
    """One node. No other node needs the files in its directory."""

    port_names = ("port", "operations")

    def __init__(self, cluster, name):
        super().__init__(cluster, name)
        self.under, self.variables = [], {}
        """The first words of its command, such as env(1), and more environment variables: a test may fake its clock."""

    def prepare(self):
        super().prepare()
        secret(self.directory / "admin-password", self.cluster.plan["passwords"]["admin"])

    def command(self):
        return [*self.under, self.cluster.plan["binary"], "serve", "--hostname", self.host, "--port", self.port(),
                "--operations-port", self.port("operations"), "--data", self.directory / "data",
                "--admin-password-file", self.directory / "admin-password",
                "--trusted-proxies", f"{self.cluster.network.host('proxy')}/32", *self.cluster.plan["arguments"]]

    def environment(self):
        return {"HOTEL_BOOKMARKS_DATABASE": self.cluster.database_url, **self.variables}

    def ready(self):
        return get(self.host, self.port("operations"), "/readyz")[0] == 200

    @property
    def url(self):
        return f"http://{self.host}:{self.port()}"
