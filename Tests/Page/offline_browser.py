"""A real browser in which pages of the server run the module `/offline.js` and nothing else."""
import json
import os
import pathlib
import signal
import subprocess
import sys

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Live"))

from patience import until  # noqa: E402

BLANK = "/offline.js"
"""A document of the server's that runs no script of its own."""

RUN = """
const done = arguments[arguments.length - 1], args = arguments[0]
;(async () => { %s })().then(value => done({ value }),
  error => done({ error: error.code ?? String(error), reason: String(error.message) }))
"""


class Refused(Exception):
    """What a script threw: the error's code."""

    def __init__(self, code, reason):
        super().__init__(f"{code}: {reason}")
        self.code = code


class OfflineBrowser:
    """Chromium over a profile that outlives it."""

    def __init__(self, profile, url):
        self.url = url
        self.profile = pathlib.Path(profile)
        options = webdriver.ChromeOptions()
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         f"--user-data-dir={profile}"]:
            options.add_argument(argument)
        options.binary_location = "/usr/bin/chromium"
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        self.driver.set_script_timeout(60)
        self.process = self.driver.service.process
        self.has_ended = False

    def open(self, path=BLANK, **options):
        """Goes to a page and opens a client there, as `client`; `heard` collects its events."""
        self.driver.get(self.url + path)
        return self.attach(**options)

    def attach(self, **options):
        """Opens a client in the page that is shown."""
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
        """Asks a script again and again until its value is true."""
        return until(lambda: self.run(script, **arguments), what or script, 30)

    def settled(self):
        """Waits until everything is at the server and here."""
        self.until("""
            const { phase, waiting, live } = client.sync
            return phase === 'idle' && waiting === 0 && live && client.session.state === 'active'""")

    def entries(self):
        return self.run("return await client.outbox()")

    def offline(self, is_offline=True):
        """As a phone in a tunnel."""
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
            "offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})

    def tab(self):
        """A further tab, which is shown from now on; its handle."""
        self.driver.switch_to.new_window("tab")
        return self.driver.current_window_handle

    def show(self, handle):
        self.driver.switch_to.window(handle)

    def records(self):
        """How many records each object store has."""
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
        """As a phone without power: no process of the browser has a moment left."""
        listed = subprocess.run(["pgrep", "-f", "--", f"--user-data-dir={self.profile}"], capture_output=True, text=True)
        for number in listed.stdout.split():
            if int(number) in (os.getpid(), self.process.pid):
                continue
            try:
                os.kill(int(number), signal.SIGKILL)
            except ProcessLookupError:
                pass
        self._end()
        self.has_ended = True
        for lock in self.profile.glob("Singleton*"):
            lock.unlink(missing_ok=True)

    def close(self):
        if not self.has_ended:
            self.driver.quit()
        self.has_ended = True

    def _end(self):
        self.process.terminate()
        self.process.wait(timeout=30)

    def console(self):
        """What the console has said since the last time."""
        return [json.dumps(line) for line in self.driver.get_log("browser")]
