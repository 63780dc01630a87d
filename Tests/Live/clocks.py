"""Clocks that jump under a running server."""
import glob
import os
import shutil
import subprocess
import time

import pytest
from waiting import PATIENCE

HOUR, TEN_YEARS = 3_600, 10 * 365 * 86_400

TRUE_TIMERS = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
int timerfd_settime(int timer, int flags, const struct itimerspec *due, struct itimerspec *former) {
  return syscall(SYS_timerfd_settime, timer, flags, due, former);
}
"""
"""libfaketime moves also timers of the monotonic clock, which it leaves alone otherwise: after a step ahead the kernel
refuses libdispatch's, which then tries without end, and after a step back they are not due for as long as the step."""


def true_timers(directory):
    """What is loaded before libfaketime so that timers are the kernel's; empty without a C compiler."""
    compiler = shutil.which("clang") or shutil.which("cc")
    if not compiler:
        return ""
    library = directory / "timers.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=TRUE_TIMERS, text=True,
                   check=True, timeout=PATIENCE)
    return f"{library}:"


class Clock:
    """A server's clock under libfaketime(1). It jumps when the test tells it to.

    Start the server under env(1): the library sets a variable in the first process that loads it, and a Swift program
    with that variable does not find its arguments.
    """

    def __init__(self, directory):
        found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
        if not found:
            pytest.skip("libfaketime is not installed: Scripts/setup --tests")
        self.file = directory / "clock"
        self.step(0)
        self.environment = {
            "LD_PRELOAD": true_timers(directory) + found[0], "FAKETIME_TIMESTAMP_FILE": str(self.file),
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        self.step(-TEN_YEARS)
        tried = subprocess.run(["date", "+%s"], capture_output=True, text=True, timeout=PATIENCE,
                               env=dict(os.environ, **self.environment))
        if not tried.stdout.strip().isdigit() or int(tried.stdout) > time.time() - TEN_YEARS / 2:
            pytest.skip("libfaketime does not work here: " + tried.stderr.strip())
        self.step(0)

    def step(self, seconds):
        """Sets the clock to this number of seconds from the true time."""
        draft = self.file.with_suffix(".new")
        draft.write_text(f"{seconds:+d}s\n")
        draft.rename(self.file)
