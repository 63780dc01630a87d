"""One document with many long branches, which one request reads or writes thousands of times."""
import pytest

from hostile_load import run_hostile_load


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["a tree's reads", "a tree's writes"])
def test_a_document_of_many_branches_holds_nobody_up(start, name):
    statuses = run_hostile_load(start("--guests-per-hour", "100000"), name)
    assert set(statuses) <= {200, 201, 400, 409, 413, 429, 503, 507}, statuses
