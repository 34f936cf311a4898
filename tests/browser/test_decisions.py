"""A person answers in the page while the command that asked still waits."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Page, expect

from browser.conftest import Open, settled
from dashboards import Dashboard
from sandbox import SIDING, Sandbox

QUESTION: dict[str, Any] = {
    "task": "Log in",
    "source": "plan.md",
    "items": [
        {
            "id": 1,
            "title": "How do people log in?",
            "context": "Both **work**.\n\n<script>document.title = 'owned'</script>\n\n"
            "[a link](https://evil.example/) ![x](https://evil.example/x.png)",
            "location": {"file": "src/a.py", "start": 1, "end": 1},
            "options": [
                {"value": "jwt", "label": "Tokens", "score": 80, "pros": ["stateless"]},
                {"value": "session", "label": "Sessions", "cons": ["a table"]},
            ],
            "recommend": "jwt",
        },
        {
            "id": 2,
            "title": "Where from?",
            "kind": "multiple",
            "min": 1,
            "max": 2,
            "options": [
                {"value": "web", "label": "The web"},
                {"value": "cli", "label": "The command line"},
                {"value": "tv", "label": "A television"},
            ],
        },
        {"id": 3, "title": "What is it called?", "kind": "text"},
    ],
}


@contextmanager
def asking(sandbox: Sandbox, question: dict[str, Any]) -> Iterator["subprocess.Popen[bytes]"]:
    """Run ``siding decide`` until it has its answer."""
    process = subprocess.Popen(
        [*SIDING, "decide", "-"],
        cwd=sandbox.repo,
        env=sandbox.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(question).encode())
    process.stdin.close()
    process.stdin = None
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None and not stream.closed:
                stream.close()


def open_question(page: Page) -> None:
    """Follow the question from the list, which shows it as soon as it is asked."""
    page.get_by_role("link", name="How do people log in?").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
    settled(page)


def test_a_question_is_answered_while_the_command_waits(
    sandbox: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    page = visit(dashboard, "/decisions")
    with asking(sandbox, QUESTION) as command:
        open_question(page)
        expect(page.get_by_text("recommended")).to_be_visible()
        expect(page.locator(".source .asked")).to_contain_text("a = 1")
        assert page.title() != "owned"
        assert page.locator(".prose img, .prose a, .prose script").count() == 0
        page.get_by_role("radio", name="Sessions").check()
        page.get_by_label("A note, if you like").first.fill("as in the old one")
        page.get_by_role("button", name="All at once").click()
        page.get_by_label("The web").check()
        page.get_by_label("A television").check()
        page.get_by_label("Your answer").fill("Turnstile")
        expect(page.get_by_text("3 of 3 answered")).to_be_visible()
        page.get_by_role("button", name="Send the answers").click()
        expect(page.get_by_text("This is what was recorded")).to_be_visible()
        expect(page.locator(".recorded").nth(2)).to_contain_text("Turnstile")
        said, _ = command.communicate(timeout=60)
    assert command.returncode == 0
    chosen = {each["id"]: each["chosen"] for each in json.loads(said)["decisions"]}
    assert chosen[1] == "session"
    assert json.loads(said)["decisions"][0]["note"] == "as in the old one"


def test_the_keyboard_alone_is_enough_and_choices_survive_a_reload(
    sandbox: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    with asking(sandbox, QUESTION) as command:
        page = visit(dashboard)
        page.keyboard.press("g")
        page.keyboard.press("d")
        expect(page.get_by_role("heading", level=1)).to_have_text("Decisions")
        expect(page.get_by_role("link", name="How do people log in?")).to_be_visible()
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", level=1)).to_have_text("Log in")
        settled(page)
        page.keyboard.press("1")
        page.keyboard.press("ArrowRight")
        expect(page.get_by_role("heading", name="Where from?")).to_be_visible()
        page.keyboard.press("2")
        page.reload()
        settled(page)
        expect(page.get_by_text("2 of 3 answered")).to_be_visible()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("alert")).to_have_text("Question 3 is not answered yet.")
        page.keyboard.press("Tab")
        page.keyboard.type("Turnstile")
        page.keyboard.press("Control+Enter")
        expect(page.get_by_text("This is what was recorded")).to_be_visible()
        said, _ = command.communicate(timeout=60)
    answers = json.loads(said)["decisions"]
    assert answers[0]["chosen"] == "jwt"
    assert answers[2]["chosen"] == "Turnstile"


def test_the_second_answer_is_told_that_it_is_the_second(
    sandbox: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    page = visit(dashboard, "/decisions")
    with asking(sandbox, {**QUESTION, "items": QUESTION["items"][:1]}) as command:
        open_question(page)
        session = page.url.rpartition("/")[2]
        page.get_by_role("radio", name="Tokens").check()
        body = {"decisions": [{"id": 1, "chosen": "session"}]}
        status, _ = dashboard.post(f"/api/v1/decisions/{session}/answer", body)
        assert status == 200
        expect(page.get_by_text("This is what was recorded")).to_be_visible()
        expect(page.locator(".recorded")).to_contain_text("Sessions")
        status, said = dashboard.post(f"/api/v1/decisions/{session}/answer", body)
        assert status == 409
        assert json.loads(said)["error"]["code"] == "already_closed"
        command.communicate(timeout=60)


GATE = {
    "names": ["build", "finish"],
    "gates": {"build": [{"ask": "May this be released?"}]},
}


def test_a_gate_is_opened_with_the_code_of_the_terminal(
    sandbox: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    sandbox.siding("task", "start", "release")
    (sandbox.project / "config.yaml").write_text(json.dumps({"version": 1, "phases": GATE}))
    sandbox.siding("phase", "start", "build", "begin")
    page = visit(dashboard, "/decisions")
    sandbox.siding("phase", "next-part", "finish", "done", status=1)
    page.get_by_role("link", name="May this be released?").click()
    expect(page.get_by_text("the gate of phase build")).to_be_visible()
    code = page.locator("#decision").get_by_label("The code in the terminal")
    send = page.get_by_role("button", name="Send the answer")
    page.get_by_role("radio", name="No, not yet").check()
    send.click()
    expect(code).to_be_focused()
    first = dashboard.code()
    page.get_by_role("radio", name="Yes, go on").check()
    expect(code).to_be_hidden()  # the code was for the other answer
    send.click()
    expect(code).to_be_focused()
    second = dashboard.code(2)
    code.fill(first)
    send.click()
    expect(page.get_by_role("alert")).to_contain_text("not the code")
    code.fill(second)
    page.keyboard.press("Enter")
    expect(page.get_by_text("This is what was recorded")).to_be_visible()
    expect(page.get_by_text("page with code")).to_be_visible()
    sandbox.siding("phase", "next-part", "finish", "done")
    page.goto(dashboard.url("/phases"))
    settled(page)
    page.get_by_text("2 moves").click()
    expect(page.get_by_text("answered by page with code")).to_be_visible()


def test_a_question_of_no_task_comes_to_the_board_and_is_cancelled_with_a_code(
    sandbox: Sandbox, dashboard: Dashboard, visit: Open
) -> None:
    page = visit(dashboard)
    with asking(sandbox, {**QUESTION, "items": QUESTION["items"][:1]}) as command:
        expect(page.locator("#group-waits .number")).to_have_text("1")  # without a reload
        open_question(page)
        page.get_by_text("Cancel instead of answering?").click()
        page.get_by_role("button", name="Cancel the question").click()
        field = page.locator("form.cancel").get_by_label("The code in the terminal")
        expect(field).to_be_focused()
        field.fill(dashboard.code())
        page.get_by_role("button", name="Cancel the question").click()
        expect(page.get_by_text("Cancelled")).to_be_visible()
        command.communicate(timeout=60)
    page.goto(dashboard.url())
    settled(page)
    expect(page.locator("#group-waits")).to_have_count(0)
