"""The gates: one readable call each.

    def test_add_survives_kill() -> None:
        sweep(setup, python(ADD), check, modes=("kill", "torn"), budget=40)

`setup(case)` fills a directory once. The victim runs in a private copy of it under a fault and
makes its promises as flushed lines on stdout. `check(case, promises)` asserts that they are kept,
that nothing older is lost and that new work succeeds. A gate that ran no case, or whose undisturbed
run fails, is broken: that is a failure too.

Modes of `sweep`, each at the n-th call, over the whole process tree, that changes the case:
  kill          SIGKILL of the tree before the call
  kill:first    at a call of a child: SIGKILL of the first process alone, and the child goes on
  kill:child    at a call of a child: SIGKILL of that child alone, and the others go on
  torn          half of a write is stored, then SIGKILL; also torn:first and torn:last (byte)
  short         half of a write is stored and said so; must not be noticed
  err:<ERRNO>   the call fails once; no traceback, and no success if a flush failed
  full          this and every later call that needs room fails with ENOSPC
  sigterm, sigint, sighup   the signal reaches the first process at the call
  stop          the tree is frozen at the call while the `rival` command runs, then goes on
  nested        kill, then the `recover` command is killed at each of its own calls

The other gates: `powercut.powercut`, `hammer.hammer`, `damage.survives_damage`.

SIDING_FAULTS=every runs every case, not `budget` samples that end with the first failure; =full
also starts each victim anew (`victims`) and makes each check twice. SIDING_FAULTS_TIMES=N makes
each budget N times as large, for `run.py prove`; `arena.depth` is a budget that is larger there to
begin with. SIDING_FAULTS_SEED moves the samples. SIDING_FAULTS_KEEP=<dir> keeps the directory of
each failure. SIDING_FAULTS_REPORT=<file> gets one line of JSON for each sweep: its cases by mode,
and its failures.
"""

import errno
import pickle
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .arena import (
    EVERY,
    SEED,
    TIMES,
    Arena,
    Check,
    Command,
    GateBroken,
    Report,
    Setup,
    in_workers,
    name_for,
    sample,
    settle,
)
from .syscalls import Effect
from .trial import SIGNALS, TIMEOUT_S, Fault, Point, Trial

KILLS = ("kill", "torn", "torn:last")
ERRORS = ("err:EIO", "err:ENOSPC", "err:EDQUOT", "err:EMFILE", "err:EACCES")
BUGS = ("Traceback (most recent call last)", "this is a bug in Siding")
_WANTS_ROOM = frozenset({"ENOSPC", "EDQUOT"})
_ON_NAMES = frozenset({"EACCES", "EPERM", "EROFS"})
_ON_OPEN = frozenset({"EMFILE", "ENFILE"})
_RECOVERY_KILLS = 2  # calls of the recovery tried for each kill of the victim
_AIMS = 4  # shots at a fault: a command that waits or polls makes a few calls more or fewer


class Plan(NamedTuple):
    """The arguments of one sweep."""

    setup: Setup
    victim: Command
    check: Check
    modes: tuple[str, ...]
    budget: int
    seed: int
    within: tuple[str, ...]
    rival: Command | None
    recover: Command | None
    best_effort: Callable[[str], bool]
    reads: bool
    among: Callable[[str], bool]
    start: float
    status: int


def sweep(
    setup: Setup,
    victim: Command,
    check: Check,
    *,
    modes: Sequence[str] = KILLS,
    budget: int = 60,
    seed: int = SEED,
    within: Sequence[str] = (".",),
    rival: Command | None = None,
    recover: Command | None = None,
    best_effort: Callable[[str], bool] = lambda _call: False,
    reads: bool = False,
    among: Callable[[str], bool] = lambda _call: True,
    start: float = 0,
    status: int = 0,
) -> Report:
    """Runs the victim under faults, about `budget` cases shared by the modes; raises GateFailed.

    `within`: the parts of the case directory whose calls count. `best_effort(call text)`: flushes
    that may fail without the command failing. `reads`: opens and reads count too (for err).
    `among(call text)`: the calls at which a fault may strike.
    `start`: samples go from the last call to the first; this share of them waits until the others
    were tried, for a gate that fails where the mistake is, and then ends. `status`: how the victim
    ends undisturbed.
    """
    _require_known(modes, rival, recover)
    plan = Plan(
        setup=setup,
        victim=victim,
        check=check,
        modes=tuple(modes),
        budget=budget * TIMES,
        seed=seed,
        within=tuple(within),
        rival=rival,
        recover=recover,
        best_effort=best_effort,
        reads=reads,
        among=among,
        start=start,
        status=status,
    )
    shares = in_workers(lambda arena, number, count: _Sweep(arena, plan).share(number, count))
    return settle(f"sweep {','.join(modes)}", shares)


def changes(setup: Setup, command: Command, *, within: Sequence[str] = (".",)) -> list[str]:
    """The calls by which an undisturbed command changes or locks files of the case, as text."""

    def work(arena: Arena, _number: int, _count: int) -> list[str]:
        arena.prepare(setup)
        trial = Trial(arena, within).run(command)
        if trial.ending.status != 0:
            raise GateBroken(f"undisturbed: {trial.ending}: {arena.said()}")
        return [point.text for point in trial.points]

    return in_workers(work, workers=1)[0]


class _Sweep:
    """One worker's share of a sweep."""

    def __init__(self, arena: Arena, plan: Plan) -> None:
        self.arena, self.plan = arena, plan
        self.failures: list[str] = []
        self.cases = self.missed = 0
        self.by_mode: Counter[str] = Counter()
        self.control_promises: list[str] = []

    def share(self, number: int, count: int) -> Report:
        self.arena.prepare(self.plan.setup)
        points = self._control()
        for index, mode in _modes_within(self.plan):
            struck = filter(self._may_strike(mode), points)
            faults = [Fault(mode=mode, call=number) for number, _ in enumerate(struck, start=1)]
            budget = max(1, self.plan.budget // len(self.plan.modes))
            if mode == "nested":
                budget = max(1, budget // (1 + _RECOVERY_KILLS))
            samples = sample(faults, budget, self.plan.seed + index)[::-1]
            skipped = int(len(samples) * self.plan.start)
            for fault in (samples[skipped:] + samples[:skipped])[number::count]:
                if self.failures and not EVERY:
                    break  # it has failed: more cases would only take time
                before = self.cases
                if mode == "nested":
                    self._nested(fault)
                else:
                    self._case(fault)
                self.by_mode[mode] += self.cases - before
        return Report(
            cases=self.cases,
            calls=len(points),
            failures=tuple(self.failures),
            missed=self.missed,
            by_mode=self.by_mode,
        )

    def _control(self) -> list[Point]:
        """The calls of the run without a fault, done once for all gates with the same plan."""
        plan = self.plan
        told = (plan.victim, plan.within, plan.reads)
        kept = self.arena.beside(name_for("control", plan.setup, plan.check, *told))
        if kept is not None and kept.exists():
            points, self.control_promises = pickle.loads(kept.read_bytes())
            return list(points)
        points = self._undisturbed()
        if kept is not None:
            kept.write_bytes(pickle.dumps((points, self.control_promises)))
        return points

    def _undisturbed(self) -> list[Point]:
        """The run without a fault: it must end well and pass its own check."""
        self.arena.fresh()
        trial = self._trial().run(self.plan.victim)
        promises = self.arena.promises()
        self.control_promises = promises
        if trial.ending.timed_out or trial.ending.status != self.plan.status:
            raise GateBroken(f"undisturbed: {trial.ending}: {self.arena.said()}")
        wrong = self.arena.undisturbed(self.plan.setup, self.plan.victim, self.plan.check)
        if wrong:
            raise GateBroken(f"undisturbed: {wrong}")
        return trial.points

    def _case(self, fault: Fault) -> None:
        trial = self._struck(fault, self.plan.rival)
        self.cases += 1
        promises = self.arena.promises()
        wrong = self._misbehaved(trial, fault, promises)
        wrong = wrong or self.arena.verdict(self.plan.check, promises)
        if wrong:
            self._fail(str(fault), trial.hit, wrong)

    def _struck(self, fault: Fault, rival: Command | None) -> Trial:
        """Runs the victim with the fault; one it did not live to see is tried a little earlier."""
        for aim in range(1, _AIMS + 1):
            self.arena.fresh()
            trial = self._trial(fault.mode).run(self.plan.victim, fault, rival)
            made = sum(map(self._may_strike(fault.mode), trial.points))
            if not made or trial.hit is not None:
                break
            fault = fault._replace(call=max(1, made + 1 - aim * aim))
        self.missed += trial.hit is None
        return trial

    def _may_strike(self, mode: str) -> Callable[[Point], bool]:
        """Which calls a fault of this mode may strike, and is counted by.

        By those alone: git and our own look work side by side, so that the number of a call among
        all of them is another call's the next time.
        """
        return lambda point: _applies(mode, point) and self.plan.among(point.text)

    def _misbehaved(self, trial: Trial, fault: Fault, promises: list[str]) -> str | None:
        """What no command may do under a fault, whatever its check says."""
        kind = fault.mode.partition(":")[0]
        died = fault.mode in ("kill", "kill:first") or kind == "torn"
        complaints, hit = self.arena.complaints(), trial.hit
        well = trial.ending.status == 0
        flush = (
            hit is not None and hit.effect is Effect.SYNC and not self.plan.best_effort(hit.text)
        )
        wrong: str | None = None
        if trial.ending.timed_out or trial.rival_hung:
            wrong = f"{'the rival' if trial.rival_hung else 'it'} hung for {TIMEOUT_S:.0f} s"
        elif died:
            pass
        elif any(sign in complaints for sign in BUGS):
            wrong = f"a traceback instead of a message:\n{complaints[-1200:]}"
        elif kind == "short" and not well:
            wrong = f"a short write was not continued: {trial.ending}: {complaints[-800:]}"
        elif kind == "err" and well and flush:
            wrong = "success after a failed flush"
        elif kind != "stop" and well and _fewer(promises, self.control_promises):
            wanted = len(self.control_promises)
            wrong = f"exit 0 with {len(promises)} of {wanted} promises: {promises}"
        return wrong

    def _nested(self, fault: Fault) -> None:
        """Kills the victim, then from its ruins the recovery, at some of its calls."""
        assert self.plan.recover is not None
        ruins = self.arena.base / "ruins"
        first = self._struck(Fault(mode="kill", call=fault.call), None)
        promises = self.arena.promises()
        self.arena.save(ruins)
        for call in sample(
            range(1, self._recovery(first, promises, fault) + 1), _RECOVERY_KILLS, fault.call
        ):
            self.arena.fresh(ruins)
            second = self._trial().run(self.plan.recover, Fault(mode="kill", call=call))
            self.cases += 1
            wrong = self.arena.verdict(self.plan.check, promises)
            if wrong:
                place = second.hit.text if second.hit else "its end"
                self._fail(f"{fault}+{call}", first.hit, f"recovery killed at {place}: {wrong}")

    def _recovery(self, first: Trial, promises: list[str], fault: Fault) -> int:
        """Recovery left alone must succeed; returns how many calls it makes."""
        assert self.plan.recover is not None
        self.arena.fresh(self.arena.base / "ruins")
        trial = self._trial().run(self.plan.recover)
        self.cases += 1
        if trial.ending.status != 0 or trial.ending.timed_out:
            wrong: str | None = f"recovery: {trial.ending}: {self.arena.complaints()[-800:]}"
        else:
            wrong = self.arena.verdict(self.plan.check, promises)
        if wrong:
            self._fail(str(fault), first.hit, wrong)
        return len(trial.points)

    def _trial(self, mode: str | None = None) -> Trial:
        """A run to be watched; with a mode, one whose fault counts the calls it may strike."""
        plan = self.plan
        if mode is None:
            return Trial(self.arena, plan.within, reads=plan.reads)
        may_strike = self._may_strike(mode)
        return Trial(self.arena, plan.within, reads=plan.reads, may_strike=may_strike)

    def _fail(self, name: str, hit: Point | None, wrong: str) -> None:
        place = hit.text if hit else "a call that was not made this time"
        self.failures.append(f"  {name} at {place}\n    " + wrong.replace("\n", "\n    "))
        self.arena.keep(name)


def _modes_within(plan: Plan) -> list[tuple[int, str]]:
    """The modes, numbered; of more than the budget has cases, others for each victim."""
    numbered = list(enumerate(plan.modes))
    if EVERY or len(numbered) <= plan.budget:
        return numbered
    first = zlib.crc32("\0".join(plan.victim.argv[1:]).encode()) + plan.seed
    return [numbered[(first + turn) % len(numbered)] for turn in range(plan.budget)]


def _fewer(promises: list[str], control: list[str]) -> bool:
    """Whether a promise of the undisturbed run is missing. A record that is printed as JSON has
    fewer lines where the recorded command itself met the fault and did less: its end counts."""
    if control[:1] == ["{"]:
        return promises[-1:] != control[-1:]
    return len(promises) < len(control)


def _applies(mode: str, point: Point) -> bool:
    kind, _, detail = mode.partition(":")
    if kind == "kill" and detail:
        return point.by_child and point.effect is not Effect.READ
    if kind in ("torn", "short"):
        return point.effect is Effect.WRITE and point.length > 1
    if kind == "full" or detail in _WANTS_ROOM:
        return point.needs_space
    if detail in _ON_OPEN:
        return point.effect is Effect.OPEN
    if detail in _ON_NAMES:
        return point.effect in (Effect.OPEN, Effect.NAME, Effect.REMOVE, Effect.META)
    return kind == "err" or point.effect is not Effect.READ


def _require_known(modes: Sequence[str], rival: Command | None, recover: Command | None) -> None:
    plain = {
        "kill",
        "kill:first",
        "kill:child",
        "torn",
        "torn:first",
        "torn:last",
        "short",
        "full",
        *SIGNALS,
    }
    for mode in modes:
        kind, _, detail = mode.partition(":")
        known = (
            mode in plain
            or (kind == "err" and hasattr(errno, detail))
            or (mode == "stop" and rival is not None)
            or (mode == "nested" and recover is not None)
        )
        if not known:
            raise GateBroken(f"unknown mode {mode!r}, or its rival/recover command is missing")
