"""An apply under faults: the branch and its checkout are at one side, whatever is cut off where.

Also one that closes its task, its undo, and one that writes files only.
"""

import os
from pathlib import Path

import pytest

from . import tracer
from .arena import Command, GateFailed, run
from .commands import act
from .harness import sweep
from .product import must, repository, siding

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(600),
]

BUDGET = int(os.environ.get("SIDING_FAULTS_BUDGET", "1"))
OLD = {"file": "one\n", "gone": "gone\n", "mine": "committed\n"}
NEW = {"file": "one\nagent\n", "mine": "committed\n", "new": "new\n"}
AGENT = (
    "echo agent >>file; rm gone; echo new >new; git -c user.name=B -c user.email=b@b commit -qam B"
)


def begun(case: Path) -> None:
    """A task with one run; the person has uncommitted work that is not in the way."""
    repo = repository(case)
    (repo / "gone").write_text("gone\n")
    (repo / "mine").write_text("committed\n")
    git(case, "add", "-A")
    git(case, "commit", "-q", "-m", "second")
    act(case, "-q", "task", "start", "T")
    act(case, "-q", "run", "--", "sh", "-c", AGENT)
    (repo / "mine").write_text("not committed\n")
    (repo / "staged").write_text("staged\n")
    git(case, "add", "staged")


def applied(case: Path) -> None:
    begun(case)
    act(case, "apply", "--no-close")


def git(case: Path, *words: str) -> str:
    return must(case, Command(argv=("git", *words), cwd="{case}/repo")).stdout


def state(case: Path) -> str:
    """Return which side the branch is at, after seeing that the checkout is there too."""
    at = {
        name: git(case, "show", f"main:{name}")
        for name in git(case, "ls-tree", "-r", "--name-only", "main").split()
    }
    side = {"old": OLD, "new": NEW}["new" if "new" in at else "old"]
    assert at == side, at
    repo = case / "repo"
    here = {path.name: path.read_text() for path in repo.iterdir() if path.is_file()}
    assert here == {**side, "mine": "not committed\n", "staged": "staged\n"}, here
    status = git(case, "status", "--porcelain").splitlines()
    assert sorted(status) == [" M mine", "A  staged"], status
    return "new" if side is NEW else "old"


def clean(case: Path) -> None:
    left = [*case.glob("repo/.git/**/*.lock"), *case.glob("repo/.git/**/siding-index-*")]
    assert not left, left
    fsck = run(case, Command(argv=("git", "fsck", "--no-dangling"), cwd="{case}/repo"))
    assert fsck.status == 0, fsck.stderr


def task(case: Path) -> str:
    (found,) = (case / "home/projects").glob("*/tasks/*")
    return found.name


def mended(case: Path) -> None:
    """The next command, doctor, brings all to one side."""
    act(case, "doctor")
    clean(case)


def apply_holds(case: Path, promises: list[str]) -> None:
    mended(case)
    if state(case) == "old":
        assert not promises
        act(case, "apply", "-t", task(case), "--no-close")
    assert state(case) == "new"
    act(case, "verify", task(case))
    clean(case)


def undo_holds(case: Path, promises: list[str]) -> None:
    mended(case)
    if state(case) == "new":
        act(case, "undo", "-t", task(case))
    assert state(case) == "old"
    act(case, "verify", task(case))
    clean(case)


def patch_holds(case: Path, promises: list[str]) -> None:
    """Files only: all written, or none; the index is never touched."""
    mended(case)
    repo = case / "repo"
    here = {path.name: path.read_text() for path in repo.iterdir() if path.is_file()}
    own = {"mine": "not committed\n", "staged": "staged\n"}
    assert here in ({**OLD, **own}, {**NEW, **own}), here
    assert git(case, "diff", "--cached", "--name-only").split() == ["staged"]


def test_a_write_of_an_apply_is_torn() -> None:
    """`test_apply_checkouts.py` has what else may happen to it."""
    victim = siding("apply", "--no-close")
    sweep(begun, victim, apply_holds, modes=("torn",), budget=BUDGET)


def test_apply_that_closes() -> None:
    sweep(begun, siding("apply"), closing_holds, modes=("kill",), budget=BUDGET)


def closing_holds(case: Path, promises: list[str]) -> None:
    mended(case)
    if state(case) == "old":
        act(case, "apply", "-t", task(case))
    assert state(case) == "new"


def test_undo() -> None:
    sweep(applied, siding("undo"), undo_holds, modes=("kill",), budget=BUDGET, within=("repo",))


def test_patch() -> None:
    victim = siding("apply", "--mode", "patch", "--no-close")
    sweep(begun, victim, patch_holds, modes=("kill",), budget=BUDGET, within=("repo",))


def test_the_gate_sees_a_checkout_that_is_left_behind() -> None:
    """The planted bug: the branch moves, and nobody mends the checkout."""

    def careless(case: Path, promises: list[str]) -> None:
        for running in case.glob("home/projects/*/tasks/*/running.json"):
            running.unlink()
        for lock in case.glob("repo/.git/index.lock"):
            lock.unlink()
        state(case)

    with pytest.raises(GateFailed):
        sweep(
            begun,
            siding("apply", "--no-close"),
            careless,
            modes=("kill",),
            budget=16,
            within=("repo",),
        )
