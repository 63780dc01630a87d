"""Invitations by name: they wait under Lists until the person decides."""
import requests

from people import invite, made_list, some_name
from waiting import PATIENCE

PASSWORD = "a good password"


def call(page, name, method, path, **options):
    """Sends a request of a user to the server that the page came from."""
    return requests.request(method, page.url + "/v1" + path, auth=(name, PASSWORD), timeout=PATIENCE, **options)


def invited(browser):
    """The browser of a person who sees an invitation, the inviter's browser and name, the person's name, and the
    list's path."""
    owner, other = browser(), browser()
    inviter, name = some_name(), some_name()
    owner.sign_up(inviter)
    path = made_list(owner, "Lisbon")
    other.sign_up(name)
    answer = call(owner, inviter, "PUT", f"{path}/members/{name}", json={"role": "editor"})
    assert answer.status_code == 202, answer.text
    other.visit("/lists").says("Invitations", "Lisbon", inviter)
    return other, owner, inviter, name, path


def test_an_invitation_by_name_makes_a_member_when_it_is_accepted(browser):
    other, owner, inviter, name, path = invited(browser)
    owner.visit(path + "/members").says(name)
    assert [each["username"] for each in call(owner, inviter, "GET", path).json()["members"]] == [inviter]
    other.press("Accept Lisbon")
    other.says("Hotels and notes")
    members = call(owner, inviter, "GET", path).json()["members"]
    assert {each["username"]: each["role"] for each in members} == {inviter: "owner", name: "editor"}
    other.visit("/lists").says("Lisbon", "2 people")
    other.says_not("Invitations")


def test_an_invitation_that_is_declined_is_gone(browser):
    other, owner, inviter, _, path = invited(browser)
    other.press("Decline Lisbon")
    other.says_not("Invitations")
    other.says("No lists yet")
    assert call(owner, inviter, "GET", path + "/invitations").json()["invitations"] == []


def test_the_owner_invites_by_name_and_is_told_what_became_of_it(browser):
    owner, other = browser(), browser()
    inviter, name = some_name(), some_name()
    owner.sign_up(inviter)
    path = made_list(owner, "Lisbon")
    other.sign_up(name)
    owner.visit(path + "/members")

    def invite_by_name(whom):
        owner.choose("#role", "reader")
        owner.write("#invitee", whom)
        owner.press("Invite")

    invite_by_name("nobody-of-this-name")
    owner.says("No user has this name")
    invite_by_name(name)
    owner.says(f"{name} is invited", f"{name}: Can read")
    other.visit("/lists").says("Invitations", "Lisbon", inviter, "Can read")
    other.press("Accept Lisbon")
    other.says("Hotels and notes")
    owner.visit(path + "/members").says(name)
    owner.until(lambda: owner.all(f"select[aria-label='What {name} may do']"))
    invite_by_name(name.upper())
    owner.says("is on the list already")
    members = call(owner, inviter, "GET", path).json()["members"]
    assert {each["username"]: each["role"] for each in members} == {inviter: "owner", name: "reader"}


def test_who_is_blocked_invites_no_more(browser):
    other, owner, inviter, name, path = invited(browser)
    other.press("Block " + inviter)
    other.says("They do not learn it")
    other.press("Block")
    other.says_not("Invitations")
    again = call(owner, inviter, "PUT", f"{path}/members/{name}", json={"role": "reader"})
    assert again.status_code == 202, again.text
    assert call(other, name, "GET", "/invitations").json()["invitations"] == []
    other.visit("/lists").says("No lists yet", "Blocked")
    other.says_not("Invitations")
    other.press("Unblock " + inviter)
    other.says("Invitations", "Lisbon", "Can read")
    other.says_not("Blocked")


def test_a_list_is_handed_on_when_the_member_accepts_it(browser):
    other, owner, former, name, path = invited(browser)
    other.press("Accept Lisbon")
    other.says("Hotels and notes")
    owner.visit(path + "/members")
    owner.press(f"Hand the list on to {name}")
    owner.says("becomes the owner")
    owner.press("Offer it")
    owner.says(f"{name}: Owner, when they accept")
    other.visit("/lists").says(f"{former} offers you the list “Lisbon”", "Owner, until")
    assert call(owner, former, "GET", path).json()["owner"] == former
    other.press("Accept Lisbon")
    other.says("Hotels and notes")
    members = call(owner, former, "GET", path).json()["members"]
    assert {each["username"]: each["role"] for each in members} == {former: "editor", name: "owner"}
    other.visit("/lists").says("Lisbon", "yours")
    other.says_not("Invitations")
    owner.visit(path + "/members").says("Leave the list")
    owner.says_not("Invite a person")


def test_a_list_whose_owner_is_erased_is_offered_to_its_members(browser):
    other, owner, former, name, path = invited(browser)
    other.press("Accept Lisbon")
    other.says("Hotels and notes")
    assert call(owner, former, "DELETE", "/me?lists=handOn").status_code == 204
    other.visit("/lists").says("“Lisbon” needs an owner", "Owner, until")
    other.press("Accept Lisbon")
    other.says("Hotels and notes")
    members = call(other, name, "GET", path).json()["members"]
    assert {each["username"]: each["role"] for each in members} == {name: "owner"}


def test_a_list_that_is_not_on_the_device_yet_is_shown_when_it_comes(browser):
    other, _, _, name, path = invited(browser)
    other.visit(path).says("It is not there, or not for you")
    [invitation] = call(other, name, "GET", "/invitations").json()["invitations"]
    assert call(other, name, "POST", f"/invitations/{invitation['id']}/accept").ok
    other.says("Lisbon", "Hotels and notes")


def test_a_link_says_who_invites_and_to_what(browser):
    owner, other = browser(), browser()
    inviter = some_name()
    owner.sign_up(inviter)
    path = made_list(owner, "Rome & <b>more</b>")
    owner.visit(path + "/members")
    other.visit(invite(owner, "reader")).says("“Rome & <b>more</b>” by " + inviter, "need an account")
    other.press("Sign up")
    other.enter(some_name(), "a good password", "Sign up")
    other.says("“Rome & <b>more</b>” by " + inviter)
    other.press("Join the list")
    other.says("Hotels and notes", "Rome & <b>more</b>")
