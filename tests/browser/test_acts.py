"""What a person does in the dashboard, end to end: real pages, real processes, real files."""

import re
import subprocess

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Open, settled
from dashboards import Dashboard
from sandbox import SIDING, Sandbox


@pytest.fixture
def worked(sandbox: Sandbox) -> Sandbox:
    """A task with two steps."""
    sandbox.siding("task", "start", "mend the greeting")
    sandbox.siding("run", "--", "sh", "-c", "echo good morning > hello.txt; echo one > one.txt")
    sandbox.siding("run", "--", "sh", "-c", "echo two > two.txt; rm one.txt")
    return sandbox


def task_of(sandbox: Sandbox) -> str:
    return str(sandbox.json("task", "show", "--format", "json")["id"])


def use_code(page: Page, dashboard: Dashboard, number: int = 1) -> None:
    """Ask for the act, type the code that the terminal then shows into the dialog, and send it."""
    press(page)
    page.get_by_label("The code in the terminal").fill(dashboard.code(number))
    page.locator("dialog button.primary").click()


def press(page: Page) -> None:
    """Press the dialog's button for the first time, which has a code printed."""
    expect(page.get_by_label("The code in the terminal")).to_be_hidden()
    page.locator("dialog button.primary").click()
    expect(page.get_by_label("The code in the terminal")).to_be_focused()


def test_a_step_that_begins_is_seen_and_followed_without_a_reload(
    worked: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    page = visit(dashboard, f"/tasks/{task_of(worked)}")
    expect(page.locator(".stop")).to_have_count(2)
    page.evaluate("window.notReloaded = true")
    script = "printf '\\033[32mgreen\\033[0m\\n'; while [ ! -e go ]; do sleep 0.05; done; echo last"
    running = subprocess.Popen(
        [*SIDING, "run", "--", "sh", "-c", script],
        cwd=worked.repo,
        env=worked.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        expect(page.locator(".stop.live")).to_have_count(1)
        expect(page.locator(".stop.live .term .f-2")).to_have_text("green")
        (worked.workspace() / "go").touch()
        assert running.wait(timeout=60) == 0
    finally:
        running.kill()
        running.wait()
    expect(page.locator(".stop.live")).to_have_count(0)
    expect(page.locator(".stop.good")).to_have_count(3)
    assert page.evaluate("window.notReloaded")


def test_a_rollback_is_shown_first_and_needs_the_code_of_the_terminal(
    worked: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    page = visit(dashboard, f"/tasks/{task_of(worked)}")
    page.locator("#step-1").get_by_role("button", name="Back to here").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator(".sentence")).to_have_text("1 path written, 1 path deleted")
    expect(dialog.locator(".paths.write li")).to_have_text("one.txt")
    expect(dialog.locator(".paths.delete li")).to_have_text("two.txt")
    assert dashboard.codes == 0  # a dialog that was opened by mistake prints nothing
    press(page)
    dashboard.code()
    page.get_by_label("The code in the terminal").fill("aaaaaa")
    page.locator("dialog button.primary").click()
    expect(dialog.get_by_role("alert")).to_contain_text("not the code")
    assert (worked.workspace() / "two.txt").exists()
    page.get_by_label("The code in the terminal").fill(dashboard.code())
    page.locator("dialog button.primary").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".stop.rollback")).to_have_count(1)
    workspace = worked.workspace()
    assert (workspace / "one.txt").read_text() == "one\n"
    assert not (workspace / "two.txt").exists()
    page.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_role("heading")).to_contain_text("step 0003 is undone")
    use_code(page, dashboard, 2)
    expect(page.locator(".stop.undo")).to_have_count(1)
    assert (workspace / "two.txt").exists()


def test_what_was_shown_is_done_or_nothing_is(
    worked: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    page = visit(dashboard, f"/tasks/{task_of(worked)}")
    page.locator("#step-1").get_by_role("button", name="Back to here").click()
    press(page)
    code = dashboard.code()
    (worked.workspace() / "three.txt").write_text("written meanwhile\n")
    page.get_by_label("The code in the terminal").fill(code)
    page.locator("dialog button.primary").click()
    expect(page.locator(".paths.delete li")).to_have_count(2)  # shown again, as it is now
    assert (worked.workspace() / "three.txt").exists()
    assert len(worked.steps()) == 2


def test_apply_from_the_page(worked: Sandbox, dashboard: Dashboard, visit: Open) -> None:
    page = visit(dashboard, f"/tasks/{task_of(worked)}")
    page.get_by_role("button", name="Apply").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading")).to_have_text("Apply to main")
    expect(dialog.locator(".paths.write li")).to_have_text(["M hello.txt", "A two.txt"])
    dialog.get_by_label("How the change is applied").select_option("squash")
    expect(dialog.locator("select")).to_have_value("squash")
    dialog.get_by_label("Message").fill("A kinder")
    press(page)
    assert "A kinder" in (dashboard.code() and dashboard.said.decode())
    dialog.get_by_label("Message").fill("A kinder greeting")
    expect(page.get_by_label("The code in the terminal")).to_be_hidden()  # it was for another
    press(page)
    dashboard.code(2)
    page.get_by_role("button", name="Print a new one").click()
    page.get_by_label("The code in the terminal").fill(dashboard.code(3))
    page.locator("dialog button.primary").click()
    expect(page.get_by_role("status")).to_contain_text("applied to main")
    assert worked.git("log", "-1", "--format=%s", "main") == "A kinder greeting"
    assert (worked.repo / "hello.txt").read_text() == "good morning\n"
    expect(page.get_by_role("button", name="Open again")).to_be_visible()


def test_the_board_starts_switches_and_closes_tasks(
    worked: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    page = visit(dashboard)
    first = task_of(worked)
    expect(page.locator(f"#task-{first} .change")).to_contain_text("2 files")
    page.get_by_role("button", name="Start a task").click()
    page.get_by_label("What the task is to do").fill("a second thing")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("a second thing")
    second = page.url.rpartition("/")[2]
    page.get_by_role("link", name="Board", exact=True).first.click()
    page.locator(f"#task-{first}").get_by_role("button", name="Switch to it").click()
    expect(page.locator(f"#task-{first}").get_by_text("active", exact=True)).to_be_visible()
    assert task_of(worked) == first
    page.locator(f"#task-{second}").get_by_role("button", name="Close").click()
    use_code(page, dashboard)
    expect(page.locator(f"#task-{second}")).to_have_count(0)
    expect(page.get_by_role("heading", name="Done")).to_be_visible()
    # Another process changes the board, and the page follows.
    worked.siding("task", "start", "from the command line")
    expect(page.get_by_role("link", name="from the command line")).to_be_visible()


def test_a_tab_without_the_key_asks_the_others_and_then_the_person(
    worked: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    page = visit(dashboard)
    assert "key" not in page.url
    beside = page.context.new_page()
    beside.goto(f"http://127.0.0.1:{dashboard.port}/events")
    expect(beside.get_by_role("heading", level=1)).to_have_text("Events")
    assert page.context.cookies() == []
    page.close()
    beside.close()
    alone = visit(dashboard).context.new_page()
    alone.evaluate("1")
    for other in alone.context.pages[:-1]:
        other.close()
    alone.goto(f"http://127.0.0.1:{dashboard.port}/")
    expect(alone.get_by_role("heading", name="This page needs the key")).to_be_visible()
    alone.get_by_label("Paste the address").fill(dashboard.address)
    alone.keyboard.press("Enter")
    settled(alone)
    expect(alone.get_by_role("heading", level=1)).to_have_text(re.compile("repo"))
