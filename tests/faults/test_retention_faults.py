"""Snapshots are freed: killed anywhere, without power, without room, what stays is whole.

A step that was to be freed is there as it was, or the journal says that it was freed; the next
`gc` finishes what was begun.
"""

import hashlib
import json
import time
from pathlib import Path

import pytest

from . import commands
from .arena import Command, GateFailed, depth
from .commands import GATE, act, answer, assert_whole, project_of, promising, task_files
from .harness import KILLS, sweep
from .powercut import powercut
from .product import must

pytestmark = GATE

FREE = ("gc", "--older", "1s", "--yes")
KEPT, GONE = ("0001", "0002", "0005"), "0003"


def old(case: Path) -> None:
    """Steps 1, 2 and 5 are on the line of alpha; 3 is left behind by a rollback."""
    commands.filled(case)
    for number in (2, 3):
        act(case, "run", "--", "sh", "-c", f"seq {number} 3000 >made{number}")
    act(case, "rollback", "--step", "2")
    act(case, "run", "--", "sh", "-c", "echo five >five")
    (case / "states").write_text(json.dumps({step: state(case, step) for step in (*KEPT, GONE)}))
    time.sleep(1.1)


def begun(case: Path) -> None:
    """As `old`, with several packs and one freeing that was done already."""
    old(case)
    act(case, *FREE)
    act(case, "run", "--", "sh", "-c", "seq 6 3000 >made6")
    act(case, "rollback", "--step", "5")
    time.sleep(1.1)


def snapshot(case: Path, step: str) -> str:
    return str(answer(case, "show", step, "--format", "json")["snapshot"])


def state(case: Path, step: str) -> str:
    """A hash of all names, modes and bytes that the snapshot of a step has."""
    (store,) = (case / "home/projects").glob("*/snapshots.git")
    env = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(case / "repo/.git/objects")}
    script = 'set -e; git --git-dir="$1" ls-tree -r "$2"; git --git-dir="$1" archive "$2" | tar -xO'
    argv = ("sh", "-c", script, "sh", str(store), snapshot(case, step))
    told = must(case, Command(argv=argv, env=env)).stdout
    return hashlib.sha256(told.encode()).hexdigest()


def freed(case: Path) -> set[str]:
    steps = answer(case, "log", "--limit", "0", "--format", "json")
    return {step["step_id"] for step in steps if "snapshot_freed" in step}


def what_stays_is_whole(case: Path, promises: list[str]) -> None:
    states = json.loads((case / "states").read_text())
    gone = freed(case)
    assert gone <= {GONE, "0006"}, gone
    assert "done" not in promises or GONE in gone
    assert_whole(case, "alpha")
    for step in (*KEPT, *({GONE} - gone)):
        assert state(case, step) == states[step], step
    if GONE in gone:
        assert "its snapshot was freed" in act(case, "rollback", "--step", "3", status=1).stderr
    act(case, *FREE)
    assert GONE in freed(case)
    for step in KEPT:
        assert state(case, step) == states[step], step
    (store,) = (case / "home/projects").glob("*/snapshots.git")
    assert not (store / "thinning").exists()
    assert len(list((store / "objects/pack").glob("*.pack"))) == 1
    lines = (project_of(case) / "freed.jsonl").read_text().splitlines()
    begun_ones = {each["id"] for each in map(json.loads, lines) if each["op"] == "free"}
    ended = {each["id"] for each in map(json.loads, lines) if each["op"] == "done"}
    void = {one for each in map(json.loads, lines) if each["op"] == "void" for one in each["ids"]}
    assert begun_ones == ended | void
    commands.works(case, first=5)
    act(case, "rollback", "--step", "2")
    assert (commands.workspace_of(case, "alpha") / "made2").exists()


def test_killed_at_any_call() -> None:
    sweep(old, promising(*FREE), what_stays_is_whole, modes=KILLS, budget=depth(3, prove=5))


def test_killed_at_any_call_of_a_second_freeing() -> None:
    sweep(begun, promising(*FREE), what_stays_is_whole, modes=("kill",), budget=2)


def with_large_patches(case: Path) -> None:
    """As `old`, and `beta` is closed; steps 1 and 2 of it have large patches."""
    old(case)
    act(case, "task", "start", "beta")
    for _step in range(3):
        act(case, "run", "--", "sh", "-c", "head -c 99000 /dev/urandom >big")
    act(case, "task", "close", "--force", "beta")
    act(case, "switch", "alpha")
    time.sleep(1.1)


def large_patches_are_there_or_freed(case: Path, promises: list[str]) -> None:
    marked = {each["step_id"] for each in commands.steps(case, "beta") if "patch_freed" in each}
    left = {path.stem for path in (task_files(case, "beta") / "artifacts").glob("*.patch")}
    assert left >= {"0001", "0002", "0003"} - marked
    assert "done" not in promises or left == {"0003"}
    assert_whole(case, "beta")
    what_stays_is_whole(case, promises)
    left = {path.stem for path in (task_files(case, "beta") / "artifacts").glob("*.patch")}
    assert left == {"0003"}
    assert_whole(case, "beta")


def test_killed_where_it_deletes() -> None:
    """Between the line that says what is freed and the last deletion, of packs and of patches."""
    sweep(
        with_large_patches,
        promising(*FREE),
        large_patches_are_there_or_freed,
        modes=("kill",),
        budget=depth(3, prove=6),
        among=lambda call: "freed" in call or "objects/" in call or "artifacts" in call,
    )


@pytest.mark.parametrize("mode", ["err:ENOSPC", "err:EIO", "full"])
def test_a_disk_that_fails(mode: str) -> None:
    sweep(old, promising(*FREE), what_stays_is_whole, modes=(mode,), budget=2)


@pytest.mark.parametrize("fs", ["ordered", "strict"])
def test_the_power_fails(fs: str) -> None:
    budget = depth(3, prove=2)
    powercut(old, promising(*FREE), what_stays_is_whole, fs=fs, budget=budget)


def test_a_freeing_that_flushes_nothing_would_be_seen() -> None:
    with pytest.raises(GateFailed):
        powercut(
            old, promising(*FREE, fault="skip-fsync"), what_stays_is_whole, fs="ordered", budget=60
        )
