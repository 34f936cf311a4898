"""A board and a folder .aide come in whole, once, and the files they come from stay as they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox

QUESTION = {
    "task": "log in",
    "source": "task-now.md",
    "items": [
        {
            "id": 1,
            "title": "How?",
            "options": [{"value": "jwt", "label": "JWT"}, {"value": "session", "label": "S"}],
        }
    ],
}
ASKED = {"created_at": "2025-01-15T10:30:00+08:00", "session_id": "2025-01-15T10-30-00"}
RECORD = {
    "input": QUESTION,
    "output": {"decisions": [{"id": 1, "chosen": "jwt", "note": "known"}]},
    "completed_at": "2025-01-15T10:35:00+08:00",
}


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def put(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def task(number: int, subject: str, status: str, **more: object) -> dict[str, object]:
    return {
        "id": number,
        "subject": subject,
        "description": "",
        "status": status,
        "owner": "",
        "worktree": "",
        "blockedBy": [],
        "created_at": 1730000000.5,
        "updated_at": 1730000100.5,
        **more,
    }


def board(sandbox: Sandbox) -> Path:
    """Write a board of four tasks; worktrees are active, kept, removed, gone, and of no task."""
    root = sandbox.repo
    entries = []
    for name, owner, status in (
        ("auth-refactor", 1, "active"),
        ("ui-login", 3, "kept"),
        ("free", None, "active"),
    ):
        path = root / ".worktrees" / name
        sandbox.git("worktree", "add", "-q", "-b", f"wt/{name}", str(path))
        put(path / f"{name}.txt", name)
        branch = f"wt/{name}"
        entries.append(
            {"name": name, "path": str(path), "branch": branch, "task_id": owner, "status": status}
        )
    for name, status in (("old", "removed"), ("gone", "active")):
        where = str(root / ".worktrees" / name)
        entries.append(
            {"name": name, "path": where, "branch": "wt/x", "task_id": 2, "status": status}
        )
    put(root / ".worktrees/index.json", {"worktrees": entries})
    put(root / ".worktrees/events.jsonl", '{"event": "worktree.create.before", "ts": 1730000000}\n')
    auth = task(1, "Implement auth", "in_progress", worktree="auth-refactor", owner="agent-A")
    put(root / ".tasks/task_1.json", {**auth, "priority": "high"})
    put(root / ".tasks/task_2.json", task(2, "Plan", "pending", blockedBy=[1, 9]))
    put(root / ".tasks/task_3.json", task(3, "Login page", "completed", worktree="ui-login"))
    put(root / ".tasks/task_4.json", '{"id": 4, "subject": "torn')
    return root


def tree(root: Path) -> dict[str, bytes]:
    places = (".tasks", ".worktrees", ".aide")
    found = [each for place in places for each in sorted((root / place).rglob("*"))]
    return {str(each): each.read_bytes() for each in found if each.is_file()}


def records(sandbox: Sandbox) -> dict[str, bytes]:
    """Return all records of the project that say something, but not caches and locks."""
    names = ("task.json", "worktrees.json", "ledger.jsonl", "events.jsonl", "flow-status.json")
    found = [each for each in sorted(sandbox.project.rglob("*")) if each.is_file()]
    kept = ("decisions/", "imports/")
    return {
        str(each): each.read_bytes()
        for each in found
        if each.name in names or any(part in str(each) for part in kept)
    }


def tasks(sandbox: Sandbox) -> dict[str, Any]:
    found = sandbox.json("task", "list", "--all", "--format", "json")
    return {each["name"]: each for each in found}


def test_a_board_comes_in_with_its_worktrees(sandbox: Sandbox) -> None:
    root = board(sandbox)
    before = tree(root)
    done = sandbox.siding("import", status=1)
    said = done.stderr.decode()
    assert ".tasks/task_4.json: it is not JSON" in said
    assert "task 2 waits for task 9, which is not there" in said
    assert "imported 3 tasks, 3 worktrees, events; 0 already there, 2 left, 2 problems" in said
    assert tree(root) == before
    found = tasks(sandbox)
    assert {name: each["status"] for name, each in found.items()} == {
        "Implement auth": "active",
        "Plan": "pending",
        "Login page": "closed",
        "free": "active",
    }
    auth = sandbox.json("task", "show", "Implement auth", "--format", "json")
    assert auth["owner"] == "agent-A"
    assert auth["created_at"].startswith("2024-10-27T03:33:20")
    assert auth["workspace"]["path"] == str(root / ".worktrees" / "auth-refactor")
    assert auth["metadata"]["imported"] == {
        "from": "board",
        "place": ".",
        "id": "1",
        "worktree": "auth-refactor",
        "fields": {"priority": "high"},
    }
    plan = sandbox.json("task", "show", "Plan", "--format", "json")
    assert plan["blocked_by"] == [auth["id"]]
    assert plan["metadata"]["imported"]["removed_worktrees"][0]["name"] == "old"
    login = sandbox.json("task", "show", "Login page", "--format", "json")
    assert login["workspace"]["status"] == "kept"
    changed = sandbox.json("diff", "-t", "Implement auth", "--format", "json")["file_list"]
    assert changed == ["auth-refactor.txt"]
    (events,) = sandbox.project.glob("imports/*/.worktrees/events.jsonl")
    assert events.read_bytes() == (root / ".worktrees/events.jsonl").read_bytes()


def test_a_second_import_changes_nothing(sandbox: Sandbox) -> None:
    board(sandbox)
    aide(sandbox)
    sandbox.siding("import", status=1)
    before = records(sandbox)
    said = sandbox.siding("import", status=1).stderr.decode()
    assert "imported nothing; " in said
    assert records(sandbox) == before


def test_a_board_that_is_tracked_is_one_board_in_every_worktree(sandbox: Sandbox) -> None:
    put(sandbox.repo / ".tasks/task_1.json", task(1, "Tracked", "pending"))
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "board")
    sandbox.siding("import")
    other = sandbox.directory / "other"
    sandbox.git("worktree", "add", "-q", "-b", "other", str(other))
    for arguments in ((), (".",), (str(other / ".tasks"),)):
        said = sandbox.siding("import", *arguments, cwd=other).stderr.decode()
        assert "imported nothing; 1 already there" in said
    assert len(tasks(sandbox)) == 1


def test_a_later_import_brings_what_was_added(sandbox: Sandbox) -> None:
    root = board(sandbox)
    sandbox.siding("import", status=1)
    put(root / ".tasks/task_4.json", task(4, "Fourth", "pending", blockedBy=[1]))
    sandbox.git("worktree", "add", "-q", "-b", "wt/plan", str(root / ".worktrees/gone"))
    said = sandbox.siding("import", status=1).stderr.decode()
    assert "imported 1 task, 1 worktree; " in said
    first = tasks(sandbox)["Implement auth"]["id"]
    fourth = sandbox.json("task", "show", "Fourth", "--format", "json")
    assert fourth["blocked_by"] == [first]
    assert sandbox.workspace("Plan") == root / ".worktrees/gone"


def test_a_dry_run_writes_nothing_and_says_the_same(sandbox: Sandbox) -> None:
    board(sandbox)
    aide(sandbox)
    said = sandbox.siding("import", "--dry-run", status=1).stderr.decode()
    assert "would import 3 tasks, 3 worktrees, 2 decisions, 2 tasks with phases, events; " in said
    assert not (sandbox.directory / "siding").exists()
    sandbox.siding("init")
    before = records(sandbox)
    again = sandbox.siding("import", "--dry-run", status=1).stderr.decode()
    assert again.splitlines()[-1] == said.splitlines()[-1]
    assert records(sandbox) == before
    done = sandbox.siding("import", status=1).stderr.decode()
    assert done.splitlines()[-1] == said.splitlines()[-1].replace("would import", "imported")


def test_a_worktree_that_cannot_be_adopted_does_not_keep_the_rest_out(sandbox: Sandbox) -> None:
    root = board(sandbox)
    sandbox.git("switch", "-q", "--detach", cwd=root / ".worktrees/auth-refactor")
    sandbox.git("switch", "-q", "--detach", cwd=root / ".worktrees/ui-login")
    said = sandbox.siding("import", status=1).stderr.decode()
    assert "worktree auth-refactor: " in said
    assert "HEAD is detached" in said
    assert "imported 3 tasks, 1 worktree, events; " in said
    assert tasks(sandbox)["Login page"]["status"] == "closed"
    sandbox.git("switch", "-q", "wt/auth-refactor", cwd=root / ".worktrees/auth-refactor")
    sandbox.siding("import", status=1)
    assert sandbox.workspace("Implement auth") == root / ".worktrees/auth-refactor"


def aide(sandbox: Sandbox) -> Path:
    """Write a folder .aide: an answered and an open question, a present and an earlier task."""
    root = sandbox.repo / ".aide"
    newer = {**ASKED, "session_id": "2025-01-16T09-00-00"}
    put(root / "decisions/pending.json", {**QUESTION, "task": "log out", "_meta": newer})
    put(root / "decisions/2025-01-15T10-30-00.json", RECORD)
    entry = {"timestamp": "2025-01-15T10:30:00+08:00", "action": "start", "phase": "flow-design"}
    flow = {
        "task_id": "2025-01-15T10-30-00",
        "current_phase": "flow-design",
        "current_step": 1,
        "started_at": "2025-01-15T10:30:00+08:00",
        "history": [{**entry, "step": 1, "summary": "begin: log in", "git_commit": "a1b2c3d"}],
    }
    put(root / "flow-status.json", flow)
    earlier = {**flow, "task_id": "2025-01-14T10-00-00"}
    put(root / "logs/flow-status.2025-01-14T10-00-00.json", earlier)
    put(root / "config.toml", '[flow]\nphases = ["flow-design", "impl", "finish"]\n')
    return root


def test_a_folder_aide_comes_in_with_decisions_and_phases(sandbox: Sandbox) -> None:
    aide(sandbox)
    before = tree(sandbox.repo)
    told = sandbox.json("import", "--format", "json")
    assert told["problems"] == []
    assert tree(sandbox.repo) == before
    said = sandbox.siding("decide", "result", "2025-01-15T10-30-00").stdout
    assert json.loads(said) == RECORD["output"]
    waiting = sandbox.siding("decide", "list").stdout.decode()
    assert "2025-01-16T09-00-00" in waiting
    (present, earlier) = (each for each in told["items"] if each["kind"] == "phases")
    assert "2025-01-15T10-30-00" in sandbox.siding("phase", "list").stdout.decode()
    shown = sandbox.json("phase", "show", present["id"], "--json")
    assert (shown["current_phase"], shown["phases"]) == (
        "flow-design",
        ["flow-design", "impl", "finish"],
    )
    assert sandbox.json("task", "show", earlier["id"], "--format", "json")["status"] == "closed"


def test_an_imported_task_goes_on_through_its_phases(sandbox: Sandbox) -> None:
    aide(sandbox)
    told = sandbox.json("import", "--format", "json")
    present = next(each["id"] for each in told["items"] if each["kind"] == "phases")
    sandbox.siding("worktree", "add", present)
    sandbox.siding("phase", "next-step", "designed", cwd=sandbox.workspace(present))
    shown = sandbox.json("phase", "show", present, "--json")
    assert [each["step"] for each in shown["history"]] == [1, 2]
    assert shown["history"][0]["git_commit"] == "a1b2c3d"


def test_an_open_question_gets_the_answer_it_was_given_meanwhile(sandbox: Sandbox) -> None:
    root = sandbox.repo / ".aide/decisions"
    put(root / "pending.json", {**QUESTION, "_meta": ASKED})
    sandbox.siding("import")
    assert "2025-01-15T10-30-00" in sandbox.siding("decide", "list").stdout.decode()
    put(root / "2025-01-15T10-30-00.json", RECORD)
    sandbox.siding("import")
    told = json.loads(sandbox.siding("decide", "result", "2025-01-15T10-30-00").stdout)
    assert told == RECORD["output"]


def test_a_record_of_a_repository_answers_no_question_of_ours(sandbox: Sandbox) -> None:
    done = sandbox.siding("decide", json.dumps(QUESTION), "--no-wait")
    (asked,) = (sandbox.project / "decisions/open").iterdir()
    session = asked.stem
    put(sandbox.repo / f".aide/decisions/{session}.json", RECORD)
    sandbox.siding("import")
    said = sandbox.siding("decide", "result", session, status=None)
    assert said.returncode != 0, done
    assert session in sandbox.siding("decide", "list").stdout.decode()


def test_what_cannot_be_read_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    aide(sandbox)
    (tmp_path / "secret").write_text("{}")
    (sandbox.repo / ".aide/decisions/2024-01-01T00-00-00.json").symlink_to(tmp_path / "secret")
    put(sandbox.repo / ".aide/logs/flow-status.x.json", "[]")
    said = sandbox.siding("import", status=1).stderr.decode()
    assert "2024-01-01T00-00-00.json" in said
    assert ".aide/logs/flow-status.x.json" in said
    assert "imported 2 decisions, 2 tasks with phases; " in said


def test_where_there_is_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    said = sandbox.siding("import", status=1).stderr.decode()
    assert "nothing to import" in said
    assert not (sandbox.directory / "siding").exists()
    put(tmp_path / "elsewhere/.tasks/task_1.json", task(1, "Other", "pending"))
    sandbox.siding("import", str(tmp_path / "elsewhere" / ".tasks"))
    assert "Other" in tasks(sandbox)


def flow(sandbox: Sandbox, steps: int, name: str = "flow-status.json") -> None:
    """Write an aide task that has gone this many steps, in the first of its own phases."""
    entry = {"timestamp": "2025-01-15T10:30:00+08:00", "phase": "design", "summary": "log in"}
    document = {
        "task_id": "2025-01-15T10-30-00",
        "current_phase": "design",
        "current_step": steps,
        "started_at": "2025-01-15T10:30:00+08:00",
        "history": [
            {**entry, "action": "start" if step == 1 else "next-step", "step": step}
            for step in range(1, steps + 1)
        ],
    }
    put(sandbox.repo / ".aide" / name, document)
    put(sandbox.repo / ".aide/config.toml", '[flow]\nphases = ["design", "impl", "finish"]\n')


def test_an_imported_task_keeps_its_own_phases_through_every_move(sandbox: Sandbox) -> None:
    flow(sandbox, 1)
    (item,) = sandbox.json("import", "--format", "json")["items"]
    sandbox.siding("worktree", "add", item["id"])
    there = sandbox.workspace(item["id"])
    sandbox.siding("phase", "next-step", "designed", cwd=there)
    sandbox.siding("phase", "next-part", "impl", "go", cwd=there)
    assert b"design > [impl] > finish" in sandbox.siding("phase", "status", cwd=there).stdout
    said = sandbox.siding("phase", "next-part", "docs", "no", cwd=there, status=1).stderr
    assert b"the phases are design, impl, finish" in said
    sandbox.siding("phase", "next-part", "finish", "done", cwd=there)
    # The pass has ended: the next one goes through the phases of the project.
    said = sandbox.siding("phase", "start", "design", "again", cwd=there, status=1).stderr
    assert b"there is no phase 'design'" in said
    sandbox.siding("phase", "start", "flow-design", "again", cwd=there)
    assert sandbox.json("phase", "show", item["id"], "--json")["phases"][0] == "task-optimize"


def test_an_import_takes_along_how_far_the_phases_have_gone(sandbox: Sandbox) -> None:
    flow(sandbox, 1)
    (item,) = sandbox.json("import", "--format", "json")["items"]
    flow(sandbox, 3)
    said = sandbox.siding("import", "--dry-run").stderr.decode()
    assert "moved on      phases" in said
    assert "(phase design, step 3)" in said
    assert sandbox.json("phase", "show", item["id"], "--json")["current_step"] == 1
    assert sandbox.json("import", "--format", "json")["items"][0]["fate"] == "moved on"
    assert sandbox.json("phase", "show", item["id"], "--json")["current_step"] == 3
    assert sandbox.json("import", "--format", "json")["items"][0]["fate"] == "there"
    flow(sandbox, 2)  # an older copy of the folder takes nothing back
    assert sandbox.json("import", "--format", "json")["items"][0]["fate"] == "there"
    assert sandbox.json("phase", "show", item["id"], "--json")["current_step"] == 3


def test_phases_that_went_on_here_and_there_stay_as_they_are_here(sandbox: Sandbox) -> None:
    flow(sandbox, 1)
    (item,) = sandbox.json("import", "--format", "json")["items"]
    sandbox.siding("worktree", "add", item["id"])
    sandbox.siding("phase", "next-part", "impl", "go", cwd=sandbox.workspace(item["id"]))
    flow(sandbox, 2)
    said = sandbox.siding("import").stderr.decode()
    assert "it went on here and there; as it is here: phase impl, step 2" in said
    assert sandbox.json("phase", "show", item["id"], "--json")["current_phase"] == "impl"


def test_a_task_that_was_finished_there_is_closed_here(sandbox: Sandbox) -> None:
    flow(sandbox, 1)
    (item,) = sandbox.json("import", "--format", "json")["items"]
    (sandbox.repo / ".aide/flow-status.json").unlink()
    flow(sandbox, 2, "logs/flow-status.2025-01-15T10-30-00.json")
    sandbox.siding("import")
    assert sandbox.json("task", "show", item["id"], "--format", "json")["status"] == "closed"
    assert sandbox.json("phase", "show", item["id"], "--json")["current_step"] == 2


@pytest.mark.parametrize("answered", [False, True])
def test_the_question_put_last_needs_no_name(sandbox: Sandbox, answered: bool) -> None:
    root = sandbox.repo / ".aide/decisions"
    put(root / "pending.json", {**QUESTION, "_meta": ASKED})
    if answered:
        put(root / "2025-01-15T10-30-00.json", RECORD)
    sandbox.siding("import")
    if not answered:
        sandbox.siding("decide", "answer", "2025-01-15T10-30-00", "--choose", "1=jwt")
    told = json.loads(sandbox.siding("decide", "result").stdout)
    assert [each["chosen"] for each in told["decisions"]] == ["jwt"]


def test_an_older_question_does_not_hide_one_of_ours(sandbox: Sandbox) -> None:
    sandbox.siding("decide", json.dumps({**QUESTION, "task": "ours"}), "--no-wait")
    put(sandbox.repo / ".aide/decisions/pending.json", {**QUESTION, "_meta": ASKED})
    sandbox.siding("import")
    assert b"ours" in sandbox.siding("decide", "show").stdout
