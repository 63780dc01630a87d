"""Proxies that people put in front of a server, each with its shortest configuration."""
import os
import shutil
import pwd
import socket
import subprocess

import pytest

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
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass {url}; }}
  }}
}}
"""
"""The one line that matters is `proxy_pass`. The others keep the process in a directory of its own."""


class Nginx:
    """nginx in front of a server, at `url`."""

    def __init__(self, directory, url):
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
        if not program:
            pytest.skip("nginx is not installed: Scripts/setup --tests")
        directory.mkdir()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        file = directory / "nginx.conf"
        file.write_text(_CONFIGURATION.format(
            directory=directory, port=port, url=url, user=f"user {pwd.getpwuid(os.getuid()).pw_name};" * (os.getuid() == 0)))
        self.url = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen([program, "-c", str(file), "-e", str(directory / "errors")])
        wait_until(lambda: self._answers(port), "nginx does not listen")

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
