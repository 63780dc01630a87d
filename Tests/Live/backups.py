"""Backups from the command line."""
import json
import subprocess

from server import BINARY


def run(*arguments, expect=0):
    """Runs a command, checks its exit status and returns its whole output."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == expect, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def manifest(backup):
    """The lines of a backup's manifest."""
    return [json.loads(line) for line in (backup / "manifest.ndjson").read_text().splitlines()]


def secrets_of(directory):
    """The files below a directory that users other than the owner may read or write."""
    return [path for path in [directory, *directory.rglob("*")] if path.stat().st_mode & 0o077]
