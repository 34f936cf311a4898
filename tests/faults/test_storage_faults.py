"""What `ground.storage` promises holds at every call under every fault; each gate sees a bug."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from planted import planted
from siding.ground.errors import UnreadableFile
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
from siding.ground.storage.locks import FileLock

from . import storage_victim, tracer
from .arena import Check, Command, GateFailed, Setup, depth
from .damage import CONTENT, survives_damage
from .hammer import hammer
from .harness import ERRORS, KILLS, changes, sweep
from .powercut import powercut
from .product import script
from .storage_victim import COUNT, FILLER, JOURNAL, MIGRATIONS, OLD_FORMAT, digest

pytestmark = pytest.mark.skipif(
    tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
)

OLD = ["old-1", "old-2"]
OLD_BYTES = b"kept" * 500


def victim(operation: str, *arguments: str, fault: str = "") -> Command:
    return script(storage_victim.__file__, operation, *arguments, fault=fault)


def filled(case: Path) -> None:
    journal = Journal(case / JOURNAL)
    for name in OLD:
        journal.append_built(lambda previous, name=name: {"name": name, "prev": digest(previous)})  # type: ignore[misc]
    write_document(case / COUNT, {"count": 1, "filler": FILLER})
    write_document(case / OLD_FORMAT, {"state": "old", "filler": FILLER})
    for folder in ("kept/folder", "trash"):
        make_dirs(case / folder)
    for name in ("file", "folder/file"):
        create_bytes(case / "kept" / name, OLD_BYTES)


def bare(_case: Path) -> None:
    """A new home: the first append makes the journal."""


def journal_holds(case: Path, promises: list[str], old: list[str]) -> None:
    """Old and promised records are there in order, one chain, and the next append succeeds."""
    journal = Journal(case / JOURNAL, lock_timeout_s=5)
    entries = list(journal.entries())
    names = [entry.record["name"] for entry in entries if entry.record]
    assert names[: len(old)] == old
    found = iter(names)
    assert all(name in found for name in promises), (promises, names)
    for entry in entries:  # a power cut may leave a line's size without its bytes
        assert entry.problem in (None, TORN) or not entry.raw.strip(b"\0")
    for previous, entry in zip([None, *entries], entries, strict=False):
        if entry.record:
            assert entry.record["prev"] == digest(previous.raw if previous else None)
    _, raw = journal.append_built(lambda previous: {"name": "more", "prev": digest(previous)})
    last = journal.last()
    assert last is not None
    assert last.raw == raw


def both_hold(case: Path, promises: list[str]) -> None:
    journal_holds(case, promises, OLD)


def first_holds(case: Path, promises: list[str]) -> None:
    journal_holds(case, promises, [])


def count_holds(case: Path, promises: list[str]) -> None:
    """Each number was promised once, the last one is not behind, and counting goes on."""
    numbers = [int(promise) for promise in promises]
    assert len(set(numbers)) == len(numbers), numbers
    data = read_document(case / COUNT, what="count", version=1)
    assert data["filler"] == FILLER
    assert data["count"] >= max([1, *numbers])
    with FileLock(case / "count.lock").acquire(timeout_s=5):
        write_document(case / COUNT, {**data, "count": data["count"] + 1})
    for left in stale_temporaries(case):
        remove_if_stale(left)
    assert not list(case.glob(f"{TEMPORARY_PREFIX}*"))


def migration_holds(case: Path, promises: list[str]) -> None:
    path, backup = case / OLD_FORMAT, case / f"{OLD_FORMAT}.v1.bak"
    if promises:
        assert json.loads(path.read_bytes())["version"] == 2
    for _ in range(2):
        data = read_document(path, what="toy", version=2, migrations=MIGRATIONS)
        assert data == {"state": "OLD", "filler": FILLER, "version": 2}
        migrate_document(path, what="toy", version=2, migrations=MIGRATIONS)
    assert json.loads(backup.read_bytes()) == {"state": "old", "filler": FILLER}
    assert sorted(item.name for item in case.glob("*.bak")) == [backup.name]


def moves_hold(case: Path, promises: list[str]) -> None:
    for name in ("file", "folder"):
        old, new = case / "kept" / name, case / "trash" / name
        assert name not in promises or (new.exists() and not old.exists())
        for place in (old, new):
            if place.exists():
                assert (place / "file" if name == "folder" else place).read_bytes() == OLD_BYTES
        if old.exists():
            move_aside(old, new)
        assert new.exists()
        assert not old.exists()


def creation_holds(case: Path, promises: list[str]) -> None:
    make_dirs(case / "a/b/c")
    for name in ("one", "two"):
        path = case / "a/b/c" / name
        assert path.exists() or name not in promises
        if not path.exists():
            create_bytes(path, name.encode() * 1000)
        assert path.read_bytes() == name.encode() * 1000


def removal_holds(case: Path, promises: list[str]) -> None:
    path = case / "kept/file"
    assert not (promises and path.exists())
    assert not path.exists() or path.read_bytes() == OLD_BYTES
    remove_file(path)
    assert (case / "kept/folder/file").read_bytes() == OLD_BYTES


class Act(NamedTuple):
    """An operation, the state before it, and what must hold after it whatever happened."""

    setup: Setup
    words: tuple[str, ...]
    check: Check

    def command(self, fault: str = "") -> Command:
        return victim(*self.words, fault=fault)


ACTS = {
    "append": Act(
        setup=filled,
        words=("append", "new-1", "new-2"),
        check=both_hold,
    ),
    "first append": Act(
        setup=bare,
        words=("append", "new-1", "new-2"),
        check=first_holds,
    ),
    "document": Act(setup=filled, words=("count", "1", "2"), check=count_holds),
    "migrate": Act(setup=filled, words=("migrate", "1"), check=migration_holds),
    "move": Act(setup=filled, words=("move", "file", "folder"), check=moves_hold),
    "create": Act(setup=filled, words=("create", "one", "two"), check=creation_holds),
    "remove": Act(setup=filled, words=("remove", "file"), check=removal_holds),
}
every_act = pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)


@every_act
def test_killed_or_torn_at_any_call(act: Act) -> None:
    torn = KILLS if act.words[0] in ("append", "count", "create", "migrate") else ("kill",)
    sweep(act.setup, act.command(), act.check, modes=torn, budget=3)


@every_act
def test_one_call_fails(act: Act) -> None:
    sweep(act.setup, act.command(), act.check, modes=ERRORS, budget=3, reads=True)


@pytest.mark.parametrize("name", [name for name in ACTS if name != "remove"])
def test_the_disk_is_full_from_one_call_on(name: str) -> None:
    act = ACTS[name]
    sweep(act.setup, act.command(), act.check, modes=("full",), budget=3)


def test_removing_needs_no_room_and_reading_changes_nothing() -> None:
    calls = changes(filled, ACTS["remove"].command())
    assert {call.partition("(")[0] for call in calls} <= {"unlink", "unlinkat", "fsync"}
    assert changes(filled, victim("read", "all")) == []


@every_act
@pytest.mark.parametrize("fs", ["strict", "ordered"])
def test_the_power_fails_at_any_moment(act: Act, fs: str) -> None:
    budget = depth(4, prove=12 if fs == "strict" else 6)
    powercut(act.setup, act.command(), act.check, fs=fs, budget=budget)


@pytest.mark.parametrize("name", ["append", "document", "create", "migrate"])
def test_a_short_write_goes_unnoticed(name: str) -> None:
    act = ACTS[name]
    sweep(act.setup, act.command(), act.check, modes=("short",), budget=3)


@pytest.mark.parametrize("name", ["append", "document"])
def test_a_signal_at_any_call(name: str) -> None:
    act = ACTS[name]
    sweep(act.setup, act.command(), act.check, modes=("sigterm", "sighup"), budget=4)


@pytest.mark.parametrize(("name", "word"), [("append", "rival"), ("first append", "rival")])
def test_a_second_writer_comes_at_any_call(name: str, word: str) -> None:
    act = ACTS[name]
    rival = victim("append", word)
    # The promises of the two come in any order; the journal must hold all.
    sweep(
        act.setup,
        act.command(),
        lambda case, promises: act.check(case, _in_order_of(case, promises)),
        modes=("stop",),
        budget=5,
        rival=rival,
    )


def test_a_second_counter_comes_at_any_call() -> None:
    act = ACTS["document"]
    sweep(act.setup, act.command(), act.check, modes=("stop",), budget=4, rival=act.command())


@pytest.mark.parametrize("name", ["append", "migrate", "move"])
def test_the_second_attempt_is_killed_too(name: str) -> None:
    act = ACTS[name]
    again = {
        "append": victim("append", "again"),
        "migrate": act.command(),
        "move": victim("move_rest", ""),
    }[name]
    sweep(act.setup, act.command(), act.check, modes=("nested",), budget=6, recover=again)


def _in_order_of(case: Path, promises: list[str]) -> list[str]:
    names = [entry.record["name"] for entry in Journal(case / JOURNAL).entries() if entry.record]
    assert set(promises) <= set(names), (promises, names)
    return sorted(promises, key=names.index)


def test_many_appenders_some_killed_some_frozen() -> None:
    def check(case: Path, promises: list[str]) -> None:
        journal_holds(case, _in_order_of(case, promises), OLD)

    def read(case: Path) -> None:
        names = [
            entry.record["name"] for entry in Journal(case / JOURNAL).entries() if entry.record
        ]
        assert names[:2] == OLD

    def worker(number: int) -> Command:
        return victim("append", *(f"{number}-{turn}" for turn in range(30)))

    hammer(filled, worker, check, rounds=3, reader=read)


def test_many_counters_some_killed_some_frozen() -> None:
    hammer(filled, _counter(""), count_holds, rounds=3, reader=_read_count)


def _counter(fault: str) -> Callable[[int], Command]:
    return lambda _number: victim("count", *map(str, range(30)), fault=fault)


def _read_count(case: Path) -> None:
    assert read_document(case / COUNT, what="count", version=1)["filler"] == FILLER


def test_a_damaged_document_is_refused_and_left_as_it_is() -> None:
    def check(case: Path, kind: str, _before: bytes) -> None:
        path = case / COUNT
        damaged = path.read_bytes() if kind in CONTENT else b""
        try:
            data = read_document(path, what="count", version=1, required=["count", "filler"])
            assert isinstance(data["count"], int)
        except UnreadableFile as error:
            _require_named(path, error)
        except FileNotFoundError:
            assert kind == "missing"
        assert kind not in CONTENT or path.read_bytes() == damaged

    survives_damage(filled, str(COUNT), check, times=2)


def test_a_damaged_journal_loses_only_the_damaged_lines() -> None:
    def check(case: Path, kind: str, before: bytes) -> None:
        path = case / JOURNAL
        damaged = path.read_bytes() if kind in CONTENT else b""
        whole = set(before.splitlines()) & set(damaged.split(b"\n")[:-1])
        journal = Journal(path, lock_timeout_s=5)
        try:
            read = {entry.raw for entry in journal.entries() if entry.record}
            assert whole <= read, whole - read
            journal.append({"name": "more"})
        except UnreadableFile as error:
            _require_named(path, error)
            assert kind not in CONTENT
        else:
            last = journal.last()
            assert last is not None
            assert last.record == {"name": "more"}
            assert path.read_bytes().startswith(damaged)

    survives_damage(long_journal, str(JOURNAL), check, times=2)


def _require_named(path: Path, error: UnreadableFile) -> None:
    assert str(path) in str(error)


def long_journal(case: Path) -> None:
    for number in range(6):
        Journal(case / JOURNAL).append({"name": f"line {number}", "text": "x" * 40})


def _journal_holds_without_closing(case: Path, promises: list[str]) -> None:
    with planted("skip-newline"):
        journal_holds(case, promises, OLD)


PLANTED: dict[str, Callable[[], object]] = {
    "skip-fsync": lambda: powercut(
        filled, ACTS["append"].command("skip-fsync"), ACTS["append"].check, fs="ordered", budget=60
    ),
    "skip-directory-fsync": lambda: powercut(
        filled, ACTS["document"].command("skip-directory-fsync"), count_holds, budget=60
    ),
    "truncate-rewrite": lambda: sweep(
        filled, ACTS["document"].command("truncate-rewrite"), count_holds, budget=60
    ),
    "skip-newline": lambda: sweep(
        filled, ACTS["append"].command(), _journal_holds_without_closing, modes=("torn",)
    ),
    "skip-lock": lambda: sweep(
        filled,
        ACTS["document"].command("skip-lock"),
        count_holds,
        modes=("stop",),
        rival=victim("count", "1", fault="skip-lock"),
    ),
    "skip-lock, hammered": lambda: hammer(filled, _counter("skip-lock"), count_holds, rounds=12),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_each_planted_fault_is_caught(fault: str) -> None:
    with pytest.raises(GateFailed):
        PLANTED[fault]()
