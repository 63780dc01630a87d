"""The outbox of `/offline.js`: each offline change reaches the server exactly once, even if the page ends meanwhile."""
import time

import pytest
from offline_browser import Refused
from offline_fixtures import browsers, service  # noqa: F401

FIRST = "return (await client.search({ description: 'pool', limit: 1 })).hotels[0]"

FAILING = """
    const real = window.fetch
    window.tries = []
    window.fetch = (path, options = {}) => {
        if (options.method !== 'PUT' || !window.refusal) return real(path, options)
        tries.push(options.headers['idempotency-key'])
        return Promise.resolve(new Response(JSON.stringify({ error: 'overloaded', reason: 'Busy' }), window.refusal))
    }
    window.refusal = args.answer
"""


def restarted(browsers, browser):
    """Restarts the browser. It writes its cookies to the disk when it ends, or after half a minute."""
    browser.settled()
    browser.close()
    again = browsers(lasting=True).open()
    again.settled()
    return again


def sign_up(browser, name="ada"):
    browser.run("await client.signUp({ username: args.name, password: 'correct horse' })", name=name)


def test_a_bookmark_is_seen_at_once_and_arrives(browsers, service):
    browser = browsers().open()
    browser.settled()
    hotel = browser.run(FIRST)
    entry = browser.run("return await client.bookmark(args.hotel)", hotel=hotel)
    assert entry["state"] == "pending" and entry["label"] == hotel["name"]
    assert [it["id"] for it in browser.run("return await client.bookmarks()")] == [hotel["id"]]
    assert browser.run("return (await client.settled(args.id)).state", id=entry["id"]) == "delivered"
    # Asks the server directly, with the cookie.
    theirs = browser.run("return await (await fetch('/v1/bookmarks')).json()")
    assert [it["id"] for it in theirs["bookmarks"]] == [hotel["id"]]
    mine = browser.run("return await client.bookmarks()")
    assert mine[0]["rev"] == theirs["bookmarks"][0]["rev"] and "pending" not in mine[0]


def test_an_offline_bookmark_survives_reload_and_kill_and_arrives_once(browsers):
    browser = restarted(browsers, browsers(lasting=True).open())
    hotel = browser.run(FIRST)
    browser.offline()
    browser.until("return client.sync.phase === 'offline'")
    browser.run("await client.bookmark(args.hotel)", hotel=hotel)
    assert browser.run("return (await client.search({ description: 'pool' })).source") == "device"
    browser.kill()

    browser = browsers(lasting=True).open()
    browser.settled()
    assert [(it["action"], it["state"]) for it in browser.entries()] == [("bookmark", "delivered")]
    browser.driver.refresh()
    browser.attach()
    browser.settled()
    assert [it["id"] for it in browser.run("return await client.bookmarks()")] == [hotel["id"]]
    history = browser.run("return (await client.history(args.id)).revisions", id=hotel["id"])
    assert [it["current"] for it in history] == [True]


def test_a_guest_whose_cookie_is_lost_keeps_the_bookmarks(browsers):
    browser = browsers().open()
    browser.settled()
    hotels = browser.run("return (await client.search({ description: 'pool', limit: 2 })).hotels")
    browser.run("for (const hotel of args.hotels) await client.settled((await client.bookmark(hotel)).id)", hotels=hotels)
    former = browser.run("return client.session.id")
    browser.driver.delete_all_cookies()
    browser.open()
    browser.settled()
    browser.until("return (await (await fetch('/v1/bookmarks')).json()).bookmarks.length === 2")
    assert browser.run("return client.session.id") != former
    assert [it["id"] for it in browser.run("return await client.bookmarks()")] == [it["id"] for it in hotels[::-1]]


def test_a_list_whose_answer_was_lost_is_made_once(browsers, service):
    browser = browsers(lasting=True).open()
    browser.settled()
    sign_up(browser)
    browser = restarted(browsers, browser)
    # What the stream of changes has begun to fetch after the start is over then; nothing may be sent before it.
    browser.until("return client.sync.live")
    time.sleep(2)
    browser.settled()
    service.pause()
    browser.run("await client.makeList({ title: 'Rome' })")
    browser.until("return (await client.outbox()).at(-1).state === 'transit'")
    time.sleep(1)
    browser.kill()
    service.resume()
    browser = browsers(lasting=True).open()
    browser.settled()
    assert [(it["state"], it["attempts"]) for it in browser.entries() if it["action"] == "makeList"] == [("delivered", 2)]
    theirs = browser.run("return (await (await fetch('/v1/lists')).json()).lists")
    assert [it["title"] for it in theirs] == ["Rome"]


def test_a_list_that_the_server_can_not_read_stays_on_the_device(browsers):
    browser = browsers().open()
    browser.settled()
    sign_up(browser)
    browser.settled()
    browser.run("await client.putNote((await client.makeList({ title: 'Rome' })).list, 'Plan', 'We leave on Monday.')")
    browser.settled()
    kept = browser.run("""
        const [{ id }] = await client.lists(), real = window.fetch
        window.fetch = (path, options) => String(path).includes('/v1/lists?')
            ? Promise.resolve(new Response(JSON.stringify({ lists: [], damaged: [id] }), { headers: { 'content-type': 'application/json', 'x-content-type-options': 'nosniff' } }))
            : real(path, options)
        await client.syncNow()
        return [(await client.lists()).length, (await client.notes(id)).map(it => it.markdown)]""")
    assert kept == [1, ["We leave on Monday."]]


def test_what_is_done_on_a_list_made_offline_follows_it(browsers):
    browser = browsers().open()
    browser.settled()
    sign_up(browser)
    browser.settled()
    hotel = browser.run(FIRST)
    browser.offline()
    made = browser.run("""
        const { list } = await client.makeList({ title: 'Rome' })
        await client.bookmark(args.hotel, { list })
        await client.putNote(list, 'Plan', 'first')
        await client.putNote(list, 'Plan', 'second')
        return { list, notes: await client.notes(list), bookmarks: await client.bookmarks({ list }) }""", hotel=hotel)
    assert [it["markdown"] for it in made["notes"]] == ["second"]
    assert [it["id"] for it in made["bookmarks"]] == [hotel["id"]]
    browser.offline(False)
    browser.settled()
    states = {it["action"]: it["state"] for it in browser.entries()}
    assert states == {"makeList": "delivered", "bookmark": "delivered", "putNote": "delivered"}
    theirs = browser.run("""
        const [list] = (await (await fetch('/v1/lists')).json()).lists
        return await (await fetch(`/v1/lists/${list.id}/notes`)).json()""")
    assert [(it["title"], it["markdown"]) for it in theirs["notes"]] == [("Plan", "second")]
    # The list's local id still works.
    assert browser.run("return (await client.notes(args.list)).length", list=made["list"]) == 1


def test_a_refused_change_is_taken_back_with_its_reason(browsers):
    browser = browsers().open()
    browser.settled()
    browser.run("await client.bookmark({ id: 'nosuch', name: 'Nowhere' })")
    browser.until("return (await client.outbox())[0].state === 'rejected'")
    [entry] = browser.entries()
    assert entry["status"] == 404 and "nosuch" in entry["reason"]
    assert browser.run("return await client.bookmarks()") == []
    assert browser.run("return client.sync.stuck") == 1
    assert browser.run("return heard.filter(([name]) => name === 'rejected').length") == 1
    # Send it again, with the same result.
    browser.run("await client.sendAgain(args.id)", id=entry["id"])
    browser.until("const [it] = await client.outbox(); return it.state === 'rejected' && it.attempts === 2")
    # Change it: add the facts of the hotel.
    browser.run("await client.change(args.id, { name: 'Nowhere' })", id=entry["id"])
    browser.run("await client.settled(args.id)", id=entry["id"])
    assert [it["hotel"]["name"] for it in browser.run("return await client.bookmarks()")] == ["Nowhere"]
    # Drop it.
    other = browser.run("return await client.bookmark({ id: 'nosuch_2' })")
    browser.until("return (await client.outbox()).at(-1).state === 'rejected'")
    browser.run("await client.drop(args.id)", id=other["id"])
    assert len(browser.entries()) == 1 and browser.run("return client.sync.stuck") == 0


def test_three_retries_then_parked_and_sent_again_by_hand(browsers):
    browser = browsers().open(backoff=[50, 100, 200])
    browser.settled()
    hotel = browser.run(FIRST)
    browser.run(FAILING, answer={"status": 503})
    entry = browser.run("return await client.bookmark(args.hotel)", hotel=hotel)
    browser.until("return (await client.outbox())[0].state === 'parked'")
    keys = browser.run("return tries")
    assert len(keys) == 4 and len(set(keys)) == 1
    [parked] = browser.entries()
    assert (parked["attempts"], parked["status"], parked["reason"]) == (4, 503, "Busy")
    with pytest.raises(Refused, match="overloaded"):
        browser.run("await client.settled(args.id)", id=entry["id"])
    # The bookmark is still shown, because the server has not refused it.
    assert len(browser.run("return await client.bookmarks()")) == 1
    time.sleep(1)
    assert len(browser.run("return tries")) == 4
    browser.run("window.refusal = null; await client.sendAgain(args.id)", id=entry["id"])
    browser.run("await client.settled(args.id)", id=entry["id"])
    assert len(browser.run("return (await (await fetch('/v1/bookmarks')).json()).bookmarks")) == 1


@pytest.mark.parametrize("backoff, waits, is_opened", [
    ([10, 10, 10], "state === 'parked'", False), ([3_600_000], "nextAttemptAt", False), ([86_400_000], "nextAttemptAt", True)])
def test_what_is_parked_or_waits_for_its_next_attempt_is_sent_when_the_user_syncs_or_comes_back(browsers, backoff, waits, is_opened):
    browser = browsers().open(backoff=backoff)
    browser.settled()
    browser.run(FAILING, answer={"status": 503})
    entry = browser.run("return await client.bookmark(args.hotel)", hotel=browser.run(FIRST))
    browser.until(f"return (await client.outbox())[0].{waits}")
    if is_opened:
        browser.open()
    else:
        browser.run("window.refusal = null; await client.syncNow()")
    browser.run("await client.settled(args.id)", id=entry["id"])


def test_retry_after_is_obeyed(browsers):
    browser = browsers().open(backoff=[10, 10, 10])
    browser.settled()
    hotel = browser.run(FIRST)
    browser.run(FAILING, answer={"status": 429, "headers": {"retry-after": "15"}})
    entry = browser.run("return await client.bookmark(args.hotel)", hotel=hotel)
    browser.until("return tries.length === 1")
    time.sleep(1)
    assert browser.run("window.refusal = null; return tries.length") == 1
    browser.run("await client.settled(args.id)", id=entry["id"])


def test_removing_can_be_undone_with_place_and_time(browsers):
    browser = browsers().open()
    browser.settled()
    browser.run("""
        const { hotels } = await client.search({ description: 'pool', limit: 3 })
        for (const hotel of hotels) await client.settled((await client.bookmark(hotel)).id)""")
    before = browser.run("return await client.bookmarks()")
    entry = browser.run("return await client.unbookmark(args.id)", id=before[1]["id"])
    browser.run("await client.settled(args.id)", id=entry["id"])
    assert len(browser.run("return await client.bookmarks()")) == 2
    undo = browser.run("return await client.undo(args.id)", id=entry["id"])
    browser.run("await client.settled(args.id)", id=undo["id"])
    after = browser.run("return await client.bookmarks()")
    assert [(it["id"], it["bookmarkedAt"]) for it in after] == [(it["id"], it["bookmarkedAt"]) for it in before]


def test_removal_on_its_way_that_is_undone_keeps_the_users_words(browsers, service):
    browser = browsers().open()
    browser.settled()
    hotel = browser.run(FIRST)
    browser.run("""
        await client.settled((await client.bookmark(args.hotel)).id)
        await client.settled((await client.annotate(args.hotel.id, { note: 'Room 7', tags: [] })).id)
        await client.syncNow()
        await client.setMode('manual')""", hotel=hotel)
    service.pause()
    entry = browser.run("""
        const entry = await client.unbookmark(args.id)
        client.syncNow().catch(() => {})
        return entry""", id=hotel["id"])
    browser.until("return (await client.outbox()).at(-1).state === 'transit'")
    undo = browser.run("return await client.undo(args.id)", id=entry["id"])
    service.resume()
    browser.run("await client.syncNow(); await client.settled(args.id)", id=undo["id"])
    theirs = browser.run("return (await (await fetch('/v1/bookmarks')).json()).bookmarks")
    assert [it["hotel"]["myNote"] for it in theirs] == ["Room 7"]


def test_words_on_a_bookmark_that_another_device_has_removed_bring_it_back(browsers):
    browser = browsers().open()
    browser.settled()
    hotel = browser.run(FIRST)
    entry = browser.run("""
        await client.settled((await client.bookmark(args.hotel)).id)
        await client.setMode('manual')
        await fetch('/v1/bookmarks/' + args.hotel.id, { method: 'DELETE' })
        const entry = await client.annotate(args.hotel.id, { note: 'Room 7', tags: [] })
        await client.syncNow()
        return entry""", hotel=hotel)
    browser.run("await client.settled(args.id)", id=entry["id"])
    theirs = browser.run("return (await (await fetch('/v1/bookmarks')).json()).bookmarks")
    assert [it["hotel"]["myNote"] for it in theirs] == ["Room 7"]


def test_a_name_of_dots_is_no_other_path(browsers):
    browser = browsers().open()
    browser.settled()
    hotel = browser.run(FIRST)
    browser.run("await client.settled((await client.bookmark(args.hotel)).id)", hotel=hotel)
    with pytest.raises(Refused):
        browser.run("await client.settled((await client.deletePhoto(args.id, '..')).id)", id=hotel["id"])
    assert browser.run("return (await fetch('/v1/bookmarks/' + args.id)).status", id=hotel["id"]) == 200


NOTE = "We leave on Monday.\n\nBring:\n\n* [ ] tea"


def with_note(browser):
    """A list with the note `Plan`, which the browser has, and which it sends and fetches only when told to."""
    browser.settled()
    sign_up(browser)
    made = browser.run("""
        const { id } = await client.makeList({ title: 'Rome' })
        const list = (await client.settled(id)).list
        const note = await client.putNote(list, 'Plan', args.text)
        await client.settled(note.id)
        await client.syncNow()
        await client.setMode('manual')
        return { list, rev: (await client.notes(list))[0].rev }""", text=NOTE)
    return made["list"], made["rev"]


def test_a_line_that_is_taken_back_while_the_note_is_put_together_is_asked_for(browsers, service):
    browser = browsers().open()
    home, rev = with_note(browser)
    theirs, ticked = NOTE.replace("Monday", "Tuesday"), NOTE.replace("[ ]", "[x]")
    browser.run("""await (await fetch(`/v1/lists/${args.list}/notes/Plan?base=${args.rev}`, {
        method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ markdown: args.text }) })).json()""",
                list=home, rev=rev, text=theirs)
    service.pause()
    browser.run("await client.putNote(args.list, 'Plan', args.text); client.syncNow().catch(() => {})", list=home, text=ticked)
    browser.until("return (await client.outbox()).at(-1).state === 'transit'")
    browser.run("await client.putNote(args.list, 'Plan', args.text)", list=home, text=NOTE)
    service.resume()
    browser.until("return (await client.outbox()).at(-1).state === 'rejected'")
    first, second = browser.entries()[-2:]
    assert first["state"] == "delivered"
    merged = theirs.replace("[ ]", "[x]")
    assert second["error"] == "conflict"
    assert (second["theirs"]["markdown"], second["was"], second["body"]["markdown"]) == (merged, ticked, NOTE)


def test_two_texts_that_were_begun_from_the_same_one_are_put_together(browsers):
    browser = browsers().open()
    home, rev = with_note(browser)
    browser.run("""
        await client.putNote(args.list, 'Plan', args.one, { base: args.rev, after: null })
        await client.putNote(args.list, 'Plan', args.other, { base: args.rev, after: null })
        await client.syncNow()""", list=home, rev=rev, one=NOTE.replace("Monday", "Tuesday"), other=NOTE.replace("[ ]", "[x]"))
    theirs = browser.run("return await (await fetch(`/v1/lists/${args.list}/notes/Plan`)).json()", list=home)
    assert theirs["markdown"] == NOTE.replace("Monday", "Tuesday").replace("[ ]", "[x]")


def test_who_logs_out_while_the_server_is_busy_leaves_nothing_in_the_browser(browsers):
    browser = browsers().open()
    browser.settled()
    former = browser.run("return client.session.id")
    browser.run("await client.bookmark({ id: 'mine' }, { facts: true })")
    browser.run(FAILING.replace("PUT", "DELETE") + "await client.logOut({ discard: true })", answer={"status": 503})
    assert browser.run("return [client.session, (await client.bookmarks()).length]") == [{"state": "none"}, 0]
    assert browser.run("return (await (await fetch('/v1/me')).json()).id") == former
    # The session ends before there is another one.
    assert browser.run("window.refusal = null; return (await client.start()).id") != former
    assert browser.run("return (await client.bookmarks()).length") == 0


@pytest.mark.parametrize("is_parked", [False, True])
def test_a_note_that_another_member_has_changed_is_removed_only_on_request(browsers, is_parked):
    browser = browsers().open(backoff=[10, 10, 10])
    home, _ = with_note(browser)
    removal, entry = "return await client.deleteNote(args.list, 'Plan')", None
    if is_parked:
        browser.run(FAILING.replace("PUT", "DELETE") + "await client.setMode('continuous')", answer={"status": 503})
        entry = browser.run(removal, list=home)
        browser.until("return (await client.outbox()).at(-1).state === 'parked'")
    browser.run("""await fetch(`/v1/lists/${args.list}/notes/Plan`, {
        method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ markdown: 'Theirs' }) })""", list=home)
    if is_parked:
        browser.run("window.refusal = null; await client.sendAgain(args.id)", id=entry["id"])
    else:
        entry = browser.run(removal, list=home)
        browser.run("await client.syncNow()")
    with pytest.raises(Refused, match="conflict"):
        browser.run("await client.settled(args.id)", id=entry["id"])
    assert browser.run("await client.syncNow(); return (await client.notes(args.list))[0].markdown", list=home) == "Theirs"
    browser.run("await client.sendAgain(args.id); await client.syncNow(); await client.settled(args.id)", id=entry["id"])
    assert browser.run("return (await fetch(`/v1/lists/${args.list}/notes/Plan`)).status", list=home) == 404


def test_descriptions_that_two_members_have_written_are_both_kept(browsers):
    browser = browsers().open()
    home, _ = with_note(browser)
    joined, last = browser.run("""
        const path = `/v1/lists/${args.list}`, now = async () => await (await fetch(path)).json()
        const change = async body => {
          const entry = await client.changeList(args.list, body)
          await client.syncNow()
          await client.settled(entry.id)
          return now()
        }
        await fetch(path, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: '{"markdown":"Theirs"}' })
        return [await change({ title: 'Roma', markdown: 'Mine' }), await change({ markdown: 'Both' })]""", list=home)
    assert joined["title"] == "Roma" and set(joined["markdown"].split("\n")) >= {"Theirs", "Mine"}
    assert last["markdown"] == "Both"
