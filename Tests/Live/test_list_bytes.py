"""The bytes of a list count for its owner, whoever writes them."""
from couch import Account
from faults import refused
from test_list_members import hand_on, join
from test_observers import make_list

LIMIT = 2 << 20
NOTE = "x" * 200_000


def write(account, path, title, text=NOTE):
    return account.server.call("PUT", f"{path}/notes/{title}", account.token, json={"markdown": text})


def fill(account, path):
    """Writes notes until one is refused, and returns their titles and the refusal."""
    titles = []
    for number in range(30):
        answer = write(account, path, f"{account.name}-{number}")
        if answer.status_code != 201:
            return titles, answer
        titles.append(f"{account.name}-{number}")
    raise AssertionError("the list took everything")


def remove(account, path, titles):
    for title in titles:
        answer = account.server.call("DELETE", f"{path}/notes/{title}", account.token)
        assert answer.status_code == 204, answer.text


def full(answer):
    return refused(answer) == (507, "quota_exceeded") and "this list's owner" in answer.json()["reason"]


def test_all_lists_of_an_owner_share_one_limit(start):
    server = start("--owned-list-bytes", str(LIMIT))
    limits = {row["name"]: row["value"] for row in server.call("GET", "/v1/limits").json()["limits"]}
    assert limits["ownedListBytes"] == LIMIT
    owner, editor = Account(server), Account(server)
    first, second = make_list(owner), make_list(owner)
    join(owner, first, editor, "editor")
    titles, refusal = fill(editor, first)
    assert 6 <= len(titles) <= 9 and full(refusal), refusal.text
    # The limit holds after a crash, and for the owner's other list, but not for anybody's own store and lists.
    server.kill()
    server = owner.server = editor.server = start("--owned-list-bytes", str(LIMIT), data=server.data)
    assert full(write(owner, first, "more"))
    others, refusal = fill(owner, second)
    assert len(others) <= 1 and full(refusal), refusal.text
    own = {"json": {"name": "N", "description": "x" * 20_000}}
    assert server.call("PUT", "/v1/bookmarks/one", owner.token, **own).status_code == 201
    other = make_list(editor)
    assert write(editor, other, "more").status_code == 201
    # A deletion is never refused, and makes room in both lists.
    remove(editor, first, titles)
    assert write(owner, second, "again").status_code == 201
    assert write(editor, first, "again").status_code == 201


def test_list_is_handed_on_to_a_member_with_room_and_ends_with_its_bytes(start):
    server = start("--owned-list-bytes", str(LIMIT))
    owner, member = Account(server), Account(server)
    path, own = make_list(owner), make_list(member)
    join(owner, path, member, "editor")
    for number in range(3):
        assert write(owner, path, f"n{number}").status_code == 201
    titles, _ = fill(member, own)
    refusal = hand_on(owner, path, member)
    assert refused(refusal) == (507, "quota_exceeded"), refusal.text
    assert "next owner" in refusal.json()["reason"]
    remove(member, own, titles)
    # The offer is still open.
    [offer] = server.call("GET", "/v1/invitations", member.token).json()["invitations"]
    assert server.call("POST", f"/v1/invitations/{offer['id']}/accept", member.token).status_code == 200
    # The bytes are the new owner's now.
    assert len(fill(owner, make_list(owner))[0]) >= 6
    assert len(fill(member, path)[0]) <= 5
    assert server.call("DELETE", path, member.token).status_code == 204
    assert len(fill(member, own)[0]) >= 6


def test_an_erased_owners_list_gets_no_more_bytes_before_a_member_with_room_accepts_it(start):
    server = start("--owned-list-bytes", str(LIMIT))
    owner, member = Account(server), Account(server)
    path = make_list(owner)
    join(owner, path, member, "editor")
    for number in range(3):
        assert write(owner, path, f"n{number}").status_code == 201
    own = make_list(member)
    titles, _ = fill(member, own)
    assert server.call("DELETE", "/v1/me?lists=handOn", owner.token).status_code == 204
    answer = server.call("GET", path, member.token)
    assert answer.status_code == 200 and answer.json()["owner"] == "" and owner.name not in answer.text
    more, refusal = fill(member, path)
    assert len(more) <= 2 and refused(refusal) == (507, "quota_exceeded")
    assert "no owner" in refusal.json()["reason"]
    [offer] = server.call("GET", "/v1/invitations", member.token).json()["invitations"]
    assert (offer["id"], offer["role"], "inviter" in offer) == (path[10:], "owner", False)
    accept = f"/v1/invitations/{offer['id']}/accept"
    refusal = server.call("POST", accept, member.token)
    assert refused(refusal) == (507, "quota_exceeded") and "next owner" in refusal.json()["reason"]
    remove(member, own, titles)
    answer = server.call("POST", accept, member.token)
    assert answer.status_code == 200 and answer.json()["owner"] == member.name, answer.text
    assert write(member, path, "more").status_code == 201
