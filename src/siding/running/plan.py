"""Plan a run: its command, the policy's ruling on it, and its sandbox."""

from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import UnreadableFile, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.ground.process.command import Command
from siding.guard.enforcement import rule_on
from siding.guard.ruling import POLICY_EXIT, Asker, Ruling, RunToJudge
from siding.record.acts.skeleton import Work
from siding.record.place.environment import environment_in
from siding.record.place.project import Project
from siding.record.recording.opening import has_link
from siding.record.recording.recorder import Recorder
from siding.record.tasks.ports import port_of
from siding.running.companions import place_of_broker, reporting_of, wire_plan_of
from siding.running.held import AskSeen, rule_on_traps
from siding.running.request import Reporting, RunRequest
from siding.sandbox.sandbox import REFUSED_EXIT, SandboxPlan, plan_sandbox

if TYPE_CHECKING:
    from siding.sandbox.proxy import WirePlan


class RunPlan(NamedTuple):
    """The command, the policy's ruling on it, and its sandbox."""

    command: Command
    ruling: Ruling
    sandbox: SandboxPlan
    broker: str  # the path of its socket; "" if there can be none
    reports: Reporting | None  # how its agent reports; None if it does not
    wire: "WirePlan | None"  # what goes through a proxy; None for nothing

    @property
    def starts(self) -> bool:
        """Whether the command is started at all."""
        return self.ruling.runs and not self.sandbox.refusal

    @property
    def exit_code(self) -> int:
        """The exit code of `siding run` if the command is not started."""
        return REFUSED_EXIT if self.sandbox.refusal else POLICY_EXIT


def plan_run(
    work: Work, request: RunRequest, ask: Asker | None, ask_seen: AskSeen | None
) -> RunPlan:
    """Judge the command and plan its sandbox.

    `ask` puts the policy's questions to a person, `ask_seen` shows traps to one.
    """
    recorder, project = work.recorder, work.project
    if not has_link(project, recorder.workspace):
        from siding.record.unfinished.broken_link import require_link

        require_link(project, recorder.task, recorder.workspace)
    cwd = request.view or _directory(project, recorder, request.cwd)
    task, workspace = recorder.task, recorder.workspace
    port = _port_for(project, task.id)
    if request.view is not None:
        workspace = workspace._replace(path=str(request.view))
    env = environment_in(project, task, workspace, request.env, cwd=cwd, port=port)
    broker = place_of_broker(work)
    if broker:
        env[SOCKET_VARIABLE] = broker
    command = Command(argv=request.argv, cwd=cwd, env=env)
    ruling = rule_on(project, _to_judge(recorder, request, command), allow=request.allow, ask=ask)
    sandbox = SandboxPlan()
    if ruling.runs:
        sandbox = plan_sandbox(
            recorder,
            request.sandbox,
            command,
            agent=request.agent,
            time_s=request.timeout_s,
            reads_only=request.view is not None,
        )
        work.resources.callback(sandbox.release)
        ruling = rule_on_traps(work, ruling, sandbox, ask_seen)
    reports, wire = None, None
    if ruling.runs:
        reports = reporting_of(work, request, command, sandbox)
        wire = wire_plan_of(work, request, sandbox)
    return RunPlan(command, ruling, sandbox, broker, reports, wire)


def _to_judge(recorder: Recorder, request: RunRequest, command: Command) -> RunToJudge:
    return RunToJudge(
        argv=request.argv,
        cwd=command.cwd,
        workspace=request.view or recorder.root,
        env=command.env,
        added=request.env,
        task_id=recorder.task.id,
    )


def _directory(project: Project, recorder: Recorder, wanted: str | None) -> Path:
    """Return the directory the command runs in: `wanted`, or the caller's own, in the workspace."""
    if wanted is not None:
        chosen = (recorder.root / wanted).resolve()
        if not chosen.is_relative_to(recorder.root.resolve()):
            raise UsageError(f"--cwd {wanted!r} leaves the workspace")
        if not chosen.is_dir():
            raise UsageError(f"--cwd {wanted!r} is not a directory of the workspace")
        return chosen
    here = project.app.cwd.resolve()
    checkout = project.checkout
    roots = [recorder.root] if checkout is None else [recorder.root, checkout.root]
    for root in (each.resolve() for each in roots):
        if here.is_relative_to(root):
            same = recorder.root / here.relative_to(root)
            if same.is_dir():
                return same
    return recorder.root


def _port_for(project: Project, task_id: TaskId) -> int:
    """Return the first port of a task, which gets its ports now if it has none.

    0 if there are no free ones, no room to note them, or they cannot be read: the run does without.
    """
    try:
        found = port_of(project.app.home, project.layout, task_id)
    except UnreadableFile:
        return 0
    if found:
        return found
    from siding.record.tasks.port_search import assign_block

    try:
        return assign_block(project.app.home, project.layout.task(task_id))
    except OSError:
        return 0
