"""F07 to F09: a server with a full disk accepts reads and deletions; with a read-only disk it accepts reads."""
import pytest
from couch import Account, Administrator, Database
from faults import Injected, ReadOnly, listed, metric, put, refused, store_file
from waiting import wait_until

# Space for the catalogue, the registry and a few stores only.
SIZE = "16m"


def fill(disk, server, token):
    """Bookmarks hotels until the disk is full, and then fills the remaining space."""
    assert put(server, token, "kept").status_code == 201
    disk.fill(leaving=256 << 10)
    kept = {"kept"}
    for number in range(100):
        answer = put(server, token, f"n{number}", "x" * 20_000)
        if answer.status_code != 201:
            assert refused(answer) == (507, "insufficient_storage"), answer.text
            break
        kept.add(f"n{number}")
    else:
        raise AssertionError("the disk took everything")
    disk.fill()
    return kept


def accesses(server):
    """Requests that end somebody's access: to a list by its link, to a list as its member, and to an account by a token.
    Each with the request that has the access."""
    owner, member = Account(server), Account(server)
    path = owner.share(member)
    link = server.call("POST", path + "/links", owner.token).json()
    return [(("DELETE", f"{path}/links/{link['id']}", owner.token), ("GET", "/v1/links/" + link["secret"])),
            (("DELETE", f"{path}/members/{member.name}", owner.token), ("GET", path, member.token)),
            (("DELETE", "/v1/sessions", member.token), ("GET", "/v1/me", member.token)),
            (("DELETE", "/v1/sessions?all=true", owner.token), ("GET", "/v1/me", owner.token))]


@pytest.mark.fault("F07")
def test_full_disk_refuses_what_grows_and_takes_deletions(start, small_disk):
    disk = small_disk(SIZE)
    administrator = Administrator(disk.path)
    server, database = administrator.server, administrator.create()
    rev = database.rev("purged", text="x" * 1_000)
    token, other, new = server.guest(), server.guest(), server.guest()
    assert put(server, other, "one").status_code == 201
    ends = accesses(server)
    kept = fill(disk, server, token)
    assert refused(put(server, token, "more", "x" * 20_000)) == (507, "insufficient_storage")
    assert refused(put(server, new, "first")) == (507, "insufficient_storage")
    # Reads still succeed, for open stores and others.
    assert listed(server, token) == kept
    assert server.call("GET", "/v1/bookmarks", new).json()["bookmarks"] == []
    assert server.state("degraded").status_code == 200
    # Whoever has access can still lose it, before anything is deleted.
    for request, reads in ends:
        assert server.call(*reads).status_code == 200, reads
        assert server.call(*request).status_code == 204, request
        assert server.call(*reads).status_code in (401, 404), reads
    # Deletions and purges still succeed, several times.
    for hotel in sorted(kept)[:6]:
        answer = server.call("DELETE", f"/v1/bookmarks/{hotel}", token)
        assert answer.status_code == 204, (hotel, answer.text)
        kept.remove(hotel)
    assert server.call("DELETE", "/v1/bookmarks/one", other).status_code == 204
    purged = database.call("POST", "/_purge", json={"purged": [rev]})
    assert purged.status_code == 201, purged.text
    assert metric(server, "store_failures_total") >= 2
    # When there is space again, all writes succeed without a restart.
    disk.free()
    assert put(server, token, "more", "x" * 20_000).status_code == 201
    wait_until(lambda: put(server, new, "first").status_code == 201, "the new guest is refused")
    server.state("ready")
    assert server.stop() == 0
    server = start(data=disk.path / "data")
    assert listed(server, token) == kept | {"more"} and listed(server, new) == {"first"}


@pytest.mark.fault("F07")
def test_a_store_that_fills_a_small_disk_with_its_log_takes_deletions(start, small_disk):
    disk = small_disk(SIZE)
    server = start(data=disk.path / "data")
    database, kept, answer = Database(server, Account(server).token), {}, None
    for number in range(40):
        answer = database.call("POST", "/_bulk_docs", json={
            "docs": [{"_id": f"d{number}-{each}", "text": "x" * 50_000} for each in range(10)]})
        if answer.status_code != 201:
            break
        kept |= {row["id"]: row["rev"] for row in answer.json()}
    assert refused(answer) == (507, "insufficient_storage"), answer.text
    disk.fill()
    stored = lambda: {row["id"]: row["value"]["rev"] for row in database.call("GET", "/_all_docs").json()["rows"]}
    # The refused request may have stored its first documents.
    assert stored().items() >= kept.items()
    kept = stored()
    for name in list(kept)[:3]:
        assert database.call("DELETE", f"/{name}?rev={kept.pop(name)}").status_code == 200, name
    assert stored() == kept


@pytest.mark.fault("F07")
def test_a_nearly_full_disk_is_kept_for_those_who_are_there(start, small_disk):
    disk = small_disk("256m")
    server = start(data=disk.path / "data")

    def user(name, token=None):
        return server.call(
            "POST", "/v1/users", token, json={"username": name, "password": "long enough"})

    guest, other, new = server.guest(), server.guest(), server.guest()
    assert put(server, guest, "one").status_code == put(server, other, "one").status_code == 201
    ada = user("ada").json()["token"]
    trip = server.call("POST", "/v1/lists", ada, json={"title": "Trip"}).json()["id"]
    disk.fill(leaving=8 << 20)
    refusal = (507, "insufficient_storage")
    wait_until(lambda: refused(server.call("POST", "/v1/guests")) == refusal, "guests are taken")
    assert "newcomers_taken 0" in server.metrics()
    assert refused(put(server, new, "first")) == refusal
    assert refused(user("bob")) == refusal
    answer = server.call("POST", "/v1/lists", ada, json={"title": "Another"})
    assert refused(answer) == refusal and "existing guests" in answer.json()["reason"]
    # Everybody who is there writes on, and a guest who is there can sign up.
    assert put(server, guest, "two", "x" * 20_000).status_code == 201
    assert put(server, ada, "three").status_code == 201
    note = server.call("PUT", f"/v1/lists/{trip}/notes/Plan", ada, json={"markdown": "x" * 10_000})
    assert note.status_code == 201, note.text
    assert user("cy", other).status_code == 201
    body = {"username": "ada", "password": "long enough"}
    assert server.call("POST", "/v1/sessions", json=body).status_code == 200
    disk.free()
    wait_until(lambda: server.call("POST", "/v1/guests").status_code == 201, "guests are refused")
    assert put(server, new, "first").status_code == 201
    assert user("bob").status_code == 201


@pytest.mark.fault("F07")
def test_accounts_and_databases_are_erased_on_a_full_disk(start, small_disk):
    disk = small_disk(SIZE)
    administrator = Administrator(disk.path)
    server, database = administrator.server, administrator.create()
    database.rev("kept", text="x" * 200_000)
    token, guest, late = server.guest(), server.guest(), server.guest()
    body = {"username": "ada", "password": "long enough"}
    user = server.call("POST", "/v1/users", late, json=body).json()["token"]
    for person in (user, guest):
        assert put(server, person, "one", "x" * 20_000).status_code == 201
    files = [store_file(server, person) for person in (user, guest)]
    fill(disk, server, token)
    for person, file in zip((user, guest), files):
        answer = server.call("DELETE", "/v1/me", person)
        assert answer.status_code == 204, answer.text
        assert server.call("GET", "/v1/bookmarks", person).status_code in (401, 410)
        assert not file.exists()
        # Fills the freed space, so that the next erasure finds no free space either.
        disk.fill()
    assert database.call("DELETE", "").status_code == 200
    assert database.call("GET", "").status_code == 404
    disk.fill()
    # Writes that grow a store may not use the space that is reserved for erasures.
    assert refused(put(server, server.guest(), "first")) == (507, "insufficient_storage")
    disk.free()
    assert server.call("POST", "/v1/sessions", json=body).status_code == 401
    assert server.call("POST", "/v1/users", json=body).status_code == 201
    assert put(server, token, "more").status_code == 201
    assert server.stop() == 0
    server = start(data=disk.path / "data")
    assert "more" in listed(server, token)
    assert server.call("GET", "/v1/bookmarks", user).status_code == 401


@pytest.mark.fault("F07")
def test_stores_of_a_server_that_starts_on_a_full_disk_are_read(start, small_disk):
    disk = small_disk(SIZE)
    server = start(data=disk.path / "data")
    token = server.guest()
    for number in range(5):
        assert put(server, token, f"n{number}").status_code == 201
    # The kill leaves the log, which cannot be copied because the disk is full.
    server.kill()
    disk.fill()
    server = start(data=disk.path / "data")
    assert listed(server, token) == {f"n{number}" for number in range(5)}
    # The copied logs have freed their space.
    disk.fill()
    assert refused(put(server, token, "more", "x" * 60_000)) == (507, "insufficient_storage")
    assert server.call("DELETE", "/v1/bookmarks/n0", token).status_code == 204
    assert listed(server, token) == {f"n{number}" for number in range(1, 5)}
    disk.free()
    assert put(server, token, "more").status_code == 201


@pytest.mark.fault("F07")
def test_no_space_for_one_write_leaves_reads_and_other_stores_alone(start):
    """The same test by injection, for machines on which nothing can be mounted."""
    server = start()
    token, other = server.guest(), server.guest()
    for person in (token, other):
        assert put(server, person, "before").status_code == 201
    file = store_file(server, token)
    with Injected(server, "pwrite64:error=ENOSPC", paths=[file, f"{file}-wal"]) as fault:
        for _ in range(3):
            assert refused(put(server, token, "more")) == (507, "insufficient_storage")
        assert listed(server, token) == {"before"}
        assert put(server, other, "unaffected").status_code == 201
        assert fault.count > 0
    assert put(server, token, "after").status_code == 201
    server.kill()
    assert listed(start(), token) == {"before", "after"}


@pytest.mark.fault("F08")
def test_bulk_on_a_full_disk_is_stored_whole_or_reported(start, small_disk):
    disk = small_disk(SIZE)
    server = start(data=disk.path / "data")
    database = Database(server)
    database.rev("first")
    disk.fill(leaving=600 << 10)
    documents = [{"_id": f"d{number}", "text": "x" * 1_000} for number in range(900)]
    answer = database.call("POST", "/_bulk_docs", json={"docs": documents[:190]})
    small = answer.status_code
    answer = database.call("POST", "/_bulk_docs", json={
        "docs": [{"_id": f"e{number}", "text": "y" * 90_000} for number in range(9)]})
    assert answer.status_code == 507, answer.text
    stored = database.documents()
    assert not [name for name in stored if name.startswith("e")]
    assert len([name for name in stored if name.startswith("d")]) == (190 if small == 201 else 0)
    assert "first" in stored


@pytest.mark.fault("F08")
def test_checkpoint_on_a_full_disk_loses_nothing(start):
    """The copying of the log fails because the disk is full. Acknowledged writes are in the log."""
    server = start()
    token = server.guest()
    assert put(server, token, "before").status_code == 201
    file = store_file(server, token)
    kept = {"before"}
    with Injected(server, "pwrite64:error=ENOSPC", paths=[file]) as fault:
        # The log is copied after 1,000 pages, about 4 MiB. The text alone takes 8 pages per write.
        for number in range(100):
            answer = put(server, token, "long", "x" * 30_000 + str(number))
            assert answer.status_code in (200, 201, 507), answer.text
            assert server.call("DELETE", "/v1/bookmarks/long", token).status_code in (204, 404, 507)
        assert fault.count > 0
        assert put(server, token, "last").status_code == 201
        kept.add("last")
        assert listed(server, token) - {"long"} == kept
        server.kill()
    assert listed(start(), token) - {"long"} == kept


@pytest.mark.fault("F09")
def test_read_only_disk_is_read_and_says_so(start):
    server = start()
    token, other = server.guest(), server.guest()
    for person in (token, other):
        assert put(server, person, "one").status_code == 201
    server.stop()
    server = start()
    with ReadOnly(server.data):
        assert listed(server, token) == {"one"}
        assert refused(put(server, token, "two")) == (503, "read_only")
        assert refused(server.call("DELETE", "/v1/bookmarks/one", other)) == (503, "read_only")
        assert refused(put(server, server.guest(), "first")) == (503, "read_only")
        assert listed(server, token) == {"one"}
        assert server.state("unavailable").status_code == 503
    # Writes succeed again without a restart.
    assert put(server, token, "two").status_code == 201
    assert server.call("DELETE", "/v1/bookmarks/one", other).status_code == 204
    assert server.state("ready").status_code == 200
    server.kill()
    assert listed(start(), token) == {"one", "two"}


@pytest.mark.fault("F09")
def test_log_of_a_crash_is_read_on_a_read_only_disk(start):
    server = start()
    token = server.guest()
    assert put(server, token, "one").status_code == 201
    server.kill()
    server = start()
    with ReadOnly(server.data):
        assert listed(server, token) == {"one"}
        assert refused(put(server, token, "two")) == (503, "read_only")
    assert put(server, token, "two").status_code == 201
    assert listed(server, token) == {"one", "two"}


@pytest.mark.fault("F09")
def test_file_that_takes_no_writes_is_never_absent(start):
    """By injection: if the system refuses to open a file for writing, the response is 503, not 404 or an empty list."""
    server = start()
    token = server.guest()
    assert put(server, token, "one").status_code == 201
    file = store_file(server, token)
    server.stop()
    server = start()
    with Injected(server, "openat:error=EROFS", paths=[file, f"{file}-wal"]):
        answer = server.call("GET", "/v1/bookmarks", token)
        assert answer.status_code == 503, answer.text
        assert put(server, token, "two").status_code == 503
    assert listed(server, token) == {"one"}
    assert put(server, token, "two").status_code == 201
