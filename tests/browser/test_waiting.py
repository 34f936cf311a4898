"""The number of what waits is in the title, on the icon and beside the inbox; the browser calls."""

import json
import os
import signal
import time

from playwright.sync_api import Page, expect

from browser.conftest import PATIENCE_MS, Open
from dashboards import Dashboard
from sandbox import Sandbox
from siding.asking.screens import somebody_looks
from siding.ground.storage.layout import Home

# Notifications of the desktop cannot be seen by a test; what is asked for can.
GRANTED = """() => {
window.called = [];
window.Notification = class {
  static permission = "granted";
  static requestPermission() { return Promise.resolve("granted"); }
  constructor(title, options) { window.called.push([title, options.body]); }
  close() { window.put_away = (window.put_away ?? 0) + 1; }
};
Object.defineProperty(document, "hidden", { get: () => true });
}"""


DENIES = """() => {
window.Notification = class { static permission = "default"; };
Notification.requestPermission = async () => (Notification.permission = "denied");
}"""


def question(title: str) -> str:
    item = {"id": 1, "title": title, "kind": "text"}
    return json.dumps({"task": "t", "source": "s", "items": [item]})


def test_a_page_says_how_much_waits(dashboard: Dashboard, sandbox: Sandbox, visit: Open) -> None:
    page = visit(dashboard)
    expect(page).to_have_title("repo · Siding")
    expect(page.locator("#waits")).to_have_attribute("aria-label", "0 waiting for you")
    expect(page.locator("#waits")).to_be_hidden()
    page.evaluate(GRANTED)
    sandbox.siding("decide", question("Which <b>one</b>?"), "--no-wait")
    expect(page).to_have_title("(1) repo · Siding")
    expect(page.locator("#waits")).to_have_text("1")
    assert "icon-waiting" in str(page.locator("link[rel=icon]").get_attribute("href"))
    _until_called(page, 1)
    assert page.evaluate("() => window.called[0]") == ["repo asks you", "Which <b>one</b>?"]
    sandbox.siding("decide", question("Another?"), "--no-wait")
    _until_called(page, 2)
    (first, second) = [each["session_id"] for each in sandbox.json("decide", "list", "--json")]
    for each in (first, second):
        sandbox.siding("decide", "cancel", each)
    expect(page).to_have_title("repo · Siding")
    expect(page.locator("#waits")).to_be_hidden()
    assert page.evaluate("() => window.called.length") == 2
    page.wait_for_function("() => window.put_away === 2")


def test_a_page_that_is_seen_calls_nobody(
    dashboard: Dashboard, sandbox: Sandbox, visit: Open
) -> None:
    """Nor does anybody else, as long as it is."""
    page = visit(dashboard)
    page.evaluate(GRANTED.replace("get: () => true", "get: () => false"))
    sandbox.siding("decide", question("Which?"), "--no-wait")
    expect(page.locator("#waits")).to_have_text("1")
    assert page.evaluate("() => window.called.length") == 0
    assert somebody_looks(Home(sandbox.directory / "siding"))
    page.close()
    until = time.monotonic() + PATIENCE_MS / 1000
    while somebody_looks(Home(sandbox.directory / "siding")):
        assert time.monotonic() < until
        time.sleep(0.05)


def _until_called(page: Page, times: int) -> None:
    end = time.monotonic() + PATIENCE_MS / 1000
    while page.evaluate("() => window.called.length") < times:
        assert time.monotonic() < end, "the browser did not call"
        page.wait_for_timeout(50)


def test_the_inbox_offers_to_call(dashboard: Dashboard, visit: Open) -> None:
    page = visit(dashboard, "/inbox")
    page.evaluate(DENIES)
    page.click("nav a[href='/']")
    page.click("nav a[href='/inbox']")
    offer = page.locator("[data-call]")
    expect(offer).to_be_visible()
    offer.click()
    expect(offer).to_be_hidden()


def test_a_host_that_was_killed_is_on_the_board_without_a_reload(
    dashboard: Dashboard, sandbox: Sandbox, visit: Open
) -> None:
    """No file says that it has died."""
    sandbox.siding("run", "--detach", "--", "sleep", "60")
    page = visit(dashboard)
    expect(page.locator("#group-runs .number")).to_have_text("1")
    (run,) = sandbox.json("runs", "--format", "json")
    os.kill(run["host"], signal.SIGKILL)
    expect(page.locator("#group-broke .number")).to_have_text("1")
    expect(page.locator("#group-runs")).to_have_count(0)
