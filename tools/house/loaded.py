"""What a command loads, calls and starts: counted in a real process, never timed."""

import ast
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from tools.house.entries import PARSES_LINE
from tools.house.scratch import Scratch

_CHILD = Path(__file__).with_name("child.py")


class Functions(NamedTuple):
    """How many functions of a module were loaded, and how many of them were called."""

    loaded: int
    called: int


class Loaded(NamedTuple):
    """What one command cost."""

    by_module: Mapping[str, Functions]  # modules of ours
    others: int  # modules of others that a bare interpreter has not
    git: int  # processes
    fsyncs: int  # of ours
    patterns: Mapping[str, int]  # compiled while a module of ours was imported, by module
    parsed: int  # lines of ledgers

    @property
    def modules(self) -> int:
        return len(self.by_module)

    @property
    def functions(self) -> int:
        return sum(each.loaded for each in self.by_module.values())

    @property
    def called(self) -> int:
        return sum(each.called for each in self.by_module.values())

    @property
    def unused(self) -> float:
        """The share of the functions that were never called, from 0 to 1."""
        return 1 - self.called / self.functions if self.functions else 0.0


class Case(NamedTuple):
    """A command that is measured."""

    words: tuple[str, ...]
    needs_edit: bool = False  # it takes the last change back, or hands it on
    status: int = 0

    @property
    def name(self) -> str:
        return " ".join(self.words)


CASES = (
    Case(("--version",)),
    Case(("run", "--", "true")),
    Case(("status",)),
    Case(("log",)),
    Case(("diff", "--stat")),
    Case(("task", "list")),
    Case(("undo",), needs_edit=True),
    Case(("rollback", "--step", "1"), needs_edit=True),
    Case(("apply", "--no-close"), needs_edit=True),
    Case(("run", "--help")),
    Case(("undo", "--help")),
    Case(("undo", "--no-such-option"), status=2),
)
LONG_CASES = (Case(("status",)), Case(("log",)))  # with a ledger of 1,000 steps


def case_of(words: str) -> Case:
    """Return the case with this name or verb, or one of these words that leaves all as it was."""
    for case in CASES:
        if case.name == words or case.words[0] == words:
            return case
    return Case(tuple(words.split()))


def measure(scratch: Scratch, case: Case) -> Loaded:
    """Run a command in a scratch repository and count. Its second start is counted: the first one
    of a version may compile modules, and writes what later ones find."""
    if case.needs_edit:
        scratch.edit()
    else:
        scratch.run(scratch.argv(case.words), status=case.status)
    result = scratch.directory / "result"
    child = [sys.executable, str(_CHILD), str(result), str(scratch.source), PARSES_LINE]
    scratch.run([*child, *case.words], status=case.status)
    found = ast.literal_eval(result.read_text("utf-8"))
    events = Path(f"{result}.events")
    noted = Counter(events.read_text("utf-8").split())
    events.unlink()
    return Loaded(
        by_module={name: Functions(*each) for name, each in found["modules"].items()},
        others=found["others"],
        git=noted["git"],
        fsyncs=noted["fsync"],
        patterns=found["patterns"],
        parsed=found["parsed"],
    )


def measure_all(scratch: Scratch, cases: Iterable[Case] = CASES) -> dict[str, Loaded]:
    """Count what each of these commands costs, one after the other in one repository."""
    return {case.name: measure(scratch, case) for case in cases}


def measure_long(scratch: Scratch, cases: Iterable[Case] = LONG_CASES) -> dict[str, Loaded]:
    """Count the same when the ledger of the task is long. The ledger stays long."""
    scratch.lengthen_ledger()
    return measure_all(scratch, cases)
