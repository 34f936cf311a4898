"""Every command that writes, as a victim: where it starts, and what must hold whatever happens."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from .arena import Check, Command, Setup
from .commands import (
    SAID,
    WORK,
    act,
    answer,
    assert_whole,
    board,
    changed,
    doubled,
    filled,
    fresh,
    project_of,
    promising,
    repository_is_sound,
    steps,
    works,
    workspace_of,
)

KEPT = {"kept": b"kept\n", "file": b"one\nfirst\n"}  # what alpha's workspace holds, among others


class Act(NamedTuple):
    setup: Setup
    words: tuple[str, ...]
    check: Check

    def command(self, fault: str = "") -> Command:
        return promising(*self.words, fault=fault)


def run_holds(case: Path, promises: list[str]) -> None:
    """The step is there once, whole if promised; what it left in the workspace is in some step."""
    found = works(case)
    _run_recorded(case, "alpha", found[1:], promises)


def _run_recorded(case: Path, task: str, found: list[dict[str, Any]], promises: list[str]) -> None:
    runs = [step for step in found if step.get("cmd") == list(WORK)]
    assert len(runs) <= 1, runs
    if "done" in promises:
        assert [step["status"] for step in runs] == ["completed"]
    told = {name for step in found for name in step["diff_stat"].get("file_list", [])}
    if (workspace_of(case, task) / "new").exists():
        assert "new" in told, found
    for step in runs:
        output = act(case, "show", step["step_id"], "-t", task).stdout
        # A call that failed may have been the command's own: it says so, and goes on or fails.
        disturbed = any(word in output for word in ("cannot", "rror"))
        if step["status"] == "failed":
            assert disturbed, output
        elif step["status"] == "completed":
            # Without a promise a power cut may have taken what the command itself did not flush.
            assert not promises or disturbed or told >= {"file", "new", "old"}, found
            assert "out" in output, output
            assert "err" in output, output
        else:
            assert step["status"] == "interrupted", step


def cut_run_holds(case: Path, _promises: list[str]) -> None:
    """The run that was cut off is one step, interrupted, with the output and changes it left."""
    found = works(case)
    (cut,) = [step for step in found if step.get("cmd") == list(WORK)]
    assert (cut["step_id"], cut["status"]) == ("0002", "interrupted")
    assert cut["diff_stat"]["file_list"] == ["new"], cut
    assert "ou" in act(case, "show", "2").stdout


def checkpoint_holds(case: Path, promises: list[str]) -> None:
    found = works(case)
    asked = [step for step in found if step.get("message") == "asked"]
    assert len(asked) <= 1, asked
    assert asked or not promises
    told = [name for step in found for name in step["diff_stat"].get("file_list", [])]
    assert told.count("unseen") == 1, found


def start_holds(case: Path, promises: list[str]) -> None:
    """The task is whole, or a command makes it so; nothing half-made outlives the next command."""
    _is_furnished(case, "gamma", promises, again=("task", "start", "gamma", "--no-switch"))
    if promises:
        assert answer(case, "status", "--format", "json")["task_name"] == "gamma"


def add_holds(case: Path, promises: list[str]) -> None:
    _is_furnished(case, "plan", promises, again=())


def _is_furnished(case: Path, name: str, promises: list[str], *, again: tuple[str, ...]) -> None:
    if not promises:
        works(case)  # another task's work comes first, and finds nothing in its way
        _nothing_is_half_made(case)
    found = board(case).get(name)
    furnished = found is not None and found["workspace"] == "active"
    assert furnished or not promises, found
    if found is None:
        act(case, *again)
    elif not furnished:
        act(case, "worktree", "add", name)
    works(case, name, first=0)
    if promises:
        works(case)
    _nothing_is_half_made(case)


def _nothing_is_half_made(case: Path) -> None:
    registry = json.loads((project_of(case) / "worktrees.json").read_bytes())
    assert not [row for row in registry["worktrees"] if row.get("intent")], registry
    assert act(case, "doctor", "--check").stdout == "everything agrees\n"


def removed_holds(case: Path, promises: list[str]) -> None:
    _goes_to_trash(case, promises, again=("worktree", "remove", "alpha", "--force"))


def closed_holds(case: Path, promises: list[str]) -> None:
    _goes_to_trash(case, promises, again=("task", "close", "alpha", "--force"))
    assert board(case)["alpha"]["status"] == "closed"


def deleted_holds(case: Path, promises: list[str]) -> None:
    works(case, "beta", first=0)
    if promises:
        assert "alpha" not in board(case)
    if "alpha" in board(case):
        act(case, "task", "close", "alpha", "--force", "--delete")
    assert "alpha" not in board(case)
    trash = project_of(case) / "trash"
    for name, content in KEPT.items():
        assert content in [path.read_bytes() for path in trash.glob(f"*/workspace/{name}")]
    ledgers = [path.read_bytes() for path in trash.glob("*/task/ledger.jsonl")]
    assert any(b"echo first" in ledger for ledger in ledgers)
    _nothing_is_half_made(case)
    repository_is_sound(case)


def _goes_to_trash(case: Path, promises: list[str], *, again: tuple[str, ...]) -> None:
    works(case, "beta", first=0)
    alpha = board(case)["alpha"]
    gone = alpha["workspace"] == "removed"
    assert gone or not promises, alpha
    if alpha["status"] != "closed" and not (gone and again[0] == "worktree"):
        act(case, *again)
    workspace = project_of(case) / "workspaces" / alpha["id"]
    assert not workspace.exists()
    for name, content in KEPT.items():
        copies = (project_of(case) / "trash").glob(f"*/workspace/{name}")
        assert content in [path.read_bytes() for path in copies]
    assert steps(case, "alpha")[0]["diff_stat"]["file_list"] == ["file", "kept"]
    assert_whole(case, "alpha")
    _nothing_is_half_made(case)
    repository_is_sound(case)


def kept_holds(case: Path, promises: list[str]) -> None:
    works(case)
    if not promises and board(case)["alpha"]["workspace"] != "kept":
        act(case, "worktree", "keep", "alpha")
    assert board(case)["alpha"]["workspace"] == "kept"


def close_kept_holds(case: Path, promises: list[str]) -> None:
    alpha = board(case)["alpha"]
    assert alpha["status"] == "closed" or not promises
    if alpha["status"] != "closed":
        works(case)
        act(case, "task", "close", "alpha", "--keep")
    assert board(case)["alpha"]["workspace"] == "kept"
    for name in KEPT:
        assert (workspace_of(case, "alpha") / name).read_bytes().startswith(KEPT[name])
    works(case, "beta", first=0)


def switch_holds(case: Path, promises: list[str]) -> None:
    active = answer(case, "status", "--format", "json")["task_name"]
    assert active == "beta" or (active == "alpha" and not promises)
    act(case, "task", "switch", "beta")
    works(case)


def update_holds(case: Path, promises: list[str]) -> None:
    alpha = board(case)["alpha"]
    assert alpha["owner"] == "me" or (alpha["owner"] == "" and not promises)
    act(case, "task", "update", "alpha", "--owner", "me")
    assert board(case)["alpha"]["owner"] == "me"
    works(case)


def doctor_holds(case: Path, promises: list[str]) -> None:
    if "done" not in promises:  # it says on standard output what it finds, too
        act(case, "doctor")
    assert act(case, "doctor", "--check").stdout == "everything agrees\n"
    works(case)
    assert (project_of(case) / "trash/beta/workspace/file").exists()


def trust_holds(case: Path, promises: list[str]) -> None:
    trusted = "they are allowed" in act(case, "trust", "--show").stderr
    assert trusted or not promises
    act(case, "trust")
    assert "they are allowed" in act(case, "trust", "--show").stderr
    works(case)


def init_holds(case: Path, promises: list[str]) -> None:
    if promises:
        act(case, "task", "list")
    act(case, "init")
    if "alpha" not in board(case):
        act(case, "task", "start", "alpha")
    works(case, first=0)


def first_run_holds(case: Path, promises: list[str]) -> None:
    """A run in a repository Siding never saw makes the project, the task and its step."""
    act(case, "init")
    for name, task in board(case).items():
        if task["workspace"] != "active":
            assert not promises, task
            act(case, "worktree", "add", name)
        found = works(case, name, first=0)
        _run_recorded(case, name, found, promises)
    if not board(case):
        assert not promises
        act(case, "run", "--", *WORK)
    _nothing_is_half_made(case)


def disagreeing(case: Path) -> None:
    """Git's record of alpha's workspace is gone, beta's removal was cut off, nobody is active."""
    doubled(case)
    alpha, beta = board(case)["alpha"]["id"], board(case)["beta"]["id"]
    for path in sorted((case / "repo/.git/worktrees" / alpha).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (case / "repo/.git/worktrees" / alpha).rmdir()
    registry = project_of(case) / "worktrees.json"
    data = json.loads(registry.read_bytes())
    (row,) = [row for row in data["worktrees"] if row["task_id"] == beta]
    row.update(trash="trash/beta", intent={"op": "remove", "at": "", "pid": 1})
    registry.write_bytes(json.dumps(data).encode())
    state = project_of(case) / "state.json"
    state.write_bytes(json.dumps({"version": 1, "active_task_id": "nobody"}).encode())


def interrupted(case: Path) -> None:
    """As `filled`, and a run of WORK that was killed while its command ran."""
    filled(case)
    files = project_of(case) / "tasks" / board(case)["alpha"]["id"]
    running = {
        "version": 1,
        "number": 2,
        "kind": "run",
        "started_at": "2026-01-01T00:00:00.000Z",
        "pid": 1,
        "token": "0" * 32,
        "parent": steps(case, "alpha")[-1]["snapshot"],
        "record": {"cmd": list(WORK), "cwd": ".", "env": {}, "agent": None},
    }
    (files / "running.json").write_bytes(json.dumps(running).encode())
    (files / "artifacts/0002.output").write_bytes(b"=== STDOUT ===\nou")
    (files / "artifacts/0002.stderr").write_bytes(b"err\n")
    (workspace_of(case, "alpha") / "new").write_bytes(b"new\n")


ACTS = {
    "init": Act(fresh, ("init",), init_holds),
    "first run": Act(fresh, ("run", "--json", "--", *WORK), first_run_holds),
    "task start": Act(filled, ("task", "start", "gamma"), start_holds),
    "worktree add": Act(filled, ("worktree", "add", "plan"), add_holds),
    "run": Act(filled, ("run", "--json", "--", *WORK), run_holds),
    "run in a terminal": Act(filled, ("run", "--tty", "--json", "--", *WORK), run_holds),
    "run after a cut": Act(interrupted, ("run", "--json", "--", "true"), cut_run_holds),
    "checkpoint": Act(changed, ("checkpoint", "-m", "asked"), checkpoint_holds),
    "task switch": Act(doubled, ("task", "switch", "beta"), switch_holds),
    "task update": Act(filled, ("task", "update", "alpha", "--owner", "me"), update_holds),
    "worktree keep": Act(filled, ("worktree", "keep", "alpha"), kept_holds),
    "worktree remove": Act(doubled, ("worktree", "remove", "alpha", "--force"), removed_holds),
    "task close": Act(doubled, ("task", "close", "alpha", "--force"), closed_holds),
    "task close --keep": Act(doubled, ("task", "close", "alpha", "--keep"), close_kept_holds),
    "task close --delete": Act(
        doubled, ("task", "close", "alpha", "--force", "--delete"), deleted_holds
    ),
    "doctor": Act(disagreeing, ("doctor",), doctor_holds),
    "trust": Act(filled, ("trust",), trust_holds),
}

__all__ = ["ACTS", "SAID", "Act"]
