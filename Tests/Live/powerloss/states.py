"""Chooses the states of a recorded disk to check, and writes them as data directories."""
import hashlib
import os
import random
import shutil

from faults import file_of

from .disk import Disk
from .survival import KINDS, Survival, tree

_NAMING = ("open", "mkdir", "rename", "link", "unlink")


def write_tree(left, directory):
    """Writes the files of `tree` into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    for path, content in left.items():
        target = directory / path
        if content is None:
            target.mkdir(mode=0o700, exist_ok=True)
        else:
            target.write_bytes(content)
            target.chmod(0o600)


def _digest(left):
    """A digest of files and their names."""
    digest = hashlib.sha256()
    for name in sorted(left):
        digest.update(b"%d " % len(left[name]) + name.encode() + left[name])
    return digest.digest()


def _stores_in(directory):
    """The number of stores with files in a directory."""
    return sum(name.endswith(".sqlite") for name in os.listdir(directory))


class StoreStates:
    """States of single stores. Each directory gets one state of every store.

    Stores share nothing, so one directory may combine states of stores from cuts at different calls. All other files
    are those of the recording's end. Only stores that certainly exist at a cut take part. `DirectoryStates`
    covers the others.
    """

    def __init__(self, recording, directory, count, skips=frozenset(), exchanges=0):
        """Writes up to `count` directories below `directory`.

        With `exchanges`, it makes only cuts at steps where a new file replaces a store's file: that many per step.
        """
        self.recording, self.directory, self.count = recording, directory, count
        self.exchanges = exchanges
        self.disk = Disk(str(recording.data), skips)
        self.chance = random.Random(f"layers {recording.seed}")
        self.homes = {
            str(file_of(recording.data, person.ledger.key).parent): person
            for person in recording.people if not person.end}
        # Two stores may share a directory, one of them perhaps the accounts'. One of 1,300 recordings has such a pair.
        self.homes = {home: person for home, person in self.homes.items() if _stores_in(home) == 1}
        self.due = []
        """For each directory {person: step}: the latest step at which the store could be in this state."""
        self._seen = {}
        self._lay_out()

    @property
    def states(self):
        return len(self._seen)

    def _home(self, step):
        """The directory of the store that a step changes, or None."""
        path = step[2] if step[0] == "open" else (
            step[1] if isinstance(step[1], str) else self.disk.paths.get(step[1], ""))
        directory = os.path.dirname(path)
        return directory if directory in self.homes else None

    def _lay_out(self):
        shares = self._shares()
        settled = {}
        for index, step in enumerate(self.recording.steps):
            changed = self.disk.take(index, step)
            home = self._home(step) if changed and step[0] != "answer" else None
            if home is None or index <= settled.setdefault(home, self._settled(home)):
                continue
            if self.exchanges:
                # A compacted file replaces the old one. Many of the changes may be on the disk or not.
                for _ in range(self.exchanges if step[0] == "rename" else 0):
                    self._add(home, index, self.chance.choice(("prefix", "some", "but one")))
            else:
                # A commit may have two calls only, so each call gets several cuts.
                for _ in range(int(shares[home] + self.chance.random())):
                    self._add(home, index, self.chance.choice(KINDS))

    def _shares(self):
        """How many states to make per call of each store, on average, to reach about `count` states."""
        counts, paths = {}, {}
        for step in self.recording.steps:
            if step[0] == "open":
                paths[step[1]] = os.path.dirname(step[2])
            elif step[0] in ("write", "size", "synced"):
                counts[paths[step[1]]] = counts.get(paths[step[1]], 0) + 1
        return {home: 3.0 * self.count / max(1, counts.get(home, 1)) for home in self.homes}

    def _settled(self, home):
        """The step at which the store's first write was answered, so that the store certainly exists."""
        documents = self.homes[home].ledger.documents.values()
        return min(self.recording.answered[attempt.due]
                   for attempts in documents for attempt in attempts if attempt.due)

    def _add(self, home, index, kind):
        survival = Survival(kind, self.chance)
        directory, _ = self.disk.find(home + "/any")
        left = tree(directory, lambda node: survival)
        person, key = self.homes[home], home.encode() + _digest(left)
        if key in self._seen:
            self._seen[key][person] = index
            return
        layer = sum(person in due for due in self.due)
        if layer == self.count:
            return
        if layer == len(self.due):
            self._begin(layer)
        write_tree(left, self.directory / str(layer) / os.path.relpath(home, self.recording.data))
        self.due[layer][person] = index
        self._seen[key] = self.due[layer]

    def _begin(self, layer):
        """Makes a directory with all files except those of these stores."""
        target = self.directory / str(layer)
        around = {os.path.relpath(home, self.recording.data) for home in self.homes}

        def ignored(directory, names):
            below = os.path.relpath(directory, self.recording.data)
            return [name for name in names if os.path.normpath(os.path.join(below, name)) in around
                    or os.path.join(below, name) == "./control"]

        shutil.copytree(self.recording.data, target, ignore=ignored)
        self.due.append({})


class DirectoryStates:
    """States of the whole directory, each after one cut. Half of the cuts are at calls that change or sync directory
    entries, at which stores, accounts and keys are created or removed."""

    def __init__(self, recording, count, skips=frozenset(), kinds=KINDS, people=None, after=0):
        """`people` are the recording's people, if it does not know them itself. `after` is the first step to
        use."""
        self.recording, self.kinds = recording, kinds
        self.people = recording.people if people is None else people
        self.skips = skips
        self.chance = random.Random(f"moments {recording.seed}")
        self.indexes = self._picked(count, after)

    def _picked(self, count, after):
        steps = self.recording.steps
        changing = [index for index, step in enumerate(steps)
                    if step[0] not in ("answer", "sync") and index >= after]
        naming = [index for index in changing if steps[index][0] in _NAMING]
        naming = [index + self.chance.randint(0, 2) for index in naming if index + 2 < len(steps)]
        half = self.chance.sample(naming, min(count // 2, len(naming)))
        return sorted(half + self.chance.sample(changing, min(count - len(half), len(changing))))

    def lay_out(self, directory):
        """Yields (step, kind of cut, data directory, {person: digest of the store's files}).

        Each digest includes the registry's files, because they decide what a store's files mean.
        """
        disk = Disk(str(self.recording.data), self.skips, self.recording.initial)
        number, wanted = 0, list(self.indexes)
        for index, step in enumerate(self.recording.steps):
            disk.take(index, step)
            while wanted and wanted[0] == index:
                wanted.pop(0)
                number += 1
                kind, survival = self._survival()
                target, left = directory / str(number), tree(disk.top, survival)
                write_tree(left, target)
                yield index, kind, target, self._digests(left)

    def _digests(self, left):
        registry = _digest({path: left[path] for path in left if path.startswith("registry.")})
        homes = {}
        for path, content in left.items():
            if content is not None:
                homes.setdefault(os.path.dirname(path), {})[path] = content
        return {
            person: registry + _digest(homes.get(os.path.dirname(self._path(person)), {}))
            for person in self.people}

    def _path(self, person):
        return os.path.relpath(file_of(self.recording.data, person.ledger.key), self.recording.data)

    def _survival(self):
        """One kind of cut for all files, or one for each file."""
        if self.chance.random() < 0.5:
            survival = Survival(self.chance.choice(self.kinds), self.chance)
            return survival.kind, lambda node: survival
        return "mixed", lambda node: Survival(self.chance.choice(self.kinds), self.chance)
