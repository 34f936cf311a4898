"""Content that means harm is shown and does nothing: names, output, messages, patches."""

import os

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import Open, settled
from dashboards import Dashboard
from sandbox import Sandbox

SCRIPT = "<script>window.owned = 1</script><img src=x onerror='window.owned = 2'>"
NAMES = [
    "<img src=x onerror=alert(1)>.txt",
    "bidi\u202etxt.exe",
    "new\nline.py",
    "es\x1b[31mcape.py",
    "\"quoted\" & 'both'.py",
]
HIDDEN = ["\u202e", "\u2066", "\x1b", "\x07", "\x08", "\x9b", "\u200b"]


@pytest.fixture
def poisoned(sandbox: Sandbox) -> Sandbox:
    """A task whose every text is hostile."""
    sandbox.siding("task", "start", f"evil {SCRIPT}")
    workspace = sandbox.workspace()
    for name in NAMES:
        (workspace / name).write_text(f"{SCRIPT}\n\u202edesrever\n\x1b]0;title\x07\n")
    output = sandbox.directory / "output"
    output.write_bytes(
        b"".join(
            [
                SCRIPT.encode(),
                b"\n",
                b"\x1b]0;owned\x07\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07\n",
                b"\x1b[8mhidden\x1b[0m \x1b[30;40mblack\x1b[0m\n",
                b"\x1b[2J\x1b[H\x1b[1000A cleared\n",
                "\u202ereversed\u2066 zero\u200bwidth \x9b31m c1\n".encode(),
                b"overwritten\rshown\n",
                b"\xff\xfe no text \x00\x08\x07\n",
                b"\x1b[38;5;999999999;1mcolour\x1b[m\n",
                b"\x1b[" + b"9" * 10_000 + b"m long escape\n",
                b"x" * 3_000_000 + b"\n",
                b"end\n",
            ]
        )
    )
    sandbox.siding("run", "--", "cat", os.fspath(output))
    sandbox.siding("run", "--", "sh", "-c", f"true {SCRIPT!r}", status=None)
    return sandbox


def assert_inert(page: Page) -> None:
    assert page.evaluate("window.owned") is None
    assert (
        page.evaluate("document.querySelectorAll('main script, main img, main iframe').length") == 0
    )
    handlers = """[...document.querySelectorAll('main *')].filter(
        (e) => [...e.attributes].some((a) => /^on|^style$/.test(a.name) && !e.matches('[data-x]'))
    ).length"""
    assert page.evaluate(handlers) == 0
    text = page.evaluate("document.body.textContent")
    assert not [repr(each) for each in HIDDEN if each in text]
    wide = page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    assert not wide


def test_hostile_content_stays_inert(poisoned: Sandbox, dashboard: Dashboard, visit: Open) -> None:
    task = poisoned.json("task", "show", "--format", "json")["id"]
    page = visit(dashboard)
    expect(page.get_by_role("link", name="evil <script>")).to_be_visible()
    assert_inert(page)
    page = visit(dashboard, f"/tasks/{task}")
    expect(page.locator(".stop")).to_have_count(3)
    assert_inert(page)
    page = visit(dashboard, f"/tasks/{task}/steps/1")  # what was there before the first run
    expect(page.locator(".file .block").first).to_be_visible()
    expect(
        page.locator(".file-name").get_by_text("<img src=x onerror=alert(1)>.txt").first
    ).to_be_visible()
    assert_inert(page)
    page = visit(dashboard, f"/tasks/{task}/steps/2", viewport={"width": 360, "height": 700})
    page.get_by_role("button", name="First").click()
    term = page.locator("#out-stdout")
    expect(term).to_contain_text("<script>window.owned = 1</script>")
    expect(term).to_contain_text("hidden black")
    expect(term).to_contain_text("\\u202ereversed")
    expect(term.locator(".over")).to_have_count(1)
    assert_inert(page)
    page = visit(dashboard, "/events")
    assert_inert(page)


def test_a_huge_line_comes_in_pieces(poisoned: Sandbox, dashboard: Dashboard, visit: Open) -> None:
    task = poisoned.json("task", "show", "--format", "json")["id"]
    page = visit(dashboard, f"/tasks/{task}/steps/2")
    page.get_by_role("button", name="First").click()
    expect(page.locator("#out-stdout")).to_contain_text("long escape")
    longest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('#out-stdout .l')]"
        ".map((line) => line.textContent.length))"
    )
    assert longest <= 4100
    page.get_by_role("button", name="Last").click()
    expect(page.locator("#out-stdout .l").last).to_have_text("end")


def test_the_door_for_html_lets_nothing_active_in(dashboard: Dashboard, visit: Open) -> None:
    """Were a template to forget to escape, this is what would stand in the way."""
    page = visit(dashboard).context.new_page()  # the policy complains of some of these, rightly
    page.goto(dashboard.url())
    settled(page)
    for html in (
        "<script>1</script>",
        "<img src=x>",
        "<p onclick='1'>",
        "<a href='https://evil.example/'>",
        "<a href='javascript:1'>",
        "<a href='//evil.example/'>",
        "<p style='x'>",
        "<iframe>",
        "<svg><use href='#x'/></svg>",
        "<form action='/x'>",
        "<a href='/\\evil.example'>",
        "<object>",
        "<base href='/'>",
        "<meta>",
        "<link>",
        "<template><p></template>",
    ):
        refused = page.evaluate(
            """async (html) => {
                const { piece } = await import('/static/pieces.js');
                try { piece(html); return false; } catch { return true; }
            }""",
            html,
        )
        assert refused, html


def test_the_policy_of_the_page_stops_inline_scripts(dashboard: Dashboard, visit: Open) -> None:
    page = visit(dashboard).context.new_page()
    page.goto(f"http://127.0.0.1:{dashboard.port}/")
    page.evaluate(
        """() => {
            const script = document.createElement('script');
            script.textContent = 'window.owned = 1';
            document.body.append(script);
            const button = document.createElement('button');
            button.setAttribute('onclick', 'window.owned = 2');
            document.body.append(button);
            button.click();
        }"""
    )
    assert page.evaluate("window.owned") is None
