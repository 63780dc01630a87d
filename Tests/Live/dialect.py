"""What the tests of the dialect share: JSON that is written here, byte by byte."""

DEEP = "[" * 600 + "]" * 600
"""An array nested deeper than documents may be."""


def post(database, path, text):
    return database.call(
        "POST", path, data=text.encode(), headers={"Content-Type": "application/json"})
