"""Chromium, quiet and without a network; where there is none, tests of pages are skipped."""

import os
import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
# Nothing may look for a network; root has no sandbox.
QUIET = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", *(["--no-sandbox"] if not hasattr(os, "getuid") or os.getuid() == 0 else [])]  # fmt: skip


@contextmanager
def launched(playwright):
    """A browser that runs for as long as the block."""
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield running
        running.close()


@contextmanager
def reading(browser, file, **options):
    """The page, of which nothing may be heard and nothing asked for."""
    opened, said, asked = browser.new_page(**options), [], []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    opened.on("dialog", lambda dialog: said.append(dialog.message))
    opened.on("request", lambda request: asked.append(request.url))
    opened.goto(file.as_uri())
    yield opened
    opened.close()
    assert said == []
    assert asked == [file.as_uri()]
