"""What other people can do to a user through lists: invitations, room that runs out, and names that stay (issue 34)."""
import os

import pytest

import postgres
from couch import Account, Database
from faults import file_of
from test_observers import make_list
from waiting import wait_until

IS_SHARED = bool(os.environ.get(postgres.INHERITED))
CHECKPOINT = {"session_id": "s", "history": []}


def put_member(owner, path, member, role="reader"):
    return owner.server.call("PUT", f"{path}/members/{member.name}", owner.token, json={"role": role})


def join(owner, path, member, role="reader"):
    """Invites a user by name and accepts for them."""
    invited = put_member(owner, path, member, role)
    assert invited.status_code == 202, invited.text
    accept = f"/v1/invitations/{invited.json()['id']}/accept"
    assert owner.server.call("POST", accept, member.token).status_code == 200


def hand_on(owner, path, member):
    """Offers a list to a member and returns the answer to the member's acceptance."""
    offered = owner.server.call("PATCH", path, owner.token, json={"owner": member.name})
    assert offered.status_code == 202, offered.text
    return owner.server.call("POST", f"/v1/invitations/{offered.json()['id']}/accept", member.token)


def database(account, path):
    return Database(account.server, account.token, "list-" + path[10:])


def test_user_whom_somebody_puts_on_all_their_lists_has_fifty_invitations_and_no_list(shared):
    """Number 22: the user was on 250 lists of others, and could make and join none."""
    stranger, user = Account(shared), Account(shared)
    limits = {limit["name"]: limit["value"] for limit in shared.call("GET", "/v1/limits").json()["limits"]}
    for number in range(60):
        assert put_member(stranger, make_list(stranger), user).status_code == 202, number
    assert shared.call("GET", "/v1/lists", user.token).json()["lists"] == []
    open_ones = shared.call("GET", "/v1/invitations", user.token).json()["invitations"]
    assert len(open_ones) == limits["invitations"] == 50
    assert {each["inviter"] for each in open_ones} == {stranger.name}
    block = f"/v1/invitations/{open_ones[0]['id']}/block"
    assert shared.call("POST", block, user.token).status_code == 204
    assert shared.call("GET", "/v1/invitations", user.token).json()["invitations"] == []
    assert make_list(user)


def test_list_that_is_handed_on_does_not_count_among_those_that_one_may_make(shared):
    owner, user = Account(shared), Account(shared)
    path = make_list(owner)
    join(owner, path, user)
    answer = hand_on(owner, path, user)
    assert answer.status_code == 200, answer.text
    assert answer.json()["role"] == "owner" and answer.json()["owner"] == user.name
    assert make_list(user)


def test_list_is_nobody_elses_before_they_accept_it(shared):
    """Number 30: an owner made anybody on the list its owner, with all its bytes."""
    owner, one, other = Account(shared), Account(shared), Account(shared)
    path = make_list(owner)
    join(owner, path, one)
    join(owner, path, other, "editor")

    def received(person):
        return shared.call("GET", "/v1/invitations", person.token).json()["invitations"]

    def offer(person):
        answer = shared.call("PATCH", path, owner.token, json={"owner": person.name})
        assert answer.status_code == 202, answer.text
        return answer.json()

    first = offer(one)
    assert {name: first[name] for name in ("status", "username", "role")} == {
        "status": "invited", "username": one.name, "role": "owner"}
    [seen] = received(one)
    assert seen == {"id": first["id"], "list": path[10:], "title": seen["title"], "inviter": owner.name,
                    "role": "owner", "createdAt": first["createdAt"], "expiresAt": first["expiresAt"]}
    assert shared.call("GET", path, one.token).json()["owner"] == owner.name
    # A further offer takes the place of the first.
    second = offer(other)
    assert received(one) == [] and [each["id"] for each in received(other)] == [second["id"]]
    open_ones = shared.call("GET", path + "/invitations", owner.token).json()["invitations"]
    assert [(each["username"], each["role"]) for each in open_ones] == [(other.name, "owner")]
    assert shared.call("POST", f"/v1/invitations/{first['id']}/accept", one.token).status_code == 404
    assert shared.call("POST", f"/v1/invitations/{second['id']}/accept", one.token).status_code == 404
    assert shared.call("POST", f"/v1/invitations/{second['id']}/decline", other.token).status_code == 204
    assert shared.call("POST", f"/v1/invitations/{second['id']}/accept", other.token).status_code == 404
    third = offer(one)
    accepted = shared.call("POST", f"/v1/invitations/{third['id']}/accept", one.token)
    assert accepted.status_code == 200, accepted.text
    assert {each["username"]: each["role"] for each in accepted.json()["members"]} == {
        one.name: "owner", owner.name: "editor", other.name: "editor"}
    assert shared.call("GET", path + "/invitations", one.token).json()["invitations"] == []
    assert shared.call("PATCH", path, owner.token, json={"owner": owner.name}).status_code == 403


def test_reader_who_fills_their_local_documents_takes_no_room_from_others(shared):
    """Number 23: every write of all members with a key was refused with 507, also after the reader had gone."""
    owner, reader = Account(shared), Account(shared)
    path = make_list(owner)
    join(owner, path, reader)
    theirs, own = database(reader, path), database(owner, path)
    statuses = [theirs.call("PUT", f"/_local/{number}", json={"filler": "x" * 100_000}).status_code
                for number in range(14)]
    assert statuses[0] == 201 and statuses[-1] == 507
    for number in range(3):
        key = {"Idempotency-Key": f"key {number}"}
        answer = shared.call("PUT", f"{path}/bookmarks/h{number}", owner.token, json={"name": "H"}, headers=key)
        assert answer.status_code == 201, answer.text
    # Ids are one namespace. Others read and don't overwrite, alone or in a batch.
    assert own.call("GET", "/_local/0").status_code == 200
    assert own.call("PUT", "/_local/0", json={}).status_code == 403
    [refused] = own.bulk({"_id": "_local/0"})
    assert refused["error"] == "forbidden"
    assert own.call("PUT", "/_local/mine", json=CHECKPOINT).status_code == 201
    assert shared.call("DELETE", f"{path}/members/{reader.name}", owner.token).status_code == 204
    wait_until(lambda: own.call("GET", "/_local/0").status_code == 404)
    assert own.call("PUT", "/_local/0", json={}).status_code == 201
    assert own.call("GET", "/_local/mine").status_code == 200


def test_guest_syncs_with_more_peers_than_there_is_room_for_checkpoints(shared):
    """Number 23: the 202nd checkpoint of a guest was refused for ever."""
    own = Database(shared)
    assert own.call("PUT", "/_local/note", json={"text": "mine"}).status_code == 201
    for number in range(210):
        answer = own.call("PUT", f"/_local/{number}", json=CHECKPOINT)
        assert answer.status_code == 201, (number, answer.text)
    assert own.call("GET", "/_local/209").status_code == 200
    assert own.call("GET", "/_local/0").status_code == 404
    assert own.call("GET", "/_local/note").status_code == 200


@pytest.mark.parametrize("is_erased", [True, False])
def test_name_of_a_former_member_is_nowhere_in_the_list(start, is_erased):
    """Number 9: it stayed in the former revision, in losing leaves, in the owner's export and on the disk."""
    server = start()
    owner, member = Account(server), Account(server)
    path = make_list(owner)
    join(owner, path, member, "editor")
    own, document = database(owner, path), path[10:]
    wait_until(lambda: member.name in own.call("GET", "/" + document).text)
    assert server.call("PATCH", path, owner.token, json={"title": "First"}).status_code == 200
    former = own.call("GET", f"/{document}?revs=true").json()
    parent = f"{former['_revisions']['start'] - 1}-{former['_revisions']['ids'][1]}"
    body = {name: value for name, value in former.items() if name not in ("_revisions", "_rev")}
    for number in range(3):
        generation, digest = int(parent.split("-")[0]) + 1, f"{number}" * 32
        leaf = {**body, "title": f"Title {number}", "_rev": f"{generation}-{digest}", "_revisions": {
            "start": generation, "ids": [digest, parent.split("-")[1]]}}
        assert own.bulk(leaf, new_edits=False) == []
    assert server.call("PATCH", path, owner.token, json={"markdown": "More"}).status_code == 200
    conflicts = own.call("GET", f"/{document}?conflicts=true").json()["_conflicts"]
    assert len(conflicts) == 3
    if is_erased:
        assert server.call("DELETE", "/v1/me", member.token).status_code == 204
    else:
        assert server.call("DELETE", f"{path}/members/{member.name}", owner.token).status_code == 204
    server.kill()
    server = start()
    owner.server = server
    own = database(owner, path)

    def is_gone():
        leaves = own.call("GET", f"/{document}?open_revs=all", headers={"Accept": "application/json"}).text
        export = server.call("GET", "/v1/me/export", owner.token).text
        stored = b""
        if not IS_SHARED:
            file = file_of(server.data, "list/" + document)
            stored = b"".join(
                each.read_bytes() for each in file.parent.iterdir() if each.name.startswith(file.name))
            assert stored
        return member.name not in leaves + export and member.name.encode() not in stored

    wait_until(is_gone)
    assert owner.name in server.call("GET", "/v1/me/export", owner.token).text
    answer = own.call("GET", "/" + document)
    assert answer.json()["markdown"] == "More" and "_conflicts" not in answer.json()
