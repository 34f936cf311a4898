"""A run that lives: its record, which other commands see, and what its processes are told."""

from contextlib import suppress

from siding.app.acts.skeleton import Work
from siding.app.place.project import Project
from siding.app.running.request import NO_TERMS, AgentTerms
from siding.app.traps.marks import mark_sandboxed
from siding.errors import UnreadableFile
from siding.ids import TaskId, step_id
from siding.ledger.details.run import RunDetail
from siding.ledger.draft import Draft
from siding.ledger.store import Ledger
from siding.process.command import Command
from siding.process.identity import boot_id, started_of
from siding.runs.run import ProcessMark, Run, run_number
from siding.runs.store import LiveRun
from siding.storage.locks import Holder
from siding.tasks.ports import port_of

_RECENT = 200  # steps that are read to find the newest run if the file `runs/last` is lost


def begin_run(
    work: Work,
    draft: Draft,
    *,
    token: str,
    name: str = "",
    is_recorded: bool = True,
    in_program: bool = False,
    broker: str = "",
    terms: AgentTerms = NO_TERMS,
) -> LiveRun:
    """Write the record of a new run and return it; its lock is released when the act is over.

    The draft is that of the run's step, without secrets. The caller holds the task's lock.
    """
    recorder, app = work.recorder, work.project.app
    if not recorder.layout.runs_dir.exists():  # the first run of the task
        from siding.app.place.adoption import raise_version

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
        name=name,
        since="" if newest is None else step_id(newest.number),
        is_recorded=is_recorded,
        in_program=in_program,
        broker=broker,
        **terms._asdict(),
    )
    holder = Holder(pid=app.pid, since=run.started_at, what=run.title[:200])
    live = recorder.runs.begin(run, holder, highest=lambda: _highest(recorder.ledger))
    entered = work.resources.enter_context(live)
    if is_sandboxed:
        from siding.app.running.held import note_before  # 5 ms

        note_before(recorder, entered.run)
    return entered


def as_run_of(draft: Draft, run: Run) -> Draft:
    """Return the draft of a run's step with the id of the run."""
    assert isinstance(draft.detail, RunDetail)
    return draft._replace(detail=draft.detail._replace(run=run.id, name=run.name))


def marked(command: Command, run: Run) -> Command:
    """Return the command with the variables that tell its processes which run they belong to."""
    return command._replace(
        env={**command.env, "SIDING_RUN_ID": run.id, "SIDING_STEP_TOKEN": run.token}
    )


def port_for(project: Project, task_id: TaskId) -> int:
    """Return the first port of a task, which gets its ports now if it has none.

    0 if there are no free ones, no room to note them, or they cannot be read: the run does without.
    """
    try:
        found = port_of(project.app.home, project.layout, task_id)
    except UnreadableFile:
        return 0
    if found:
        return found
    from siding.tasks.port_search import assign_block

    try:
        return assign_block(project.app.home, project.layout.task(task_id))
    except OSError:
        return 0


def _highest(ledger: Ledger) -> int:
    """Return the highest number of a run among the newest steps; 0 if there is none."""
    numbers = [0]
    for step in ledger.tail(_RECENT):
        with suppress(ValueError):  # another tool may use the name of the field
            numbers.append(run_number(step.run))
    return max(numbers)
