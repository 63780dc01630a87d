"""Calls over a server's control socket, with the same checks as over its port."""
import socket

import requests
import urllib3


class _Connection(urllib3.connection.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class _Pool(urllib3.HTTPConnectionPool):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def _new_conn(self):
        return _Connection(self.path)


class _Adapter(requests.adapters.HTTPAdapter):
    def __init__(self, path):
        super().__init__()
        self.pool = _Pool(path)

    def get_connection_with_tls_context(self, *_, **__):
        return self.pool


def session(server):
    """A session for `server.call` that goes through the control socket."""
    session = requests.Session()
    session.mount("http://", _Adapter(str(server.data / "control")))
    return session
