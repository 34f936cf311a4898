"""The agent of a run, as far as every run needs to know it; `reporting` has the rest."""

import os
from contextlib import suppress

from siding.agents.table import BY_PROGRAM
from siding.ground.ids import TaskId
from siding.ground.process.command import Command, Outcome
from siding.ground.storage.layout import TaskLayout
from siding.record.acts.skeleton import Work
from siding.record.ledger.draft import Draft
from siding.record.place.project import Project
from siding.record.place.wiring import App
from siding.record.runs.file_names import AGENT
from siding.record.runs.run import Run
from siding.running.request import AgentTerms, Reporting, RunRequest
from siding.sandbox.sandbox import SandboxPlan


def reporting_of(
    work: Work, request: RunRequest, command: Command, sandbox: SandboxPlan
) -> Reporting | None:
    """Return how the command's agent reports; None if it is none that can, or is not to.

    Raises UsageError if its commands have to be judged and cannot be, and LimitReached.
    """
    agent = BY_PROGRAM.get(os.path.basename(request.argv[0]))
    holds = agent is not None and _holds(work, request)
    # A setting is about agents, the option about this command, whatever it is.
    wanted = request.judge or ("off" if agent is None else work.project.settings.agents_judge)
    if (agent is None or "hooks" not in agent.facets) and wanted != "require":
        return None
    from siding.running.reporting import reporting

    name = "" if agent is None else agent.name
    return reporting(
        work, request, name, command, is_sandboxed=sandbox.launch is not None, holds=holds
    )


def _holds(work: Work, request: RunRequest) -> bool:
    """Return whether the agent may have to wait at a limit of what it uses."""
    from siding.usage.measured import limits_before

    if request.over_limit:
        return False
    limits = limits_before(work.project, work.recorder.task.name, work.recorder.root)
    return limits.is_set and limits.at_limit != "warn"


def terms_of(project: Project, request: RunRequest, reports: Reporting | None) -> AgentTerms:
    """Return what holds for the agent of a run."""
    terms = AgentTerms(over_limit=request.over_limit)
    if reports is not None:
        judge = "require" if reports.judge == "require" else ""
        return terms._replace(judge=judge, ask_s=reports.ask_s)
    if not request.ask:
        return terms
    from siding.running.patience import patience  # few runs are told

    return terms._replace(ask_s=patience(project, request))


def told(command: Command, reports: Reporting | None) -> Command:
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


def noted(outcome: Outcome, reports: Reporting | None) -> Outcome:
    """Return the outcome with what is to be said of how its agent was started."""
    if reports is None or not reports.note:
        return outcome
    return outcome._replace(notes=(*outcome.notes, reports.note))


def end_turn(project: Project, task_id: TaskId, run: Run) -> None:
    """Record the turn that was under way when the command ended, and end the run's questions."""
    if os.path.exists(project.task_layout(task_id).runs_dir / f"{run.id}{AGENT}"):
        from siding.running.last_turn import record_last_turn

        record_last_turn(project, task_id, run)


def with_report(
    app: App, layout: TaskLayout, run: Run, draft: Draft, reports: Reporting | None
) -> Draft:
    """Return the draft with what the agent of the run has reported."""
    if reports is None and not os.path.exists(layout.runs_dir / f"{run.id}{AGENT}"):
        return draft  # no agent was told to report, and none that was started otherwise did
    from siding.running.reporting import with_reported

    return with_reported(app, layout, run, draft, reports)
