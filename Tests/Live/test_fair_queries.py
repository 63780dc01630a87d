"""Many regular expressions over many texts: their owner's account is charged, and others are served first."""
import pytest

from hostile_load import run_hostile_load


@pytest.mark.nightly
def test_costly_queries_hold_nobody_up(start):
    statuses = run_hostile_load(start("--guests-per-hour", "100000"), "queries")
    assert set(statuses) <= {200, 400, 429, 503}, statuses
