"""A patch of 50,000 lines and a long output are usable at once: windows of them are served."""

import re

from playwright.sync_api import expect

from browser.conftest import Open
from dashboards import Dashboard, memory_mb
from sandbox import Sandbox

LARGE = """
import sys
for name in range(40):
    with open(f"file{name:02}.py", "w") as out:
        for line in range(1250):
            out.write(f"value_{line} = {line}  # a comment\\n")
for line in range(300000):
    sys.stdout.write(f"line {line}\\n")
"""


def test_a_large_patch_and_a_large_output_open_at_once(
    sandbox: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    sandbox.siding("task", "start", "large")
    script = sandbox.directory / "large.py"
    script.write_text(LARGE, encoding="utf-8")
    sandbox.siding("run", "--quiet", "--", "python3", str(script))
    (task,) = [each["id"] for each in dashboard.json("/api/v1/tasks")["tasks"]]
    page = visit(dashboard, f"/tasks/{task}/steps/1")
    term = page.locator("#out-stdout")
    expect(term).to_contain_text("line 299999")
    assert term.locator(".l").count() < 12_000
    page.get_by_label("Place in the output").fill("500")
    page.get_by_label("Place in the output").dispatch_event("change")
    expect(term).to_contain_text(re.compile("line 1[45][0-9]{4}"))
    page.get_by_role("button", name="First").click()
    expect(term.locator(".l").first).to_have_text("line 0")
    term.evaluate("(box) => { box.scrollTop = box.scrollHeight; }")
    expect(term).to_contain_text("line 9000")  # the window after came by scrolling
    expect(page.locator(".file")).to_have_count(40)
    page.locator("#patch").scroll_into_view_if_needed()
    expect(page.locator("#file-0 .block").first).to_contain_text("value_0")
    fetched = page.locator(".file .r").count()
    assert 0 < fetched < 12_000
    page.locator(".file-list a").last.click()
    last = page.locator("#file-39")
    expect(last.locator(".block").first).to_contain_text("value_0")
    expect(last.locator(".k-c").first).to_have_text("# a comment")
    for _ in range(100):  # each time the last row is seen, those after it are fetched
        if "value_1249" in (last.text_content() or ""):
            break
        last.locator(".r").last.scroll_into_view_if_needed()
        page.wait_for_timeout(100)
    expect(last).to_contain_text("value_1249")
    assert memory_mb(dashboard.pid) < 150


def test_both_ways_to_show_a_patch(sandbox: Sandbox, dashboard: Dashboard, visit: Open) -> None:
    sandbox.siding("task", "start", "small")
    sandbox.siding("run", "--", "sh", "-c", "printf 'def f():\\n    return 2\\n' > src/a.py")
    (task,) = [each["id"] for each in dashboard.json("/api/v1/tasks")["tasks"]]
    page = visit(dashboard, f"/tasks/{task}/steps/1")
    page.get_by_role("button", name="Unified").click()
    expect(page.locator(".block.unified .r.delete .c")).to_have_text("a = 1")
    expect(page.locator(".block.unified .r.add")).to_have_count(2)
    page.get_by_role("button", name="Side by side").click()
    expect(page.locator(".block.split .side").first).to_contain_text("a = 1")
    expect(page.locator(".block.split .side").nth(1)).to_contain_text("def f():")
    expect(page.locator(".block.split .k-k").first).to_have_text("def")
    with page.expect_download() as download:
        page.locator("#patch").get_by_role("link", name="Save").click()
    assert download.value.suggested_filename == "0001.patch"


def test_all_that_a_task_changed_is_one_patch(
    sandbox: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    sandbox.siding("task", "start", "small")
    sandbox.siding("run", "--", "sh", "-c", "echo one > one.txt; echo b = 1 > src/a.py")
    sandbox.siding("run", "--", "sh", "-c", "echo two > two.txt; rm one.txt")
    (task,) = [each["id"] for each in dashboard.json("/api/v1/tasks")["tasks"]]
    page = visit(dashboard, f"/tasks/{task}")
    page.get_by_role("link", name="2 files").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("All changes")
    expect(page.locator(".file > summary .file-name")).to_have_text(["src/a.py", "two.txt"])
    expect(page.locator("#file-0")).to_contain_text("b = 1")
    _, raw = dashboard.get(f"/api/v1/tasks/{task}/changes.raw")
    assert raw == sandbox.siding("diff", "--to", "last").stdout
