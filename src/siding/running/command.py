"""The command of a run while it lives: what every run is put together of, recorded or not.

Turns of a run are recorded beside it, in processes of their own (`Turns`).
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from siding.agents.table import draws_no_screen
from siding.ground.errors import UsageError
from siding.ground.ids import TaskId, step_id
from siding.ground.process.capture import Running, start
from siding.ground.process.command import (
    Command,
    Outcome,
    OutputScreen,
    ProcessInfo,
    StreamPlan,
    Survival,
    TurnTimes,
)
from siding.ground.process.control.control import Control
from siding.ground.process.identity import boot_id, started_of
from siding.ground.process.keeper.forking import can_keep
from siding.ground.process.output.recording import OutputFiles
from siding.ground.process.record import run_recorded
from siding.ground.process.side import Plan, RunSandbox
from siding.ground.process.tree import ProcessTree
from siding.ground.process.turns import TurnWatch
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import Holder
from siding.record.acts.skeleton import Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.run_details import RunDetail
from siding.record.ledger.store import Ledger
from siding.record.place.project import Project
from siding.record.place.settings import Settings
from siding.record.recording.recorder import Recorder
from siding.record.runs.live_run import LiveRun, RunRecords
from siding.record.runs.paused import PauseOfTask
from siding.record.runs.run import ProcessMark, Run, run_number
from siding.record.tasks.task import Task
from siding.record.traps.marks import mark_sandboxed
from siding.running.companions import (
    Wire,
    begin_report,
    door_of,
    end_turn,
    terms_of,
    told_to_report,
    wired,
    with_note_on_agent,
    with_report,
    with_requests,
    with_wire,
)
from siding.running.plan import RunPlan
from siding.running.request import RunRequest, Terminal
from siding.sandbox.sandbox import open_sandbox, take_over_result

if TYPE_CHECKING:
    from siding.ground.process.ports import Child, Looks

NOTHING_KEPT = "in this sandbox nothing outlives the command, so nothing of it is kept"
_RECENT = 200  # steps that are read to find the newest run if the file `runs/last` is lost
OnRunning = Callable[[Task, Run], None]  # called when the command of a run was started


class RunningCommand:
    """The command of a run that other commands see, as it is started and until it has ended.

    With the intent of its step, what it prints and asks, its turns and what its agent reports are
    kept for that. Without one (``--no-record``) nothing is.
    """

    def __init__(
        self, work: Work, plan: RunPlan, request: RunRequest, terminal: Terminal, live: LiveRun
    ) -> None:
        self.run = live.run
        self.command = told_to_report(_marked(plan.command, live.run), plan.reports)
        self._work = work
        self._plan = plan
        self._request = request
        self._terminal = terminal
        self._live = live
        self._wire: Wire | None = None  # with its proxy, from the start of the command on

    def carry_out(self, intent: Intent | None, on_running: OnRunning | None) -> Outcome:
        """Run the command to its end and return how it ended.

        `on_running` is called once, when it was started.
        """
        work, plan, project = self._work, self._plan, self._work.project
        times = turn_times(project.settings, self._request)
        turns = Turns(project, work.task.id, self.run, times)
        looks: list[Callable[[ProcessTree], Looks]] = []
        if intent is not None:
            begin_report(work.recorder.layout, self.run, plan.reports)
            looks = [turns.watch] if times.any else []
            if project.settings.gc_background:
                from siding.running.background_gc import gc_looks

                looks.append(lambda tree: gc_looks(project, tree))
        with turns.told(), wired(work, plan.wire, plan.sandbox, self.command, self.run) as wire:
            self._wire = wire
            outcome = self._execute(wire, intent, looks, on_running)
        outcome = wire.noted(turns.noted(with_note_on_agent(outcome, plan.reports)))
        end_turn(project, work.task.id, self.run)
        return outcome

    def with_reports(self, intent: Intent, draft: Draft) -> Draft:
        """Return the draft with what the run asked, its agent reported and its proxy let pass."""
        work, plan, recorder = self._work, self._plan, self._work.recorder
        assert self._wire is not None
        draft = with_requests(recorder, intent, draft)
        draft = with_report(work.project.app, recorder.layout, self.run, draft, plan.reports)
        return with_wire(work, self.run, draft, self._wire, plan.wire)

    def end(self) -> None:
        """Remove the record of the run: it does not live any more."""
        self._live.end()

    def _execute(
        self,
        wire: Wire,
        intent: Intent | None,
        looks: "Sequence[Callable[[ProcessTree], Looks]]",
        on_running: OnRunning | None,
    ) -> Outcome:
        """Run the command in its sandbox and within its limits."""
        recorder, terminal, live = self._work.recorder, self._terminal, self._live
        leave = self._request.leave

        is_told = on_running is None

        def on_started(child: "Child") -> None:
            """Called again for a command whose sandbox could not be set up at first."""
            nonlocal is_told
            live.started(_mark(child.pid), _mark(child.keeper))
            if on_running is not None and not is_told:
                is_told = True
                on_running(recorder.task, live.run)

        artifact = None if intent is None else recorder.layout.artifact(intent.stem, "output")
        streams = StreamPlan.PTY if terminal.pty else StreamPlan.PIPED
        with (
            open_sandbox(recorder, wire.sandbox) as run_sandbox,
            _surviving(live, self._locks(wire, intent)) as survival,
        ):
            plan = Plan(
                wire.command,
                recorder=OutputFiles(artifact, streams=streams, filtered=recorder.redaction.filter),
                screen=OutputScreen(stdout=terminal.out, stderr=terminal.err),
                stdin=terminal.stdin,
                timeout_s=wire.sandbox.time_s,
                token=live.run.token,
                on_started=on_started,
                sandbox=run_sandbox,
                control=Control(live.socket, at_once=terminal.out is None),
                requests=terminal.requests,
                door=door_of(
                    recorder.project,
                    recorder.task.id,
                    live.run,
                    "" if intent is None else intent.stem,
                    self._screen(),
                ),
                pause=PauseOfTask(
                    recorder.layout, first=partial(_follow_in_sandbox, recorder.layout)
                ),
                looks=looks,
                beside=wire.beside,
                survival=survival,
                ends_left=(leave or recorder.project.settings.leave) == "end",
            )
            outcome = run_recorded(plan)
        if outcome.left_running:
            _write_down_left(recorder, live.run, outcome.left_running)
        elif leave == "keep" and _ends_with_command(run_sandbox):
            outcome = outcome._replace(notes=(*outcome.notes, NOTHING_KEPT))
        return take_over_result(recorder, wire.sandbox, outcome)

    def _locks(self, wire: Wire, intent: Intent | None) -> tuple[int, ...] | None:
        """Return what a run that survives this process holds until its end; None for another."""
        if not self._request.survives:
            return None
        of_act = () if intent is None else (self._work.recorder.intents.descriptor(intent),)
        return (*of_act, *wire.locks)

    def _screen(self) -> int | None:
        """Return where lines can be said while the command runs; None if it draws on the screen."""
        draws = self._terminal.pty and not draws_no_screen(self._request.argv)
        return None if draws else self._terminal.err


def begin_run(
    work: Work, plan: RunPlan, request: RunRequest, terminal: Terminal, draft: Draft, token: str
) -> RunningCommand:
    """Write the record of a new run and return its command; its lock goes when the act is over.

    The draft is that of the run's step, without secrets. The caller holds the task's lock.
    """
    recorder, app = work.recorder, work.project.app
    if not recorder.layout.runs_dir.exists():  # the first run of the task
        from siding.record.place.adoption import raise_version

        raise_version(app, work.project.layout)
    detail = draft.detail
    assert isinstance(detail, RunDetail)
    is_sandboxed = detail.sandbox is not None and detail.sandbox.engine is not None
    if is_sandboxed:
        mark_sandboxed(work.project, recorder.task.id)  # before anything of it can be there
    newest = recorder.ledger.last()
    run = Run(
        number=0,
        started_at=app.now(),
        cmd=detail.cmd,
        cwd=detail.cwd,
        token=token,
        boot=boot_id(),
        host=ProcessMark(app.pid, started_of()),
        agent=draft.agent,
        name=request.name,
        since="" if newest is None else step_id(newest.number),
        is_recorded=request.record,
        in_program=terminal.requests is not None,
        broker=plan.broker,
        **terms_of(
            work.project, request, plan.reports, plan.command, has_screen=terminal.pty
        )._asdict(),
    )
    holder = Holder(pid=app.pid, since=run.started_at, what=run.title[:200])
    live = RunRecords(recorder.layout).begin(run, holder, highest=lambda: _highest(recorder.ledger))
    entered = work.resources.enter_context(live)
    if is_sandboxed:
        from siding.running.held import note_before  # 5 ms

        note_before(recorder, entered.run)
    return RunningCommand(work, plan, request, terminal, entered)


def _marked(command: Command, run: Run) -> Command:
    """Return the command with the variables that tell its processes which run they belong to."""
    return command._replace(
        env={**command.env, "SIDING_RUN_ID": run.id, "SIDING_STEP_TOKEN": run.token}
    )


def _highest(ledger: Ledger) -> int:
    """Return the highest number of a run among the newest steps; 0 if there is none."""
    numbers = [0]
    for step in ledger.tail(_RECENT):
        with suppress(ValueError):  # another tool may use the name of the field
            numbers.append(run_number(step.run))
    return max(numbers)


@contextmanager
def _surviving(live: LiveRun, locks: tuple[int, ...] | None) -> Iterator[Survival | None]:
    """Yield what the keeper of a run holds that survives its host; None for any other run."""
    if locks is None:
        yield None
        return
    if not can_keep():
        raise UsageError(
            "a run cannot survive its host here: this system has no pidfds or no subreapers",
            hint="leave --survive out",
        )
    survival = live.survival()
    try:
        yield survival._replace(locks=(*survival.locks, *locks))
    finally:
        os.close(survival.fate)


def _write_down_left(recorder: Recorder, run: Run, left: tuple[ProcessInfo, ...]) -> None:
    from siding.record.unfinished.left_running import write_down_left

    write_down_left(recorder.project, recorder.layout, run, left, recorder.redaction)


def _follow_in_sandbox(layout: TaskLayout) -> None:
    """Bring the copy of the git directory in a sandbox to where a killed act led."""
    from siding.record.unfinished.sandbox_commits import follow_in_sandbox

    follow_in_sandbox(layout)


def _ends_with_command(sandbox: RunSandbox | None) -> bool:
    """Tell whether nothing in the sandbox outlives the command: the kernel ends it."""
    return sandbox is not None and sandbox.sandboxed is not None and sandbox.sandboxed.guarded


def _mark(pid: int) -> ProcessMark:
    return ProcessMark(pid, started_of(pid)) if pid else ProcessMark()


def turn_times(settings: Settings, request: RunRequest) -> TurnTimes:
    """Return when turns of a run are recorded: as asked for, else as set. 0 is never."""
    every_s, quiet_s = request.turns
    return TurnTimes(
        every_s=(settings.turns_every_s if every_s is None else every_s) or None,
        quiet_s=(settings.turns_quiet_s if quiet_s is None else quiet_s) or None,
    )


class Turns:
    """Records the turns of one run, by ``siding checkpoint --run``.

    That is a process of its own and not a thread: what it loads and waits for never stalls the
    command's output, and a fork of this process would share its locks and the command's pipes.
    """

    def __init__(self, project: Project, task_id: TaskId, run: Run, times: TurnTimes) -> None:
        self._project = project
        self._task_id = task_id
        self._run = run
        self._times = times
        self._watch: TurnWatch | None = None

    @contextmanager
    def told(self) -> Iterator[None]:
        """Warn the person, when the command has ended, of turns that were not recorded."""
        yield
        if self._watch is not None and self._watch.failures.times:
            self._project.app.warn(f"{self._run.id}: {self._failed(self._watch)}")

    def watch(self, tree: ProcessTree) -> "TurnWatch":
        """Return what decides when a turn is recorded, for a command that was started."""
        from siding.ground.process.turns import TurnWatch

        self._watch = TurnWatch(self._times, tree, self._begin)
        return self._watch

    def noted(self, outcome: Outcome) -> Outcome:
        """Return the outcome with sentences about turns that failed or came late."""
        watch, notes = self._watch, list(outcome.notes)
        if watch is not None and watch.failures.times:
            notes.append(self._failed(watch))
        if watch is not None and watch.backed_off_s:
            notes.append(
                f"recording a turn took up to {watch.slowest_s:.1f} s, so there were pauses of "
                f"{watch.backed_off_s:.0f} s and more between turns"
            )
        return outcome._replace(notes=tuple(notes))

    def _begin(self, moment: str) -> Running:
        app, root = self._project.app, self._project.layout.root
        words = ["-C", str(self._project.paths.root), "-q", "checkpoint", "--run", self._run.id]
        return start(
            # With -m, Python looks for the package in the directory first: it must be one of ours.
            [sys.executable, "-m", "siding", *words, "-t", self._task_id, "--moment", moment],
            env={**app.env, "SIDING_HOME": str(app.home.root)},
            cwd=root,
        )

    def _failed(self, watch: "TurnWatch") -> str:
        count, reason, is_open = watch.failures
        often = "once" if count == 1 else f"{count} times"
        later = "what changed since is only in its end" if is_open else "a later one made up for it"
        return f"a turn could not be recorded, {often}: {reason}; {later}"
