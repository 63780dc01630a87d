"""Finds the parts of a JSON text, so that documents are copied without a change of any byte.

A replicator that decoded and encoded a document would turn `1e2` into `100.0` and `-0` into `0`.
"""
import json
import re

_decode = json.JSONDecoder().raw_decode
_space = re.compile(r"[ \t\r\n]*")


def _skip(text, at):
    return _space.match(text, at).end()


def members(text, at=0):
    """The members of the object that begins at `at`: the position (start, end) of each value, by name."""
    return {name: span for name, span in _parts(text, at, named=True)}


def elements(text, at=0):
    """The elements of the array that begins at `at`, each as (start, end)."""
    return [span for _, span in _parts(text, at, named=False)]


def raw_members(text, at=0):
    """The members of the object that begins at `at`: the text of each value, by name."""
    return {name: text[start:end] for name, (start, end) in members(text, at).items()}


def _parts(text, at, named):
    opening, closing = "{}" if named else "[]"
    at = _skip(text, at)
    if text[at:at + 1] != opening:
        raise ValueError(f"{opening} expected at {at}")
    at = _skip(text, at + 1)
    while text[at:at + 1] != closing:
        name = None
        if named:
            name, at = _decode(text, at)
            at = _skip(text, at)
            if text[at:at + 1] != ":":
                raise ValueError(f": expected at {at}")
            at = _skip(text, at + 1)
        _, end = _decode(text, at)
        yield name, (at, end)
        at = _skip(text, end)
        if text[at:at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at:at + 1] != closing:
            raise ValueError(f", or {closing} expected at {at}")
