"""A conversation in the browser: what was said is read, what tools did is folded, all inert."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from browser.conftest import Open
from dashboards import Dashboard
from sandbox import Sandbox

SCRIPT = "<script>window.owned = 1</script><img src=x onerror='window.owned = 2'>"


def line(number: int, kind: str, content: Any, **more: Any) -> str:
    """Return a line of a transcript, following the one before it."""
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        usage = {"input_tokens": 1000 * number, "output_tokens": 10 * number}
        message |= {"id": f"msg_{number}", "model": "a-model", "usage": usage}
    record = {
        "type": kind,
        "uuid": f"00000000-0000-4000-8000-{number:012}",
        "parentUuid": f"00000000-0000-4000-8000-{number - 1:012}" if number > 1 else None,
        "timestamp": f"2026-01-01T10:{number // 60:02}:{number % 60:02}.000Z",
        "sessionId": SESSION,
        "cwd": "/",
        "version": "1",
        "isSidechain": False,
        "userType": "external",
        "message": message,
        **more,
    }
    return json.dumps(record)


SESSION = "11111111-1111-4111-8111-111111111111"


def transcript() -> str:
    lines = [line(1, "user", f"Please **mend** it {SCRIPT}")]
    for number in range(2, 200, 4):
        call = {
            "type": "tool_use",
            "id": f"t{number}",
            "name": "Bash",
            "input": {"command": SCRIPT},
        }
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"\u202e{SCRIPT}"}
        lines += [
            line(number, "assistant", [{"type": "text", "text": f"Look {number}"}, call]),
            line(number + 1, "user", [result]),
            line(number + 2, "assistant", [{"type": "text", "text": "Done"}]),
            line(number + 3, "user", "Go on"),
        ]
    return "\n".join(lines) + "\n"


def test_a_conversation(
    sandbox: Sandbox, dashboard: Dashboard, visit: Open, tmp_path: Path
) -> None:
    path = tmp_path / f"{SESSION}.jsonl"
    path.write_text(transcript(), encoding="utf-8")
    sandbox.siding("session", "import", str(path))
    page = visit(dashboard, "/sessions")
    page.locator(".rows-list a").click()
    expect(page.locator(".said-by")).to_have_count(80)
    expect(page.get_by_text("Earlier messages (121)")).to_be_visible()
    folded = page.locator("details.call").first
    assert not folded.evaluate("(box) => box.open")
    folded.locator("summary").click()
    expect(folded.locator("pre")).to_contain_text("<script>window.owned = 1</script>")
    assert page.locator("figure.chart rect.low").count() > 10
    page.get_by_text("Earlier messages (121)").click()
    # By its number: the link of the page before stands there until the next page has come.
    page.get_by_text("Earlier messages (41)").click()
    expect(page.locator("#m1 strong").nth(1)).to_have_text("mend")
    assert page.evaluate("window.owned") is None
    assert "\u202e" not in page.evaluate("document.body.textContent")
