"""Run one command inside its sandbox and within its limits.

`plan_sandbox` decides before anything starts, so that the intent can record it: by what `settings`
says the person and the repository ask for. `open_sandbox` keeps the sandbox while the command runs.
`take_over_result` then moves the commits made inside into the repository.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command, Outcome
from siding.ground.process.limits import Limits
from siding.guard.enforcement import may_be_judged
from siding.guard.guard import Guard, agent_of, can_be_guarded, guard, is_guarded, program_of
from siding.record.ledger.reports import SandboxReport
from siding.record.place.project import Project
from siding.record.place.settings import is_default
from siding.sandbox.request import SandboxRequest

if TYPE_CHECKING:
    from siding.ground.process.side import RunSandbox
    from siding.ground.storage.locks import FileLock
    from siding.record.quarantine.run import PreparedQuarantine
    from siding.record.recording.recorder import Recorder
    from siding.sandbox.engines.values import Launch

REFUSED_EXIT = 1
NO_SANDBOX = "no sandbox works here"


class SandboxPlan(NamedTuple):
    """The sandbox and the limits of one run.

    `report` and `limits` are stored in the step. `refusal` says why the command must not start.
    `warnings` say in what the run differs from what was asked for. `time_s` is in seconds.
    """

    report: SandboxReport | None = None
    limits: Limits = Limits()
    time_s: float | None = None
    launch: "Launch | None" = None
    prepared: "PreparedQuarantine | None" = None
    lock: "FileLock | None" = None  # of the quarantine
    caches: Path | None = None  # what was staged of package managers' caches
    settings_copies: Path | None = None  # copies of git's settings, without credentials
    hosts: tuple[str, ...] | None = None  # that alone may be reached; None: there is no list
    refusal: str | None = None
    warnings: tuple[str, ...] = ()

    def release(self) -> None:
        """Let another run of the task have the quarantine: this one has ended."""
        if self.lock is not None:
            self.lock.release()


def plan_sandbox(
    recorder: "Recorder",
    request: SandboxRequest,
    command: Command,
    *,
    agent: str,
    time_s: float | None,
    reads_only: bool,
) -> SandboxPlan:
    """Return the sandbox and the limits of a run. Raises UsageError for settings that contradict.

    `agent` is the agent behind the command, "" if its program says it or it is none.
    `time_s` is the time limit of the command line, in seconds; None uses the settings. A run that
    `reads_only` works in a view, and may not write to the workspace.
    """
    project = recorder.project
    program = program_of(agent) or os.path.basename(command.argv[0])
    guarded = is_guarded(project, agent_of(program))
    if request == SandboxRequest() and not guarded and not _anything_is_set(project):
        return SandboxPlan(time_s=time_s)
    from siding.sandbox.settings import SandboxMode, asked_of

    asked, notes = asked_of(project, request)
    limits = asked.limits
    plan = SandboxPlan(
        limits=limits,
        time_s=asked.time_s if time_s is None else time_s,
        warnings=notes,
    )
    usual = SandboxMode.ON if guarded else SandboxMode.OFF
    mode = asked.mode or usual
    if mode is SandboxMode.OFF:
        return plan
    from siding.sandbox.engines.values import Network
    from siding.sandbox.launch import plan_launch

    launched = plan_launch(recorder, asked, command, program, reads_only=reads_only)
    report = launched.report._replace(mode=mode.value)
    plan = plan._replace(
        report=report,
        launch=launched.launch,
        prepared=launched.prepared,
        lock=launched.lock,
        caches=launched.caches,
        settings_copies=launched.settings_copies,
        hosts=launched.hosts,
    )
    if launched.launch is not None:
        return plan._replace(warnings=(*notes, *launched.notes))
    if asked.engine is not None:
        said = f"{asked.engine} was asked for, and cannot be had here: {launched.reason}"
        return plan._replace(refusal=said)
    if asked.network is Network.ALLOW:  # a list that nothing holds is none
        return plan._replace(refusal=f"the list of hosts cannot be held here: {launched.reason}")
    if mode is SandboxMode.REQUIRE:
        return plan._replace(refusal=f"{NO_SANDBOX}, and one is required: {launched.reason}")
    warning = f"{NO_SANDBOX}, the command runs without: {launched.reason}"
    return plan._replace(warnings=(*notes, warning))


def is_guard_open(project: Project, request: SandboxRequest, program: str) -> bool:
    """Return whether it is for the person to say how the agent that a program starts runs.

    They have not said it, and neither the settings nor the command line say all of it.
    """
    agent = agent_of(program)
    if not can_be_guarded(agent) or guard(project.app) is not Guard.UNASKED:
        return False
    from siding.sandbox.settings import asked_of

    asked, _notes = asked_of(project, request)
    return asked.mode is None or not (
        project.settings.policy_enabled is not None or may_be_judged(project)
    )


def _anything_is_set(project: Project) -> bool:
    """Tell whether any settings file mentions sandboxes or limits.

    Most do not, and searching the bytes is faster than importing the YAML reader.
    """
    files = [project.app.home.config_path, project.layout.config_yaml]
    if project.paths.main_worktree is not None:
        files.append(project.paths.main_worktree / ".siding" / "config.yaml")
    for file in files:
        try:
            raw = read_bytes(file, limit=1 << 20)
        except FileNotFoundError:
            continue
        if not is_default(raw) and (b"sandbox" in raw or b"limits" in raw):
            return True
    return False


@contextmanager
def open_sandbox(recorder: "Recorder", plan: SandboxPlan) -> Iterator["RunSandbox | None"]:
    """Keep the sandbox open while the command runs, and close it; None when there is none."""
    if plan.launch is None and plan.limits == Limits():
        yield None
        return
    from siding.ground.process.side import RunSandbox

    grows = [recorder.root]
    if plan.prepared is not None:  # the command can write there, too: the disk limit must see it
        grows += [plan.prepared.root]
    if plan.caches is not None:
        grows += [plan.caches]
    run_sandbox = RunSandbox(limits=plan.limits, grows=tuple(grows))
    if plan.launch is None:
        yield run_sandbox
        return
    from siding.sandbox.engines.cgroup import delegation_here, make_group
    from siding.sandbox.engines.start import Sandboxed

    group = None
    if (plan.limits.memory, plan.limits.processes) != (None, None):
        group = make_group(plan.limits, delegation_here())
    sandboxed = Sandboxed(plan.launch, group)
    try:
        yield run_sandbox._replace(sandboxed=sandboxed)
    finally:
        sandboxed.close()
        private = Path(dict(plan.launch.env).get("TMPDIR", "/")).parent
        # What bwrap mounts disappears with it; with Landlock /tmp and the home are directories.
        made = [private] if private.is_relative_to(recorder.layout.root) else []
        made += [] if plan.caches is None else [plan.caches]
        made += [] if plan.settings_copies is None else [plan.settings_copies]
        if made:
            from shutil import rmtree

            for each in made:
                rmtree(each, ignore_errors=True)
                with suppress(OSError):  # another run of this process has one in it
                    each.parent.rmdir()


def take_over_result(recorder: "Recorder", plan: SandboxPlan, outcome: Outcome) -> Outcome:
    """Move the commits made inside into the repository; return the outcome with notes on the
    rest."""
    if plan.prepared is None:
        return outcome
    from siding.record.unfinished.sandbox_commits import take_over_commits

    taken = take_over_commits(recorder.project, plan.prepared, recorder.workspace)
    return outcome._replace(notes=(*outcome.notes, *taken.refused))
