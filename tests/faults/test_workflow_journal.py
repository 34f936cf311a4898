"""The journal of a workflow under faults: at its every write and flush, and after a power cut.

What the script was given is on disk, the run goes on from there to the right result, what has
finished does not run again, and no answer is recorded twice. On a disk that is full or fails the
run ends and says so.
"""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from siding.workflows.events import RunDone
from siding.workflows.journal import read_journal

from . import tracer, workflow_victim
from .arena import Command, GateFailed, depth
from .harness import sweep
from .powercut import powercut
from .product import script
from .test_workflow_faults import work

pytestmark = [
    pytest.mark.skipif(
        tracer.unsupported_reason() is not None, reason=str(tracer.unsupported_reason())
    ),
    pytest.mark.timeout(1800),
]

FEW = 3  # lanes of two agents each
MANY = depth(FEW, prove=25)
JOURNAL = ("journal.jsonl",)
EVERY_WRITE = 1000  # more than there are


def nothing(_case: Path) -> None:
    """A run that begins."""


def victim(lanes: int, fault: str = "") -> Command:
    return script(workflow_victim.__file__, "{case}", "1", str(lanes), fault=fault)


def goes_on_with_many(case: Path, promises: list[str]) -> None:
    _goes_on(case, promises, MANY)


def goes_on_with_few(case: Path, promises: list[str]) -> None:
    _goes_on(case, promises, FEW)


def _goes_on(case: Path, promises: list[str], lanes: int) -> None:
    def resume() -> RunDone:
        return workflow_victim.run(case, 2, lanes, lambda _text: None)

    goes_on(case / "journal.jsonl", case, promises, lanes, resume)


def goes_on(
    journal: Path, case: Path, promises: list[str], lanes: int, resume: Callable[[], RunDone]
) -> None:
    """The run is resumed, and what holds after any fault holds."""
    recorded = _answers(journal)
    given = {promise.removeprefix("given ") for promise in promises if promise.startswith("given")}
    assert given <= _asked(recorded), "the script was given what is not recorded"
    assert not [p for p in promises if p.startswith("ended") and not _is_plain(p)], promises
    begun_before = _begun(case)
    done = resume()
    assert (done.status, done.value) == ("completed", workflow_victim.right_result(lanes)), done
    begun = _begun(case) - begun_before
    assert not set(recorded) & set(begun), "a finished call ran again"
    assert max(begun.values(), default=0) <= 1
    lines = [json.loads(line) for line in journal.read_bytes().splitlines() if _is_whole(line)]
    answers = [(line["path"], line["seq"]) for line in lines if line["t"] == "answer"]
    assert len({path for path, _seq in answers}) == len(answers) == 2 * lanes
    assert len({seq for _path, seq in answers}) == len(answers)
    assert not read_journal(journal).has_torn_line


def _is_plain(ended: str) -> bool:
    return ended == "ended well" or ended.startswith("ended disk: the journal cannot be written: ")


def _is_whole(line: bytes) -> bool:
    """Tell whether a line is one; what a fault has torn stays where it is and does not count."""
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def _answers(journal: Path) -> dict[str, str]:
    answers = read_journal(journal).answers
    return {path: one.result["output"] for path, one in answers.items()}


def _asked(recorded: dict[str, str]) -> set[str]:
    """Return the stage and the item of each call that is answered."""
    return {" ".join(output.strip("<>").split()[:2]) for output in recorded.values()}


def _begun(case: Path) -> "Counter[str]":
    """Return how often each call has begun; a line that a power cut has torn does not count."""
    return Counter(line[1] for line in work(case) if line[0] == "+" and len(line) == 3)


def test_killed_at_every_write() -> None:
    """`prove` kills at every one, with fifty agents."""
    budget, modes = depth(2, prove=EVERY_WRITE), ("kill", "torn")
    sweep(nothing, victim(MANY), goes_on_with_many, modes=modes, budget=budget, within=JOURNAL)


def test_a_disk_that_fails_or_is_full_ends_the_run_and_says_so() -> None:
    modes = ("err:EIO", "err:ENOSPC", "full", "short")
    budget = depth(2, prove=EVERY_WRITE)
    sweep(nothing, victim(FEW), goes_on_with_few, modes=modes, budget=budget, within=JOURNAL)


@pytest.mark.parametrize("fs", ["ordered", "strict"])
def test_the_power_fails(fs: str) -> None:
    budget = depth(2, prove=150)
    powercut(nothing, victim(FEW), goes_on_with_few, fs=fs, budget=budget)


def test_a_journal_that_is_not_flushed_would_be_seen() -> None:
    with pytest.raises(GateFailed, match="given what is not recorded"):
        powercut(nothing, victim(FEW, "skip-fsync"), goes_on_with_few, fs="ordered", budget=60)


def test_answers_that_are_given_before_they_are_written_would_be_seen() -> None:
    with pytest.raises(GateFailed, match="given what is not recorded"):
        sweep(
            nothing,
            victim(FEW, "write-answers-later"),
            goes_on_with_few,
            modes=("kill",),
            budget=40,
            within=JOURNAL,
        )
