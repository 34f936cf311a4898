"""A move through the phases under faults: the status and the branch say the same, always."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from .arena import Command, GateFailed, run
from .commands import GATE, act, answer, assert_whole, promising, repository_is_sound, steps
from .harness import sweep
from .powercut import powercut
from .product import must, repository, siding

pytestmark = GATE

BUDGET = int(os.environ.get("SIDING_FAULTS_BUDGET", "1"))
MESSAGE = "[siding] impl: the work"


def begun(case: Path) -> None:
    """A task in a phase, with work in its workspace that no commit has."""
    repository(case)
    act(case, "-q", "task", "start", "T")
    act(case, "-q", "phase", "start", "impl", "begin")
    (workspace(case) / "file").write_text("one\nchanged\n")
    (workspace(case) / "new").write_text("new\n")


def workspace(case: Path) -> Path:
    (found,) = (case / "home/projects").glob("*/workspaces/*")
    return found


def git(case: Path, *words: str) -> str:
    where = str(workspace(case))
    return must(case, Command(argv=("git", "-C", where, *words))).stdout.strip()


def moved_holds(case: Path, promises: list[str]) -> None:
    """Both moved, or neither did; the next move works, and nothing of the dead is in the way."""
    stored: dict[str, Any] = answer(case, "phase", "status", "--json")
    last = stored["history"][-1]
    if last["summary"] == "more":  # the second look at the same directory
        assert_whole(case, "T")
        return
    assert last["git_commit"] == git(case, "rev-parse", "HEAD")
    moved = last["summary"] == "the work"
    assert git(case, "log", "-1", "--format=%s") == (MESSAGE if moved else "[siding] impl: begin")
    assert (stored["current_step"], len(stored["history"])) == ((2, 2) if moved else (1, 1))
    assert moved or not promises
    if moved:
        assert git(case, "show", "HEAD:new") == "new"
        assert git(case, "status", "--porcelain") == ""
    files = [path for path in workspace(case).iterdir() if path.name != ".git"]
    here = {path.name: path.read_text() for path in files}
    assert here == {"file": "one\nchanged\n", "new": "new\n"}
    act(case, "phase", "next-step", "more")
    assert moves_recorded(case) == moves_made(case)
    assert git(case, "log", "-1", "--format=%s") == "[siding] impl: more"
    assert git(case, "status", "--porcelain") == ""
    assert_whole(case, "T")
    repository_is_sound(case)
    left = [
        *case.glob("home/projects/*/tasks/*/phase-intent.json"),
        *case.glob("repo/.git/worktrees/*/siding-index-*"),
    ]
    assert not left, left


def moves_made(case: Path) -> list[str]:
    """The commits of the moves that happened, oldest first."""
    return [each["git_commit"] for each in answer(case, "phase", "status", "--json")["history"]]


def moves_recorded(case: Path) -> list[str]:
    """The commits in the ledger's lines of moves; a move that did not happen has none."""
    moves = [step for step in steps(case, "T") if step["kind"] == "phase"]
    assert all((step["status"] == "completed") == bool(step["commit_sha"]) for step in moves)
    return [step["commit_sha"] for step in moves if step["commit_sha"]]


def tried_again(call: str) -> bool:
    """A capture whose scratch files fail begins anew, and may succeed the second time."""
    return "snapshots.git" in call


@pytest.mark.parametrize(
    "modes",
    [("kill",), ("torn",), ("err:EIO", "err:ENOSPC"), ("full",)],
    ids=lambda modes: modes[0],
)
def test_a_move(modes: tuple[str, ...]) -> None:
    victim = promising("-q", "phase", "next-step", "the work")
    sweep(begun, victim, moved_holds, modes=modes, budget=BUDGET, best_effort=tried_again)


def test_a_move_in_the_persons_repository() -> None:
    """Every kill is at a call that changes the repository itself."""
    victim = promising("-q", "phase", "next-step", "the work")
    sweep(begun, victim, moved_holds, modes=("kill",), budget=3 * BUDGET, within=("repo",))


def test_the_power_fails() -> None:
    victim = promising("-q", "phase", "next-step", "the work")
    powercut(begun, victim, moved_holds, fs="ordered", budget=BUDGET)


def test_a_branch_that_moved_meanwhile_is_a_move_that_did_not_happen(tmp_path: Path) -> None:
    """A gate's command commits: the branch is elsewhere, and so the new commit stands on that."""
    begun(tmp_path)
    locked = workspace(tmp_path)
    branch = git(tmp_path, "branch", "--show-current")
    lock = tmp_path / "repo/.git/refs/heads" / f"{branch}.lock"
    lock.write_text("")
    ran = run(tmp_path, siding("phase", "next-step", "the work"))
    assert ran.status == 1
    assert "could not be moved" in ran.stderr
    lock.unlink()
    (status,) = (tmp_path / "home/projects").glob("*/tasks/*/flow-status.json")
    assert json.loads(status.read_bytes())["current_step"] == 1
    assert (locked / "new").read_text() == "new\n"
    moved_holds(tmp_path, [])


def test_the_planted_fault_is_caught() -> None:
    victim = promising("-q", "phase", "next-step", "the work", fault="phase-state-first")
    with pytest.raises(GateFailed):
        # What git does comes after the status that is moved too early: the last calls show it.
        sweep(begun, victim, moved_holds, modes=("kill",), budget=30, within=("repo",))
