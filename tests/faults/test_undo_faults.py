"""Rollback, undo, close, reopen and gc under faults: whatever is cut off where, no state is lost.

After each fault the next commands must reach every state that was ever recorded, byte for byte,
and what no snapshot holds (ignored files) must be there too.
"""

import os
from pathlib import Path

import pytest

from siding.ground.errors import UsageError
from siding.record.place.project import Project, require_project
from siding.record.place.wiring import open_app
from siding.record.recording.verify import verify
from siding.record.restoring.refusal import Refusal
from siding.record.restoring.rollback import RollbackRequest, rollback
from siding.running.checkpoint import checkpoint
from siding.syncing.sync import SyncRequest, sync
from siding.tasks.reopen import reopen
from siding.undo import undo as undoing
from siding.undo.undo import redo, undo

from . import tracer
from .arena import Command
from .commands import act
from .harness import sweep
from .product import must, repository, siding
from .test_commands_errors import scratch

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(900),
]

BUDGET = int(os.environ.get("SIDING_FAULTS_BUDGET", "1"))
MODES = [("kill",), ("torn",), ("err:EIO", "err:ENOSPC"), ("full",)]
COMMIT = "git add -A; git -c user.name=a -c user.email=a commit -qm"
FIRST = (
    "echo 1 >>file; mkdir d; echo x >d/x; printf '*.log\\n' >.gitignore; echo kept >a.log;"
    f" {COMMIT} one"
)
SECOND = (
    "git switch -qc own; echo 2 >>file; mv d/x y; rmdir d; ln -s file d; chmod +x y;"
    f" {COMMIT} two; echo 3 >new; git add new"
)
ONE = {"file": "one\n1\n", "d/x": "x\n", ".gitignore": "*.log\n", "a.log": "kept\n"}
TWO = {
    "file": "one\n1\n2\n",
    "y": "x\n",
    "d": "-> file",
    "new": "3\n",
    ".gitignore": "*.log\n",
    "a.log": "kept\n",
}


def begun(case: Path) -> None:
    """A task with two runs, the second one replacing a directory by a link."""
    repository(case)
    act(case, "-q", "task", "start", "T")
    act(case, "-q", "run", "--", "sh", "-c", FIRST)
    act(case, "-q", "run", "--", "sh", "-c", SECOND)
    assert tree(case) == TWO


def behind(case: Path) -> None:
    """A task with a commit, whose base branch has moved on."""
    repository(case)
    act(case, "-q", "task", "start", "T")
    act(case, "-q", "run", "--", "sh", "-c", FIRST)
    me = "git config user.name a; git config user.email a"
    theirs = f"{me}; echo theirs >theirs; {COMMIT} theirs"
    must(case, Command(argv=("sh", "-c", theirs), cwd=str(case / "repo")))


def rolled_back(case: Path) -> None:
    begun(case)
    act(case, "-q", "rollback", "--step", "1")


def rolled_back_hard(case: Path) -> None:
    begun(case)
    act(case, "-q", "rollback", "--step", "1", "--hard")


def undone(case: Path) -> None:
    rolled_back(case)
    act(case, "-q", "undo")


def closed(case: Path) -> None:
    begun(case)
    act(case, "-q", "task", "close", "--force", "T")


def collected(case: Path) -> None:
    closed(case)
    act(case, "-q", "gc")


def workspace(case: Path) -> Path:
    (tasks,) = (case / "home/projects").glob("*/tasks")
    (task,) = tasks.iterdir()
    return tasks.parent / "workspaces" / task.name


def tree(case: Path) -> dict[str, str]:
    """Return the files and links of the workspace."""
    root = workspace(case)
    found = {}
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file() and name != ".git":
            found[name] = path.read_text()
    return found


def git(case: Path, *words: str) -> str:
    """Ask git about the workspace."""
    done = must(case, Command(argv=("git", *words), cwd=str(workspace(case))))
    return done.stdout.strip()


def git_state(case: Path) -> list[str]:
    """Return what HEAD is on, its commit's subject, and what is staged; nothing may be locked."""
    (git_dir,) = (case / "repo/.git/worktrees").iterdir()
    left = [path.name for path in git_dir.iterdir() if "lock" in path.name or "siding" in path.name]
    assert left == []
    head = git(case, "rev-parse", "--abbrev-ref", "HEAD").rpartition("/")[0]
    return [head, git(case, "log", "-1", "--format=%s"), git(case, "status", "--porcelain")]


GIT_ONE = ["siding", "one", ""]
GIT_TWO = ["", "two", "A  new"]


class Desk:
    """The task as the next command finds it; in this process, where a start costs nothing."""

    def __init__(self, case: Path) -> None:
        env = {"PATH": os.environ["PATH"], "HOME": str(case), "SIDING_HOME": str(case / "home")}
        self.case = case
        self.project: Project = require_project(open_app(env=env, cwd=case / "repo"))

    def reach(self, step: int, wanted: dict[str, str]) -> None:
        rollback(self.project, RollbackRequest(step=str(step), task="T"))
        assert tree(self.case) == wanted, tree(self.case)
        assert git_state(self.case) == (GIT_ONE if wanted is ONE else GIT_TWO)

    @property
    def branch(self) -> str:
        (workspace,) = self.project.registry.all()
        return workspace.branch

    def settle(self) -> None:
        checkpoint(self.project, "T", "after the fault", wait=False)

    def undo(self) -> None:
        undo(self.project, undoing.UndoRequest(task="T"))

    def redo(self) -> None:
        try:
            redo(self.project, undoing.UndoRequest(task="T"))
        except Refusal as refused:
            if refused.code != "nothing_to_redo":
                raise

    def reopen(self) -> None:
        try:
            reopen(self.project, "T")
        except UsageError:  # it is open
            settled = self.project.registry.all()
            assert [each.intent for each in settled] == [None]

    def is_whole(self) -> None:
        proof = verify(self.project, "T")
        assert not [each for each in proof.findings if each.serious], proof.findings


def rollback_holds(case: Path, _promises: list[str]) -> None:
    desk = Desk(case)
    desk.settle()
    assert tree(case)["a.log"] == "kept\n"
    assert tree(case)["file"] in (ONE["file"], TWO["file"])
    desk.reach(2, TWO)
    desk.reach(1, ONE)
    desk.is_whole()


def sync_holds(case: Path, _promises: list[str]) -> None:
    """The state before is reached, by undo too, and from there the same sync comes to its end."""
    desk = Desk(case)
    desk.settle()
    if git_state(case)[1] != "one" or tree(case) != ONE:
        desk.undo()
    assert (tree(case), git_state(case)) == (ONE, GIT_ONE)
    sync(desk.project, SyncRequest(task="T"))
    assert tree(case) == ONE | {"theirs": "theirs\n"}
    assert git_state(case)[1:] == [f"Merge branch 'main' into {desk.branch}", ""]
    desk.reach(1, ONE)
    desk.is_whole()


def two_is_reached_by_undo(case: Path, _promises: list[str]) -> None:
    """If the fault struck before anything was done, the state is there already."""
    desk = Desk(case)
    desk.settle()
    if (tree(case), git_state(case)) != (TWO, GIT_TWO):
        desk.undo()
    assert tree(case) == TWO, tree(case)
    assert git_state(case) == GIT_TWO
    desk.is_whole()


def one_is_reached_by_redo(case: Path, _promises: list[str]) -> None:
    desk = Desk(case)
    desk.redo()
    assert tree(case) == ONE, tree(case)
    assert git_state(case) == GIT_ONE
    desk.is_whole()


def two_is_reached_by_reopening(case: Path, _promises: list[str]) -> None:
    """Closed, half closed, half opened or open: the next command makes one of them of it."""
    desk = Desk(case)
    desk.reopen()
    assert tree(case) == TWO, tree(case)
    assert git_state(case) == GIT_TWO
    desk.reach(1, ONE)
    desk.reach(2, TWO)


@pytest.mark.parametrize("modes", MODES, ids=lambda modes: modes[0])
def test_rollback(modes: tuple[str, ...]) -> None:
    victim = siding("rollback", "--step", "1")
    sweep(begun, victim, rollback_holds, modes=modes, budget=BUDGET, best_effort=scratch)


def test_a_rollback_that_moves_ignored_files_away() -> None:
    victim = siding("rollback", "--step", "1", "--hard")
    sweep(
        begun,
        victim,
        two_is_reached_by_undo,
        modes=("kill", "err:EIO"),
        budget=BUDGET,
        best_effort=scratch,
    )


@pytest.mark.parametrize("modes", MODES, ids=lambda modes: modes[0])
def test_sync(modes: tuple[str, ...]) -> None:
    sweep(behind, siding("sync"), sync_holds, modes=modes, budget=BUDGET, best_effort=scratch)


def test_undo() -> None:
    sweep(rolled_back, siding("undo"), two_is_reached_by_undo, modes=("kill",), budget=BUDGET)


def test_undo_that_brings_ignored_files_back() -> None:
    victim = siding("undo")
    modes = ("kill", "err:EIO")
    sweep(
        rolled_back_hard,
        victim,
        two_is_reached_by_undo,
        modes=modes,
        budget=BUDGET,
        best_effort=scratch,
    )


def test_redo() -> None:
    sweep(undone, siding("redo"), one_is_reached_by_redo, modes=("kill",), budget=BUDGET)


@pytest.mark.parametrize("modes", MODES, ids=lambda modes: modes[0])
def test_close(modes: tuple[str, ...]) -> None:
    victim = siding("task", "close", "--force", "T")
    sweep(
        begun, victim, two_is_reached_by_reopening, modes=modes, budget=BUDGET, best_effort=scratch
    )


def test_reopen() -> None:
    victim = siding("task", "reopen", "T")
    modes = ("kill", "err:EIO")
    sweep(
        closed, victim, two_is_reached_by_reopening, modes=modes, budget=BUDGET, best_effort=scratch
    )


@pytest.mark.parametrize("modes", MODES, ids=lambda modes: modes[0])
def test_gc(modes: tuple[str, ...]) -> None:
    victim = siding("gc")
    sweep(
        closed, victim, two_is_reached_by_reopening, modes=modes, budget=BUDGET, best_effort=scratch
    )


def test_reopen_of_a_collected_one() -> None:
    victim = siding("task", "reopen", "T")
    sweep(collected, victim, two_is_reached_by_reopening, modes=("kill",), budget=BUDGET)
