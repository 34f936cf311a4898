"""Every command there is, on a disk under Siding's home that fails: each has its answer.

From one call on, all calls of a kind below the home answer EIO: writing, flushing, reading, or
giving and taking names. The command ends, falls over nothing, and never says that it is done when
it could not write or flush; what it says has a reason and a way on. Once the disk works again all
of the record is there, and Siding goes on. `integration/no_room.py` has the list of the commands.

They fail from the first call of the kind, or from one in the middle: after a third or two thirds of
those that the command makes on a disk that works. The suite tries some of the commands, each with
one of these; SIDING_FAULTS_TIMES more; SIDING_FAULTS=every all.
"""

import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import counted
import installed
import planted
from integration.no_room import FREES, READS, ROWS, Row, fill_world
from sandbox import Sandbox

from .arena import SEED, TIMES, Arena, Command, GateFailed, in_workers, note, sample
from .commands import GATE
from .harness import BUGS
from .syscalls import Effect
from .test_commands_errors import scratch
from .tracer import RUN, Action, Call, Ending, Tracer, Verb
from .victims import run_traced

pytestmark = [GATE[0], pytest.mark.timeout(7200)]  # all of them are some hundred cases

KINDS = {
    "write": (Effect.WRITE, Effect.SIZE),
    "flush": (Effect.SYNC,),
    "read": (Effect.READ,),
    "name": (Effect.NAME, Effect.REMOVE, Effect.OPEN),
}
WHY = re.compile(
    "Input/output error|I/O error|disk|cannot|could not|unable|damaged|not read", re.IGNORECASE
)
HINT = "\n  hint: "
TASKS = ("old", "gone", "spare", "redoable", "new")
_FAILS = Action(Verb.FAIL, errno.EIO)


class Case(NamedTuple):
    """A command, and from where which kind of its calls fails: after so many thirds of them."""

    row: Row
    kind: str
    thirds: int = 0

    def __str__(self) -> str:
        return f"{' '.join(self.row.words)}: {self.kind} fails after {self.thirds} thirds"


class Disk:
    """One run of a command; calls of the kind are counted, and fail from the `first` on."""

    def __init__(self, arena: Arena, kind: str, first: int | None = None) -> None:
        self.arena, self.kind, self.first = arena, kind, first
        self.calls: list[str] = []
        self.ending = Ending(status=0, timed_out=False)
        self._tracer = Tracer([str(arena.case / "home")], self._on_call, reads=kind == "read")

    def run(self, command: Command) -> "Disk":
        self.ending = run_traced(self._tracer, self.arena, command, timeout_s=60)
        return self

    def _on_call(self, call: Call) -> Action:
        matters = call.changes or call.effect is Effect.READ
        if call.effect not in KINDS[self.kind] or not matters:
            return RUN
        self.calls.append(call.describe(str(self.arena.case)))
        return _FAILS if self.first is not None and len(self.calls) > self.first else RUN


def box_in(case: Path) -> Sandbox:
    """The sandbox of a case; its home is where `copies.adopt` looks for one."""
    box = Sandbox(case)
    box.env["SIDING_HOME"] = str(case / "home")
    return box


def world(case: Path) -> None:
    fill_world(box_in(case), case / "aside")


def test_every_command_answers() -> None:
    rows = [row for rows in ROWS.values() for row in rows]
    every = [Case(row, kind, thirds) for row in rows for kind in KINDS for thirds in range(3)]
    attempt(sample(every, 5 * TIMES, SEED))


def test_the_gate_sees_errors_that_are_swallowed() -> None:
    (update,) = ROWS["task update"]
    with pytest.raises(GateFailed, match="done, although"):
        attempt([Case(update, "flush")], fault="swallow-errors")


def attempt(cases: Sequence[Case], fault: str = "") -> None:
    """Try the cases; raise GateFailed if a command has no answer in one of them."""

    def work(arena: Arena, number: int, count: int) -> tuple[int, list[str]]:
        return _Share(arena, fault).share(cases[number::count])

    found = in_workers(work)
    tried, wrong = sum(each[0] for each in found), [text for each in found for text in each[1]]
    note({"gate": "failing disk", "cases": tried, "failures": wrong})
    counted.add(tried, failed=len(wrong))
    assert tried
    if wrong:
        raise GateFailed("failing disk", wrong)


class _Share:
    """One worker's cases; `fault` is a mistake that is planted into the commands."""

    def __init__(self, arena: Arena, fault: str) -> None:
        arena.prepare(world)
        self.arena, self.box = arena, box_in(arena.case)
        self.planted = planted.environment(fault)
        (question,) = self.box.json("decide", "list", "--json")
        self.known = {"DECISION": question["session_id"], "ASIDE": str(arena.case / "aside")}
        self.before = {name: self.box.steps(name) for name in TASKS}

    def share(self, cases: Sequence[Case]) -> tuple[int, list[str]]:
        tried, wrong = 0, []
        for case in cases:
            works = self._run(case)
            first = len(works.calls) * case.thirds // 3
            if case.thirds and not first:
                continue  # it makes too few: the case from the first on is the same
            tried += 1
            if fault := self._fault_of(case, works.ending.status, first):
                wrong.append(f"  {case}\n    {fault}")
                self.arena.keep(str(case).replace("/", "-")[:80])
        return tried, wrong

    def _run(self, case: Case, first: int | None = None) -> Disk:
        self.arena.fresh()
        words = [self.known.get(word, word) for word in case.row.words]
        argv = (installed.program(), *words)
        env = {**self.box.env, **self.planted}
        disk = Disk(self.arena, case.kind, first)
        return disk.run(Command(argv, env=env, cwd="{case}/repo"))

    def _fault_of(self, case: Case, usual: int, first: int) -> str | None:
        """Tell what is wrong with its answer; `usual` is its status on a disk that works."""
        done = self._run(case, first)
        status, said = done.ending.status, self.arena.complaints()
        shown = self.arena.stdout.read_text("utf-8", "replace")  # what it finds goes there
        failed = [call for call in done.calls[first:] if not scratch(call)]
        if done.ending.timed_out:
            return "it hung"
        if any(sign in said for sign in BUGS) or status not in (0, 1, 3, 4, usual):
            return f"it fell over with {status}:\n{said[-1500:]}"
        writes = case.row.does != READS and case.kind in ("write", "flush")
        warned = "warning: " in said and WHY.search(said)  # the rest is done, and this is not
        if writes and status == 0 and failed and not warned:
            return f"done, although {failed[:3]} failed"
        found = status == 1 and WHY.search(shown)  # by `verify` and the doctors
        answers = found or (WHY.search(said) and (HINT in said or case.row.does == FREES))
        if status not in (0, usual) and not answers:
            return f"it does not say why or what to do, {status}: {said[-800:]}"
        return self.arena.verdict(self._all_is_there, [])

    def _all_is_there(self, _case: Path, _promises: list[str]) -> None:
        """The disk works again."""
        box = self.box
        box.siding("doctor", status=None)
        left = box.siding("doctor", "--check", status=None)
        assert left.stdout == b"everything agrees\n", left
        known = {task["name"] for task in box.json("task", "list", "--all", "--format", "json")}
        for name in known & set(TASKS):
            before = self.before[name]
            assert box.steps(name)[: len(before)] == before, name
            box.siding("verify", name)
        assert known >= set(TASKS), known
        words = ("run", "-t", "new", "--", "sh", "-c", "echo more >>hello.txt")
        refused = box.siding(*words, status=None)
        if refused.returncode:  # an apply failed after its workspace went: it says what to do
            assert b"hint: `siding task reopen" in refused.stderr, refused
            box.siding("task", "reopen", "new")
            box.siding(*words)
