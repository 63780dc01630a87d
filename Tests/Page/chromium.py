"""Chromium without a window. Tests use the same processes one after another, because a start takes two seconds of processor
time; each test has a browser context of its own, which is what a new profile is."""
import collections
import json
import os

import requests
import websocket
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from waiting import PATIENCE


def start(profile=None, language="en-GB"):
    """Starts a process, over the directory of a profile that outlives it, or over a new one."""
    options = webdriver.ChromeOptions()
    arguments = [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
        "--disable-component-update", "--no-first-run", f"--lang={language}", f"--accept-lang={language}"]
    for argument in arguments + ([f"--user-data-dir={profile}"] if profile else []):
        options.add_argument(argument)
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")))
    driver.set_page_load_timeout(PATIENCE)
    driver.set_script_timeout(PATIENCE)
    return driver


def set_network(driver, is_offline, latency=0):
    """Turns the network of the current tab off, or on with a latency in milliseconds."""
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": is_offline, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1})


class Context:
    """Cookies, databases and caches of its own, in a process that others have used before. `driver` shows its current tab."""

    _idle = collections.defaultdict(list)

    def __init__(self, language="en-GB"):
        self.language = language
        self.driver, self._socket = self._idle[language].pop() if self._idle[language] else self._begin(language)
        self._home = self.driver.current_window_handle
        self._count = 0
        self.id = self.send("Target.createBrowserContext")["browserContextId"]
        # What the last context logged while it ended is nobody's.
        self.driver.get_log("browser")
        self.tab()

    @staticmethod
    def _begin(language):
        driver = start(language=language)
        address = driver.caps["goog:chromeOptions"]["debuggerAddress"]
        url = requests.get(f"http://{address}/json/version", timeout=PATIENCE).json()["webSocketDebuggerUrl"]
        # Chromium refuses handshakes with an origin.
        return driver, websocket.create_connection(url, timeout=PATIENCE, suppress_origin=True)

    def send(self, method, **parameters):
        """Sends a command to the whole browser and returns its result."""
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while (answer := json.loads(self._socket.recv())).get("id") != self._count:
            pass
        assert "result" in answer, answer
        return answer["result"]

    def tab(self):
        """Opens a tab, which becomes the current one. Returns its handle."""
        handle = self.send("Target.createTarget", url="about:blank", browserContextId=self.id)["targetId"]
        self.driver.switch_to.window(handle)
        return handle

    def close(self):
        """Ends the context with all its tabs. Its process waits for the next one."""
        self.send("Target.disposeBrowserContext", browserContextId=self.id)
        self.driver.switch_to.window(self._home)
        self._idle[self.language].append((self.driver, self._socket))

    @classmethod
    def end(cls):
        """Ends all processes that wait."""
        for driver, socket in sum(cls._idle.values(), []):
            socket.close()
            driver.quit()
        cls._idle.clear()
