"""Many regular expressions over many texts: their owner's account is charged, and others are served first."""
import pytest

from siege import besiege


@pytest.mark.nightly
def test_costly_queries_hold_nobody_up(start):
    statuses = besiege(start("--guests-per-hour", "100000"), "queries")
    assert set(statuses) <= {200, 400, 429, 503}, statuses
