"""Forks and views under faults: what a killed process left half-made is found and thrown away.

After each fault the task is what it was, or has the fork's change as a step; a sweep mends the
pool, the next fork is whole, and in the end nothing is left but what the ledger names.
"""

import os
from pathlib import Path

import pytest

import installed
from siding.forks.bring_back import BroughtBack, bring_back
from siding.forks.forks import drop, fork, reopened
from siding.forks.parentage import forks_of
from siding.forks.state import recorded
from siding.forks.sweep import sweep as sweep_forks
from siding.forks.views import view
from siding.ground.errors import SidingError
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app
from siding.record.recording.verify import verify
from siding.record.tasks.task import TaskState

from . import tracer
from .arena import Check, Command, Setup
from .commands import act
from .harness import sweep
from .product import must
from .test_commands_errors import scratch
from .test_undo_faults import TWO, Desk, begun, tree

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(900),
]

BUDGET = int(os.environ.get("SIDING_FAULTS_BUDGET", "1"))
VICTIM = str(Path(__file__).with_name("fork_victim.py"))
MODES = ("kill", "torn", "err:EIO", "err:ENOSPC", "full")


def victim(what: str) -> Command:
    """The promise is the line `done`."""
    env = {"SIDING_HOME": "{case}/home", "TMPDIR": "{case}/tmp"}
    return Command((installed.python(), "-P", VICTIM, what), env=env, cwd="{case}/repo")


def pooled(case: Path) -> None:
    """A worktree waits, in another state than the one that is wanted."""
    begun(case)
    act(case, "-q", "rollback", "--step", "1")
    must(case, victim("make"))
    must(case, victim("drop"))
    act(case, "-q", "rollback", "--step", "2")


def with_change(case: Path) -> None:
    """A fork has changed a file, made one and removed one."""
    begun(case)
    must(case, victim("make"))
    (root,) = (case / "home/projects").glob("*/forks/workspaces/*")
    (root / "file").write_text("changed\n")
    (root / "y").unlink()
    (root / "made").write_text("made\n")


def files(root: Path) -> dict[str, str]:
    found = {}
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file() and name != ".git":
            found[name] = path.read_text()
    return found


def pool_is_whole(case: Path, _promises: list[str]) -> None:
    """The task is as it was; the pool mends itself; forks and views are whole; nothing is left."""
    desk = Desk(case)
    desk.settle()
    project = desk.project
    assert tree(case) == TWO
    task = next(task for task in project.tasks.readable() if task.name == "T")
    sweep_forks(project)
    for each in forks_of(project):
        if each.status is not TaskState.CLOSED:
            differs = reopened(project, each)
            assert (differs.path / "made").read_text() == "made\n"
            differs.close()
    found = fork(project, recorded(project, task))
    assert files(found.path) == {name: text for name, text in tree(case).items() if name != "a.log"}
    assert found.path.stat().st_ino == found.workspace.inode
    look = view(project, recorded(project, task))
    assert files(look.path) == files(found.path)
    assert look.close().written == ()
    assert not drop(project, found).differs
    for each in forks_of(project):
        if each.status is not TaskState.CLOSED:
            drop(project, reopened(project, each))
    (project.layout.root / "config.yaml").write_text("version: 1\nforks:\n  pool: 0\n")
    sweep_forks(Desk(case).project)
    forks = project.layout.forks
    for directory in (forks.free_dir, forks.used_dir, forks.workspaces_dir, forks.locks_dir):
        assert os.listdir(directory) == [], directory
    assert len(os.listdir(case / "repo/.git/worktrees")) == 1
    assert not list((case / "repo/.git/refs").rglob("*.lock"))
    desk.is_whole()
    for each in forks_of(project):
        proof = verify(project, each.id)
        assert not [one for one in proof.findings if one.serious], proof.findings


def is_brought_back(case: Path, promises: list[str]) -> None:
    """The change is there, or not yet: bringing it back again leads to the same end."""
    env = {"PATH": os.environ["PATH"], "HOME": str(case), "SIDING_HOME": str(case / "home")}
    project = require_project(open_app(env=env, cwd=case / "repo"))
    desk = Desk(case)
    desk.settle()
    wanted = {k: v for k, v in TWO.items() if k != "y"} | {"file": "changed\n", "made": "made\n"}
    if "done" in promises:
        assert tree(case) == wanted
    if tree(case) != wanted and tree(case) != TWO:
        desk.undo()  # cut off in between: one undo leads to the state before
        assert tree(case) == TWO
    (task,) = forks_of(project)
    try:
        done = bring_back(project, task)
    except SidingError as error:
        raise AssertionError(str(error)) from error
    assert isinstance(done, BroughtBack), done
    assert tree(case) == wanted
    desk.undo()
    assert tree(case) == TWO
    desk.is_whole()


def gate(setup: Setup, what: str, check: Check) -> None:
    sweep(setup, victim(what), check, modes=MODES, budget=BUDGET, best_effort=scratch)


@pytest.mark.parametrize("setup", [begun, pooled], ids=["new", "pooled"])
@pytest.mark.parametrize("what", ["make", "view"])
def test_making(setup: Setup, what: str) -> None:
    gate(setup, what, pool_is_whole)


def test_dropping() -> None:
    gate(with_change, "drop", pool_is_whole)


def test_bringing_back() -> None:
    gate(with_change, "back", is_brought_back)
