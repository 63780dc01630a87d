"""Which cases of a test each run has."""
import pytest


def first(count, cases):
    """Cases for `parametrize`: each run has the first ones, the nightly run all."""
    return [case if index < count else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly)
            for index, case in enumerate(cases)]
