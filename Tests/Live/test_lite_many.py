"""Couchbase Lite's sync, when a device has much to send at once."""
import pytest

from attachments import some
from conftest import NIGHTLY
from couch import Administrator
from phone import Phone
from test_lite import account, another, database, phone  # noqa: F401

MIB = 1 << 20


def test_a_first_push_of_many_documents_with_blobs(phone, account):
    """LiteCore sends 2 MiB of revisions before it waits for an answer, and these wait for their blobs."""
    names = [f"d{number}" for number in range(1_500 if NIGHTLY else 500)]
    for number, name in enumerate(names):
        phone.edit(name, {"pic": phone.blob(some(20, number))})
    for start in range(0, len(names), 200):
        assert not any(phone.propose(*names[start:start + 200]))
    numbers = [phone.send(name) for name in names]
    assert [phone.blip.answer(number).error for number in numbers] == [None] * len(names)
    assert another(account).pull().keys() == set(names)


def test_long_documents_with_blobs_come_at_once(phone, account):
    names = [f"d{number}" for number in range(10)]
    for number, name in enumerate(names):
        phone.edit(name, {"texts": ["x" * 100_000] * 6, "pic": phone.blob(some(300_000, number))})
    assert phone.push_in_turns(*names) == {}
    assert database(account).documents().keys() == set(names)


def test_documents_that_are_too_long_are_refused_alone_when_they_come_at_once(phone, account):
    phone.blip.compress = False
    names = [f"d{number}" for number in range(10)]
    for name in names:
        phone.edit(name, {"text": "x" * (2 * MIB)})
    phone.edit("right", {"n": 1})
    assert phone.push_in_turns(*names) == {name: ("HTTP", 413) for name in names}
    assert phone.push("right") == {}
    assert database(account).documents().keys() == {"right"}


@pytest.mark.nightly
def test_long_documents_of_the_administrator_come_at_once(tmp_path):
    administrator = Administrator(tmp_path)
    try:
        made = administrator.create()
        phone = Phone(administrator.server, made.name, auth=administrator.auth, compress=False).connect()
        names = [f"d{number}" for number in range(10)]
        for name in names:
            phone.edit(name, {"text": "x" * 7_000_000})
        assert phone.push_in_turns(*names) == {}
        rows = made.call("GET", "/_all_docs").json()["rows"]
        assert [row["id"] for row in rows] == names
    finally:
        administrator.server.stop()
