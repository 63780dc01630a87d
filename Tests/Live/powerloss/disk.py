"""A disk's state after a series of calls: what is certainly on it, and what may be."""
import dataclasses


class File:
    """A file's bytes: `certain` is on the disk, `pending` may be, in the order of the calls."""

    def __init__(self, certain=b""):
        self.certain = certain
        self.pending = []
        self.length = len(certain)
        """What the running system sees."""

    def change(self, change):
        self.pending.append(change)
        self.length = change.length if isinstance(change, Size) else max(self.length, change.end)

    def make_certain(self, changes):
        content = bytearray(self.certain)
        for change in changes:
            change.apply(content)
        self.certain = bytes(content)
        done = {id(change) for change in changes}
        self.pending = [change for change in self.pending if id(change) not in done]


class Directory:
    """A directory's entries: those that are certain, those that may exist, and those that the running system sees."""

    def __init__(self):
        self.certain, self.pending, self.seen = {}, [], {}

    def change(self, names):
        """Adds names of nodes or removes names, in one step."""
        self.pending.append(names)
        assign(self.seen, names)

    def make_certain(self, changes):
        for change in changes:
            assign(self.certain, change)
        done = {id(change) for change in changes}
        self.pending = [change for change in self.pending if id(change) not in done]


def assign(names, change):
    """Applies one change of a directory's entries."""
    for name, node in change.items():
        if node is None:
            names.pop(name, None)
        else:
            names[name] = node


@dataclasses.dataclass(frozen=True, eq=False)
class Write:
    offset: int
    data: bytes

    @property
    def end(self):
        return self.offset + len(self.data)

    def apply(self, content):
        if len(content) < self.offset:
            content.extend(bytes(self.offset - len(content)))
        content[self.offset:self.offset + len(self.data)] = self.data


@dataclasses.dataclass(frozen=True, eq=False)
class Size:
    length: int

    def apply(self, content):
        del content[self.length:]
        content.extend(bytes(self.length - len(content)))


class Disk:
    """The data directory, changed step by step.

    `skips` has the numbers of syncs that are left out. With it, tests show what a server without them would lose.
    """

    def __init__(self, root, skips=frozenset(), initial=None):
        """`initial` is what is certainly on the disk: {relative path: bytes, or None for a directory}."""
        self.root, self.skips = root, skips
        self.top = Directory()
        for path in sorted(initial or {}):
            directory, name = self.find(f"{root}/{path}")
            node = Directory() if initial[path] is None else File(initial[path])
            directory.certain[name] = directory.seen[name] = node
        self.open, self.paths, self.syncing = {}, {}, {}

    def take(self, index, step):
        """Carries out one step. Returns the directories and files that it changed or synced.

        `index` is the step's number, for `skips`.
        """
        kind, *rest = step
        return getattr(self, "_" + kind)(index, *rest)

    def find(self, path):
        """(directory, name) of a path. The directory is None if it does not exist."""
        node, parts = self.top, path[len(self.root):].strip("/").split("/")
        for part in parts[:-1]:
            node = node and node.seen.get(part)
        return node, parts[-1]

    def _node(self, path):
        directory, name = self.find(path)
        return self.top if not name else directory.seen[name]

    def _open(self, _, serial, path, creates, truncates):
        directory, name = self.find(path)
        changed = []
        if creates and name and name not in directory.seen:
            directory.change({name: File()})
            changed = [directory]
        node = self.open[serial] = self._node(path)
        self.paths[serial] = path
        if truncates and isinstance(node, File):
            node.change(Size(0))
            changed.append(node)
        return changed

    def _write(self, _, serial, offset, data):
        file = self.open[serial]
        file.change(Write(file.length if offset is None else offset, data))
        return [file]

    def _size(self, _, serial, length):
        self.open[serial].change(Size(length))
        return [self.open[serial]]

    def _sync(self, index, serial, thread):
        self.syncing[thread] = [] if index in self.skips else list(self.open[serial].pending)
        return []

    def _synced(self, _, serial, thread):
        changes = self.syncing.pop(thread)
        self.open[serial].make_certain(changes)
        return [self.open[serial]] if changes else []

    def _mkdir(self, _, path):
        if path == self.root:
            return []
        directory, name = self.find(path)
        directory.change({name: Directory()})
        return [directory]

    def _unlink(self, _, path):
        directory, name = self.find(path)
        directory.change({name: None})
        return [directory]

    def _link(self, _, path, new):
        directory, name = self.find(new)
        directory.change({name: self._node(path)})
        return [directory]

    def _rename(self, _, path, new):
        (old_directory, old), (directory, name) = self.find(path), self.find(new)
        if directory is not old_directory:
            raise ValueError(f"renamed from one directory to another: {path} {new}")
        directory.change({name: directory.seen[old], old: None})
        return [directory]

    def _answer(self, _, port):
        return []
