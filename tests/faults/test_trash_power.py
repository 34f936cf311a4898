"""The power fails while something is moved into the trash, out of it, or into one pack.

What is in no snapshot (ignored files) is in the workspace or in the trash then, and the next
commands reach every state. `test_undo_recovery` and `test_commands_power` do the same for the plain
rollback, undo, close, reopen, gc and `worktree remove`.
"""

import sys
from pathlib import Path

import pytest

from . import test_undo_faults as undoing
from . import toy_exchange
from .acts import ACTS, deleted_holds
from .arena import Check, Command, GateFailed, Setup
from .commands import GATE, act, doubled, project_of, promising
from .powercut import powercut
from .test_undo_recovery import BUDGET

pytestmark = GATE

PRECIOUS = "in no snapshot\n"


def in_the_way(case: Path) -> None:
    """An ignored file has the place of one that a rollback must write."""
    undoing.begun(case)
    act(case, "-q", "run", "--", "sh", "-c", "git rm -q file; echo file >>.gitignore")
    (undoing.workspace(case) / "file").write_text(PRECIOUS)


def nothing_in_the_way_is_lost(case: Path, promises: list[str]) -> None:
    """The ignored file is in its place or in the trash, and an undo brings it back."""
    places = [undoing.workspace(case) / "file", *project_of(case).glob("trash/*/aside/file")]
    assert PRECIOUS in [path.read_text() for path in places if path.exists()]
    desk = undoing.Desk(case)
    desk.settle()
    if promises:
        assert undoing.tree(case) == undoing.TWO
    if undoing.tree(case).get("file") != PRECIOUS:
        desk.undo()
    assert undoing.tree(case)["file"] == PRECIOUS
    desk.is_whole()


def packed(case: Path) -> None:
    """A closed task, and a store of several packs."""
    undoing.closed(case)
    assert len(_packs(case)) > 1


def joined(case: Path, promises: list[str]) -> None:
    assert not promises or len(_packs(case)) == 1, _packs(case)
    undoing.two_is_reached_by_reopening(case, promises)
    undoing.Desk(case).is_whole()


def _packs(case: Path) -> list[Path]:
    return list(project_of(case).glob("snapshots.git/objects/pack/*.pack"))


MOVES: dict[str, tuple[Setup, tuple[str, ...], Check]] = {
    "rollback --hard": (
        undoing.begun,
        ("rollback", "--step", "1", "--hard"),
        undoing.two_is_reached_by_undo,
    ),
    "rollback --force": (
        in_the_way,
        ("rollback", "--step", "2", "--force"),
        nothing_in_the_way_is_lost,
    ),
    "undo of rollback --hard": (
        undoing.rolled_back_hard,
        ("undo",),
        undoing.two_is_reached_by_undo,
    ),
    "redo": (undoing.undone, ("redo",), undoing.one_is_reached_by_redo),
    "reopen of a collected one": (
        undoing.collected,
        ("task", "reopen", "T"),
        undoing.two_is_reached_by_reopening,
    ),
    "gc of several packs": (packed, ("gc",), joined),
    "task close --delete": (
        doubled,
        ("task", "close", "alpha", "--force", "--delete"),
        deleted_holds,
    ),
    "doctor": (ACTS["doctor"].setup, ACTS["doctor"].words, ACTS["doctor"].check),
}


@pytest.mark.parametrize("name", MOVES)
def test_the_power_fails(name: str) -> None:
    setup, words, check = MOVES[name]
    powercut(setup, promising(*words), check, fs="ordered", budget=BUDGET)


def test_a_rollback_that_flushes_nothing_would_be_seen() -> None:
    setup, words, check = MOVES["rollback --force"]
    with pytest.raises(GateFailed):
        powercut(setup, promising(*words, fault="skip-fsync"), check, fs="ordered", budget=60)


# The model of the disk knows an exchange of two names.


def two_states(case: Path) -> None:
    for name in ("now", "wanted"):
        (case / name).mkdir()
        (case / name / "file").write_text(f"{name}\n")


def both_are_there(case: Path, promises: list[str]) -> None:
    """What is displaced is never gone; what was promised is in its place."""
    found = [path.read_text() for path in (case / "now/file", *case.glob("trash/*/file"))]
    assert "now\n" in found, found
    if promises:
        assert (case / "now/file").read_text() == "wanted\n"


def exchange(*words: str) -> Command:
    places = ("{case}/now", "{case}/wanted", "{case}/trash")
    return Command(argv=(sys.executable, "-I", "-S", toy_exchange.__file__, *places, *words))


@pytest.mark.parametrize("fs", ["ordered", "strict"])
def test_an_exchange_that_is_flushed_survives(fs: str) -> None:
    report = powercut(two_states, exchange("--flush"), both_are_there, fs=fs, budget=20)
    assert report.cases > 5


@pytest.mark.parametrize("fs", ["ordered", "strict"])
def test_an_exchange_that_is_not_flushed_would_be_seen(fs: str) -> None:
    with pytest.raises(GateFailed):
        powercut(two_states, exchange(), both_are_there, fs=fs, budget=20)
