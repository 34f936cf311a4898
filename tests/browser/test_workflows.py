"""Runs of workflows in a real browser: followed without a reload, acted on with a code."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from browser.conftest import Open, settled
from browser.test_accessible import LOOKS, look, show, violations
from dashboards import Dashboard
from integration.workflows.conftest import AtWork
from sandbox import Sandbox
from siding.workflows.acts.views import run_view
from siding.workflows.state import RunStatus

SCRIPT = """
meta = {"name": "review", "description": "Look", "phases": [{"title": "Look"}, {"title": "Sum up"}]}
phase("Look")
await parallel([lambda n=n: agent(f"look {n}", label=f"look {n}") for n in range(3)])
phase("Sum up")
return await agent("sum up", label="sum up")
"""
FAST = [{"kind": "ok", "output": "quick", "tokens": 3_000}]
SLOW = [{"kind": "ok", "output": "slow", "tokens": 1, "delay_ms": 600_000}]
DEAD = [{"kind": "dead", "reason": "api-error", "detail": "no answer", "retryable": False}]
AGENTS = {"look 0": FAST, "look 1": DEAD, "look 2": SLOW, "sum up": FAST}


@pytest.fixture
def work(sandbox: Sandbox) -> AtWork:
    return AtWork(sandbox)


@pytest.fixture
def live(work: AtWork) -> Iterator[str]:
    """A run whose third agent does not end by itself."""
    prepared = work.prepare(SCRIPT)
    pid = os.fork()
    if pid == 0:
        try:
            work.carry_out(prepared, AGENTS)
        finally:
            os._exit(0)
    yield prepared.folder.run_id
    work.sandbox.siding("workflow", "kill", prepared.folder.run_id, status=None)
    os.waitpid(pid, 0)


def test_a_run_is_followed_and_an_agent_skipped(
    work: AtWork, dashboard: Dashboard, visit: Open, live: str
) -> None:
    page = visit(dashboard, "/workflows")
    page.get_by_role("link", name="review", exact=True).click()
    settled(page)
    page.evaluate("window.notReloaded = true")
    expect(page.locator("#agent-0.good")).to_contain_text("3.0k tok")
    expect(page.locator("#agent-1.bad")).to_contain_text("no answer")
    expect(page.locator(".flow-bars a")).to_have_count(3)
    page.locator("#agent-2").get_by_role("button", name="Skip").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text("Go on without agent #2 (look 2)")
    assert dashboard.codes == 0  # a dialog that was opened by mistake prints nothing
    dialog.get_by_role("button", name="Skip it").click()
    page.get_by_label("The code in the terminal").fill(dashboard.code())
    dialog.get_by_role("button", name="Skip it").click()
    expect(page.get_by_role("status")).to_contain_text("agent #2 is skipped")
    expect(dialog).to_be_hidden()
    expect(page.locator("#agent-2.left")).to_contain_text("skipped")
    expect(page.locator("#agent-3.good")).to_be_visible()
    expect(page.locator("#run-head")).to_contain_text("completed")
    expect(page.locator("#run-end")).to_contain_text("quick")
    expect(page.locator(".flow-bars a")).to_have_count(4)
    assert page.evaluate("window.notReloaded")
    assert run_view(work.project(), live).state.status is RunStatus.COMPLETED


def test_a_bar_leads_to_its_agent_and_the_pages_have_no_violation(
    dashboard: Dashboard, visit: Open, live: str
) -> None:
    origin = f"http://127.0.0.1:{dashboard.port}"
    page = visit(dashboard, f"/workflows/{live}")
    page.locator("#bar-1").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("look 1")
    found = {}
    for scheme, width in LOOKS:
        look(page, scheme, width)
        for path in ("/workflows", f"/workflows/{live}", f"/workflows/{live}/agents/1"):
            show(page, f"{origin}{path}")
            found[path, scheme] = violations(page)
        show(page, f"{origin}/workflows/{live}")
        page.get_by_role("button", name="Script").click()
        page.wait_for_selector("dialog h2")
        found["script", scheme] = violations(page)
        page.keyboard.press("Escape")
        page.get_by_role("button", name="End it").click()
        page.wait_for_selector("dialog .danger")
        found["act", scheme] = violations(page)
    assert {shown: problems for shown, problems in found.items() if problems} == {}
