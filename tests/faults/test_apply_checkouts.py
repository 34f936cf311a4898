"""An apply under a fault, in each of ten checkouts: the person's side of it is whole, and found.

Whatever fails or dies at whichever call: what the person has is, to the byte, as before the apply
or as after it, at once or after the command that `siding doctor --check` names. `checkouts` has the
ten. The suite takes a sample of them; SIDING_FAULTS=every strikes every call in all of them.
"""

import os
import shutil
from pathlib import Path

import pytest

import counted

from . import tracer
from .arena import (
    EVERY,
    SEED,
    TIMES,
    Arena,
    Check,
    GateFailed,
    Setup,
    depth,
    in_workers,
    note,
    sample,
)
from .checkouts import (
    APPLY,
    MOVING,
    REFUSING,
    Seen,
    dirty,
    git,
    lfs,
    locks,
    seen,
    sides,
    sparse,
    submodule,
)
from .commands import act, promising
from .copies import remove_tree
from .harness import sweep
from .test_commands_errors import scratch

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(7200),  # all of them are a few thousand cases
]

ALL = EVERY or TIMES > 1
FAULTS = ("kill", "kill:first", "kill:child", "err:EIO", "err:ENOSPC", "full")
GIT = str(shutil.which("git"))
NEAR = ("repo", "home/projects")  # what moves files has a call in one of them
AGREES = "everything agrees\n"
# In the place of git: the n-th that is started fails, before or after it has done its work.
FAILING_GIT = """#!/bin/sh
set -C
here=${0%/*}
n=1
until true >"$here/$n"; do n=$((n+1)); done 2>/dev/null
if [ "$n" = "$(cat "$here/at")" ]; then
  test -f "$here/after" && GIT "$@"
  echo "fatal: it fails" >&2
  exit 128
fi
exec GIT "$@"
"""


def refreshes(call: str) -> bool:
    """Flushes that may fail: of help on the way, and of times that the index may lack."""
    return scratch(call) or "siding-index-" in call


def some(setups: tuple[Setup, ...], count: int) -> list[Setup]:
    """The suite's share of the checkouts, others with another seed."""
    first = SEED % len(setups)
    return list(setups) if ALL else [*setups[first:], *setups[:first]][:count]


def name(setup: Setup) -> str:
    return setup.__name__


def holds(case: Path, promises: list[str], fault: str = "") -> None:
    """The person has one side whole, by what `doctor` says and does; then the apply can be had."""
    said = case.with_name("stderr").read_text("utf-8", "replace")
    left = act(case, "doctor", "--check", status=None).stdout
    if left != AGREES:
        assert left.startswith("- "), left
        act(case, "doctor", fault=fault)
        assert act(case, "doctor", "--check").stdout == AGREES
    _is_at(case, known_side(case, promises, said), left)
    refuses = sides(case).is_refused
    act(case, *APPLY, status=int(refuses), fault=fault)
    _is_at(case, sides(case).after, "it was applied again")
    act(case, "verify")


def known_side(case: Path, promises: list[str], said: str) -> Seen:
    """The side that the command has told; that of the branch where it could not tell any."""
    known = sides(case)
    if promises:
        return known.after
    moved = git(case, "rev-parse", "refs/heads/main").strip() != known.old
    return known.after if moved and "nothing was changed" not in said else known.before


def _is_at(case: Path, side: Seen, told: str) -> None:
    now = seen(case, sides(case).old)
    differ = {key for key in {*now, *side} if now.get(key) != side.get(key)}
    wrong = {key: (side.get(key), now.get(key)) for key in sorted(differ)}
    assert not wrong, f"{told}: {wrong}"
    assert locks(case) == [], told
    git(case, "fsck", "--no-dangling")


@pytest.mark.parametrize("setup", some(MOVING, 1), ids=name)
def test_a_fault_in_a_checkout_that_moves(setup: Setup) -> None:
    sweep(
        setup,
        promising(*APPLY),
        holds,
        modes=FAULTS,
        budget=2,
        best_effort=refreshes,
        among=anything if setup is dirty else about_files,  # what comes before is the same in all
    )


@pytest.mark.parametrize("setup", [lfs, sparse, submodule], ids=name)
def test_each_fault_at_calls_of_the_move(setup: Setup) -> None:
    """Where git's own rules decide what a file is in the checkout, or whether it is there."""
    sweep(
        setup,
        promising(*APPLY),
        holds,
        modes=FAULTS,
        budget=depth(len(FAULTS), prove=2 * len(FAULTS)),
        best_effort=refreshes,
        among=about_files,
    )


@pytest.mark.parametrize("setup", some(REFUSING, 1), ids=name)
def test_a_fault_in_a_checkout_that_refuses(setup: Setup) -> None:
    victim = promising(*APPLY)
    sweep(setup, victim, holds, modes=FAULTS, budget=1, best_effort=refreshes, status=1)


def test_a_git_that_is_killed_leaves_no_lock_of_the_branch() -> None:
    victim = promising(*APPLY)
    at = ("kill:child",)
    sweep(dirty, victim, holds, modes=at, budget=1, among=lambda call: "heads/main.lock" in call)


def test_a_sparse_checkout_that_was_killed_stays_sparse() -> None:
    victim = promising(*APPLY)
    sweep(sparse, victim, holds, modes=("kill",), budget=1, among=lambda call: "renameat2" in call)


def holds_in_steps(case: Path, promises: list[str]) -> None:
    holds(case, promises, fault="no-exchange")


def holds_beside_an_edit(case: Path, promises: list[str]) -> None:
    """As `holds_in_steps`; an edit that was made meanwhile is still there, and is taken out."""
    tool = case / "repo/tool"
    if tool.read_text() == "edited\n":
        act(case, "doctor", fault="no-exchange")
        assert tool.read_text() == "edited\n"
        git(case, "checkout", "tool")
    holds_in_steps(case, promises)


BACK = (
    ("edit-the-fourth-file, no-exchange", holds_beside_an_edit),
    ("fail-at-the-fourth-file, no-exchange", holds_in_steps),
    ("fail-at-the-fourth-file", holds),
)


@pytest.mark.parametrize(("fault", "check"), BACK if ALL else BACK[:1])
def test_the_way_back_is_cut_off(fault: str, check: Check) -> None:
    victim = promising(*APPLY, fault=fault)
    sweep(
        dirty,
        victim,
        check,
        modes=("kill", "err:EIO"),
        budget=2,
        within=NEAR,
        best_effort=refreshes,
        status=1,
        among=about_files,
    )


def about_files(call: str) -> bool:
    """Whether a call is one of the move: of the checkout, or of what is staged beside it."""
    return any(place in call for place in ("displaced", "repo/", "elsewhere/"))


def anything(_call: str) -> bool:
    return True


def test_names_that_cannot_be_exchanged() -> None:
    """There is no file in its place for a moment; what is killed in it is brought to one side."""
    sweep(
        dirty,
        promising(*APPLY, fault="no-exchange"),
        holds_in_steps,
        modes=("kill", "err:EIO"),
        budget=2,
        within=NEAR,
        best_effort=refreshes,
        among=about_files,
    )


@pytest.mark.parametrize("setup", some((*MOVING, *REFUSING), 1), ids=name)
def test_a_git_that_fails(setup: Setup) -> None:
    """Each git that is started, also by a filter: it does nothing and fails, or all and fails."""

    def work(arena: Arena, number: int, count: int) -> tuple[int, list[str]]:
        return _FailingGit(arena, setup).share(2 * TIMES, number, count)

    found = in_workers(work)
    cases, wrong = sum(each[0] for each in found), [text for each in found for text in each[1]]
    note({"gate": "git fails", "cases": cases, "failures": wrong})
    counted.add(cases, failed=len(wrong))
    assert cases
    if wrong:
        raise GateFailed("git fails", wrong)


class _FailingGit:
    """One worker's cases: applies beside a `git` of which one call fails."""

    def __init__(self, arena: Arena, setup: Setup) -> None:
        self.arena, self.bin = arena, arena.base / "bin"
        arena.prepare(setup)

    def share(self, budget: int, number: int, count: int) -> tuple[int, list[str]]:
        self._apply(0, after=False)
        calls = len([path for path in self.bin.iterdir() if path.name.isdigit()])
        assert calls > 1
        faults = [(at, after) for at in range(1, calls + 1) for after in (False, True)]
        chosen = sample(faults, budget, SEED)[number::count]
        wrong = []
        for at, after in chosen:
            promises = self._apply(at, after=after)
            verdict = self.arena.verdict(holds, promises)
            if verdict:
                wrong.append(f"  git #{at} fails {'after' if after else 'before'}\n    {verdict}")
                self.arena.keep(f"git-{at}-{after}")
        return len(chosen), wrong

    def _apply(self, at: int, *, after: bool) -> list[str]:
        self.arena.fresh()
        remove_tree(self.bin)
        self.bin.mkdir()
        program = self.bin / "git"
        program.write_text(FAILING_GIT.replace("GIT", GIT), encoding="utf-8")
        program.chmod(0o700)
        (self.bin / "at").write_text(f"{at}\n", encoding="utf-8")
        if after:
            (self.bin / "after").touch()
        path = f"{self.bin}:{os.environ['PATH']}"
        done = act(self.arena.case, *APPLY, status=None, env={"PATH": path})
        self.arena.stderr.write_text(done.stderr, encoding="utf-8")
        return ["done"] * (done.status == 0)
