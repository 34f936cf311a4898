"""A journal of which something is damaged or missing: nothing that was paid for goes in silence."""

from collections.abc import Callable
from pathlib import Path

import pytest

from siding.workflows.errors import DamagedJournal
from siding.workflows.journal import read_journal
from unit.workflows.world import Ran, as_before, lines, run_script

AB = "return [await agent('a'), await agent('b')]"
SAME = {"*": "same:<prompt>"}
DONE = ["same:a", "same:b"]

Raw = list[bytes]
Damage = Callable[[Raw, int], Raw]


def _with(lines_: Raw, at: int, *new: bytes) -> Raw:
    return [*lines_[:at], *new, *lines_[at + 1 :]]


DAMAGES: dict[str, Damage] = {
    "cut in half": lambda raw, at: _with(raw, at, raw[at][: len(raw[at]) // 2] + b"\n"),
    "its end is a letter": lambda raw, at: _with(raw, at, raw[at][:-2] + b"x\n"),
    "its end is NUL": lambda raw, at: _with(raw, at, raw[at][:-5] + b"\0\0\0\0\n"),
    "its beginning is NUL": lambda raw, at: _with(raw, at, b"\0" * 9 + raw[at][9:]),
    "a control letter": lambda raw, at: _with(raw, at, raw[at][:9] + b"\x01" + raw[at][10:]),
    "one letter is another": lambda raw, at: _with(raw, at, raw[at].replace(b"path", b"path ", 1)),
    "gone": _with,
    "blank": lambda raw, at: _with(raw, at, b"   \n"),
    "twice": lambda raw, at: _with(raw, at, raw[at], raw[at]),
    "behind the next": lambda raw, at: _with(_with(raw, at + 1), at, raw[at + 1], raw[at]),
    "no line": lambda raw, at: _with(raw, at, b"nonsense\n"),
}


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.jsonl"
    run_script(path, AB, SAME)
    run_script(path, AB, SAME)  # a second attempt stands behind it all
    return path


def _damaged(journal: Path, damage: Damage, at: int) -> bytes:
    raw = journal.read_bytes().splitlines(keepends=True)
    return b"".join(damage(raw, at))


@pytest.mark.parametrize("what", DAMAGES)
def test_a_line_that_was_on_disk_is_missed(what: str, journal: Path) -> None:
    """Each line before the last attempt; what counts is known by then to have been on disk."""
    whole = journal.read_bytes()
    kinds = [line["t"] for line in lines(journal)]
    assert kinds == ["attempt", "begun", "answer", "begun", "answer", "attempt"]
    for at, kind in enumerate(kinds[:-1]):
        journal.write_bytes(_damaged(journal, DAMAGES[what], at))
        if journal.read_bytes() != whole:
            with pytest.raises(DamagedJournal) as raised:
                read_journal(journal)
            assert "--rerun-lost" in (raised.value.hint or ""), kind
        journal.write_bytes(whole)
    assert read_journal(journal).answers


def test_lines_of_older_versions_are_read_as_they_are(journal: Path) -> None:
    as_before(journal)
    assert run_script(journal, AB, SAME).agents.calls == []
    assert [line.get("n") for line in lines(journal)] == [None] * 6 + [1]


@pytest.mark.parametrize("at", range(4))
def test_a_torn_line_of_an_older_version_has_an_attempt_behind_it(at: int, journal: Path) -> None:
    as_before(journal)
    journal.write_bytes(_damaged(journal, DAMAGES["cut in half"], at))
    with pytest.raises(DamagedJournal, match=f"line {at + 1} cannot be read"):
        read_journal(journal)


def test_a_line_that_a_killed_writer_left_is_told_once(journal: Path) -> None:
    """Then the attempt behind it says that it was there."""
    with journal.open("ab") as file:
        file.write(b'{"t":"begun","path":"0","ki')
    first, second = (run_script(journal, AB, SAME) for _ in range(2))
    assert [first.done.value, second.done.value] == [DONE, DONE]
    assert ["torn" in str(ran.warnings) for ran in (first, second)] == [True, False]
    assert lines_that_say_so(journal) == [1, 1]


def lines_that_say_so(journal: Path) -> list[int]:
    raw = [line for line in journal.read_bytes().splitlines() if line.endswith(b"}")]
    return [line.count(b'"unreadable":1') for line in raw if b'"unreadable"' in line]


def test_what_was_never_flushed_may_be_missing(journal: Path) -> None:
    """After a power cut the file may have a hole where two calls were noted as at work."""
    raw = journal.read_bytes().splitlines(keepends=True)[:4]
    assert b'"begun"' in raw[3]
    journal.write_bytes(b"".join([*raw[:3], b"\0" * len(raw[3][:-1]) + b"\n"]))
    assert run_script(journal, AB, SAME).agents.calls == ["b"]
    assert run_script(journal, AB, SAME).agents.calls == []


def test_a_person_may_have_run_again_what_is_lost(journal: Path) -> None:
    journal.write_bytes(_damaged(journal, DAMAGES["cut in half"], 2))

    def resumed(*, accepts_losses: bool) -> Ran:
        return run_script(journal, AB, SAME, accepts_losses=accepts_losses)

    with pytest.raises(DamagedJournal, match="line 3 cannot be read"):
        resumed(accepts_losses=False)
    before = journal.read_bytes()
    ran = resumed(accepts_losses=True)
    assert (ran.done.value, ran.agents.calls) == (DONE, ["a"])
    assert journal.read_bytes().startswith(before), "what is left of the line is kept"
    assert "torn" in str(ran.warnings)
    assert resumed(accepts_losses=False).agents.calls == []


def test_an_end_that_is_missing_is_missed_by_what_was_seen(journal: Path) -> None:
    whole = journal.read_bytes().splitlines(keepends=True)
    seen = (("0", "first"), ("1", "second"))
    assert run_script(journal, AB, SAME, answered=seen).agents.calls == []
    journal.write_bytes(b"".join(whole[:4]))
    with pytest.raises(DamagedJournal, match="no answer of second, and"):
        run_script(journal, AB, SAME, answered=seen)
    assert run_script(journal, AB, SAME, answered=seen, accepts_losses=True).agents.calls == ["b"]
