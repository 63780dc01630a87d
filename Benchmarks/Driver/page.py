"""How soon the web page at `/` shows content in Chromium on this machine, and how many bytes it needs.

    Scripts/bench page [--loads 20]

`first visit` has an empty cache, no cookie and no service worker. `next visit` has the service worker, which answers
requests for the page's files. Times are the browser's first contentful paint, from the start of the navigation. Bytes
are all bytes from the server until the page is quiet, with header fields; a relay counts them on a separate visit. The
bytes of a first visit include the files that the service worker stores. Fails if a median is not under the aim.
"""
import argparse
import pathlib
import shutil
import socket
import statistics
import sys
import threading
import time

import flows
import report
from processes import BookmarkServer

# The median of the first contentful paint must be less than this, in milliseconds.
AIM = 100
# A page counts as quiet after this time without a byte, in seconds.
QUIET = 1
PAINT = """return performance.getEntriesByName("first-contentful-paint")[0]?.startTime"""
CONTROLLED = "return Boolean(navigator.serviceWorker.controller)"
KEPT = """caches.keys().then(async names => {
  for (const name of names) if (await (await caches.open(name)).match("/shell.json")) return true
}).then(arguments[0])"""


class Relay:
    """A local proxy that forwards each connection to the server and counts the bytes that the server sends."""

    def __init__(self, url):
        host, port = url.removeprefix("http://").rstrip("/").split(":")
        self.target, self.sent, self.last = (host, int(port)), 0, time.monotonic()
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                ours, _ = self.socket.accept()
            except OSError:
                return
            theirs = socket.create_connection(self.target)
            for pair in ((ours, theirs, False), (theirs, ours, True)):
                threading.Thread(target=self.carry, args=pair, daemon=True).start()

    def carry(self, source, target, is_counted):
        try:
            while content := source.recv(65536):
                if is_counted:
                    self.sent += len(content)
                    self.last = time.monotonic()
                target.sendall(content)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def moved(self, visit):
        """The number of bytes that the server sends during a visit."""
        before, self.last = self.sent, time.monotonic()
        visit()
        while time.monotonic() - self.last < QUIET:
            time.sleep(0.05)
        return self.sent - before

    def close(self):
        self.socket.close()


def forget(browser):
    """Leaves the page and deletes all its data from the browser."""
    browser.driver.get("about:blank")
    browser.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    browser.driver.execute_cdp_cmd(
        "Storage.clearDataForOrigin", {"origin": browser.url, "storageTypes": "all"})


def visit(browser):
    """Loads the page and waits until it shows hotels."""
    browser.visit("/")
    browser.find(".hotel h2")


def settle(browser):
    """Waits until the service worker controls the page and has stored all its files."""
    browser.until(lambda: browser.driver.execute_script(CONTROLLED), "no service worker")
    browser.until(lambda: browser.driver.execute_async_script(KEPT), "the page's files are not kept")


def first(browser):
    forget(browser)
    visit(browser)


def later(browser):
    browser.driver.get("about:blank")
    visit(browser)
    if not browser.driver.execute_script(CONTROLLED):
        raise SystemExit("a next visit without the service worker")


def paints(browser, load, count):
    """The times of the first contentful paint, in milliseconds."""
    found = []
    for _ in range(count):
        load(browser)
        found.append(browser.until(lambda: browser.driver.execute_script(PAINT), "no paint"))
    return found


def measured(url, options, opened):
    """The times and bytes of each kind of visit."""
    browser = opened(url)
    first(browser)
    times = {"first visit": paints(browser, first, options.loads)}
    settle(browser)
    times["next visit"] = paints(browser, later, options.loads)
    relay = Relay(url)
    try:
        other = opened(relay.url)
        moved = {"first visit": relay.moved(lambda: (visit(other), settle(other)))}
        moved["next visit"] = relay.moved(lambda: later(other))
    finally:
        relay.close()
    return times, moved


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench page", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--loads", type=int, default=20, help="of each kind")
    parser.add_argument("--smoke", action="store_true", help="two loads of each kind and no aim")
    parser.add_argument("--directory", default=".build/bench-page", help="for the data")
    options = parser.parse_args()
    if options.smoke:
        options.loads = 2
    # Only a run needs Selenium; --help does not.
    tests = pathlib.Path(__file__).resolve().parents[2] / "Tests"
    sys.path[:0] = [str(tests / "Page"), str(tests / "Live")]
    from browsing import Browser
    from chromium import Context

    directory = pathlib.Path(options.directory).resolve()
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    browsers = []

    def opened(url):
        browsers.append(Browser(url))
        return browsers[-1]

    server = BookmarkServer(options.binary, directory / "data")
    try:
        times, moved = measured(server.url, options, opened)
    finally:
        complaints = [line for browser in browsers for line in browser.close()]
        Context.end()
        server.stop()
    shutil.rmtree(directory)
    if complaints:
        raise SystemExit("\n".join(complaints))
    print(report.markdown(["page", "loads", "p50 ms", "p95 ms", "kB sent"], [
        [name, str(len(found)), report.number(statistics.median(found), 1),
         report.number(flows.percentile(found, 95), 1), report.number(moved[name] / 1000, 1)]
        for name, found in times.items()]))
    missed = [name for name, found in times.items() if statistics.median(found) >= AIM]
    if missed and not options.smoke:
        raise SystemExit(f"not under {AIM} ms: {', '.join(missed)}")


if __name__ == "__main__":
    main()
