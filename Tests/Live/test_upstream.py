"""Search when the upstream fails: FAULTS U01 to U09 over real sockets. test_upstream_outage.py tests U10, and a unit
test simulates its hour."""
import concurrent.futures
import contextlib
import gzip
import re
import time

import pytest

from faulty_proxy import FaultRates, FaultyProxy
from waiting import PATIENCE, wait_until
from searching import HASTY, answered, bookmarked, metric, search
from slices import first
from stub_upstream import answer, drip, hotels


FAULTS = ["cut", "hang", "garbage", "refuse", "swallow", "reset", "drip", "delay", "blackhole"]


@pytest.mark.fault("U01")
@pytest.mark.parametrize("kind", first(4, FAULTS))
def test_whatever_breaks_a_search_is_answered_in_time(start, tmp_path, kind):
    upstream = start(data=tmp_path / "upstream")
    with contextlib.closing(FaultyProxy(upstream.url, seed=7)) as proxy:
        front = start("--upstream", proxy.url, *HASTY, data=tmp_path / "front")
        token = bookmarked(front)
        assert answered(front, "pool").json()["source"] == "upstream"
        if kind == "hang":
            proxy.hang()
        else:
            # This ends the kept-alive connections, so that the fault applies to every search.
            proxy.rates = FaultRates(**{kind: 1.0}, reach=(10, 60), pause=PATIENCE)
            proxy.unplug()
            proxy.listen()
        for text in ["breakfast", "view"]:
            failed = search(front, text)
            assert failed.status_code in (502, 503, 504), failed.text
            assert failed.json()["error"].startswith("search_")
        own = search(front, "harbour", token)
        assert own.status_code == 200 and own.json()["source"] == "mirror"
        assert [hotel["id"] for hotel in own.json()["hotels"]] == ["hotel_77"]
        known = search(front, "pool")
        assert known.status_code == 200 and known.json()["source"] in ("cache", "stale")
        if kind in ("swallow", "reset", "cut", "garbage", "blackhole", "refuse"):
            assert proxy.faults > 0


@pytest.mark.fault("U01")
def test_name_that_nobody_knows_is_answered_in_time(start):
    front = start("--upstream", "http://no-such-host.invalid", *HASTY)
    token = bookmarked(front)
    assert search(front, "inn").status_code in (503, 504)
    assert search(front, "harbour", token).json()["source"] == "mirror"


@pytest.mark.fault("U02")
def test_storm_opens_the_breaker_and_recovery_is_found(start, stub):
    is_well = []

    def script(*_):
        return hotels(1) if is_well else answer(b"busy", 503, "text/plain", Retry_After=1)

    upstream = stub(script)
    front = start("--upstream", upstream.url)
    began = time.monotonic()
    for number in range(200):
        assert search(front, f"text {number}").status_code == 503
    first = len(upstream.calls)
    # A slow machine adds probes, at most one per half second.
    assert first <= 12 + 2 * (time.monotonic() - began)
    assert metric(front, "upstream_breaker_open") == 1
    is_well.append(True)
    recovered = time.monotonic()
    answered(front, "again")
    print(f"\nrecovery was found after {time.monotonic() - recovered:.1f} s")
    assert metric(front, "upstream_guard_total", decision="retried") <= 0.1 * first + 1


@pytest.mark.fault("U03")
def test_thousand_identical_searches_make_one_call(start, stub):
    def script(*_):
        time.sleep(0.3)
        return hotels(1, 2)

    upstream = stub(script)
    front = start("--upstream", upstream.url)
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        found = list(pool.map(lambda _: search(front, "the same"), range(1_000)))
    assert {reply.status_code for reply in found} == {200} and len(upstream.calls) == 1


BOMB = gzip.compress(b"[" + b" " * 50_000_000 + b"]", 1)
# UpstreamFaultTests has them all in each run, and more.
HOSTILE = {
    "html": answer(b"<html>all is well</html>", 200, "text/html"),
    "bomb": answer(BOMB, 200, "application/json", Content_Encoding="gzip"),
    "no HTTP": b"hello\r\n\r\n",
    "endless head": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 5_000_000,
    "huge": answer(b'{"data":[' + b" " * 3_000_000 + b"]}"),
    "deep": answer(b'{"data":' + b"[" * 10_000 + b"]" * 10_000 + b"}"),
    "invalid UTF-8": answer(b'{"data":[{"name":"\xff"}]}'),
    "wrong schema": answer({"data": [1, 2, "three"]}),
    "another object": answer({"hits": []}),
    "error": answer({"error": "no such index"}),
    "no JSON": answer(b"{'data': []}"),
    "short": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{",
    "two codings": answer(gzip.compress(BOMB), 200, "application/json", Content_Encoding="gzip, gzip"),
    "unknown coding": answer(b"{}", 200, "application/json", Content_Encoding="zstd"),
}


@pytest.mark.fault("U04")
@pytest.mark.parametrize("kind", first(4, HOSTILE))
def test_hostile_answer_is_an_error_and_is_not_kept(start, stub, kind):
    replies = [HOSTILE[kind]]
    upstream = stub(lambda *_: replies[0])
    front = start("--upstream", upstream.url)
    failed = search(front, "inn")
    assert failed.status_code in (502, 503, 504), failed.text
    replies[0] = hotels(9)
    assert answered(front, "inn").json()["source"] == "upstream"


@pytest.mark.fault("U04")
def test_body_of_100_megabytes_costs_neither_time_nor_memory(start, stub):
    def script(*_):
        yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"data\":["
        for _ in range(100):
            yield b" " * 1_000_000

    upstream = stub(script)
    front = start("--upstream", upstream.url)
    search(front, "first")
    before = peak_kilobytes(front)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda n: search(front, f"text {n}"), range(8)))
    assert {reply.status_code for reply in replies} <= {502, 503, 504}
    # Two megabytes of each response are read, plus what the buffers hold.
    assert upstream.sent < len(upstream.calls) * 20_000_000
    assert peak_kilobytes(front) - before < 150_000


def peak_kilobytes(server):
    """The server's peak memory in KiB."""
    with open(f"/proc/{server.process.pid}/status") as status:
        return int(re.search(r"VmHWM:\s+(\d+) kB", status.read()).group(1))


@pytest.mark.fault("U05")
def test_redirect_elsewhere_is_not_followed(start, stub):
    targets = ["http://169.254.169.254/latest/meta-data/", "file:///etc/passwd", "//evil.example/",
               "http://127.0.0.1:1/", "https://127.0.0.1/", "http://user@127.0.0.1/"]
    asked = []
    upstream = stub(lambda *_: answer(b"", 302, "text/plain", Location=asked[-1]))
    front = start("--upstream", upstream.url)
    for target in targets:
        asked.append(target)
        answered(front, f"inn {len(asked)}", status=502)
    assert metric(front, "ssrf_blocked_total") >= len(targets)


@pytest.mark.fault("U05")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_name_that_leads_to_an_address_that_is_not_allowed_gets_nothing(start, stub, host):
    upstream = stub(lambda *_: hotels(1))
    url = f"http://{host}:{upstream.port}"
    front = start("--upstream", url, "--upstream-networks", "10.0.0.0/8,fd00::/8")
    assert search(front, "inn").status_code == 503
    assert not upstream.calls
    assert metric(front, "ssrf_blocked_total") >= 1
    assert front.logged("not allowed")
    front.stop()
    front = start("--upstream", url, "--upstream-networks", "127.0.0.0/8,::1")
    assert answered(front, "inn").json()["source"] == "upstream"


@pytest.mark.fault("U06")
def test_text_is_one_value_whatever_is_in_it(start, stub):
    texts = ["../admin?x=", "a\r\nX-Evil: 1", "#fragment", 'hotel" OR 1', "a/b", "%2e%2e", "é\u202e", "*"]
    upstream = stub(lambda *_: hotels(1))
    front = start("--upstream", upstream.url)
    for text in texts:
        answered(front, text, location="x")
    # A search for an asterisk alone is answered without a call.
    assert len(upstream.calls) >= len(texts) - 1
    for method, target, headers in upstream.calls:
        assert method == "GET" and "x-evil" not in headers
        assert re.fullmatch(r"/api/hotels/[A-Za-z0-9%._~*-]+/x/", target), target
        assert "/../" not in target


@pytest.mark.fault("U06")
def test_text_that_is_too_long_or_no_text_is_refused_with_its_name(start, stub):
    upstream = stub(lambda *_: hotels(1))
    front = start("--upstream", upstream.url)
    long = search(front, "x" * 10_000)
    assert long.status_code in (400, 414)
    assert front.call("GET", "/v1/hotels?description=%00").status_code == 400
    assert not upstream.calls


@pytest.mark.fault("U07")
def test_drip_is_ended_by_the_deadline(start, stub):
    upstream = stub(lambda *_: drip(hotels(1, 2, 3), PATIENCE))
    front = start("--upstream", upstream.url, *HASTY)
    assert search(front, "inn").status_code == 504


@pytest.mark.fault("U08")
def test_nothing_of_a_person_reaches_the_upstream_or_another_person(start, stub):
    upstream = stub(lambda *_: hotels(1, 2))
    front = start("--upstream", upstream.url)
    people = [front.guest(), front.guest()]
    front.call("PUT", "/v1/bookmarks/hotel_1", token=people[0], json={"name": "mine"})
    upstream.calls.clear()

    def flags(token):
        reply = front.call(
            "GET", "/v1/hotels?description=inn", token=token,
            headers={"Cookie": "a=b", "Accept-Language": "fr", "X-Currency": "EUR"})
        return reply.status_code == 200 and [hotel["bookmarked"] for hotel in reply.json()["hotels"]]

    found = [wait_until(lambda: flags(token)) for token in people]
    assert found == [[True, False], [False, False]]
    assert upstream.calls
    for _, _, headers in upstream.calls:
        assert set(headers) <= {"host", "user-agent", "accept", "accept-encoding", "connection",
                                "content-length"}


@pytest.mark.fault("U09")
def test_bookmarked_hotels_are_all_found_when_nothing_else_answers(start, stub):
    upstream = stub(lambda *_: hotels(1))
    upstream.close()
    front = start("--upstream", upstream.url)
    token = front.guest()
    for number in range(60):
        front.call("PUT", f"/v1/bookmarks/h{number}", token=token,
                   json={"name": f"Fjord House {number}", "city": "Ålesund", "country": "Norway"})
    for _ in range(9):
        search(front, "anything")
    ids, offset = [], 0
    while offset is not None:
        page = search(front, "fjord", token, location="alesund", limit=25, offset=offset).json()
        assert page["source"] == "mirror"
        ids += [hotel["id"] for hotel in page["hotels"]]
        assert all(hotel["bookmarked"] for hotel in page["hotels"])
        offset = page.get("next")
    assert sorted(ids) == sorted(f"h{number}" for number in range(60))
    # The syntax of the full-text index is treated as text.
    for text in ['fjord" OR 1', "NEAR(fjord house)", "name:fjord", "fjord^2", "-fjord", '"', "f*)"]:
        assert search(front, text, token).status_code in (200, 503), text


def test_answers_and_shown_hotels_outlive_a_restart(start, stub, tmp_path):
    upstream = stub(lambda *_: hotels(1, 2))
    front = start("--upstream", upstream.url)
    assert answered(front, "inn").json()["source"] == "upstream"
    front.kill()
    upstream.close()
    front = start("--upstream", upstream.url)
    assert search(front, "inn").json()["source"] == "cache"
    token = front.guest()
    made = front.call("PUT", "/v1/bookmarks/hotel_2", token=token)
    assert made.status_code == 201 and made.json()["hotel"]["name"] == "Inn 2"


def test_newer_facts_reach_a_bookmark_and_leave_what_the_person_added(start, stub):
    facts = {"id": "hotel_5", "name": "Old Name", "city": "Oslo"}
    upstream = stub(lambda *_: answer({"data": [facts]}))
    front = start("--upstream", upstream.url)
    token = front.guest()
    answered(front, "one", token)
    made = front.call("PUT", "/v1/bookmarks/hotel_5", token=token).json()
    mine = dict(made["hotel"], note="room 7", city="Oslo, by the sea")
    front.call("PUT", "/v1/bookmarks/hotel_5", token=token, json=mine)
    facts.update(name="New Name", city="Bergen", phone="+47")
    answered(front, "two", token)

    def newer():
        now = front.call("GET", "/v1/bookmarks/hotel_5", token=token).json()
        return now["hotel"]["name"] == "New Name" and now

    now = wait_until(newer)
    assert now["hotel"]["phone"] == "+47"
    assert now["hotel"]["note"] == "room 7" and now["hotel"]["city"] == "Oslo, by the sea"
    assert now["rev"].startswith("3-")


def test_second_upstream_answers_for_the_first(start, stub):
    first, second = stub(lambda *_: answer(b"", 500, "text/plain")), stub(lambda *_: hotels(4))
    front = start("--upstream", f"{first.url},{second.url}")
    began = time.monotonic()
    for number in range(20):
        assert answered(front, f"text {number}").json()["source"] == "upstream"
    # Eight calls open the breaker of the first upstream. A slow machine adds probes.
    assert len(first.calls) <= 8 + 2 * (time.monotonic() - began) and len(second.calls) >= 20


def test_second_upstream_answers_for_one_that_drips(start, stub):
    def script(*_):
        head, _, body = hotels(1).partition(b"\r\n\r\n")
        yield head + b"\r\n\r\n"
        yield from drip(body, PATIENCE)

    first, second = stub(script), stub(lambda *_: hotels(4))
    front = start("--upstream", f"{first.url},{second.url}", *HASTY)
    for number in range(10):
        reply = answered(front, f"text {number}")
        assert reply.json()["source"] == "upstream"
        assert [hotel["id"] for hotel in reply.json()["hotels"]] == ["hotel_4"]
    assert metric(front, "upstream_breaker_open", upstream="1-travel-sample") == 1
    assert metric(front, "upstream_calls_total", upstream="1-travel-sample", outcome="timeout") >= 8


ENGINE = {
    "couchbase": {"status": {"total": 1, "failed": 0, "successful": 1}, "total_hits": 1,
                  "hits": [{"id": "hotel_3", "fields": {"name": "Inn", "geo.lat": 1.5}}]},
    "opensearch": {"took": 1, "timed_out": False, "_shards": {"total": 1, "failed": 0},
                   "hits": {"total": {"value": 1, "relation": "eq"},
                            "hits": [{"_id": "3", "_source": {"name": "Inn", "geo": {"lat": 1.5}}}]}},
}


@pytest.mark.parametrize("kind", ENGINE)
def test_search_engine_is_asked_with_its_own_credentials(start, stub, tmp_path, kind):
    upstream = stub(lambda *_: answer(ENGINE[kind]))
    secret = tmp_path / "secret"
    secret.write_text(f"# engines\n{upstream.url} finder:pass:word\n")
    front = start("--upstream", f"{kind}:{upstream.url}#travel-sample.inventory.hotels",
                  "--upstream-credentials-file", str(secret))
    reply = answered(front, "inn", front.guest(), location="oslo").json()
    assert reply["hotels"] == [
        {"id": "hotel_3", "name": "Inn", "geo": {"lat": 1.5}, "bookmarked": False}]
    method, target, headers = upstream.calls[-1]
    assert method == "POST" and headers["authorization"] == "Basic ZmluZGVyOnBhc3M6d29yZA=="
    assert "travel-sample.inventory.hotels" in target


@pytest.mark.fault("U05")
@pytest.mark.parametrize("kind", ENGINE)
@pytest.mark.parametrize("status", first(1, [307, 301, 308]))
def test_query_with_credentials_is_not_sent_elsewhere(start, stub, tmp_path, kind, status):
    elsewhere = stub(lambda *_: answer(ENGINE[kind]))
    targets = [elsewhere.url + "/x", "/elsewhere"]
    upstream = stub(lambda *_: answer(b"", status, "text/plain", Location=targets[0]))
    secret = tmp_path / "secret"
    secret.write_text(f"{upstream.url} finder:password\n")
    front = start("--upstream", f"{kind}:{upstream.url}#hotels",
                  "--upstream-credentials-file", str(secret))
    answered(front, "inn", status=502)
    targets.pop(0)
    answered(front, "view", status=502)
    assert not elsewhere.calls and len(upstream.calls) >= 2
    assert all("elsewhere" not in target for _, target, _ in upstream.calls)
    assert metric(front, "ssrf_blocked_total") >= 2
