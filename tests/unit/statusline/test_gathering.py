"""What is known of a task and its conversation, read where it lies."""

import json
from typing import Any

from integration.undo.desk import Desk
from sandbox import Sandbox
from siding import __version__
from siding.chat.store import Chats
from siding.chat.talk import Talk
from siding.statusline.document import TokenUse, document
from siding.statusline.gathering import cwd_of, env_of, facts_at, use_of
from siding.statusline.place import Place

AT = "2026-11-28T10:00:00.000Z"
STORY: list[dict[str, Any]] = [
    {"event": "began", "agent": "claude", "program": ["claude"], "model": "m-1"},
    {"event": "hosted", "run": "r9"},
    {"event": "session-changed", "session": "11111111-2222-4333-8444-555555555555"},
    {"event": "applied", "model": "m-2", "mode": "plan", "effort": "high"},
    {"event": "queued", "prompt": "p1", "text": "fix add"},
    {"event": "sending", "prompt": "p1"},
    {"event": "turn-started", "prompt": "p1"},
    {
        "event": "used",
        "input": 1_000,
        "output": 50,
        "cached": 3_000,
        "context": 4_000,
        "window": 200_000,
        "dollars": 0.25,
    },
    {"event": "turn-ended", "how": "done"},
    {"event": "turn-started"},
    {"event": "used", "input": 2_000, "output": 30, "cached": 22_000, "context": 24_000},
    {"event": "used", "input": 2_000, "output": 60, "cached": 22_000, "dollars": 0.17},
    {"event": "turn-ended", "how": "done"},
]


def _place(desk: Desk, **more: Any) -> Place:
    return Place(project=desk.project.layout.root.name, task=str(desk.task.id), **more)


def tell(desk: Desk) -> None:
    chat = Chats(desk.project.task_layout(desk.task.id)).begin()
    lines = [{"seq": n, "at": AT, **each} for n, each in enumerate(STORY, start=1)]
    chat.story.write_text("".join(f"{json.dumps(each)}\n" for each in lines))


def test_a_task_without_a_conversation(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    app = desk.project.app
    facts = facts_at(app, _place(desk, lines_added=18, lines_removed=2))
    assert facts.cwd == str(desk.root)
    assert facts.project_dir == str(desk.project.paths.root)
    assert (facts.lines_added, facts.lines_removed) == (18, 2)
    assert facts.session_name == "work"
    assert facts.session_id == facts_at(app, _place(desk)).session_id != ""
    assert facts.worktree is not None
    assert facts.worktree.branch == desk.task.branch
    assert facts.worktree.original_cwd == facts.project_dir
    assert facts.use is None
    assert cwd_of(facts, app) == desk.root


def test_a_conversation_says_model_tokens_and_cost(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    tell(desk)
    facts = facts_at(desk.project.app, _place(desk, siding={"state": "rests"}))
    assert facts.session_id == "11111111-2222-4333-8444-555555555555"
    assert facts.session_name == "fix add"
    assert (facts.model, facts.mode, facts.effort, facts.agent) == ("m-2", "plan", "high", "claude")
    assert facts.dollars == 0.42
    assert (facts.input_tokens, facts.output_tokens) == (28_000, 110)
    assert facts.use == TokenUse(2_000, 60, 0, 22_000)
    found = document(facts, now_s=(facts.began_s or 0) + 60)
    assert found["context_window"]["used_percentage"] == 12
    assert found["cost"]["total_duration_ms"] == 60_000
    assert found["siding"] == {
        "state": "rests",
        "task": str(desk.task.id),
        "task_name": "work",
        "chat": "c1",
        "standing": "ended",
    }


def test_without_a_task_it_is_about_the_directory(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    app = desk.project.app
    facts = facts_at(app, Place())
    assert facts.cwd == facts.project_dir == str(app.cwd)
    assert facts.version == __version__
    env = env_of(app, facts, columns=100, rows=30)
    assert (env["COLUMNS"], env["LINES"]) == ("100", "30")
    assert env["SIDING_PROJECT_DIR"] == env["CLAUDE_PROJECT_DIR"] == str(app.cwd)


def test_nothing_was_used_before_the_first_request() -> None:
    assert use_of(Talk()) is None
    assert use_of(Talk(context=500)) == TokenUse(input_tokens=500)
