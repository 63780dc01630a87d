"""FAULTS F02 to F04: a power cut at any system call loses nothing that was acknowledged.

`BOOKMARKS_SEED` sets the seed that a failure prints, `BOOKMARKS_CUTS` the number of recordings. The package
`powerloss` describes the model.
"""
import asyncio
import concurrent.futures
import itertools
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

import pytest

from conftest import NIGHTLY
from ledger import Problem
from powerloss.opening import StateChecker
from powerloss.recording import Recording, Return
from powerloss.states import DirectoryStates, StoreStates
from powerloss.workload import COMPACTED
from server import BINARY

RECORDINGS = int(os.environ.get("BOOKMARKS_CUTS") or (4 if NIGHTLY else 1))
SEED = int(os.environ.get("BOOKMARKS_SEED") or (random.randrange(1_000_000) if NIGHTLY else 1))
DIRECTORIES, MOMENTS = (130, 300) if NIGHTLY else (10, 12)
"""How many directories with states of single stores, and how many states of the whole directory, a recording gives."""
FIRST, SECOND = (10, 20) if NIGHTLY else (2, 5)
"""How many first cuts are followed by a cut of the restart, and how many cuts each restart gets."""
SERVERS = 2
"""The number of rebuilt directories that are open at the same time."""


@pytest.fixture(scope="module", params=range(RECORDINGS))
def recording(request, tmp_path_factory):
    print(f"BOOKMARKS_SEED={SEED}")
    return Recording(tmp_path_factory.mktemp("power"), SEED + request.param)


@pytest.fixture
def checker(recording):
    return StateChecker(recording)


@pytest.fixture
def rebuilt(tmp_path):
    """Where disks are rebuilt: in memory if it has 2 GiB, because the data need not last."""
    memory = "/dev/shm"
    is_roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 1 << 31
    with tempfile.TemporaryDirectory(
            dir=memory if is_roomy else tmp_path, prefix="power-") as directory:
        yield pathlib.Path(directory)


def opened(checker, directories):
    """The problems of all directories. Some are open at the same time. Each is removed after its check.

    Each is (its label, directory, people with their steps, digests of their stores or None).
    """
    def problems(name, directory, due, digests):
        found = checker.problems(directory, due, digests)
        shutil.rmtree(directory)
        return [Problem(problem.kind, f"({name}) {problem.text}") for problem in found]

    found, directories = [], iter(directories)
    with concurrent.futures.ThreadPoolExecutor(SERVERS) as pool:
        while some := list(itertools.islice(directories, 4 * SERVERS)):
            for part in pool.map(lambda directory: problems(*directory), some):
                found += part
    return found


def scrubbed(directories):
    """What `verify` reports about directories in the state after the cuts. It checks every body and tree, older ones
    included."""
    if not directories:
        return []
    run = subprocess.run(
        [BINARY, "verify", *directories], capture_output=True, text=True, timeout=600)
    print(f"{len(directories)} directories verified")
    return [] if run.returncode == 0 else [Problem("damaged", f"verify: {run.stdout[-2000:]}")]


def store_problems(recording, checker, directory, count, skips=frozenset(), exchanges=0):
    """The problems of states of single stores, and the number of states."""
    written = StoreStates(recording, directory, count, skips, exchanges)
    damaged = [] if skips else scrubbed([
        directory / str(number) for number, due in enumerate(written.due)
        if len(due) == len(written.homes)])
    damaged += opened(checker, (
        ("stores", directory / str(number), due, None) for number, due in enumerate(written.due)))
    return damaged, written.states


def directory_problems(recording, checker, written, directory):
    """The problems of states of the whole directory. Before the first response, there is nobody to check."""
    first = min(recording.answered.values())
    return opened(checker, (
        (f"{kind} at {index}", path,
         {person: index for person in recording.people} if index >= first else {}, digests)
        for index, kind, path, digests in written.lay_out(directory)))


def shown(problems):
    lines = [f"{problem.kind} {problem.text}" for problem in problems[:12]]
    return "\n".join([f"{len(problems)}:", *lines])


def kinds_of(problems):
    return {problem.kind for problem in problems}


@pytest.mark.fault("F02")
def test_power_loss_at_any_call_loses_nothing_of_any_store(recording, checker, rebuilt):
    problems, states = store_problems(recording, checker, rebuilt, DIRECTORIES)
    print(f"{states} states of stores in {checker.opened} directories, {len(recording.steps)} steps")
    assert not problems, shown(problems)
    assert states > 20 * DIRECTORIES


@pytest.mark.fault("F04")
def test_no_old_log_stands_beside_a_compacted_file(recording, checker, rebuilt):
    """Regression: after a compaction, the new file had its name while a power cut could bring back the old file's log,
    which was emptied and removed. The log was applied to the new file and damaged it."""
    problems, states = store_problems(recording, checker, rebuilt, 30, exchanges=60)
    assert not problems, shown(problems)
    assert states >= COMPACTED + 1


@pytest.mark.fault("F03")
@pytest.mark.fault("F04")
def test_accounts_adoptions_and_erasures_are_whole(recording, checker, rebuilt):
    problems = directory_problems(recording, checker, DirectoryStates(recording, MOMENTS), rebuilt)
    print(f"{checker.opened} whole directories, {checker.read} states of stores")
    assert not problems, shown(problems)
    assert checker.opened == MOMENTS


@pytest.mark.fault("F04")
def test_a_second_cut_while_coming_back_from_the_first_loses_nothing(recording, checker, rebuilt):
    first = DirectoryStates(recording, FIRST, after=len(recording.steps) // 3)
    problems, count = [], 0
    for index, kind, data, digests in first.lay_out(rebuilt):
        due = {person: index for person in recording.people}
        back = Return(
            data, lambda server: asyncio.run(checker.check_people(server, due, digests)),
            recording.seed + index)
        problems += back.problems
        second = DirectoryStates(back, SECOND, people=recording.people)
        problems += opened(checker, (
            (f"{kind} at {index}, then {other} at {step}", path, due, these)
            for step, other, path, these in second.lay_out(rebuilt / "second")))
        count += len(second.indexes)
        shutil.rmtree(data)
    print(f"{count} disks after two cuts")
    assert not problems, shown(problems)
    assert count == FIRST * SECOND


@pytest.mark.fault("F02")
def test_without_the_log_synchronised_losses_are_reported(recording, checker, rebuilt):
    """With `synchronous=NORMAL`, SQLite syncs the log before it copies it into the file, but not at a
    commit."""
    problems, _ = store_problems(recording, checker, rebuilt, 5, recording.commits())
    assert kinds_of(problems) == {"lost"}, shown(problems)


@pytest.mark.nightly
@pytest.mark.fault("F03")
def test_without_directories_synchronised_losses_are_reported(recording, checker, rebuilt):
    written = DirectoryStates(recording, 2, recording.namings(), ("nothing",), after=len(recording.steps) // 2)
    problems = directory_problems(recording, checker, written, rebuilt)
    assert "lost" in kinds_of(problems), shown(problems)
