"""Tests the model of the power-loss replay: what a cut may lose, and what it may not."""
import random

import pytest

from powerloss import trace
from powerloss.disk import Disk
from powerloss.survival import KINDS, Survival, tree

MADE = [("open", 1, "/d/a", True, False), ("write", 1, 0, b"first")]
SYNCED = [("sync", 1, "t"), ("synced", 1, "t")]
NAMED = [("open", 2, "/d", False, False), ("sync", 2, "t"), ("synced", 2, "t")]


def left(steps, kind, seed=0, skips=frozenset()):
    """What a cut of one kind leaves after the steps."""
    disk = Disk("/d", skips)
    for index, step in enumerate(steps):
        disk.take(index, step)
    survival = Survival(kind, random.Random(seed))
    return tree(disk.top, lambda node: survival)


def all_left(steps, skips=frozenset()):
    """All results of many cuts of all kinds for the file `a`."""
    return {left(steps, kind, seed, skips).get("a") for kind in KINDS for seed in range(40)}


def test_what_was_synchronised_with_its_name_stays():
    assert all_left(MADE + SYNCED + NAMED) == {b"first"}


def test_a_name_whose_directory_was_not_synchronised_may_be_gone():
    assert None in all_left(MADE + SYNCED)


def test_bytes_that_were_not_synchronised_may_be_gone_but_their_file_stays():
    found = all_left(MADE + NAMED)
    assert {b"", b"first", bytes(5)} <= found and None not in found


def test_a_write_after_the_synchronisation_began_is_not_covered_by_it():
    steps = MADE + NAMED + [("sync", 1, "t"), ("write", 1, 0, b"later"), ("synced", 1, "t")]
    assert {b"first", b"later"} <= all_left(steps)


def test_writes_are_torn_at_sectors():
    steps = MADE + [("size", 1, 0), ("write", 1, 0, bytes(1024))] + SYNCED + NAMED
    found = all_left(steps + [("write", 1, 0, b"x" * 1024)])
    assert b"x" * 512 + bytes(512) in found and bytes(512) + b"x" * 512 in found


def test_a_later_write_may_be_there_without_an_earlier_one():
    steps = MADE + SYNCED + NAMED + [("write", 1, 0, b"F"), ("write", 1, 4, b"T")]
    assert {b"first", b"First", b"firsT", b"FirsT"} <= all_left(steps)


def test_a_rename_is_done_or_not_and_needs_its_directory():
    steps = MADE + SYNCED + NAMED + [("rename", "/d/a", "/d/b")]
    names = {tuple(left(steps, kind, seed)) for kind in KINDS for seed in range(20)}
    assert names == {("a",), ("b",)}
    assert left(steps + NAMED, "nothing") == {"b": b"first"}


def test_a_cut_file_may_have_its_old_length_again():
    steps = MADE + SYNCED + NAMED + [("size", 1, 0)]
    assert {b"first", b""} <= all_left(steps)


def test_a_skipped_synchronisation_makes_nothing_certain():
    assert b"" in all_left(MADE + SYNCED + NAMED, skips={2})


def test_calls_of_several_threads_are_put_together(tmp_path):
    file, hex_of = tmp_path / "trace", lambda text: "".join(f"\\x{byte:02x}" for byte in text)
    file.write_text(
        f'7 openat(AT_FDCWD, "{hex_of(b"/d/a")}", O_RDWR|O_CREAT, 0600) = 5\n'
        "8 getpeername(9, {sa_family=AF_INET, sin_port=htons(4711), "
        'sin_addr=inet_addr("\\x31")}, [16]) = 0\n'
        f'7 pwrite64(5, "{hex_of(b"ab")}", 2, 4 <unfinished ...>\n'
        f'8 writev(9, [{{iov_base="{hex_of(b"HTTP/1.1 200 OK")}", iov_len=15}}], 1) = 15\n'
        "7 <... pwrite64 resumed>) = 2\n"
        "7 fdatasync(5 <unfinished ...>\n"
        f'8 openat(AT_FDCWD, "{hex_of(b"/etc/x")}", O_RDONLY) = 6\n'
        "7 <... fdatasync resumed>) = 0\n7 close(5) = 0\n8 ???( <detached ...>\n7 +++ exited with 0 +++\n")
    assert list(trace.steps(file, lambda path: path.startswith("/d"))) == [
        ("open", 1, "/d/a", True, False), ("answer", 4711), ("write", 1, 4, b"ab"),
        ("sync", 1, "7"), ("synced", 1, "7")]


def test_a_thread_whose_call_could_not_be_read_makes_no_more_calls(tmp_path):
    file = tmp_path / "trace"
    file.write_text("7 ???( <detached ...>\n7 close(5) = 0\n")
    with pytest.raises(ValueError, match="after the end of its thread"):
        list(trace.steps(file, lambda path: True))
