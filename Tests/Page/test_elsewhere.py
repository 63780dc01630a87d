"""The module `/offline.js` in pages of another origin, and in TypeScript."""
import http.server
import subprocess
import threading

import pytest
from offline_browser import OfflineBrowser, Refused
from server import ROOT, Server
from waiting import PATIENCE

PAGE = b"<!doctype html><title>A page of another origin</title>"


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


@pytest.fixture
def origin():
    """The origin of a site that has one page at every path."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}"
    site.shutdown()
    site.server_close()


@pytest.fixture
def service(tmp_path, origin):
    server = Server(tmp_path / "data", "--origins", origin)
    yield server
    server.stop()


@pytest.fixture
def open_page(service):
    """Opens pages that import the module from the server."""
    browsers = []

    def open_page(url):
        browser = OfflineBrowser(url)
        browsers.append(browser)
        browser.driver.get(url + "/page")
        browser.run("""
            const { open } = await import(args.server + '/offline.js')
            window.client = await open({ server: args.server })""", server=service.url)
        return browser

    yield open_page
    for browser in browsers:
        browser.close()


def test_page_of_a_listed_origin_bookmarks_offline_and_hears_changes(open_page, service, origin):
    browser = open_page(origin)
    browser.settled()
    assert browser.run("return (await client.search({ description: 'pool' })).source") == "upstream"
    browser.offline()
    hotel = browser.run("""
        const hotel = { id: 'hotel_25510', name: 'The Ritz' }
        await client.bookmark(hotel)
        return (await client.bookmarks())[0]""")
    assert hotel["id"] == "hotel_25510" and hotel["pending"]
    browser.offline(False)
    browser.settled()
    # The server's own page has the same cookie: ports don't separate sites.
    window = browser.driver.current_window_handle
    browser.tab()
    own = service.url
    browser.driver.get(own + "/offline.js")
    assert browser.run("return (await (await fetch('/v1/bookmarks')).json()).bookmarks.map(it => it.id)") == ["hotel_25510"]
    assert browser.run("return (await fetch('/v1/bookmarks/hotel_25510', { method: 'DELETE' })).status") == 204
    browser.show(window)
    browser.until("return (await client.bookmarks()).length === 0")


def test_logging_out_leaves_what_the_other_origin_keeps_for_itself(open_page, origin):
    browser = open_page(origin)
    browser.settled()
    browser.run("localStorage.own = 'mine'; await caches.open('own'); await client.logOut()")
    assert browser.run("return [localStorage.own, ...await caches.keys()]") == ["mine", "own"]
    assert browser.run("return client.session.state") == "none"


def test_page_keeps_what_each_server_has_apart(open_page, service, origin, tmp_path):
    browser = open_page(origin)
    browser.run("await client.bookmark({ id: 'hotel_25510', name: 'The Ritz' })")
    browser.settled()
    other = Server(tmp_path / "other", "--origins", origin)
    open_other = """
        const { open } = await import(args.module + '/offline.js')
        window.client = await open({ server: args.server })
        return (await client.bookmarks()).length"""
    try:
        with pytest.raises(Refused, match="other_server"):
            browser.run(open_other, module=service.url, server=other.url)
        browser.driver.get(origin + "/page")
        assert browser.run(open_other, module=other.url, server=other.url) == 0
        names = browser.run("return (await indexedDB.databases()).map(it => it.name).sort()")
        assert names == sorted([f"hotel-bookmarks {service.url}", f"hotel-bookmarks {other.url}"])
        browser.driver.get(origin + "/page")
        assert browser.run(open_other, module=other.url, server=service.url) == 1
    finally:
        other.stop()


def test_page_of_an_unlisted_origin_gets_nothing(open_page, origin, service):
    with pytest.raises(Refused):
        open_page(origin.replace("127.0.0.1", "localhost"))
    browser = open_page(origin)
    browser.driver.get(origin.replace("127.0.0.1", "localhost") + "/page")
    with pytest.raises(Refused):
        browser.run("await fetch(args.url, { credentials: 'include' })", url=service.url + "/v1/me")


def compile_with_types(directory, program, *options):
    (directory / "program.ts").write_text(program)
    return subprocess.run(
        ["tsc", "--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom", "--moduleResolution", "node",
         *options, "program.ts"], cwd=directory, capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture
def types(shared, tmp_path):
    """A directory with the served declarations, and those that the compiler reads from the scripts' own comments."""
    served = shared.call("GET", "/offline.d.ts")
    assert "typescript" not in served.headers["Content-Type"] and served.text.startswith("/**")
    (tmp_path / "offline.d.ts").write_text(served.text)
    made = subprocess.run(
        ["tsc", "--allowJs", "--declaration", "--emitDeclarationOnly", "--target", "es2022", "--lib", "es2022,dom",
         "--moduleResolution", "node", "--outDir", tmp_path / "made", ROOT / "Sources/Page/Files/offline/client.js",
         ROOT / "Sources/Page/Files/offline/error.js"], capture_output=True, text=True, timeout=PATIENCE)
    assert (tmp_path / "made/client.d.ts").exists(), made.stdout
    return tmp_path


def test_declarations_have_all_that_the_module_has_and_nothing_else(types):
    compiled = compile_with_types(types, """
        import * as said from "./offline"
        import { Client } from "./made/client"
        import { OfflineError } from "./made/error"
        type Same<A, B> = [A, B] extends [B, A] ? true : { missing: Exclude<B, A>, tooMany: Exclude<A, B> }
        const hidden = { begin: 0 }
        const client: Same<keyof said.Client, Exclude<keyof Client, keyof typeof hidden>> = true
        const error: Same<keyof said.OfflineError, keyof OfflineError> = true
        type Count<F> = F extends (...all: infer All) => any ? Required<All>["length"] : "value"
        type Counts<T, Names extends keyof T> = { [Name in Names]: Count<T[Name]> }
        type Events = "addEventListener" | "removeEventListener" | "dispatchEvent"
        const counts = (it: Counts<said.Client, Exclude<keyof said.Client, Events>>):
            Counts<Client, Exclude<keyof said.Client, Events>> => it
    """, "--skipLibCheck")
    assert compiled.returncode == 0, compiled.stdout


def test_declarations_tell_right_from_wrong(types):
    compiled = compile_with_types(types, """
        import { open, OfflineError, Client } from "./offline"
        export async function day(): Promise<string[]> {
          const client: Client = await open({ server: "https://api.example", backoff: [1] })
          client.addEventListener("outbox", ({ detail }) => detail.map(entry => entry.state === "parked"))
          const { hotels, source } = await client.search({ description: "pool", sort: "name" })
          const entry = await client.bookmark(hotels[0], { facts: true })
          await client.settled(entry.id).catch((error: OfflineError) => error.isOffline)
          // @ts-expect-error
          await client.bookmark("hotel_1")
          // @ts-expect-error
          await client.search({ sort: "stars" })
          // @ts-expect-error
          client.addEventListener("changes", () => {})
          // @ts-expect-error
          new Client()
          // @ts-expect-error
          source === "cloud"
          return (await client.bookmarks()).map(bookmark => bookmark.hotel.name ?? bookmark.id)
        }
    """)
    assert compiled.returncode == 0, compiled.stdout
