"""Every page, light and dark, wide and narrow: no violation, and each check can fail."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page

from browser.conftest import Open, settled
from dashboards import Dashboard
from sandbox import Sandbox
from siding.faces.web.table import PAGES

CHECKS = (Path(__file__).parent / "accessibility.js").read_text(encoding="utf-8")
TRANSCRIPT = Path(__file__).parents[1] / "unit/agents/real/codex-0.169.0.jsonl"
NEEDS_NAME = {
    "button",
    "link",
    "textbox",
    "checkbox",
    "radio",
    "combobox",
    "slider",
    "meter",
    "image",
    "dialog",
    "navigation",
    "region",
    "searchbox",
    "spinbutton",
    "img",
    "log",
}
QUESTION = {
    "task": "Log in",
    "source": "plan.md",
    "items": [
        {
            "id": 1,
            "title": "How?",
            "context": "Some **Markdown** with `code`.\n\n- a\n- b",
            "location": {"file": "src/a.py", "start": 1, "end": 1},
            "recommend": "a",
            "options": [
                {"value": "a", "label": "A", "score": 70, "pros": ["fast"], "cons": ["new"]},
                {"value": "b", "label": "B"},
            ],
        },
        {"id": 2, "title": "Why?", "kind": "text"},
    ],
}


# Every colour there is for code; a step changes each line, so that it is seen on both grounds.
SOURCE = '''# a comment
@decorator
class Name(int):
    """A text."""

    def method(self):
        return len("text") + 1 if self and not None else 2
'''


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A dashboard with something on every page."""
    files = {"hello.txt": "hello\n", "src/a.py": SOURCE}
    sandbox = Sandbox(tmp_path_factory.mktemp("lived-in"), files=files)
    sandbox.siding("task", "start", "the first task", "-m", "at some length")
    colours = (
        "printf '\\033[31mred\\033[32mgreen\\033[1;34mblue\\033[0m\\n\\033[41mon red\\033[0m\\n'"
    )
    sandbox.siding(
        "run", "--", "sh", "-c", f"{colours}; sed -i 's/$/ # more/' src/a.py; echo new > new.py"
    )
    sandbox.siding("run", "--", "sh", "-c", "exit 3", status=3)
    sandbox.siding("rollback", "--step", "1")
    sandbox.siding("task", "start", "a planned one", "--no-workspace", "--no-switch")
    sandbox.siding("task", "start", "done already", "--no-switch")
    sandbox.siding("task", "close", "done already")
    sandbox.siding("decide", "--no-wait", json.dumps(QUESTION))
    sandbox.siding("session", "import", str(TRANSCRIPT))
    with Dashboard(sandbox) as running:
        yield running


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    """A dashboard with one task."""
    sandbox = Sandbox(tmp_path_factory.mktemp("accessible"))
    sandbox.siding("task", "start", "one")
    with Dashboard(sandbox) as running:
        yield running


@pytest.fixture
def board(small: Dashboard, visit: Open) -> Page:
    """Its board."""
    return visit(small)


def violations(page: Page) -> list[str]:
    """Return what is wrong with the page that is shown."""
    found: list[str] = page.evaluate(CHECKS)
    session = page.context.new_cdp_session(page)
    nodes: list[dict[str, Any]] = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    for node in nodes:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in NEEDS_NAME:
            continue
        if not str(node.get("name", {}).get("value", "")).strip():
            found.append(f"a {role} without a name")
    return found


LOOKS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 1280), ("dark", 360))


def show(page: Page, address: str) -> None:
    page.goto(address)
    settled(page)
    if "/steps/1" in address:
        page.wait_for_selector(".block")
        page.wait_for_selector("#out-stdout .l")


def look(page: Page, scheme: Literal["light", "dark"], width: int) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})


def test_no_page_has_a_violation(lived_in: Dashboard, visit: Open) -> None:
    dashboard = lived_in
    origin = f"http://127.0.0.1:{dashboard.port}"
    first = next(
        each["id"]
        for each in dashboard.json("/api/v1/tasks")["tasks"]
        if each["name"] == "the first task"
    )
    (decision,) = dashboard.json("/api/v1/decisions")["decisions"]
    (session,) = dashboard.json("/api/v1/sessions")["sessions"]
    pages = [
        *(path for path in PAGES if "{" not in path),
        "/?done=20",
        f"/tasks/{first}",
        f"/tasks/{first}/steps/1",
        f"/tasks/{first}/steps/2",
        f"/tasks/{first}/changes",
        f"/decisions/{decision['session_id']}",
        f"/sessions/{session['id']}",
        "/tasks/nothere1",
    ]
    page = visit(dashboard)
    found = {}
    for path in pages:
        for scheme, width in LOOKS:
            look(page, scheme, width)
            if (scheme, width) == LOOKS[0] or path.startswith("/tasks/"):
                show(page, f"{origin}{path}")  # a patch is shown for the width it finds
            found[path, scheme] = violations(page)
    for scheme, width in LOOKS:
        look(page, scheme, width)
        show(page, f"{origin}/tasks/{first}")
        page.locator("#step-1").get_by_role("button", name="Back to here").click()
        page.wait_for_selector("dialog h2")
        found["dialog", scheme] = violations(page)
    assert {shown: problems for shown, problems in found.items() if problems} == {}


def test_the_page_of_the_pairing_leads_nowhere_and_has_no_other_violation(
    lived_in: Dashboard, visit: Open
) -> None:
    page = visit(lived_in, "/pair")
    for scheme, width in LOOKS:
        look(page, scheme, width)
        assert violations(page) == ["no nav", "no header"]


BROKEN = [
    ("document.querySelector('main h1').remove()", "not one h1"),
    ("document.querySelector('main h1').style.color = '#aaa'", "contrast"),
    ("document.querySelector('main button').textContent = ''", "button without a name"),
    ("document.querySelector('main a').textContent = ''", "link without a name"),
    ("document.querySelector('main').id = 'live'", "two elements"),
    ("document.querySelector('main section').setAttribute('aria-labelledby', 'x')", "nowhere"),
    ("document.querySelector('main a').tabIndex = 3", "tab order"),
    ("document.querySelector('main h2').outerHTML = '<h4>x</h4>'", "heading skips"),
    ("document.querySelector('main').append(document.createElement('li'))", "without a list"),
    ("document.querySelector('main p').style.width = '9000px'", "sideways"),
    ("document.documentElement.lang = ''", "no language"),
]


def test_each_check_can_fail(board: Page) -> None:
    missed = []
    for break_it, complaint in BROKEN:
        board.reload()
        settled(board)
        assert violations(board) == []
        board.evaluate(break_it)
        if not any(complaint in problem for problem in violations(board)):
            missed.append(break_it)
    assert missed == []
