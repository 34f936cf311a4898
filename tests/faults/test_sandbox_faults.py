"""A sandboxed run that commits, killed at any call: nothing dangles, what was promised is there."""

from pathlib import Path

import pytest

from bwrap import needs_bwrap

from .arena import Command, GateFailed
from .commands import GATE, ROOT, act, filled, promising, repository_is_sound, works, workspace_of
from .harness import KILLS, sweep
from .product import must

pytestmark = [*GATE, needs_bwrap]

INSIDE = ("run", "--sandbox", "--", "sh", "-c", "echo new >new && git add -A && git commit -qm in")


def committed_holds(case: Path, promises: list[str]) -> None:
    """Any next command takes over what was committed, or it never was."""
    for lock in (case / "repo/.git/worktrees").rglob("*.lock"):
        lock.unlink()  # of the command's own git, which was killed: as without a sandbox
    works(case)
    repository_is_sound(case)
    place = workspace_of(case, "alpha")
    git = ("git", "-C", str(place))
    must(case, Command(argv=(*git, "fsck", "--no-dangling"), cwd=ROOT))
    must(case, Command(argv=(*git, "commit", "-qam", "by hand", "--allow-empty"), cwd=ROOT))
    subjects = must(case, Command(argv=(*git, "log", "--format=%s"), cwd=ROOT)).stdout.split("\n")
    if promises:
        assert "in" in subjects, subjects
    assert subjects.count("in") <= 1
    act(case, "run", "--sandbox", "--", "git", "commit", "--allow-empty", "-qm", "again")


def test_killed_at_any_call() -> None:
    sweep(filled, promising(*INSIDE), committed_holds, modes=KILLS, budget=2)


def test_the_gate_sees_a_quarantine_that_is_forgotten() -> None:
    """Killed at any call on the branch: the take-over moves it, and nobody ends what it left."""
    victim = promising(*INSIDE, fault="forget-quarantine")
    with pytest.raises(GateFailed):
        # All of them, if need be: it ends at the first that shows the mistake.
        sweep(
            filled,
            victim,
            committed_holds,
            modes=("kill",),
            budget=300,
            within=("repo",),
            among=lambda call: "/refs/heads/siding" in call,
        )
