"""nginx in front of a server: with its shortest configuration, and with the one in `Deploy`."""
import os
import shutil
import pwd
import socket
import subprocess

import pytest

from server import ROOT
from waiting import PATIENCE, wait_until

_CONFIGURATION = """
daemon off;
{user}
pid {directory}/pid;
error_log {directory}/errors;
events {{}}
http {{
  access_log off;
  client_body_temp_path {directory}/body;
  proxy_temp_path {directory}/proxied;
  fastcgi_temp_path {directory}/fastcgi;
  uwsgi_temp_path {directory}/uwsgi;
  scgi_temp_path {directory}/scgi;
  {site}
}}
"""
"""Keeps the process in a directory of its own."""
_SHORTEST = "server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass {url}; }} }}"


def deployed(certificate, key):
    """The site of `Deploy/nginx.conf`, with these files."""
    text = (ROOT / "Deploy" / "nginx.conf").read_text().replace("{", "{{").replace("}", "}}")
    for line, other in (("listen 443 ssl http2;", "listen 127.0.0.1:{port} ssl http2;"), ("listen [::]:443 ssl http2;", ""),
                        ("http://127.0.0.1:8080", "{url}"), ("/etc/ssl/bookmarks.pem", str(certificate)),
                        ("/etc/ssl/bookmarks.key", str(key))):
        assert line in text, line
        text = text.replace(line, other)
    return text


class Nginx:
    """nginx in front of a server, at `url`."""

    def __init__(self, directory, url, site=_SHORTEST):
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if not program:
            pytest.skip("nginx is not installed: Scripts/setup --tests")
        directory.mkdir()
        user = f"user {pwd.getpwuid(os.getuid()).pw_name};" if os.getuid() == 0 else ""
        file = directory / "nginx.conf"

        def begin():
            """Starts nginx at a free port, which another process may take before nginx does."""
            with socket.create_server(("127.0.0.1", 0)) as free:
                self.port = free.getsockname()[1]
            file.write_text(_CONFIGURATION.format(
                directory=directory, user=user, site=site.format(port=self.port, url=url)))
            self._process = subprocess.Popen([program, "-c", str(file), "-e", str(directory / "errors")])
            return wait_until(lambda: self._process.poll() is not None or self._answers(self.port)) \
                and self._process.poll() is None

        wait_until(begin, "nginx does not start")
        self.url = f"http://127.0.0.1:{self.port}"

    @staticmethod
    def _answers(port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(timeout=PATIENCE)
