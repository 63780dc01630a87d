"""The texts that `Scripts/cluster` prints."""
import shlex

from .members import SCOPE, Member
from .nodes import Node

REQUESTS = """
Three requests:
  TOKEN=$(curl -s -X POST {url}/v1/guests | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
  curl -s -X PUT {url}/v1/bookmarks/hotel_25510 -H "Authorization: Bearer $TOKEN"
  curl -s {url}/v1/bookmarks -H "Authorization: Bearer $TOKEN"
"""

TRY = """
What to try, in another shell. Each says which signal it sent to which processes:"""

NODES = """
  Scripts/cluster kill node1         its requests on their way fail; all others go to other nodes at once
  Scripts/cluster restart node1      it is sent requests again once it is ready
  Scripts/cluster pause node2        its requests wait; within 3 seconds all new ones go to other nodes
  Scripts/cluster resume node2       and those that waited are answered"""

DATABASE = """
  Scripts/cluster crash primary      PostgreSQL dies: the standby takes over within 4 seconds
  Scripts/cluster kill primary       its machine dies: the standby takes over within 10 seconds, as ttl is 8
  Scripts/cluster pause primary      its machine hangs: the standby takes over within 12 seconds
  Scripts/cluster resume postgres1   what hung acknowledges nothing more, and is the standby within a minute
  Scripts/cluster restart postgres1  what was killed comes back as the standby
  Scripts/cluster kill standby       writes wait until the primary has given it up, 5 seconds at most
  Scripts/cluster switchover         standby and primary change places in 5 seconds, as for an upgrade; it is
    {switchover}
  Scripts/cluster kill etcd          nothing happens while both members reach each other; restart it

Scripts/cluster status tells who is what. Ctrl-C, or Scripts/cluster stop, ends it all."""


def advice(cluster, elsewhere):
    """The addresses of a cluster, and what to try. `elsewhere`: whether it is not in the default directory."""
    switchover = shlex.join(["patronictl", "-c", f"{cluster.directory}/patronictl.yml", "switchover", SCOPE])
    lines = [f"The database: psql '{cluster.database_url}'"]
    if cluster.nodes:
        lines = [f"{len(cluster.nodes)} nodes behind {cluster.url}", *lines,
                 f"The administrator's password: {cluster.directory}/node1/admin-password",
                 REQUESTS.format(url=cluster.url).rstrip()]
    lines += [TRY + (NODES if cluster.nodes else "") + DATABASE.format(switchover=switchover)]
    if elsewhere:
        lines.append(f"Each of these commands needs --directory {cluster.directory} as well.")
    return "\n".join(lines)


def status(cluster):
    """The state of each part, one line each."""
    return "\n".join(
        f"{part.name:10} {part.process.pid if part.runs() else '':>8} {f'{part.host}:{part.port()}':18} {_does(part)}"
        for part in cluster.parts.values())


def _does(part):
    if not part.runs():
        return "has ended"
    if part.paused():
        return "stands still"
    if isinstance(part, Member):
        postmaster = part.postmaster()
        return f"{part.role() or 'no part of it yet'}, PostgreSQL is process {postmaster.pid if postmaster else 'none'}"
    if isinstance(part, Node):
        return "ready" if part.ready() else "not ready"
    return "ready" if part.ready() else "does not answer"
