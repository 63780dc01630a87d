"""People for the page's tests: their names, and two people with a shared list."""
import uuid


def some_name():
    return "anna-" + uuid.uuid4().hex[:8]


def invite(owner, role):
    """Creates an invitation to the current list on `owner`'s members page. Returns its path."""
    owner.choose("#role", role)
    owner.press("Make a link")
    link = owner.find("#link").get_attribute("value")
    owner.press("Done")
    return link[len(owner.url):]


def made_list(owner, title):
    """Makes a list and returns its path."""
    owner.visit("/lists").write("#new-title", title)
    owner.press("Make it")
    owner.says("No hotels yet")
    owner.synced()
    owner.until(lambda: "/lists/new-" not in owner.driver.current_url)
    return owner.driver.current_url[len(owner.url):]


def shared_list(browser, role):
    """Two people with a shared list: the owner's browser, the other's browser, and the list's path."""
    owner, other = browser(), browser()
    owner.sign_up(some_name())
    path = made_list(owner, "Lisbon")
    owner.visit(path + "/members")
    link = invite(owner, role)
    other.visit(link).says("need an account")
    other.press("Sign up")
    other.enter(some_name(), "a good password", "Sign up")
    other.press("Join the list")
    other.says("Hotels and notes")
    return owner, other, path
