"""A row that is made of tests: runs them with pytest and counts cases from its report."""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from prove.row import Outcome, Row
from prove.supervise import Ended, no_longer_than, supervise

ROOT = Path(__file__).parents[1]
ALL = {"SIDING_PROVE": "1"}  # also the cases that the suite leaves out
EVERY = {"SIDING_FAULTS": "every"}  # for rows whose gates take samples
PART = "SIDING_PROVE_PART"
_EVERY_DEADLINE_S = 24 * 3600
_LINES = 60  # of what pytest said, shown for a row that failed
_NO_TESTS = (4, 5)  # pytest's exit status: a path that is not there; nothing was selected


class Counts(NamedTuple):
    """Cases of all tests of a report, and how many tests were skipped."""

    cases: int = 0
    failed: int = 0
    acts: int = 0
    skipped: int = 0


def run(
    row: Row, seed: int, *, workers: int | None = None, every: bool = False, part: str = ""
) -> Outcome:
    """Run the tests of a row with a seed, with one process more than processors.

    With `every` its gates strike every call instead of a sample; that takes hours. `part` is which
    part of the row's tests, ``2/3``; "" is all, and so is any part of a row that has none.
    """
    part = part if row.has_parts else ""
    if part:
        row = row._replace(variables={**row.variables, PART: part})
    if every:
        variables = {**row.variables, **EVERY}
        row = row._replace(variables=variables, deadline_s=_EVERY_DEADLINE_S)
    count = 1 + len(os.sched_getaffinity(0)) if workers is None else workers
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="siding-prove-") as directory:
        report = Path(directory, "report.xml")
        ended = _pytest([*_words(row, seed, count), f"--junitxml={report}"], row, seed)
        counts = counted(report.read_bytes()) if report.exists() else Counts()
    return Outcome(
        cases=counts.cases,
        passed=counts.cases - counts.failed,
        seconds=time.monotonic() - begun,
        note=_note(counts, part),
        problem=_problem(counts, ended),
    )


def _words(row: Row, seed: int, workers: int) -> list[str]:
    words = ["-q", "--dist", "worksteal", "-n", str(workers)]
    chosen = [f"not {word}" for word in row.leave_out]
    if row.only:
        chosen.append(f"({' or '.join(row.only)})")
    if chosen:
        words += ["-k", " and ".join(chosen)]
    if row.draws:
        words.append(f"--hypothesis-seed={seed}")
    words += [f"--ignore={path}" for path in row.ignore]
    return [*words, *row.select]


def _pytest(words: list[str], row: Row, seed: int) -> Ended:
    drawn = {"SIDING_SEARCH": "1", "SIDING_FAULTS_SEED": str(seed)} if row.draws else {}
    return supervise(
        [sys.executable, "-m", "pytest", *words],
        cwd=ROOT,
        env={**os.environ, **ALL, **drawn, **row.variables},
        late=no_longer_than(row.deadline_s),
    )


def counted(report: bytes) -> Counts:
    """Add up a JUnit report: a test is one case, or as many as it says it tried."""
    total = Counts()
    for test in ET.fromstring(report).iter("testcase"):
        if test.find("skipped") is not None:
            total = total._replace(skipped=total.skipped + 1)
            continue
        told = {each.get("name"): int(each.get("value", "0")) for each in test.iter("property")}
        cases = max(1, told.get("cases", 0))
        broken = test.find("failure") is not None or test.find("error") is not None
        total = total._replace(
            cases=total.cases + cases,
            failed=total.failed + (min(cases, max(1, told.get("failed", 0))) if broken else 0),
            acts=total.acts + told.get("acts", 0),
        )
    return total


def _note(counts: Counts, part: str) -> str:
    told = [f"part {part.replace('/', ' of ')}"] * bool(part)
    told += [f"{counts.acts} acts"] * (counts.acts > 0)
    told += [f"{counts.skipped} tests skipped"] * (counts.skipped > 0)
    return ", ".join(told)


def _problem(counts: Counts, ended: Ended) -> str:
    if ended.status == 0 and counts.cases:
        return ""
    if ended.late:
        why = ended.late
    elif ended.status in _NO_TESTS or not counts.cases:
        why = "no case ran: a row that tries nothing proves nothing"
    else:
        why = f"pytest ended with status {ended.status}"
    lines = [*ended.said.splitlines()[-_LINES:], *ended.stacks.splitlines()]
    return why + "\n" + "\n".join(lines)
