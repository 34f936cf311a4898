"""What goes along with the command of a run: its agent, its broker and its proxy.

Here is what every run needs to know of them. `agent_reports` has the rest of an agent that reports,
and `sandbox.proxy` the rest of the proxy: few runs have one.
"""

import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from siding.agents.table import BY_PROGRAM
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.door import Door
from siding.ground.process.broker.place import make_place, remove_place
from siding.ground.process.capture import Running, start
from siding.ground.process.command import Command, Outcome
from siding.ground.storage.layout import TaskLayout
from siding.record.acts.skeleton import Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.reports import RequestsReport
from siding.record.ledger.run_details import RunDetail
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.record.recording.recorder import Recorder
from siding.record.runs.file_names import AGENT, WIRE
from siding.record.runs.run import Run
from siding.running.request import AgentTerms, Reporting, RunRequest
from siding.sandbox.sandbox import SandboxPlan

if TYPE_CHECKING:
    from siding.ground.process.broker.lookout import Lookout
    from siding.sandbox.proxy import RunningProxy, WirePlan

OpensDoor = Callable[[], Door | None]


def reporting_of(
    work: Work, request: RunRequest, command: Command, sandbox: SandboxPlan
) -> Reporting | None:
    """Return how the command's agent reports; None if it is none that can, or is not to.

    Raises UsageError if its commands have to be judged and cannot be, and LimitReached.
    """
    agent = BY_PROGRAM.get(os.path.basename(request.argv[0]))
    holds = agent is not None and _may_hold(work, request)
    # A setting is about agents, the option about this command, whatever it is.
    wanted = request.judge or ("off" if agent is None else work.project.settings.agents_judge)
    if (agent is None or "hooks" not in agent.facets) and wanted != "require":
        return None
    from siding.running.agent_reports import reporting

    name = "" if agent is None else agent.name
    return reporting(
        work, request, name, command, is_sandboxed=sandbox.launch is not None, holds=holds
    )


def _may_hold(work: Work, request: RunRequest) -> bool:
    """Return whether the agent may have to wait at a limit of what it uses."""
    from siding.usage.limits import AtLimit, usage_limits

    if request.over_limit:
        return False
    limits = usage_limits(work.project)
    if limits.is_set:
        from siding.usage.reached import warn_of_limits

        warn_of_limits(work.project, limits, work.recorder.task.name, work.recorder.root)
    return limits.is_set and limits.at_limit is not AtLimit.WARN


def terms_of(
    project: Project,
    request: RunRequest,
    reports: Reporting | None,
    command: Command,
    *,
    has_screen: bool,
) -> AgentTerms:
    """Return what holds for the agent of a run; say what it asks before it can report."""
    terms = AgentTerms(over_limit=request.over_limit)
    agent = BY_PROGRAM.get(os.path.basename(request.argv[0]))
    if agent is not None and has_screen and "start_questions" in agent.facets:
        from siding.running.first_questions import first_questions

        is_told = reports is not None and not reports.why_not
        terms = terms._replace(asks=first_questions(project.app, agent, command, reports=is_told))
    if reports is not None:
        judge = "require" if reports.judge == "require" else ""
        return terms._replace(judge=judge, ask_s=reports.ask_s)
    if not request.ask:
        return terms
    from siding.running.agent_reports import patience  # few runs are told

    return terms._replace(ask_s=patience(project, request))


def told_to_report(command: Command, reports: Reporting | None) -> Command:
    """Return the command as its agent is told to report."""
    if reports is None:
        return command
    return command._replace(argv=reports.argv, env={**command.env, **reports.env})


def begin_report(layout: TaskLayout, run: Run, reports: Reporting | None) -> None:
    """Note, for what its agent reports later, of which conversation it goes on with a copy."""
    if reports is None or not reports.copy_of:
        return
    from siding.record.runs.reported import Reported, write_reported

    with suppress(OSError):
        begun = Reported(copy_of=reports.copy_of, without=reports.without)
        write_reported(layout, run.id, begun)


def with_note_on_agent(outcome: Outcome, reports: Reporting | None) -> Outcome:
    """Return the outcome with what is to be said of how its agent was started."""
    if reports is None or not reports.note:
        return outcome
    return outcome._replace(notes=(*outcome.notes, reports.note))


def end_turn(project: Project, task_id: TaskId, run: Run) -> None:
    """Record the turn that was under way when the command ended, and end the run's questions."""
    if os.path.exists(project.task_layout(task_id).runs_dir / f"{run.id}{AGENT}"):
        from siding.running.agent_turn import record_last_turn

        record_last_turn(project, task_id, run)


def with_report(
    app: App, layout: TaskLayout, run: Run, draft: Draft, reports: Reporting | None
) -> Draft:
    """Return the draft with what the agent of the run has reported."""
    if reports is None and not os.path.exists(layout.runs_dir / f"{run.id}{AGENT}"):
        return draft  # no agent was told to report, and none that was started otherwise did
    from siding.running.agent_reports import with_reported

    return with_reported(app, layout, run, draft, reports)


def with_requests(recorder: Recorder, intent: Intent, draft: Draft) -> Draft:
    """Return the draft with a report on what the run asked, if it asked anything."""
    if not os.path.exists(recorder.layout.artifact(intent.stem, "requests")):
        return draft
    from siding.record.runs.requests import counted  # few runs ask anything

    assert isinstance(draft.detail, RunDetail)
    found = counted(recorder.layout, intent.stem)
    report = None if found is None else RequestsReport(*found)
    return draft._replace(detail=draft.detail._replace(requests=report))


def place_of_broker(work: Work) -> str:
    """Make the directory of the socket, which goes with the act; return the socket's path.

    "" if there can be none: the run does without.
    """
    app = work.project.app
    try:
        place = str(make_place(app.env, app.random_bytes))
    except OSError:
        return ""
    work.resources.callback(remove_place, place)
    return place


def door_of(
    project: Project, task_id: TaskId, run: Run, act: str, screen: int | None = None
) -> OpensDoor:
    """Return what opens the door of a run to its broker.

    The record of its requests is named by the act's id `act`; "" for none. On the descriptor
    `screen` the broker says that a person is waited for; None: nobody would read it.
    """
    app = project.app

    def start_broker(listening: int, lifeline: int) -> Running:
        words = [
            "-C",
            str(project.paths.root),
            "-q",
            "__broker",
            "--task",
            task_id,
            "--run",
            run.id,
        ]
        ends = ["--act", act, "--listening", str(listening), "--lifeline", str(lifeline)]
        # Its own standard error is read by us; so what is ours comes along under another number.
        said = () if screen is None else (fcntl.fcntl(screen, fcntl.F_DUPFD_CLOEXEC, 3),)
        try:
            return _started([*words, *ends], listening, lifeline, said)
        finally:
            for each in said:
                os.close(each)

    def _started(words: list[str], listening: int, lifeline: int, said: tuple[int, ...]) -> Running:
        words = [*words, *(word for each in said for word in ("--screen", str(each)))]
        return start(
            # With -m, Python looks for the package in the directory first: it must be one of ours.
            [sys.executable, "-m", "siding", *words],
            env={**app.env, "SIDING_HOME": str(app.home.root)},
            cwd=project.layout.root,
            keep_fds=(listening, lifeline, *said),
        )

    def opened() -> Door | None:
        if not run.broker:
            return None
        try:
            return Door(Path(run.broker), start_broker)
        except OSError:
            return None  # /tmp is full, say: the run goes on without

    return opened


class Wire(NamedTuple):
    """A command as it is started, and its proxy if it has one."""

    command: Command
    sandbox: SandboxPlan
    proxy: "RunningProxy | None" = None
    notes: tuple[str, ...] = ()

    @property
    def beside(self) -> "tuple[Lookout, ...]":
        return () if self.proxy is None else (self.proxy.lookout,)

    @property
    def locks(self) -> tuple[int, ...]:
        """What keeps the proxy alive where the run survives its host."""
        return () if self.proxy is None else (self.proxy.lifeline,)

    def noted(self, outcome: Outcome) -> Outcome:
        """Return the outcome with what is to be said of the proxy."""
        notes = self.notes
        if self.proxy is not None and self.proxy.ended_at:
            what = "its way to the allowed hosts" if self.sandbox.hosts is not None else "metering"
            notes = (
                *notes,
                f"{what} ended at {self.proxy.ended_at}: the proxy was killed, or failed; "
                "nothing after that went through it",
            )
        return outcome._replace(notes=(*outcome.notes, *notes))


def wire_plan_of(work: Work, request: RunRequest, sandbox: SandboxPlan) -> "WirePlan | None":
    """Return what of a run goes through a proxy; None for nothing. Raises UsageError."""
    by_setting = request.meter is None and work.project.settings.agents_meter
    if not (request.meter or by_setting or sandbox.hosts is not None):
        return None
    from siding.sandbox.proxy import wire_plan

    return wire_plan(
        work.project, request.argv[0], request.meter, sandbox, is_recorded=request.record
    )


@contextmanager
def wired(
    work: Work, plan: "WirePlan | None", sandbox: SandboxPlan, command: Command, run: Run
) -> Iterator[Wire]:
    """Yield the command as it is started, with a proxy that lives until the end of the block."""
    if plan is None:
        yield Wire(command, sandbox)
        return
    from siding.sandbox.proxy import opened

    path = _file_of(work.recorder.layout, run) if run.is_recorded else None
    with opened(work.project, plan, sandbox, command, path, run.broker) as found:
        yield Wire(*found)


def with_wire(work: Work, run: Run, draft: Draft, wire: Wire, plan: "WirePlan | None") -> Draft:
    """Return the draft with what passed the run's proxy, which has ended; unchanged without one."""
    if plan is None:
        return draft
    from siding.record.wire.report import report_of_run

    ended_at = "" if wire.proxy is None else wire.proxy.ended_at
    report = report_of_run(work.recorder.layout, run.id, metered=plan.meters, ended_at=ended_at)
    assert isinstance(draft.detail, RunDetail)
    return draft._replace(detail=draft.detail._replace(wire=report))


def _file_of(layout: "TaskLayout", run: Run) -> str:
    return os.path.join(layout.runs_dir, f"{run.id}{WIRE}")
