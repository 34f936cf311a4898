"""The values that `__complete` offers a shell for the last word of a command line."""

import json
import time
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from siding.faces.cli import completion
from siding.faces.cli.table import BELOW, FOR_PROGRAMS
from siding.sessions import lookup
from unit.faces.cli.in_process import CommandLine


def offered(siding: CommandLine, *words: str, status: int = 0) -> dict[str, str]:
    """Return what is offered, each with what is said of it."""
    said = siding("__complete", "--", *words, status=status)
    assert said.err == ""
    pairs = (line.partition("\t") for line in said.out.splitlines())
    return {value: about for value, _tab, about in pairs}


def values(siding: CommandLine, *words: str) -> list[str]:
    return list(offered(siding, *words))


def test_verbs_groups_and_the_verbs_of_a_group(siding: CommandLine) -> None:
    assert sorted(values(siding, "st")) == ["status", "statusline", "stop"]
    assert {"log", "task", "--help"} <= set(values(siding, ""))
    assert not set(FOR_PROGRAMS) & set(values(siding, ""))
    assert values(siding, "task", "re") == ["reopen"]
    assert offered(siding, "task", "re") == {"reopen": "bring a closed or deleted task back"}
    assert values(siding, "zzz", "") == []


def test_options_of_a_verb_and_their_choices(siding: CommandLine) -> None:
    assert "--step" in values(siding, "log", "--st")
    assert {"--dry-run", "--hard", "--color"} <= set(values(siding, "rollback", "--"))
    assert values(siding, "apply", "--mode", "s") == ["squash"]
    assert values(siding, "log", "--limit", "") == []


def test_tasks_by_name_and_steps(desk: Desk, siding: CommandLine) -> None:
    desk.shell("true")
    found = offered(siding, "log", "-t", "")
    assert list(found) == ["work"]
    assert found["work"].startswith(f"{desk.task.id} · active, ")
    assert values(siding, "task", "close", "wo") == ["work"]
    assert values(siding, "task", "close", desk.task.id[:3]) == [desk.task.id]
    assert values(siding, "show", "") == ["0001", "last"]
    assert values(siding, "diff", "--from", "") == ["0001", "base", "last", "now"]


def test_tasks_of_one_name_are_told_apart_by_their_ids(desk: Desk, siding: CommandLine) -> None:
    desk.sandbox.siding("task", "start", "work", "--no-workspace", "--no-switch")
    found = offered(siding, "path", "")
    assert desk.task.id in found
    assert len(found) == 2
    assert all(about.startswith("work · ") for about in found.values())


def test_what_a_task_can_start_from(desk: Desk, siding: CommandLine) -> None:
    desk.sandbox.git("update-ref", "refs/remotes/origin/fix", "main")
    desk.sandbox.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/fix")
    found = values(siding, "task", "start", "new", "--from", "")
    assert found == ["main", desk.branch, "origin/fix", "work"]
    assert values(siding, "task", "start", "new", "--from", "wo") == ["work"]
    assert "--from" in values(siding, "task", "start", "--")


def test_workflows_and_the_arguments_that_their_scripts_read(
    desk: Desk, siding: CommandLine
) -> None:
    found = offered(siding, "workflow", "run", "")
    assert found["review"].startswith("Review a change")
    assert values(siding, "workflow", "run", "review", "") == ["change=", "sides="]
    script = """META = {"name": "mine", "description": "x"}
async def main(args):
    wanted = args or {}
    first = wanted["first"]
    other = {"no": 1}
    other.get("no")
    return first, args.get("second", wanted.get("first"))
"""
    directory = desk.sandbox.repo / ".siding" / "workflows"
    directory.mkdir(parents=True)
    (directory / "mine.py").write_text(script)
    assert values(siding, "workflow", "run", "mine", "") == ["first=", "second="]


def test_a_closed_task_is_offered_nowhere(desk: Desk, siding: CommandLine) -> None:
    desk.close()
    assert values(siding, "log", "-t", "") == []


def test_files_are_offered_only_where_one_can_stand(desk: Desk, siding: CommandLine) -> None:
    files = 3
    for words in (("run", "--", ""), ("import", ""), ("diff", "-o", ""), ("rollback", "")):
        assert offered(siding, *words, status=files) == {}
    for words in (("attach", ""), ("zzz", ""), ("switch", "nobody"), ("log", "--limit", "")):
        assert offered(siding, *words) == {}


def test_outside_of_a_project_it_is_silent(siding: CommandLine) -> None:
    assert values(siding, "log", "-t", "") == []
    assert values(siding, "completion", "") == ["bash", "fish", "zsh"]


def told(number: int, workspace: Path, home: Path) -> None:
    """Write a conversation as Claude Code keeps it."""
    session = f"1111111{number}-2222-4333-8444-555555555555"
    line = {
        "type": "user",
        "uuid": f"a{number}",
        "parentUuid": None,
        "sessionId": session,
        "cwd": str(workspace),
        "timestamp": f"2026-11-2{number}T01:00:00.000Z",
        "version": "2.1.0",
        "message": {"role": "user", "content": f"do thing {number}"},
    }
    kept = home / ".claude" / "projects" / str(workspace).replace("/", "-").replace(".", "-")
    kept.mkdir(parents=True, exist_ok=True)
    (kept / f"{session}.jsonl").write_text(json.dumps(line) + "\n")


def test_sessions_the_newest_first_with_their_titles(
    desk: Desk, siding: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 3, 2):
        told(number, desk.root, Path(desk.sandbox.env["HOME"]))
    found = offered(siding, "session", "show", "")
    assert list(found) == ["11111113", "11111112", "11111111"]
    assert found["11111113"].startswith("do thing 3 · claude, ")
    assert values(siding, "session", "resume", "11111112") == ["11111112"]
    assert values(siding, "session", "rewind", "11111112", "") == [], "that is a message of it"
    assert "--format" in values(siding, "session", "show", "--fo")

    def sleeps(*_given: object) -> None:
        time.sleep(60)

    monkeypatch.setattr(completion, "_PATIENCE_S", 0.2)
    monkeypatch.setattr(lookup, "sessions", sleeps)
    begun = time.monotonic()
    assert values(siding, "session", "show", "") == []
    assert time.monotonic() - begun < 30


def test_conversations_their_verbs_and_the_agents_of_them(desk: Desk, siding: CommandLine) -> None:
    below = BELOW["chat"]
    assert values(siding, "chat", "")[: len(below)] == list(below)
    assert {"claude", "codex"} <= set(values(siding, "chat", ""))
    assert values(siding, "chat", "switch", "clau") == ["claude"]
    assert values(siding, "acp", "--agent", "cod") == ["codex"]
    assert "--reason" in values(siding, "chat", "answer", "--")
    chats = desk.sandbox.project / "tasks" / str(desk.task.id) / "chats" / "c1"
    chats.mkdir(parents=True)
    lines = [
        {"seq": 1, "event": "began", "agent": "codex", "program": ["codex"]},
        {"seq": 2, "event": "queued", "prompt": "p", "text": "fix the parser"},
    ]
    story = "".join(json.dumps(each) + "\n" for each in lines)
    (chats / "story.jsonl").write_text(story)
    found = offered(siding, "chat", "show", "-c", "")
    assert found == {"c1": "codex, ended · fix the parser"}
