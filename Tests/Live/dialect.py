"""JSON texts that the tests of the dialect share, written byte by byte."""

DEEP = "[" * 600 + "]" * 600
"""An array nested deeper than documents may be."""


def post(database, path, text):
    return database.call(
        "POST", path, data=text.encode(), headers={"Content-Type": "application/json"})
