"""Run a workflow in a task, or resume a run: in this process, until it ends."""

import asyncio
import random
import signal
from collections.abc import Callable
from contextlib import ExitStack, suppress

from siding.ground.clock import iso
from siding.ground.errors import NoActiveTask, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import Holder
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.tasks.task import Task, TaskState
from siding.tasks.start import start_task
from siding.workflows.acts.control import ControlServer
from siding.workflows.acts.people import DecidingPeople
from siding.workflows.acts.request import ResumeRequest, WorkflowOptions, options_from
from siding.workflows.acts.retention import sweep
from siding.workflows.acts.script_process import starter
from siding.workflows.acts.scripts import FoundScript, Origin
from siding.workflows.acts.trust import (
    TrustedSources,
    not_trusted_in,
    require_children,
    require_trust,
)
from siding.workflows.acts.watcher import Watcher
from siding.workflows.acts.workspaces import TaskWorkspaces
from siding.workflows.agents.agents import ProgramAgents
from siding.workflows.engine.engine import Engine
from siding.workflows.engine.plan import Policy, Ports, RunPlan, Scope, agent_range, chosen_agents
from siding.workflows.engine.ports import AgentCall, Agents, Attempt, Report
from siding.workflows.events import Event, RunDone
from siding.workflows.outcome import Outcome
from siding.workflows.script import Script, read_script
from siding.workflows.state import RunState, RunStatus
from siding.workflows.store import RunFolder, RunFolders, RunRecord, new_run_id

Listen = Callable[[Event, RunState], None]
MakeAgents = Callable[[Project, Task, str, WorkflowOptions], Agents]


class WorkflowRequest(NamedTuple):
    """One ``siding workflow run``."""

    found: FoundScript
    args: object = None
    task: str | None = None
    options: WorkflowOptions = WorkflowOptions()


class Prepared(NamedTuple):
    """A run that can be begun: its folder is on disk, and nothing else has happened."""

    folder: RunFolder
    task: Task
    script: Script
    args: object
    options: WorkflowOptions
    policy: Policy = Policy()
    name: str = ""
    reruns_lost: bool = False


def prepare(project: Project, request: WorkflowRequest) -> Prepared:
    """Check the script and make the run's folder; a task is started if none is current.

    Raises ScriptError, NotTrusted, UsageError.
    """
    script = request.found.script()
    require_trust(project, request.found)
    require_children(project, script)
    name = _name_of(request.found, script)
    task = _task_for(project, request.task, name)
    record = RunRecord(
        run_id=new_run_id(project.app.random_bytes),
        name=name,
        origin=str(request.found.origin),
        path=request.found.path,
        task=task.id,
        args=request.args,
        created_at=project.app.now(),
        options=request.options.as_record(),
    )
    folder = RunFolders.of(project).create(record, script.source)
    return Prepared(
        folder=folder,
        task=task,
        script=script,
        args=request.args,
        options=request.options,
        name=name,
    )


def prepare_again(project: Project, run_id: str, request: ResumeRequest) -> Prepared:
    """Return a run that is to be resumed.

    Raises WorkflowNotFound, ScriptError, NotTrusted, UsageError.
    """
    folder = RunFolders.of(project).find(run_id)
    record = folder.record()
    source = folder.source() if request.source is None else request.source
    script = read_script(source)
    require_children(project, script)
    task = project.tasks.load(select(project, record.task).id)
    _refuse_closed(task)
    return Prepared(
        folder=folder,
        task=task,
        script=script,
        args=record.args,
        options=request.options(options_from(record.options)),
        policy=request.policy,
        name=record.name,
        reruns_lost=request.reruns_lost,
    )


def carry_out(
    project: Project, prepared: Prepared, make_agents: MakeAgents, listen: Listen
) -> RunDone:
    """Work on a run until it ends; Ctrl-C and SIGTERM end it as killed.

    Raises RunIsLive if another process works on it, BadResume and DamagedJournal.
    """
    folder = prepared.folder
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=f"workflow {prepared.name}")
    with ExitStack() as stack:
        stack.callback(folder.take(holder).release)
        folder.write_source(prepared.script.source)
        folder.write_options(prepared.options.as_record())
        watcher = Watcher(project, folder, prepared.task.id, listen)
        stack.callback(watcher.close)
        engine = Engine(_plan(prepared), _ports(project, prepared, make_agents, watcher))
        done = asyncio.run(_served(folder, engine))
    swept = sweep(project)  # without the lock: this run may be one that goes
    if swept.failed:
        project.app.warn(f"old runs of workflows stay where they are: {swept.failed}")
    return done


async def _served(folder: RunFolder, engine: Engine) -> RunDone:
    server = ControlServer(folder, engine)
    loop = asyncio.get_running_loop()
    with suppress(ValueError, RuntimeError):  # not in the main thread: whoever hosts it ends it
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, engine.stop)
        loop.add_signal_handler(signal.SIGHUP, lambda: None)  # the terminal may close
    try:
        return await engine.run()
    finally:
        server.close()


def _plan(prepared: Prepared) -> RunPlan:
    return RunPlan(
        script=prepared.script,
        journal=prepared.folder.journal,
        args=prepared.args,
        name=prepared.name,
        limits=prepared.options.limits(),
        policy=prepared.policy,
        answered=_seen_answered(prepared.folder),
        accepts_losses=prepared.reruns_lost,
    )


def _seen_answered(folder: RunFolder) -> tuple[tuple[str, str], ...]:
    """Return the agents, path and name, that the state of the run has seen to be answered."""
    state = folder.state()
    agents = state.agents if state is not None else ()
    return tuple((agent.path, agent.name) for agent in agents if agent.path)


def _ports(
    project: Project, prepared: Prepared, make_agents: MakeAgents, watcher: Watcher
) -> Ports:
    run_id, task = prepared.folder.run_id, prepared.task
    clock = project.app.clock
    return Ports(
        agents=make_agents(project, task, run_id, prepared.options),
        people=DecidingPeople(project, run_id, task.id, prepared.name),
        workspaces=TaskWorkspaces(project, task, sandbox=prepared.options.sandbox),
        sources=TrustedSources(project),
        start_script=starter(project),
        emit=watcher.emit,
        now=lambda: clock.now().timestamp(),
        random=random.random,
        stamp=lambda: iso(clock.now()),
    )


def _name_of(found: FoundScript, script: Script) -> str:
    """Return what a run is called: a workflow's name, else what the script says of itself."""
    own = script.meta.name if script.meta else ""
    if found.origin in (Origin.FILE, Origin.INLINE):
        return own or found.name or "workflow"
    return found.name or own


def _task_for(project: Project, named: str | None, name: str) -> Task:
    """Return the task to work in. If no task is current, start one named after the workflow."""
    try:
        task = select(project, named)
    except NoActiveTask:
        return start_task(project, name=name, base=None).task
    _refuse_closed(task)
    return task


def _refuse_closed(task: Task) -> None:
    if task.status is TaskState.CLOSED:
        raise UsageError(
            f"task {task.name!r} is closed", hint="start a new one with `siding task start NAME`"
        )


def policy_from_words(*, anew: bool, agents: str | None) -> Policy:
    """Return the policy of ``--anew`` and ``--agents 2,5`` or ``3-7``. Raises BadResume."""
    if anew and agents is not None:
        raise UsageError("--anew runs all agents again, so --agents says nothing more")
    if anew:
        return Policy(scope=Scope.ALL)
    if agents is None:
        return Policy()
    first, dash, last = agents.partition("-")
    if dash:
        return agent_range(_number(first), _number(last))
    return chosen_agents([_number(word) for word in agents.split(",")])


def interrupted(project: Project) -> list[str]:
    """Return the ids of the runs that no process works on and that have not ended, oldest first."""
    found = [
        (state.started_at, state.run_id)
        for _folder, state in RunFolders.of(project).states()
        if state.status is RunStatus.INTERRUPTED
    ]
    return [run_id for _started, run_id in sorted(found)]


def called_again(project: Project, run_id: str, source: str | None) -> list[FoundScript]:
    """Return the workflows that a run's script calls and that nobody has allowed yet.

    `source` is the script in the place of the run's own. Raises WorkflowNotFound, ScriptError.
    """
    script = RunFolders.of(project).find(run_id).source() if source is None else source
    return not_trusted_in(project, read_script(script))


def _number(word: str) -> int:
    if not word.strip().isdigit():
        raise UsageError(f"{word!r} is no id of an agent", hint="--agents 2,5 or --agents 3-7")
    return int(word)


def make_agents(project: Project, task: Task, run_id: str, options: WorkflowOptions) -> Agents:
    """Return what runs the agents of a run."""
    agents = ProgramAgents(project, task.id, sandbox=options.sandbox, group=run_id)
    return _WithDefaults(agents, options)


class _WithDefaults:
    """Agents whose calls have the agent and the model of the run, if they name none."""

    def __init__(self, agents: Agents, options: WorkflowOptions) -> None:
        self._agents = agents
        self._options = options

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        known = call._replace(
            agent_type=call.agent_type or self._options.agent_type,
            model=call.model or self._options.model,
        )
        return await self._agents.run(known, attempt, report)
