"""A real browser, one for all tests here. Where there is none they are skipped, and say so."""

import asyncio
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from dashboards import Dashboard
from sandbox import Sandbox

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SWITCHES = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
# How long a test waits for what must come: long, because a machine may be busy with other things.
# What comes ends the wait, so a test that passes is no slower for it.
PATIENCE_MS = 60_000
CLOSING_S = 20.0
expect.set_options(timeout=PATIENCE_MS)

Open = Callable[..., Page]


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium."""
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=SWITCHES,
            env={"HOME": str(tmp_path_factory.mktemp("browser-home")), "TZ": "UTC"},
        )
        loop = asyncio.get_running_loop()
        _LOOPS.append(loop)
        asyncio.events._set_running_loop(None)
        yield found
        asyncio.events._set_running_loop(loop)
        with _driver_ends(), suppress(Error):
            found.close()


# Playwright's loop counts as running between its calls, too: a test after these that begins a loop
# of its own in the same process could not. So it counts while a test of these runs.
_LOOPS: list[asyncio.AbstractEventLoop] = []


@pytest.fixture(autouse=True)
def _loop_of_the_browser(browser: Browser) -> Iterator[None]:
    asyncio.events._set_running_loop(_LOOPS[-1])
    yield
    asyncio.events._set_running_loop(None)


@contextmanager
def _driver_ends() -> Iterator[None]:
    """End Playwright's driver if it does not close the browser.

    Some of its runs (1.64, seen three times) wait for ever for a byte in a pipe of their own when
    the browser is gone already, and the tests would wait with them.
    """
    watch = threading.Timer(CLOSING_S, _end_driver)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def _end_driver() -> None:
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ProcessLookupError):
            pid, _, rest = status.read_text().partition(" (")
            name, _, fields = rest.rpartition(") ")
            if name.startswith("node") and int(fields.split()[1]) == os.getpid():
                os.kill(int(pid), signal.SIGKILL)


@pytest.fixture
def dashboard(sandbox: Sandbox) -> Iterator[Dashboard]:
    """A dashboard of the sandbox's project."""
    with Dashboard(sandbox) as running:
        yield running


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Open a page of a dashboard; what its scripts complain of fails the test."""
    complaints: list[str] = []
    contexts = []

    def opened(dashboard: Dashboard, path: str = "/", **options: Any) -> Page:
        context = browser.new_context(**_options(options))
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda said: complaints.append(said.text) if "Content Security" in said.text else None,
        )
        page.goto(dashboard.url(path))
        settled(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not complaints


def _options(given: dict[str, Any]) -> dict[str, Any]:
    return {"viewport": {"width": 1200, "height": 800}, **given}


def settled(page: Page) -> None:
    """Wait until the page shows what it was asked for."""
    page.wait_for_selector("main[aria-busy=false]")
