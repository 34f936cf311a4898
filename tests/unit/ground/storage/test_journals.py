"""Journals: what was acknowledged is there, in order; damage is named and hides nothing."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privileges import bound_by_permissions
from scratch import scratch
from siding.ground.errors import NotARegularFile
from siding.ground.storage import lines, writes
from siding.ground.storage.errors import NotStorable
from siding.ground.storage.journals import TOO_LONG, TORN, Damage, Entry, Journal
from siding.ground.storage.locks import FileLock, LockBusy
from siding.ground.storage.writes import encode_line

RECORDS = st.dictionaries(
    st.text(max_size=3), st.integers() | st.text(max_size=5) | st.lists(st.none()), max_size=3
)
APPEND = st.tuples(st.just("append"), st.integers(0, 2), RECORDS)
TRUNCATE = st.tuples(st.just("truncate"), st.floats(0, 1), st.none())


def numberless(entries: list[Entry]) -> list[Entry]:
    return [entry._replace(number=None) for entry in entries]


def records(journal: Journal) -> list[dict[str, Any] | None]:
    return [entry.record for entry in journal.entries()]


@settings(deadline=None)
@given(st.lists(APPEND | TRUNCATE, max_size=12))
def test_appends_and_truncations_leave_the_whole_lines_and_the_torn_reports(
    operations: list[tuple[str, Any, Any]],
) -> None:
    """The model is a bytes object: closed by a newline before an append, cut by a truncation."""
    with scratch() as directory:
        path = Path(directory) / "j.jsonl"
        several = [Journal(path) for _ in range(3)]
        model = b""
        for kind, value, record in operations:
            if kind == "append":
                several[value].append(record)
                closing = b"\n" if model and not model.endswith(b"\n") else b""
                model += closing + encode_line(record) + b"\n"
            elif path.exists():
                model = model[: int(value * len(model))]
                with path.open("r+b") as file:
                    file.truncate(len(model))
        if path.exists():
            assert path.read_bytes() == model
        *closed, rest = model.split(b"\n")
        found = [(entry.raw, entry.record, entry.problem) for entry in several[0].entries()]
        expected = [(raw, *_as_read(raw)) for raw in closed]
        assert found == expected + ([(rest, None, TORN)] if rest else [])


def _as_read(raw: bytes) -> tuple[dict[str, Any] | None, str | None]:
    """A cut-off beginning of an object is never an object."""
    try:
        return json.loads(raw), None
    except ValueError:
        return None, TORN


@settings(deadline=None)
@given(record=RECORDS, data=st.data())
def test_a_cut_at_any_byte_loses_only_that_line(
    record: dict[str, Any], data: st.DataObject
) -> None:
    with scratch() as directory:
        path = Path(directory) / "j.jsonl"
        journal = Journal(path)
        journal.append({"n": 1})
        size = path.stat().st_size
        journal.append(record)
        cut = data.draw(st.integers(size + 1, path.stat().st_size - 1))
        with path.open("r+b") as file:
            file.truncate(cut)
        assert [(entry.record, entry.problem) for entry in journal.entries()] == [
            ({"n": 1}, None),
            (None, TORN),
        ]
        journal.append({"n": 2})
        first, *between, last = journal.entries()
        assert (first.record, last.record) == ({"n": 1}, {"n": 2})
        whole = cut == size + len(encode_line(record))  # only the newline was missing
        assert [(entry.record, entry.problem) for entry in between] == [
            (record, None) if whole else (None, TORN)
        ]


@settings(deadline=None)
@given(
    pieces=st.lists(
        st.sampled_from(
            [b'{"a":1}', b"\n", b'{"b":', b"\0", b"\xff", b"[]", b"NaN", b" ", b"x" * 40]
        )
    ),
    count=st.integers(0, 8),
    block=st.integers(1, 30),
)
def test_the_tail_is_the_end_of_the_entries_whatever_the_file_holds(
    pieces: list[bytes], count: int, block: int
) -> None:
    content = b"".join(pieces)
    with scratch() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_BLOCK", block)
        patch.setattr(lines, "_FIRST_BLOCK", block)
        patch.setattr(lines, "MAX_LINE_BYTES", 30)
        patch.setattr(lines, "KEPT_OF_TOO_LONG", 10)
        path = Path(directory) / "j.jsonl"
        path.write_bytes(content)
        journal = Journal(path)
        entries = list(journal.entries())
        assert journal.tail(count) == numberless(entries[len(entries) - min(count, len(entries)) :])
        assert journal.last() == (numberless(entries)[-1] if entries else None)
        for entry in entries:
            assert (entry.record is None) != (entry.problem is None)
            assert content[entry.offset :].startswith(entry.raw)
            assert list(journal.entries(entry.end)) == numberless(
                [later for later in entries if later.offset >= entry.end]
            )
        assert journal.damage() == [
            Damage(number=e.number, offset=e.offset, end=e.end, problem=e.problem)
            for e in entries
            if e.number and e.problem
        ]


@pytest.mark.parametrize(
    "torn",
    [
        b"{",
        b'{"a": {"b": 1}',
        b'{"a": "text with a }',
        b'{"a": "\xc3',
        b'{"a": "\\',
        b'{"a": tr',
        b'{"a": 1' + bytes(500),
        b'{"a": {}' + bytes(500),
        b'{"a": 1}' + bytes(500),
        bytes(500),
        bytes(500) + b'": 1}',
        b'{"a": "' + bytes(500) + b'"}',
    ],
)
def test_a_line_without_its_end_is_called_torn_after_it_was_closed_too(
    tmp_path: Path, torn: bytes
) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.path.write_bytes(torn)
    before = journal.last()
    journal.append({"n": 1})
    after = journal.tail(2)[0]
    assert before
    assert before.problem == TORN
    assert after.problem == TORN
    assert after.raw == torn


@pytest.mark.parametrize(
    "raw", [b"nonsense", b"[]", b"null", b'{"a": 1,}', b'{"a": 1,}\r', b"{}{}"]
)
def test_a_line_that_is_something_else_says_what(tmp_path: Path, raw: bytes) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.path.write_bytes(raw + b"\n")
    (damage,) = journal.damage()
    assert damage.problem.startswith("it is not")


def chained(seen: list[bytes | None], previous: bytes | None) -> dict[str, Any]:
    seen.append(previous)
    return {"prev": sha256(previous).hexdigest() if previous is not None else None}


@settings(deadline=None)
@given(st.lists(st.sampled_from(["append", "tear", "garbage", "blank"]), max_size=8))
def test_a_chain_links_every_entry_to_the_raw_line_before_it(operations: list[str]) -> None:
    with scratch() as directory:
        path = Path(directory) / "j.jsonl"
        journal = Journal(path)
        for operation in operations:
            if operation == "append":
                before = journal.last()
                seen: list[bytes | None] = []
                record, raw = journal.append_built(partial(chained, seen))
                assert seen == [before.raw if before else None]
                after = journal.last()
                assert after
                assert (after.record, after.raw) == (record, raw)
            else:
                tail = {"tear": b'{"prev": "12', "garbage": b"\0\xff\n", "blank": b" \n\n"}
                with path.open("ab") as file:
                    file.write(tail[operation])
        previous = None
        for entry in journal.entries():
            if entry.record is not None:
                assert entry.record == chained([], previous)
            previous = entry.raw


def test_what_the_builder_raises_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({"n": 1})

    def refuse(_previous: bytes | None) -> dict[str, Any]:
        raise KeyError("no")

    with pytest.raises(KeyError):
        journal.append_built(refuse)
    journal.append({"n": 2})
    assert records(journal) == [{"n": 1}, {"n": 2}]


def test_a_journal_that_does_not_exist_has_no_entries(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    assert list(journal.entries()) == []
    assert journal.tail(3) == []
    assert journal.last() is None
    assert journal.damage() == []
    assert list(tmp_path.iterdir()) == []  # reading writes nothing


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({})
    assert {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {
        "j.jsonl": 0o600,
        "j.jsonl.lock": 0o600,
    }


def test_threads_with_their_own_objects_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"

    def work(name: int) -> None:
        for count in range(20):
            Journal(path).append({"name": name, "count": count})

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = [(r["name"], r["count"]) for r in records(Journal(path)) if r]
    assert sorted(found) == [(name, count) for name in range(4) for count in range(20)]
    for name in range(4):
        assert [count for n, count in found if n == name] == list(range(20))


COUNTER = """
import json, sys
from pathlib import Path
from siding.ground.storage.journals import Journal
journal = Journal(Path(sys.argv[1]))
for _ in range(25):
    journal.append_built(lambda raw: {"n": json.loads(raw)["n"] + 1 if raw else 1})
"""


def test_processes_that_build_on_the_last_line_never_build_on_the_same(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    workers = [
        subprocess.Popen([sys.executable, "-c", COUNTER, str(path)], stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    assert [worker.communicate()[1] for worker in workers] == [b""] * 4
    assert records(Journal(path)) == [{"n": n} for n in range(1, 101)]


def test_a_lock_that_stays_taken_is_an_error_and_not_a_record(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl", lock_timeout_s=0.01)
    journal.append({"n": 1})
    with FileLock(tmp_path / "j.jsonl.lock"), pytest.raises(LockBusy):
        journal.append({"n": 2})
    assert records(journal) == [{"n": 1}]


def test_a_record_that_readers_would_skip_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writes, "MAX_LINE_BYTES", 10)
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({"a": 1234})
    with pytest.raises(NotStorable):
        journal.append({"a": 12345})
    assert records(journal) == [{"a": 1234}]


def test_a_line_over_the_cap_is_reported_and_what_follows_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 3000)
    journal = Journal(tmp_path / "j.jsonl")
    long = b'{"text":"' + b"A" * 200_000
    journal.path.write_bytes(b'{"n":1}\n' + long)
    record, _ = journal.append_built(lambda raw: {"prev": (raw or b"").decode()})
    _, second, third = journal.entries()
    assert (second.number, second.problem, second.raw) == (2, TOO_LONG, long[:1024])
    assert (third.record, record) == ({"prev": long[:1024].decode()}, record)
    assert journal.tail(2) == numberless([second, third])


READ_ALL = """
import resource, sys
from pathlib import Path
from siding.ground.storage.journals import Journal
resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
journal = Journal(Path(sys.argv[1]))
journal.append({"n": 2})
assert [(e.record, e.problem) for e in journal.entries()] == [
    ({"n": 1}, None), (None, "too long"), ({"n": 2}, None)]
assert [e.record for e in journal.tail(1)] == [{"n": 2}]
assert len(journal.tail(5)) == 3
"""


def test_a_line_larger_than_the_memory_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"n":1}\n')
    with path.open("r+b") as file:
        file.truncate(512 << 20)  # a hole: NULs that take no room on the disk
    run = subprocess.run(
        [sys.executable, "-c", READ_ALL, str(path)], capture_output=True, check=False
    )
    assert run.stderr == b""
    assert run.returncode == 0


@settings(deadline=None)
@given(st.data())
def test_damage_anywhere_hides_no_line_that_it_did_not_touch(data: st.DataObject) -> None:
    good = [encode_line({"n": n, "text": "ä" * n, "list": [n, {}]}) + b"\n" for n in range(5)]
    content = b"".join(good)
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    damage = data.draw(st.binary(max_size=10) | st.just(bytes(600)))
    with scratch() as directory:
        path = Path(directory) / "j.jsonl"
        path.write_bytes(content[:start] + damage + content[end:])
        journal = Journal(path)
        before = content[:start].count(b"\n")
        # The first line begun in the rest may stand behind damage without a newline of its own.
        after = content[end:].count(b"\n") - 1
        found = [entry.raw + b"\n" for entry in journal.entries() if entry.record is not None]
        assert found[:before] == good[:before]
        assert after <= 0 or found[-after:] == good[-after:]
        assert journal.tail(3) == numberless(list(journal.entries())[-3:])
        journal.append({"n": "next"})
        assert journal.last() == journal.tail(1)[0]
        assert journal.tail(1)[0].record == {"n": "next"}
        assert path.read_bytes().startswith(content[:start] + damage + content[end:])


IMPOSTORS: dict[str, Callable[[Path], object]] = {
    "directory": lambda path: path.mkdir(),
    "fifo": os.mkfifo,
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    "link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.parametrize("name", ["j.jsonl", "j.jsonl.lock"])
@pytest.mark.parametrize("kind", IMPOSTORS)
def test_something_else_in_a_journals_place_is_an_error(
    tmp_path: Path, kind: str, name: str
) -> None:
    IMPOSTORS[kind](tmp_path / name)
    journal = Journal(tmp_path / "j.jsonl")
    with pytest.raises(NotARegularFile):
        journal.append({})
    if name == "j.jsonl":
        for read in (journal.last, journal.damage, lambda: list(journal.entries())):
            with pytest.raises(NotARegularFile):
                read()


def test_a_journal_that_cannot_be_written_is_read(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({"n": 1})

    def only_read() -> None:
        with pytest.raises(PermissionError):
            journal.append({"n": 2})
        assert records(journal) == [{"n": 1}]
        journal.path.chmod(0)
        with pytest.raises(PermissionError):
            journal.last()

    for path in (journal.path, tmp_path / "j.jsonl.lock"):
        path.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        bound_by_permissions(only_read)
    finally:
        tmp_path.chmod(0o700)


def test_a_failed_flush_takes_the_record_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.append({"n": 1})
    calls: list[int] = []

    def broken(fd: int) -> None:
        calls.append(fd)
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", broken)
        with pytest.raises(OSError, match="Input/output"):
            journal.append({"n": 2})
    assert len(calls) == 1  # a flush that failed is never tried again
    assert records(journal) == [{"n": 1}]
    journal.append({"n": 3})
    assert records(journal) == [{"n": 1}, {"n": 3}]


def test_a_damage_report_can_be_bounded(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.path.write_bytes(b"{}\n" + b"x\n" * 1000)
    assert len(journal.damage()) == 1000
    assert [damage.number for damage in journal.damage(limit=2)] == [2, 3]
