"""Every change of the disk, killed, torn, failed and shortened, one at a time.

After each: what was acknowledged is there, what is there is whole, the next act works and needs no
repair. Each kind of gate is shown to catch a planted fault.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import planted
from siding.ground.files.durable import (
    TEMPORARY_PREFIX,
    create_bytes,
    make_dirs,
    move_aside,
    remove_file,
)
from siding.ground.files.stale import remove_if_stale, stale_temporaries
from siding.ground.storage.documents import migrate_document, read_document, write_document
from siding.ground.storage.journals import TORN, Journal

from . import victim

MODES = ("kill", "torn", "EIO", "ENOSPC", "EACCES", "EMFILE", "short")
FILLER = "x" * 5000
OLD = b"old" * 1000


class Ending(NamedTuple):
    """How the victim ended."""

    acknowledged: bool
    failed: bool
    calls: int  # 0 when it died


def run_victim(operation: str, path: Path, mode: str, at: int, fault: str = "") -> Ending:
    words = [operation, str(path), mode, str(at)]
    told = _in_a_program(words, fault) if fault else _in_a_fork(words)
    calls = told.rpartition("CALLS ")[2].strip() or "0"
    return Ending(acknowledged="ACK" in told, failed="FAILED" in told, calls=int(calls))


def _in_a_program(words: list[str], fault: str) -> str:
    """Return what the victim says with a mistake planted before it loads anything of Siding."""
    env = {**os.environ, **planted.environment(fault)}
    command = [sys.executable, victim.__file__, *words]
    run = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return run.stdout


def _in_a_fork(words: list[str]) -> str:
    """Return what the victim says: there are hundreds, and a fork takes no time to load."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with open(writing, "w", encoding="utf-8") as told:
                victim.main(words, told)
        except BaseException as error:  # noqa: BLE001 - a fork must never return into pytest
            os.write(writing, f"BROKEN {error!r}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        told_us = pipe.read()
    os.waitpid(child, 0)
    assert "BROKEN" not in told_us, told_us
    return told_us


class Act(NamedTuple):
    """An operation of the victim: the state before, what must hold after, done again."""

    prepare: Callable[[Path], None]
    check: Callable[[Path, Ending], None]


def _old_document(path: Path) -> None:
    write_document(path, {"state": "old", "filler": FILLER})


def _check_document(path: Path, ending: Ending) -> None:
    data = read_document(path, what="toy", version=1)
    assert data["filler"] == FILLER
    assert data["state"] in ({"new"} if ending.acknowledged else {"old", "new"})
    write_document(path, {"state": "again"})
    assert read_document(path, what="toy", version=1) == {"state": "again"}


def _old_journal(path: Path) -> None:
    for number in range(2):
        Journal(path).append({"n": number})


def _torn_journal(path: Path) -> None:
    _old_journal(path)
    with path.open("ab") as file:
        file.write(b'{"n": "to')


def _check_journal(path: Path, ending: Ending) -> None:
    journal = Journal(path)
    found = [entry.record for entry in journal.entries() if entry.record]
    old: list[dict[str, Any]] = [{"n": 0}, {"n": 1}] if found[:1] != [{"n": "new"}] else []
    new: list[dict[str, Any]] = [{"n": "new"}]
    if ending.acknowledged:
        assert found == old + new
    elif ending.failed:
        assert found == old
    else:
        assert found in (old, old + new)
    assert {damage.problem for damage in journal.damage()} <= {TORN}
    journal.append({"n": "again"})
    assert [entry.record for entry in journal.entries() if entry.record][-1] == {"n": "again"}
    assert [entry.record for entry in journal.entries() if entry.record][:-1] in (
        [found, found + new] if not ending.failed else [found]
    )


def _check_first_append(path: Path, ending: Ending) -> None:
    found = [entry.record for entry in Journal(path).entries() if entry.record]
    assert found in ([[{"n": "new"}]] if ending.acknowledged else [[], [{"n": "new"}]])
    assert not (ending.failed and found)
    Journal(path).append({"n": "again"})
    assert Journal(path).tail(1)[0].record == {"n": "again"}


def _nothing(_path: Path) -> None:
    pass


def _check_created(path: Path, ending: Ending) -> None:
    if path.exists():
        assert path.read_bytes() == b"new" * 1000
    else:
        assert not ending.acknowledged
        create_bytes(path, b"again")


def _check_dirs(path: Path, ending: Ending) -> None:
    assert (path / "a" / "b").is_dir() or not ending.acknowledged
    make_dirs(path / "a" / "b")
    assert (path / "a" / "b").is_dir()


def _check_migrated(path: Path, ending: Ending) -> None:
    migrations = {1: lambda data: {**data, "state": "new"}}
    data = read_document(path, what="toy", version=2, migrations={1: dict})
    assert data["filler"] == FILLER
    backup = path.with_name(f"{path.name}.v1.bak")
    if data["state"] == "new":
        assert data["version"] == 2
        assert read_document(backup, what="toy", version=1)["state"] == "old"
    else:
        assert not ending.acknowledged
    migrate_document(path, what="toy", version=2, migrations=migrations)
    assert read_document(path, what="toy", version=2)["state"] == "new"
    assert [p.name for p in path.parent.glob("*.bak")] == [backup.name]


def _old_file_and_trash(path: Path) -> None:
    path.write_bytes(OLD)
    (path.parent / "trash").mkdir()


def _check_moved(path: Path, ending: Ending) -> None:
    moved = path.parent / "trash" / path.name
    assert not (ending.acknowledged and path.exists())
    if path.exists():
        move_aside(path, moved)
    assert not path.exists()
    assert moved.read_bytes() == OLD


def _check_removed(path: Path, ending: Ending) -> None:
    assert not (ending.acknowledged and path.exists())
    remove_file(path)
    assert not path.exists()


ACTS = {
    "append": Act(prepare=_old_journal, check=_check_journal),
    "append-to-torn": Act(prepare=_torn_journal, check=_check_journal),
    "append-first": Act(prepare=_nothing, check=_check_first_append),
    "create": Act(prepare=_nothing, check=_check_created),
    "document": Act(prepare=_old_document, check=_check_document),
    "make_dirs": Act(prepare=_nothing, check=_check_dirs),
    "migrate": Act(prepare=_old_document, check=_check_migrated),
    "move_file": Act(prepare=_old_file_and_trash, check=_check_moved),
    "remove": Act(prepare=_old_document, check=_check_removed),
}


def run_case(root: Path, name: str, mode: str, at: int, fault: str = "") -> Ending:
    path = root / f"{mode}-{at}" / "file"
    path.parent.mkdir(parents=True)
    ACTS[name].prepare(path)
    ending = run_victim(name.partition("-")[0], path, mode, at, fault)
    if mode == "kill":
        for left in stale_temporaries(path.parent):
            remove_if_stale(left)
    if mode in {"kill", "EIO", "ENOSPC", "EACCES", "EMFILE", "short"}:
        assert not list(path.parent.glob(TEMPORARY_PREFIX + "*"))
    ACTS[name].check(path, ending)
    return ending


@pytest.mark.parametrize("name", ACTS)
def test_every_change_may_be_the_last(tmp_path: Path, name: str) -> None:
    control = run_case(tmp_path / "control", name, "none", 0)
    assert control.acknowledged
    assert control.calls >= 2
    for mode in MODES:
        deaths = 0
        points = [1] if mode == "short" else range(1, control.calls + 1)
        for at in points:
            ending = run_case(tmp_path, name, mode, at)
            deaths += not ending.acknowledged
        assert deaths >= 2 or mode in {"torn", "short"}, "the gate did nothing"


@pytest.mark.parametrize(
    ("name", "mode", "fault"),
    [("document", "kill", "truncate-rewrite"), ("append-to-torn", "none", "skip-newline")],
)
def test_the_gate_catches_a_planted_fault(tmp_path: Path, name: str, mode: str, fault: str) -> None:
    caught = 0
    for at in range(1, 5):
        try:
            run_case(tmp_path, name, mode, at, fault)
        except Exception:  # noqa: BLE001 - a broken store shows in many ways
            caught += 1
    assert caught
