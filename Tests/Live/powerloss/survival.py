"""One of the many possible results of a power cut for a file or a directory."""
from .disk import Directory, File, Size, Write, assign

KINDS = (
    "nothing", "everything", "prefix", "some", "but one", "sectors", "pages", "length", "garbage")
"""How much of the pending changes survives: nothing; everything; all changes before some call; any of the calls; all
but one; of each write any sectors, or any pages; the lengths without the bytes; all, with garbage in some sectors of
the last write."""

_SECTOR, _PAGE = 512, 4096


class Survival:
    """One power cut with random results."""

    def __init__(self, kind, chance):
        self.kind, self.chance = kind, chance
        self.share = chance.choice([0.1, 0.5, 0.9])

    def content(self, file):
        """A file's bytes after the cut."""
        content, changes = bytearray(file.certain), file.pending
        if self.kind in ("sectors", "pages"):
            unit = _SECTOR if self.kind == "sectors" else _PAGE
            for change in self._chosen(changes, "everything"):
                self._torn(content, change, unit)
        elif self.kind == "length":
            self._lengths(content, changes)
        elif self.kind == "garbage":
            for change in changes:
                change.apply(content)
            self._spoil(content, changes)
        else:
            for change in self._chosen(changes, self.kind):
                change.apply(content)
        return bytes(content)

    def names(self, directory):
        """A directory's entries after the cut."""
        names = dict(directory.certain)
        kind = {"sectors": "some", "pages": "but one", "garbage": "prefix", "length": "everything"}
        for change in self._chosen(directory.pending, kind.get(self.kind, self.kind)):
            assign(names, change)
        return names

    def _chosen(self, changes, kind):
        if kind == "everything" or not changes:
            return changes
        if kind == "nothing":
            return []
        if kind == "prefix":
            return changes[:self.chance.randint(0, len(changes))]
        if kind == "but one":
            gone = self.chance.randrange(len(changes))
            return changes[:gone] + changes[gone + 1:]
        return [change for change in changes if self.chance.random() < self.share]

    def _torn(self, content, change, unit):
        """Applies the parts of a write that fall into a random choice of the file's units."""
        if isinstance(change, Size):
            if self.chance.random() < self.share:
                change.apply(content)
            return
        at, end = change.offset, change.end
        while at < end:
            stop = min(end, (at // unit + 1) * unit)
            if self.chance.random() < self.share:
                part = change.data[at - change.offset:stop - change.offset]
                Write(at, part).apply(content)
            at = stop

    def _lengths(self, content, changes):
        length = len(content)
        for change in changes:
            length = change.length if isinstance(change, Size) else max(
                length, change.end)
        Size(length).apply(content)

    def _spoil(self, content, changes):
        """Writes garbage into some sectors of the last write's range."""
        writes = [change for change in changes if isinstance(change, Write)]
        if not writes:
            return
        at, end = writes[-1].offset, min(writes[-1].end, len(content))
        while at < end:
            stop = min(end, (at // _SECTOR + 1) * _SECTOR)
            if self.chance.random() < self.share:
                content[at:stop] = self.chance.randbytes(stop - at)
            at = stop


def tree(directory, survival_of):
    """What is left: {relative path: bytes, or None for a directory}. `survival_of(node)` returns the cut of a
    node."""
    left = {}
    for name, node in sorted(survival_of(directory).names(directory).items()):
        if isinstance(node, Directory):
            left[name] = None
            for path, content in tree(node, survival_of).items():
                left[f"{name}/{path}"] = content
        elif isinstance(node, File):
            left[name] = survival_of(node).content(node)
    return left
