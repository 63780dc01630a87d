"""Which states of a recorded disk are looked at, and how they are laid out as data directories."""
import hashlib
import os
import random
import shutil

from faults import file_of

from .disk import Disk
from .survival import KINDS, Survival, tree

_NAMING = ("open", "mkdir", "rename", "link", "unlink")


def write_tree(left, directory):
    """Puts the files of `tree` into a directory."""
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
    """How many stores have their files there."""
    return sum(name.endswith(".sqlite") for name in os.listdir(directory))


class Layers:
    """States of each store by itself, one of each store laid into every directory.

    Stores share nothing, so a directory may hold one store as a cut at one call left it beside
    another as a cut at another call did; around them stands what the recording ended with. Only
    stores that exist for certain by then take part: the others are for `Moments`.
    """

    def __init__(self, recording, directory, count, skips=frozenset(), exchanges=0):
        """Lays out up to `count` directories below `directory`.

        With `exchanges` so many cuts of each moment at which a new file takes the place of a
        store's, and no others.
        """
        self.recording, self.directory, self.count = recording, directory, count
        self.exchanges = exchanges
        self.disk = Disk(str(recording.data), skips)
        self.chance = random.Random(f"layers {recording.seed}")
        self.homes = {
            str(file_of(recording.data, person.ledger.key).parent): person
            for person in recording.people if not person.end}
        # Two files may share a directory, the accounts' among them; one of 1,300 recordings has such a pair.
        self.homes = {home: person for home, person in self.homes.items() if _stores_in(home) == 1}
        self.due = []
        """For each directory {person: place}: the latest step at which the store could be so."""
        self._seen = {}
        self._lay_out()

    @property
    def states(self):
        return len(self._seen)

    def _home(self, step):
        """The directory of the store that a step is about."""
        path = step[2] if step[0] == "open" else (
            step[1] if isinstance(step[1], str) else self.disk.paths.get(step[1], ""))
        directory = os.path.dirname(path)
        return directory if directory in self.homes else None

    def _lay_out(self):
        shares = self._shares()
        settled = {}
        for place, step in enumerate(self.recording.steps):
            changed = self.disk.take(place, step)
            home = self._home(step) if changed and step[0] != "answer" else None
            if home is None or place <= settled.setdefault(home, self._settled(home)):
                continue
            if self.exchanges:
                # A compacted file takes the old one's place: much may be there or not.
                for _ in range(self.exchanges if step[0] == "rename" else 0):
                    self._add(home, place, self.chance.choice(("prefix", "some", "but one")))
            else:
                # A commit may be two calls only: each is then looked at in several ways.
                for _ in range(int(shares[home] + self.chance.random())):
                    self._add(home, place, self.chance.choice(KINDS))

    def _shares(self):
        """How often each call of a store's is looked at on average, to come to about so many states."""
        counts, paths = {}, {}
        for step in self.recording.steps:
            if step[0] == "open":
                paths[step[1]] = os.path.dirname(step[2])
            elif step[0] in ("write", "size", "synced"):
                counts[paths[step[1]]] = counts.get(paths[step[1]], 0) + 1
        return {home: 3.0 * self.count / max(1, counts.get(home, 1)) for home in self.homes}

    def _settled(self, home):
        """The step by which the store was first written to, and so is there for certain."""
        documents = self.homes[home].ledger.documents.values()
        return min(self.recording.answered[attempt.due]
                   for attempts in documents for attempt in attempts if attempt.due)

    def _add(self, home, place, kind):
        survival = Survival(kind, self.chance)
        directory, _ = self.disk.find(home + "/any")
        left = tree(directory, lambda node: survival)
        person, key = self.homes[home], home.encode() + _digest(left)
        if key in self._seen:
            self._seen[key][person] = place
            return
        layer = sum(person in due for due in self.due)
        if layer == self.count:
            return
        if layer == len(self.due):
            self._begin(layer)
        write_tree(left, self.directory / str(layer) / os.path.relpath(home, self.recording.data))
        self.due[layer][person] = place
        self._seen[key] = self.due[layer]

    def _begin(self, layer):
        """A directory with all that is no store of these."""
        target = self.directory / str(layer)
        around = {os.path.relpath(home, self.recording.data) for home in self.homes}

        def ignored(directory, names):
            below = os.path.relpath(directory, self.recording.data)
            return [name for name in names if os.path.normpath(os.path.join(below, name)) in around
                    or os.path.join(below, name) == "./control"]

        shutil.copytree(self.recording.data, target, ignore=ignored)
        self.due.append({})


class Moments:
    """States of the whole directory, each as one cut left it: half of them at calls that name
    files or synchronise names, where stores, accounts and keys come and go."""

    def __init__(self, recording, count, skips=frozenset(), kinds=KINDS, people=None, after=0):
        """`people` are those of the recording, if it does not know them itself; `after` is the
        first step that counts."""
        self.recording, self.kinds = recording, kinds
        self.people = recording.people if people is None else people
        self.skips = skips
        self.chance = random.Random(f"moments {recording.seed}")
        self.places = self._picked(count, after)

    def _picked(self, count, after):
        steps = self.recording.steps
        changing = [place for place, step in enumerate(steps)
                    if step[0] not in ("answer", "sync") and place >= after]
        naming = [place for place in changing if steps[place][0] in _NAMING]
        naming = [place + self.chance.randint(0, 2) for place in naming if place + 2 < len(steps)]
        half = self.chance.sample(naming, min(count // 2, len(naming)))
        return sorted(half + self.chance.sample(changing, min(count - len(half), len(changing))))

    def lay_out(self, directory):
        """Yields (place, kind of cut, data directory, {person: digest of the store's files}).

        The registry's files are part of each digest: what they say decides what a store's mean.
        """
        disk = Disk(str(self.recording.data), self.skips, self.recording.initial)
        number, wanted = 0, list(self.places)
        for place, step in enumerate(self.recording.steps):
            disk.take(place, step)
            while wanted and wanted[0] == place:
                wanted.pop(0)
                number += 1
                kind, survival = self._survival()
                target, left = directory / str(number), tree(disk.top, survival)
                write_tree(left, target)
                yield place, kind, target, self._digests(left)

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
        """One way for all files, or for each file its own."""
        if self.chance.random() < 0.5:
            survival = Survival(self.chance.choice(self.kinds), self.chance)
            return survival.kind, lambda node: survival
        return "mixed", lambda node: Survival(self.chance.choice(self.kinds), self.chance)
