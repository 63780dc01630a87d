"""Reads strace(1)'s output: the calls that change files and the calls that send responses, in order."""
import re

CALLS = ("openat,open,creat,close,write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,"
         "ftruncate,truncate,fallocate,fsync,fdatasync,sync_file_range,"
         "rename,renameat,renameat2,link,linkat,symlink,symlinkat,"
         "unlink,unlinkat,rmdir,mkdir,mkdirat,mmap,dup,dup2,dup3,getpeername")
"""The calls that are recorded."""

COMMAND = ["strace", "-f", "-qq", "--seccomp-bpf", "-xx", "-s", str(1 << 22), "-e", "signal=none",
           "-e", "trace=" + CALLS]
"""strace writes each byte in full as `\\x` and two digits."""

_WHOLE = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+|\?)(?: .*)?$", re.S)
_PORT = re.compile(r"sin_port=htons\((\d+)\)")
_SILENT = {"dup", "dup2", "dup3", "creat", "open", "symlink", "symlinkat", "fallocate", "pwritev",
           "pwritev2", "sync_file_range", "renameat", "renameat2", "linkat", "unlinkat", "rmdir",
           "mkdirat", "truncate"}
"""Calls that the server does not make on its files today. If one appears, reading stops: without the call, the model
would prove nothing."""


def steps(path, is_ours):
    """The steps of a recording as tuples that begin with their kind. `is_ours` tells which files matter.

    A change counts at the end of its call. A sync is `sync` at its beginning and `synced` at its end. A response counts
    at the beginning of the call that sends it, because the client may already have it then.

    A thread that the process's end catches on its way into a call is shown as `???( <detached ...>`: strace could not
    read the call any more, and the kernel never made it.
    """
    reader = _Reader(is_ours)
    begun, ended = {}, set()
    with open(path, errors="surrogateescape") as lines:
        for line in lines:
            thread, text = line.rstrip("\n").split(maxsplit=1)
            if text.startswith(("+++", "---", "strace:")):
                continue
            if thread in ended:
                raise ValueError(f"a call after the end of its thread: {text[:200]}")
            if text.startswith("?") and text.endswith("<detached ...>"):
                ended.add(thread)
                continue
            if text.startswith("<..."):
                rest = text.split("resumed>", 1)[1]
                text = begun.pop(thread) + rest
            else:
                name, arguments = text.split("(", 1)
                unfinished = arguments.removesuffix(" <unfinished ...>")
                yield from reader.begin(thread, name, unfinished)
                if unfinished is not arguments and len(unfinished) != len(arguments):
                    begun[thread] = f"{name}({unfinished}"
                    continue
            found = _WHOLE.match(text)
            if not found:
                raise ValueError(f"not understood: {text[:200]}")
            name, arguments, result = found.groups()
            if result != "?" and int(result, 0) >= 0:
                yield from reader.end(thread, name, arguments, int(result, 0))


class _Reader:
    """Follows file descriptors from open to close."""

    def __init__(self, is_ours):
        self.is_ours = is_ours
        self.files = {}
        """For each open file of the server's data: its serial number and the position of the next write."""
        self.peers = {}
        self.count = 0

    def begin(self, thread, name, arguments):
        if name in ("close", "fsync", "fdatasync", "write", "writev", "sendto", "sendmsg"):
            number = int(re.match(r"\d+", arguments).group())
            if name == "close":
                self.files.pop(number, None)
                self.peers.pop(number, None)
            elif name in ("fsync", "fdatasync"):
                if number in self.files:
                    yield ("sync", self.files[number][0], thread)
            elif number in self.peers and _first(arguments).startswith(b"HTTP/1.1 "):
                yield ("answer", self.peers[number])

    def end(self, thread, name, arguments, result):
        if name == "getpeername":
            port = _PORT.search(arguments)
            if port:
                self.peers[int(arguments.split(",")[0])] = int(port.group(1))
        elif name == "openat":
            yield from self._opened(arguments, result)
        elif name in ("fsync", "fdatasync"):
            if int(arguments) in self.files:
                yield ("synced", self.files[int(arguments)][0], thread)
        elif name in ("rename", "link", "unlink", "mkdir"):
            paths = [_decoded(text).decode() for text in arguments.split('"')[1::2]]
            if all(self.is_ours(path) for path in paths):
                yield (name, *paths)
        elif name in ("write", "pwrite64", "ftruncate", "writev"):
            yield from self._changed(name, arguments, result)
        elif name == "mmap":
            parts = arguments.split(", ")
            writes = "MAP_SHARED" in parts[3] and "PROT_WRITE" in parts[2]
            if writes and int(parts[4]) in self.files:
                raise ValueError(f"a mapped file is written: {arguments}")
        elif name in _SILENT:
            self._refuse(name, arguments)

    def _opened(self, arguments, result):
        _, text, flags = arguments.split('"')
        path = _decoded(text).decode()
        if self.is_ours(path):
            self.count += 1
            # The position of the next write. None means the end of the file.
            self.files[result] = [self.count, None if "O_APPEND" in flags else 0]
            yield ("open", self.count, path, "O_CREAT" in flags, "O_TRUNC" in flags)

    def _changed(self, name, arguments, result):
        number = int(arguments.split(",", 1)[0])
        if number not in self.files:
            return
        file = self.files[number]
        if name == "ftruncate":
            yield ("size", file[0], int(arguments.split(", ")[1]))
        elif name == "pwrite64":
            _, text, rest = arguments.split('"')
            yield ("write", file[0], int(rest.split(", ")[2]), _decoded(text)[:result])
        elif name == "write":
            yield ("write", file[0], file[1], _decoded(arguments.split('"')[1])[:result])
            file[1] = None if file[1] is None else file[1] + result
        else:
            self._refuse(name, arguments)

    def _refuse(self, name, arguments):
        paths = [_decoded(text).decode(errors="replace") for text in arguments.split('"')[1::2]]
        number = re.match(r"\d+", arguments)
        is_open = number and int(number.group()) in self.files
        if is_open or any(self.is_ours(path) for path in paths):
            raise ValueError(f"{name} is not modelled: {arguments[:200]}")


def _decoded(text):
    return bytes.fromhex(text.replace("\\x", ""))


def _first(arguments):
    """The first bytes of the first text argument of a write call."""
    start = arguments.find('"') + 1
    return _decoded(arguments[start:start + 4 * 16].split('"')[0]) if start else b""
