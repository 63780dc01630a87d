"""Proxies between the page and the server: no change is lost or believed to be delivered, and nothing is called up to date
that can't be known."""
import pytest
from between import LOG_IN, Between
from people import some_name

FAST = """
    const real = window.setTimeout
    window.setTimeout = (run, time, ...rest) => real(run, time === 45000 && !window.isSlow ? 300 : time, ...rest)
"""
"""Lets the wait for the next byte of the stream take 300 ms, until `isSlow` is set."""


@pytest.fixture
def between(server):
    proxy = Between(server)
    yield proxy
    proxy.close()


def state(page):
    return page.find("#sync > button").get_attribute("aria-label")


def api(handler):
    return handler.path.startswith("/v1/")


def test_a_stream_that_a_proxy_keeps_back_is_not_live_until_something_comes(browser, between):
    between.keeps_streams = True
    page = browser(at=between)
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": FAST})
    name = some_name()
    page.sign_up(name)
    page.until(lambda: "Not live" in state(page), "it is not said")
    assert "Everything is up to date" not in state(page)
    # What another device changes is fetched all the same.
    page.driver.execute_async_script("""
        const done = arguments[0]
        fetch("/v1/lists", { method: "POST", headers: { "content-type": "application/json" }, body: '{"title":"Lisbon"}' })
          .then(() => done())""")
    page.visit("/lists").says("Lisbon")
    page.until(lambda: "Not live" in state(page), "it is not said")
    between.keeps_streams = False
    page.driver.execute_script("window.isSlow = true")
    page.until(lambda: "Everything is up to date" in state(page), "it does not go back")


ANSWERS = {
    "a page": lambda handler: Between.send(handler, 200, "text/html", LOG_IN),
    "nothing": lambda handler: Between.send(handler, 200, None),
    "another JSON": lambda handler: Between.send(handler, 200, "application/json", b'{"status":"maintenance"}'),
    "a refusal": lambda handler: Between.send(handler, 403, "text/html", LOG_IN),
    "a log-in": lambda handler: Between.send(handler, 401, "text/html", LOG_IN),
    "a gateway": lambda handler: Between.send(handler, 502, "text/html", b"<h1>502 Bad Gateway</h1>"),
    "maintenance": lambda handler: Between.send(handler, 503, "text/html", LOG_IN),
    "a redirect": lambda handler: Between.send(handler, 302, None, Location="http://sign-on.invalid/"),
}


# Each run has one answer of each kind: taken for ours, refused, not passed on, and sent elsewhere.
@pytest.mark.parametrize("kind", [
    kind if kind in ("a page", "a log-in", "a gateway", "a redirect") else pytest.param(kind, marks=pytest.mark.nightly)
    for kind in ANSWERS])
def test_only_the_servers_own_answer_counts(browser, between, kind):
    page = browser(at=between)
    page.visit("/?where=California")
    page.synced()
    between.answer = lambda handler: api(handler) and ANSWERS[kind](handler)
    page.click(page.find("button.keep"))
    if kind == "a gateway":
        page.until(lambda: "Offline" in state(page), "it is not said")
        assert not page.find("#banner").is_displayed()
    else:
        page.says("Something between this browser and the server", "Open its page")
        # A log-in is not kept until later, as the banner says of changes.
        page.visit("/log-in")
        page.write("#name", some_name())
        page.write("#password", "a good password")
        page.click(page.find("main form button.main"))
        page.until(lambda: page.find("#told").text == "Something else answers in the server's place.")
    page.visit("/outbox").says("Waits")
    assert not page.all("[data-state=parked], [data-state=rejected], [data-state=delivered]")
    between.answer = lambda handler: False
    page.driver.execute_script("dispatchEvent(new Event('online'))")
    page.has_stored(1)
    page.until(lambda: not page.find("#banner").is_displayed(), "the banner stays")


def test_a_single_answer_of_something_else_is_asked_for_again(browser, between):
    page = browser(at=between)
    page.visit("/?where=California")
    page.synced()
    answered = []

    def once(handler):
        if handler.command != "PUT" or answered:
            return False
        answered.append(handler.headers["Idempotency-Key"])
        return Between.send(handler, 200, None)

    between.answer = once
    page.click(page.find("button.keep"))
    page.has_stored(1)
    assert answered


def test_behind_a_sign_on_proxy_the_log_in_page_is_reached_and_everything_arrives(browser, between):
    page = browser(at=between)
    page.visit("/?where=California")
    page.synced()
    page.until(lambda: page.driver.execute_async_script("""
        const done = arguments[0]
        navigator.serviceWorker.ready.then(() => caches.has("page")).then(done)"""), "no service worker")
    page.reload()
    signed_on = []

    def sign_on(handler):
        if handler.path == "/sign-on":
            signed_on.append(True)
            return Between.send(handler, 302, None, Location="/?network")
        if signed_on:
            return False
        if "text/html" in handler.headers.get("Accept", ""):
            return Between.send(handler, 200, "text/html", LOG_IN + b'<a href="/sign-on">Continue</a>')
        return Between.send(handler, 302, None, Location="http://sign-on.invalid/")

    page.find("button.keep")
    between.answer = sign_on
    page.click(page.find("button.keep"))
    page.says("Something between this browser and the server")
    page.press("Open its page")
    page.says("Please log in to the network")
    page.press("Continue")
    page.until(lambda: page.driver.current_url == between.url + "/", "not back")
    page.has_stored(1)
    page.until(lambda: not page.find("#banner").is_displayed(), "the banner stays")
