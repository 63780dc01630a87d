"""Two people use one list: both change its notes at the same time, and they draft hotels."""
import pytest
from browsing import CLIENT
from people import made_list, shared_list, some_name
from slices import first


def write_note(page, path, words):
    page.visit(f"{path}/notes/Plan?edit=1").write("#words", words)
    page.press("Save for everybody")
    page.says("Changed")
    page.synced()


def saved(page, words):
    """Waits until the note on the server has this text."""
    page.until(lambda: page.driver.execute_async_script("""
        const [path, done] = arguments
        fetch(`/v1${path}`).then(it => it.json()).then(it => done(it.markdown))""",
        page.driver.current_url[len(page.url):].partition("?")[0]) == words, f"the note does not say {words!r}")


def copied(page, path, words):
    """Waits until the browser's copy of the list has a note with this text."""
    page.until(lambda: page.driver.execute_async_script("""
        const [list, words, done] = arguments
        """ + CLIENT + """.then(({ client }) => client.notes(list))
          .then(notes => done(notes.some(note => note.markdown === words)))""", path.split("/")[-1], words), "it is not in the copy")


def versions(page):
    """The three versions on the page: the earlier text, the other person's, and the person's own."""
    page.says("Another member has changed this note")
    return page.read(".versions pre")


def begun(browser):
    """Two people who both have the same note open."""
    owner, other, path = shared_list(browser, "editor")
    write_note(owner, path, "We leave on Monday.")
    other.visit(path + "/notes/Plan").says("We leave on Monday.")
    return owner, other, path


def change(page, words, button="Save for everybody"):
    page.press("Change")
    page.write("#words", words)
    page.press(button)
    page.until(lambda: not page.all("#words"), "the words are still being written")


def test_who_changes_the_days_leaves_the_description_as_others_have_it(browser):
    owner, other, path = shared_list(browser, "editor")
    other.visit(path).press("Change title, days and description")
    owner.driver.execute_async_script(f"const client = {CLIENT};" + """
        const [list, done] = arguments
        client.then(({ client }) => client.changeList(list, { markdown: 'Bring sun cream' })).then(() => done())""",
        path.split("/")[-1])
    owner.synced()
    other.driver.execute_script("document.getElementById('list-to').value = '2026-05-08'")
    other.press("Save")
    other.says("8 May 2026")
    other.synced()
    other.says("8 May 2026", "Bring sun cream")
    owner.visit(path).says("8 May 2026", "Bring sun cream")


def test_a_note_changed_while_it_is_being_written_is_not_overwritten(browser):
    owner, other, path = begun(browser)
    other.press("Change")
    other.write("#words", "We leave on Sunday.")
    change(owner, "We leave on Tuesday.")
    saved(owner, "We leave on Tuesday.")
    copied(other, path, "We leave on Tuesday.")
    other.says("Somebody has changed this note meanwhile")
    other.click(other.find("details summary"))
    assert other.find("details pre mark").text == "We leave on Tuesday."
    assert other.find("#words").get_attribute("value") == "We leave on Sunday."
    other.press("Save for everybody")
    assert versions(other) == ["We leave on Monday.", "We leave on Tuesday.", "We leave on Sunday."]
    # The view shows it, so no message lies over it.
    assert not other.read("#toasts p")
    assert other.read(".versions mark") == ["We leave on Tuesday.", "We leave on Sunday."]
    other.press("Keep theirs")
    other.says("We leave on Tuesday.")
    saved(owner, "We leave on Tuesday.")


def test_what_is_typed_stays_until_it_is_saved(browser):
    owner, other, path = begun(browser)
    other.press("Change")
    other.write("#words", "We leave on Sunday.")
    other.press("Lists")
    other.says("Plan a trip with others")
    other.visit(f"{path}/notes/Plan")
    assert other.find("#words").get_attribute("value") == "We leave on Sunday."
    other.reload()
    other.press("Save for everybody")
    saved(other, "We leave on Sunday.")
    assert other.driver.execute_script("return localStorage.length") == 0


def test_what_is_typed_about_a_list_stays_until_it_is_saved(browser):
    page = browser()
    page.sign_up(some_name())
    path = made_list(page, "Lisbon")
    page.press("Change title, days and description")
    page.write("#list-words", "Bring sun cream")
    page.press("Lists")
    page.says("Plan a trip with others")
    page.visit(path)
    assert page.find("#list-words").get_attribute("value") == "Bring sun cream"
    page.press("Save")
    page.says("Bring sun cream", "Change title, days and description")
    page.synced()
    assert page.driver.execute_script("return localStorage.length") == 0


def test_what_is_typed_on_a_list_made_offline_is_there_when_the_list_has_its_id(browser):
    page = browser()
    page.sign_up(some_name())
    page.visit("/lists").synced()
    page.offline()
    page.write("#new-title", "Lisbon")
    page.press("Make it")
    page.says("No hotels yet")
    page.write("#note-title", "Plan")
    page.press("Write it")
    page.write("#words", "We leave on Sunday.")
    page.press("Lists")
    page.says("Plan a trip with others")
    page.offline(False)
    page.driver.execute_async_script(f"{CLIENT}.then(({{ client }}) => client.syncNow()).finally(arguments[0])")
    page.synced()
    page.press("Lisbon")
    page.says("No hotels yet")
    path = page.until(lambda: (url := page.driver.current_url) and "/lists/" in url and "/new-" not in url and url)[len(page.url):]
    page.visit(path + "/notes/Plan")
    assert page.find("#words").get_attribute("value") == "We leave on Sunday."


@pytest.mark.parametrize("is_offline", first(1, [True, False]))
def test_other_lines_that_two_people_have_changed_are_both_kept(browser, is_offline):
    owner, other, path = begun(browser)
    change(owner, "We leave on Monday.\n\nBring:\n\nTea.")
    copied(other, path, "We leave on Monday.\n\nBring:\n\nTea.")
    other.reload()
    other.offline(is_offline)
    other.press("Change")
    other.write("#words", "We leave on Monday.\n\nBring:\n\nTea and bread.")
    change(owner, "We leave on Tuesday.\n\nBring:\n\nTea.")
    saved(owner, "We leave on Tuesday.\n\nBring:\n\nTea.")
    if not is_offline:
        other.says("Somebody has changed this note meanwhile")
    other.press("Save for everybody")
    if is_offline:
        # A second change before the first is sent.
        other.says("Waits to be sent")
        change(other, "We leave on Monday.\n\nBring:\n\nTea, bread and jam.")
        other.offline(False)
    end = "Tea, bread and jam." if is_offline else "Tea and bread."
    saved(other, f"We leave on Tuesday.\n\nBring:\n\n{end}")
    for page in [owner, other]:
        page.says("We leave on Tuesday.", end)
    other.synced()
    other.visit("/outbox").says_not("Refused")


@pytest.mark.parametrize("choice", first(1, ["Save this", "Keep theirs"]))
def test_a_note_written_offline_over_a_newer_one_is_put_together(browser, choice):
    owner, other, path = begun(browser)
    other.offline()
    change(other, "We leave on Sunday.")
    other.says("We leave on Sunday.", "Waits to be sent")
    change(owner, "We leave on Tuesday.")
    saved(owner, "We leave on Tuesday.")
    other.offline(False)
    assert versions(other) == ["We leave on Monday.", "We leave on Tuesday.", "We leave on Sunday."]
    other.write("#merged", "We leave on Sunday or Tuesday.")
    # Changes of the list meanwhile do not affect the unfinished merge.
    owner.visit(path).write("#note-title", "Ferry")
    owner.press("Write it")
    owner.write("#words", "At nine.")
    owner.press("Save for everybody")
    owner.says("Changed")
    owner.synced()
    copied(other, path, "At nine.")
    assert other.find("#merged").get_attribute("value") == "We leave on Sunday or Tuesday."
    if choice == "Save this":
        # A text of another tab waits meanwhile. The merged one does not replace it.
        other.offline()
        other.driver.execute_async_script(f"const client = {CLIENT};" + """
            const [list, done] = arguments
            client.then(({ client }) => client.putNote(list, 'Plan', 'Bring tea.')).then(() => done())""", path.split("/")[-1])
        other.press(choice)
        other.until(lambda: not other.all(".versions"), "the conflict is still shown")
        other.offline(False)
        assert versions(other)[1:] == ["Bring tea.", "We leave on Sunday or Tuesday."]
    other.press(choice)
    end = "We leave on Sunday or Tuesday." if choice == "Save this" else "We leave on Tuesday."
    other.says(end)
    owner.visit(path + "/notes/Plan").says(end)
    other.synced()
    other.visit("/outbox").says_not("Refused")


@pytest.mark.parametrize("choice", first(1, ["Save this", "Keep theirs"]))
def test_a_draft_published_over_newer_lines_is_put_together(browser, choice):
    owner, other, path = begun(browser)
    change(other, "We leave on Sunday.", "Keep as a draft")
    other.says("Draft: only you see it")
    other.synced()
    change(owner, "We leave on Tuesday.")
    saved(owner, "We leave on Tuesday.")
    other.press("Show to everybody")
    assert versions(other) == ["We leave on Monday.", "We leave on Tuesday.", "We leave on Sunday."]
    other.write("#merged", "We leave on Sunday or Tuesday.")
    other.press(choice)
    end = "We leave on Sunday or Tuesday." if choice == "Save this" else "We leave on Tuesday."
    other.says(end)
    other.says_not("Draft: only you see it")
    owner.says(end)
    other.synced()
    other.visit(path + "/drafts").says("No drafts")


def test_a_note_of_a_list_just_made_stops_waiting_once_it_is_sent(browser):
    page = browser()
    page.sign_up(some_name())
    assert page.visit("/lists").write("#new-title", "ローマ" * 29).get_property("validationMessage") == "This text is too long."
    page.write("#new-title", "ローマ")
    page.press("Make it")
    page.says("No hotels yet")
    page.write("#note-title", "Plan")
    page.press("Write it")
    page.write("#words", "We leave on Monday.")
    page.press("Save for everybody")
    page.says("Changed")
    page.synced()
    page.says_not("Waits to be sent")


def test_a_draft_kept_offline_does_not_hide_what_others_changed_meanwhile(browser):
    owner, other, path = begun(browser)
    other.offline()
    change(other, "We leave on Sunday.", "Keep as a draft")
    other.says("Draft: only you see it", "Waits to be sent")
    change(owner, "We leave on Tuesday.")
    saved(owner, "We leave on Tuesday.")
    other.offline(False)
    other.synced()
    other.press("Show to everybody")
    assert versions(other) == ["We leave on Monday.", "We leave on Tuesday.", "We leave on Sunday."]
    other.press("Keep theirs")
    other.says("We leave on Tuesday.")
    saved(owner, "We leave on Tuesday.")


def test_a_draft_changed_on_two_devices_has_the_words_of_both(browser):
    phone, laptop, name = browser(), browser(), some_name()
    phone.sign_up(name)
    path = made_list(phone, "Lisbon") + "/notes/Plan"
    phone.visit(path + "?edit=1").write("#words", "We leave on Monday.\n\nBring:\n\nTea.")
    phone.press("Keep as a draft")
    phone.says("Draft: only you see it")
    phone.synced()
    laptop.visit("/log-in").enter(name, "a good password", "Log in")
    laptop.visit(path).says("Tea.", "Draft: only you see it")
    laptop.offline()
    change(laptop, "We leave on Monday.\n\nBring:\n\nTea and bread.", "Save the draft")
    change(phone, "We leave on Tuesday.\n\nBring:\n\nTea.", "Save the draft")
    phone.synced()
    laptop.offline(False)
    laptop.synced()
    for page in (phone, laptop):
        page.says("We leave on Tuesday.", "Tea and bread.")
    laptop.offline()
    change(laptop, "We leave on Sunday.", "Save the draft")
    change(phone, "We leave on Friday.", "Save the draft")
    phone.synced()
    laptop.offline(False)
    assert versions(laptop)[1:] == ["We leave on Friday.", "We leave on Sunday."]
    laptop.write("#merged", "We leave on Friday or Sunday.")
    laptop.press("Save this")
    for page in (phone, laptop):
        page.says("We leave on Friday or Sunday.", "Draft: only you see it")
    laptop.synced()
    laptop.visit("/outbox").says_not("Refused")


def test_a_hotels_draft_is_seen_by_all_once_it_is_published(browser):
    owner, other, path = shared_list(browser, "editor")
    other.visit("/?where=Paris")
    name = other.find(".hotel h2").text
    other.press(name)
    other.says("Put it on a list")
    other.click(other.find("summary"))
    other.press("Put it there as a draft")
    other.says("for your eyes only")
    other.synced()
    other.visit(path).says(name, "Draft: only you see it")
    owner.visit(path).says("No hotels yet")
    other.visit(path + "/drafts").says(name)
    other.press(f"Show {name} to everybody")
    other.says("No drafts")
    owner.says(name)
    assert "Draft:" not in owner.text()
    other.visit(path).says(name)
    other.says_not("Draft: only you see it")


def test_whoever_may_not_change_the_list_any_more_is_told_while_writing_and_keeps_the_words(browser):
    owner, other, path = shared_list(browser, "editor")
    other.visit(path + "/notes/Plan?edit=1").write("#words", "We leave on Monday.")
    owner.visit(path + "/members").choose("main li select", "reader")
    other.says("You may only read this list.")
    other.reload()
    other.says("You may only read this list.")
    assert other.find("#words").get_attribute("value") == "We leave on Monday."
    owner.click(owner.find("main li button.danger:last-child"))
    owner.click(owner.find("dialog button.danger"))
    other.says("“Lisbon” has ended, or you are not on it any more.")
    other.press("Save for everybody")
    other.press("Look")
    other.says("Write the note “Plan”", "Refused")
    other.press("Change")
    assert other.find("#changed").get_attribute("value") == "We leave on Monday."
