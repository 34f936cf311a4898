"""What the pages show: what waits and is in no task, colours as in the file, busy tasks."""

import json
import re
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import pytest

from dashboards import Dashboard
from sandbox import SIDING, Sandbox

QUESTION = json.dumps(
    {
        "task": "Log in",
        "source": "s",
        "items": [
            {
                "id": 1,
                "title": "Which of the two?",
                "location": {"file": "src/a.py", "start": 9, "end": 9},
                "options": [{"value": each, "label": each} for each in ("a", "b")],
            }
        ],
    }
)
# The second change lies in a text that begins far above it.
BEFORE = "import os\n\n\ndef first():\n    return 1\n\n\nTEXT = '''\ndef inside():\n" + (
    "    words and more words\n" * 30
    + "def last_inside():\n'''\n\n\ndef outside():\n    return 2\n"
)
AFTER = BEFORE.replace("return 1", "return 11").replace("return 2", "return 22")
AFTER = AFTER.replace("def last_inside():", "def still_inside():")


@pytest.fixture
def sandbox(tmp_path: Any) -> Sandbox:
    return Sandbox(tmp_path, files={"src/a.py": BEFORE, "hello.txt": "hello\n"})


@pytest.fixture
def dashboard(sandbox: Sandbox) -> Iterator[Dashboard]:
    sandbox.siding("task", "start", "the task")
    with Dashboard(sandbox) as running:
        yield running


def view(dashboard: Dashboard, path: str) -> str:
    status, body = dashboard.get(f"/view{path}")
    assert status == 200, body
    return body.decode()


def waiting(page: str) -> int:
    found = re.search(r'id="group-waits">[^<]*<span class="number">(\d+)', page)
    return int(found.group(1)) if found else 0


def task_of(dashboard: Dashboard) -> str:
    return str(dashboard.json("/api/v1/tasks")["tasks"][0]["id"])


def test_a_question_of_no_task_is_on_the_board(sandbox: Sandbox, dashboard: Dashboard) -> None:
    assert waiting(view(dashboard, "/")) == 0
    done = sandbox.siding("decide", QUESTION, "--no-wait")
    session = done.stdout.decode().strip()
    page = view(dashboard, "/")
    assert waiting(page) == 1
    assert f'href="/decisions/{session}"' in page
    assert "Which of the two?" in page
    (found,) = dashboard.json("/api/v1/tasks")["questions"]
    assert (found["what"], found["path"]) == ("Which of the two?", f"/decisions/{session}")
    inside = ("run", "--no-tty", "--", "siding", "decide", QUESTION, "--no-wait")
    sandbox.siding(*inside)
    page = view(dashboard, "/")
    assert waiting(page) == 2
    groups = [each["group"] for each in dashboard.json("/api/v1/tasks")["tasks"]]
    assert groups == ["waiting"]
    # The task goes, and its question stays to be seen: with the task, which waits because of it.
    sandbox.siding("task", "close", "--force")
    assert waiting(view(dashboard, "/")) == 2
    board = dashboard.json("/api/v1/tasks")
    assert [each["group"] for each in board["tasks"]] == ["waiting"]
    assert [each["task"] for each in board["questions"]] == [""]


def row(page: str, text: str) -> str:
    """Return the HTML of the line that has this text."""
    for found in re.findall(r'<span class="c">(.*?)</span></div>', page):
        if re.sub(r"<[^>]*>", "", found) == text:
            return str(found)
    raise AssertionError((text, page))


def test_a_hunk_is_coloured_as_in_its_file(sandbox: Sandbox, dashboard: Dashboard) -> None:
    (sandbox.workspace() / "src/a.py").write_text(AFTER)
    sandbox.siding("checkpoint", "-m", "changed")
    task = task_of(dashboard)
    for base in (f"/tasks/{task}/steps/1", f"/tasks/{task}/changes"):
        page = view(dashboard, f"{base}/rows?file=0&from=0")
        text = '<span class="k-s">def still_inside():</span>'
        assert row(page, "def still_inside():") == text
        assert row(page, "def last_inside():") == text.replace("still", "last")
        assert '<span class="k-k">def</span>' in row(page, "def outside():")
        assert '<span class="k-n">11</span>' in row(page, "    return 11")
        assert '<span class="k-n">2</span>' in row(page, "    return 2")


def test_the_lines_of_a_question_are_coloured_as_in_their_file(
    sandbox: Sandbox, dashboard: Dashboard
) -> None:
    done = sandbox.siding("decide", QUESTION, "--no-wait")
    page = view(dashboard, f"/decisions/{done.stdout.decode().strip()}")
    assert row(page, "def inside():") == '<span class="k-s">def inside():</span>'
    assert '<span class="k-n">1</span>' not in page


def test_what_is_too_long_to_colour_is_plain(sandbox: Sandbox, dashboard: Dashboard) -> None:
    lines = [f"value_{number} = {number}  # a comment" for number in range(20_000)]
    (sandbox.workspace() / "long.py").write_text("\n".join(lines))
    sandbox.siding("checkpoint", "-m", "changed")
    page = view(dashboard, f"/tasks/{task_of(dashboard)}/steps/1/rows?file=0&from=0")
    assert row(page, lines[5]) == lines[5]
    assert "k-c" not in page


def test_what_a_live_run_means_is_told_before_a_code(
    sandbox: Sandbox, dashboard: Dashboard
) -> None:
    (sandbox.workspace() / "new.txt").write_text("new\n")
    sandbox.siding("checkpoint", "-m", "changed")
    task = task_of(dashboard)
    wish = {"act": "close"}
    digest = json.loads(dashboard.post(f"/api/v1/tasks/{task}/plan", wish)[1])["digest"]
    script = "echo began; while [ ! -e go ]; do sleep 0.05; done"
    running = subprocess.Popen(
        [*SIDING, "run", "--no-tty", "--", "sh", "-c", script],
        cwd=sandbox.repo,
        env=sandbox.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert running.stdout is not None
        assert running.stdout.readline() == b"began\n"
        pages = {
            act: view(dashboard, f"/tasks/{task}/plan?act={act}")
            for act in ("apply", "rollback&step=base", "close")
        }
        assert all("while [ ! -e go ]" in page for page in pages.values())
        assert "the task is busy" in pages["close"]
        assert 'name="code"' not in pages["close"]
        assert "is paused meanwhile, and goes on" in pages["rollback&step=base"]
        assert "taken as in step 0001" in pages["apply"]
        status, body = dashboard.post(f"/api/v1/tasks/{task}/code", {**wish, "digest": digest})
        said = json.loads(body)["error"]
        assert status == 409
        assert "busy" in said["message"]
        assert "--" not in str(said["hint"])
        assert dashboard.codes == 0
    finally:
        (sandbox.workspace() / "go").touch()
        running.communicate(timeout=60)
    assert "the task is busy" not in view(dashboard, f"/tasks/{task}/plan?act=close")


def test_a_rollback_beside_a_run_that_lives(sandbox: Sandbox, dashboard: Dashboard) -> None:
    (sandbox.workspace() / "new.txt").write_text("new\n")
    sandbox.siding("checkpoint", "-m", "changed")
    sandbox.siding("run", "--detach", "--", "sleep", "300")
    task, wish = task_of(dashboard), {"act": "rollback", "step": "base"}
    digest = json.loads(dashboard.post(f"/api/v1/tasks/{task}/plan", wish)[1])["digest"]
    act = {**wish, "digest": digest}
    shown = dashboard.codes
    assert dashboard.post(f"/api/v1/tasks/{task}/code", act)[0] == 200
    act["code"] = dashboard.code(shown + 1)
    status, body = dashboard.post(f"/api/v1/tasks/{task}/act", act)
    assert status == 200, body
    assert not (sandbox.workspace() / "new.txt").exists()
    assert sandbox.steps()[-1]["beside"] == ["r1"]
    assert len(sandbox.json("runs", "--format", "json")) == 1
    sandbox.siding("stop", "--all")


def test_a_code_is_printed_with_the_act_it_is_for(sandbox: Sandbox, dashboard: Dashboard) -> None:
    (sandbox.workspace() / "new.txt").write_text("new\n")
    sandbox.siding("checkpoint", "-m", "changed")
    task = task_of(dashboard)

    def asked(number: int, **wish: object) -> str:
        digest = json.loads(dashboard.post(f"/api/v1/tasks/{task}/plan", wish)[1])["digest"]
        status, body = dashboard.post(f"/api/v1/tasks/{task}/code", {**wish, "digest": digest})
        assert status == 200, body
        dashboard.code(number)
        return dashboard.said.decode().splitlines()[-1]

    named = f"task {task} (the task)"
    assert f"apply {named} to main as squash, and close the task;" in asked(
        1, act="apply", mode="squash"
    )
    assert "as commit, with the message 'Kind', and leave the task open;" in asked(
        2, act="apply", mode="commit", message="Kind", stay_open=True
    )
    assert f"roll {named} back to the base;" in asked(3, act="rollback", step="base")
    assert f"close {named}, keeping its workspace;" in asked(4, act="close", keep=True)
    status, body = dashboard.post(
        f"/api/v1/tasks/{task}/code", {"act": "close", "digest": "0" * 32}
    )
    assert (status, json.loads(body)["error"]["code"]) == (409, "changed")


def test_an_apply_with_traps_wants_consent_and_a_code(
    sandbox: Sandbox, dashboard: Dashboard
) -> None:
    (sandbox.directory / "siding" / "config.yaml").write_text("traps: {hold: always}\n")
    (sandbox.workspace() / ".envrc").write_text("evil\n")
    sandbox.siding("checkpoint", "-m", "left")
    task = task_of(dashboard)
    assert "direnv" in view(dashboard, f"/tasks/{task}/steps/1")
    assert "1 trap<" in view(dashboard, f"/tasks/{task}")

    def planned(wish: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(dashboard.post(f"/api/v1/tasks/{task}/plan", wish)[1])
        return found

    plan = planned({"act": "apply", "mode": "commit"})
    assert "nobody has seen" in plan["concerns"][0]
    act = {"act": "apply", "mode": "commit", "digest": plan["digest"]}
    assert dashboard.post(f"/api/v1/tasks/{task}/code", act)[0] == 409
    wish = {"act": "apply", "mode": "commit", "force": True}
    plan = planned(wish)
    assert plan["concerns"] == []
    listed = [path for group in plan["groups"] for path in group["paths"]]
    assert ".envrc (direnv, when somebody enters the directory)" in listed
    act = {**wish, "digest": plan["digest"]}
    shown = dashboard.codes
    assert dashboard.post(f"/api/v1/tasks/{task}/code", act)[0] == 200
    act["code"] = dashboard.code(shown + 1)
    assert "with what other programs will run" in dashboard.said.decode()
    status, body = dashboard.post(f"/api/v1/tasks/{task}/act", act)
    assert status == 200, body
    assert (sandbox.repo / ".envrc").read_text() == "evil\n"


def test_a_query_that_has_no_effect_is_refused_by_name(dashboard: Dashboard) -> None:
    task = task_of(dashboard)
    for path in (
        "/tasks?limit=2",
        "/events?before=3",
        "/events?limit=2&limit=3",
        f"/tasks/{task}/changes.raw?at=3",
        "/openapi.json?x=1",
    ):
        status, body = dashboard.get(f"/api/v1{path}")
        error = json.loads(body)["error"]
        assert status == 400, path
        assert re.search(r"'(limit|before|at|x)'", error["message"])
        assert error["hint"]
    assert dashboard.get("/api/v1/events?limit=2")[0] == 200


def test_a_step_whose_snapshot_was_freed_says_so(sandbox: Sandbox, dashboard: Dashboard) -> None:
    for number in (1, 2, 3):
        sandbox.siding("-q", "run", "--", "sh", "-c", f"seq {number} 20000 >file{number}")
    sandbox.siding("-q", "rollback", "--step", "2")
    sandbox.siding("-q", "run", "--", "sh", "-c", "echo 5 >file5")
    time.sleep(1.1)
    task = task_of(dashboard)
    freed = "its snapshot was freed by `siding gc` on"
    assert freed not in view(dashboard, f"/tasks/{task}/steps/3")
    sandbox.siding("gc", "--older", "1s", "--yes")
    page = view(dashboard, f"/tasks/{task}/steps/3")
    assert freed in page
    assert "Back to here" not in page
    assert "file3" in page
    assert view(dashboard, f"/tasks/{task}").count(freed) == 1
    status, body = dashboard.get(f"/view/tasks/{task}/plan?act=rollback&step=3")
    assert freed in body.decode()
    assert status < 500
    status, body = dashboard.get(f"/api/v1/tasks/{task}/steps/3")
    assert "snapshot_freed" in json.loads(body)
    sandbox.siding("-q", "task", "close", "--force")
    sandbox.siding("gc", "--older", "1s", "--yes")
    assert "They cannot be shown any more: its patch was freed by" in view(
        dashboard, f"/tasks/{task}/steps/3"
    )
    for address in (f"/api/v1/tasks/{task}/steps/3/{what}" for what in ("patch.raw", "files")):
        status, body = dashboard.get(address)
        assert status == 409, body
        assert json.loads(body)["error"]["code"] == "patch_freed"


def test_the_last_screen_of_a_program_that_draws_is_shown(
    sandbox: Sandbox, dashboard: Dashboard
) -> None:
    draw = "printf '\\033[2J\\033[3;5Hdrawn <b>here</b>'"
    sandbox.siding("run", "--tty", "--", "sh", "-c", draw)
    sandbox.siding("run", "--tty", "--", "echo", "lines")
    steps = f"/tasks/{task_of(dashboard)}/steps"
    assert "\n\n    drawn &lt;b&gt;here&lt;/b&gt;</pre>" in view(dashboard, f"{steps}/1")
    assert "last screen" not in view(dashboard, f"{steps}/2")


def test_the_board_and_the_task_show_a_conversation(sandbox: Sandbox, dashboard: Dashboard) -> None:
    task = task_of(dashboard)
    (tasks,) = (sandbox.directory / "siding" / "projects").glob("*/tasks")
    chat = tasks / task / "chats" / "c1"
    chat.mkdir(parents=True)
    lines: list[dict[str, Any]] = [
        {"event": "began", "agent": "claude", "program": ["claude"]},
        {"event": "hosted", "run": "r1"},
        {"event": "queued", "prompt": "p1", "text": "fix <b> it"},
        {"event": "sending", "prompt": "p1"},
        {"event": "queued", "prompt": "p2", "text": "then this"},
    ]
    at = {"at": "2026-11-28T10:00:00.000Z"}
    (chat / "story.jsonl").write_text("".join(json.dumps(each | at) + "\n" for each in lines))
    broke = "the host of c1 was killed"
    for path in ("/", f"/tasks/{task}"):
        end = time.monotonic() + 30
        while broke not in (page := view(dashboard, path)):
            assert time.monotonic() < end, page
            time.sleep(0.1)
        assert "c1 with claude" in page
        assert "1 prompt" in page
        assert "<b> it" not in page
