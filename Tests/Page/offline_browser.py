"""A real browser in which the server's pages run the module `/offline.js` and no other script."""
import json
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Live"))

from chromium import Context, set_network, start  # noqa: E402
from waiting import PATIENCE, wait_until  # noqa: E402

BLANK = "/offline.js"
"""A document of the server that runs no script."""

RUN = """
const done = arguments[arguments.length - 1], args = arguments[0]
;(async () => { %s })().then(value => done({ value }),
  error => done({ error: error.code ?? String(error), reason: String(error.message) }))
"""


class Refused(Exception):
    """An error that a script threw; it has the error's code."""

    def __init__(self, code, reason):
        super().__init__(f"{code}: {reason}")
        self.code = code


class OfflineBrowser:
    """A new profile of Chromium, or one with a directory, which stays when the browser ends."""

    def __init__(self, url, profile=None):
        self.url, self.profile = url, profile
        self.context = None if profile else Context()
        self.driver = self.context.driver if self.context else start(profile)
        self.has_ended = False

    def open(self, path=BLANK, **options):
        """Opens a page and in it a client, as `client`. `heard` collects the client's events."""
        self.driver.get(self.url + path)
        return self.attach(**options)

    def attach(self, **options):
        """Opens a client in the current page."""
        self.run("""
            const { open } = await import('/offline.js')
            window.heard = []
            window.client = await open({ worker: false, ...args })
            for (const name of ['change', 'outbox', 'rejected', 'sync', 'session', 'update', 'failure']) {
                client.addEventListener(name, event => heard.push([name, event.detail]))
            }""", **options)
        return self

    def run(self, script, **arguments):
        """The value that a script of the page returns."""
        answer = self.driver.execute_async_script(RUN % script, arguments)
        if "error" in answer:
            raise Refused(answer["error"], answer["reason"])
        return answer["value"]

    def until(self, script, what=None, **arguments):
        """Runs a script again and again until its value is true."""
        return wait_until(lambda: self.run(script, **arguments), what or script)

    def settled(self):
        """Waits until all changes are sent and received."""
        self.until("""
            const { phase, waiting, live } = client.sync
            return phase === 'idle' && waiting === 0 && live && client.session.state === 'active'""")

    def entries(self):
        return self.run("return await client.outbox()")

    def offline(self, is_offline=True):
        """Turns the network off, as in a tunnel."""
        set_network(self.driver, is_offline)

    def tab(self):
        """Opens another tab, which becomes the current one. Returns its handle."""
        return self.context.tab()

    def show(self, handle):
        self.driver.switch_to.window(handle)

    def records(self):
        """The number of records in each object store."""
        return self.run("""
            const database = await new Promise((resolve, reject) => {
                const request = indexedDB.open('hotel-bookmarks')
                request.onsuccess = () => resolve(request.result)
                request.onerror = () => reject(request.error)
            })
            const counts = {}
            for (const name of database.objectStoreNames) {
                counts[name] = await new Promise(resolve => {
                    const request = database.transaction(name).objectStore(name).count()
                    request.onsuccess = () => resolve(request.result)
                })
            }
            database.close()
            return counts""")

    def kill(self):
        """Kills all processes of the browser at once, as a loss of power does."""
        driver = self.driver.service.process
        listed = subprocess.run(["pgrep", "-f", "--", f"--user-data-dir={self.profile}"], capture_output=True, text=True)
        for number in listed.stdout.split():
            if int(number) in (os.getpid(), driver.pid):
                continue
            try:
                os.kill(int(number), signal.SIGKILL)
            except ProcessLookupError:
                pass
        driver.terminate()
        driver.wait(timeout=PATIENCE)
        self.has_ended = True
        for lock in self.profile.glob("Singleton*"):
            lock.unlink(missing_ok=True)

    def close(self):
        if self.context:
            self.context.close()
        elif not self.has_ended:
            self.driver.quit()
        self.has_ended = True

    def console(self):
        """The new messages of the console since the last call."""
        return [json.dumps(line) for line in self.driver.get_log("browser")]
