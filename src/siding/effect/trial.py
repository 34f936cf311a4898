"""Run a command in a copy of a workspace, in a sandbox that shows the copy at the workspace's path.

Nothing of the run counts: it has no network and no home, what it writes outside of the copy is
lost or denied, git writes into directories of ours, and everything that it started ends with it.
"""

import os
import tempfile
from pathlib import Path

from siding.effect.copying import Copied
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command, Ending, OutputScreen, StdinPlan, StreamPlan
from siding.ground.process.limits import Limits
from siding.ground.process.output.recording import OutputFiles
from siding.ground.process.record import run_recorded
from siding.ground.process.side import Plan, RunSandbox
from siding.record.place.project import Project
from siding.record.quarantine.run import prepare
from siding.record.tasks.registry import Workspace
from siding.sandbox.engines.cgroup import delegation_here, make_group
from siding.sandbox.engines.probe import listening_sockets
from siding.sandbox.engines.start import Sandboxed
from siding.sandbox.engines.table import engine_of
from siding.sandbox.engines.values import (
    BindMount,
    GitAccess,
    Kind,
    Launch,
    Network,
    Places,
    Quarantine,
    SandboxRequirements,
    View,
    is_within,
)
from siding.sandbox.engines.view import ALTERNATE, plan_view
from siding.sandbox.hidden import root_only
from siding.sandbox.launch import engine_here, places_of
from siding.secretmask.face import sounds_secret

TIME_S = 10.0
LIMITS = Limits(output=1 << 20, memory=1 << 30, processes=128, disk=256 << 20)
_ROOMS = 128 << 20  # bytes of what lives in memory: /tmp, the home, /dev/shm
_GRACE_S = 1.0
_SAID = 300  # characters of what the command complained about
# What a line leaves in the background belongs to it, and is waited for.
_FIRST = "trap wait EXIT\n"
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_COUNT": "3",
    "GIT_CONFIG_KEY_0": "core.hooksPath",  # a hook may reach anywhere
    "GIT_CONFIG_VALUE_0": os.devnull,
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
    "GIT_CONFIG_KEY_2": "core.splitIndex",
    "GIT_CONFIG_VALUE_2": "false",
    "TMPDIR": "/tmp",
}


class Trial(NamedTuple):
    """A command to be tried. `copy` is seen in the place of the workspace, `scratch` is ours."""

    line: str
    cwd: Path
    env: dict[str, str]
    copy: Path
    copied: Copied
    scratch: Path
    uses_git: bool


class Ran(NamedTuple):
    """How it ended. `said` is the end of its standard error, with its secrets.

    `cut` says why it did not come to its own end, "" if it did.
    """

    exit_code: int
    said: str = ""
    cut: str = ""


def why_no_sandbox(project: Project) -> str:
    """Return why nothing can be tried on this machine; "" if it can."""
    found = engine_here(project)
    if found.engine is None:
        return f"no sandbox works here: {found.reason}"
    if not engine_of(found.engine).mounts:
        return (
            f"the sandbox here ({found.engine.value}) cannot show a copy in the place of the "
            "workspace; bwrap can"
        )
    return ""


def hidden_in(project: Project, workspace: Workspace) -> tuple[str, ...]:
    """Return directories that are empty where commands are tried."""
    places = _places(project, workspace, Path(workspace.path), {**project.app.env})
    checkout = () if places.checkout is None else (places.checkout,)
    found = ("/home", "/root", "/tmp", "/var/tmp", "/run", *places.homes, places.state, *checkout)
    return tuple(each for each in found if each != places.workspace)


def run_trial(project: Project, workspace: Workspace, trial: Trial) -> Ran:
    """Run a command in its copy. Call it in the main thread. Raises OSError."""
    shell = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    command = Command(
        argv=(shell, "-c", _FIRST + trial.line), cwd=trial.cwd, env=_environment(trial.env)
    )
    launch = _launch(project, workspace, command, trial)
    grows = (trial.copy, trial.scratch)
    group = make_group(LIMITS, delegation_here())
    sandboxed = Sandboxed(launch, group)
    with tempfile.TemporaryFile(dir=trial.scratch) as errors:
        try:
            nothing = os.open(os.devnull, os.O_RDONLY)
            outcome = run_recorded(
                Plan(
                    command,
                    recorder=OutputFiles(None, streams=StreamPlan.PIPED),
                    screen=OutputScreen(stdin=nothing, stdout=None, stderr=errors.fileno()),
                    stdin=StdinPlan.NULL,
                    timeout_s=TIME_S,
                    token=project.app.random_bytes(16).hex(),
                    grace_s=_GRACE_S,
                    sandbox=RunSandbox(limits=LIMITS, grows=grows, sandboxed=sandboxed),
                    ends_left=True,
                )
            )
        finally:
            os.close(nothing)
            sandboxed.close()
        errors.seek(0)
        said = errors.read(LIMITS.output or 0).decode("utf-8", "surrogateescape")
    if outcome.ending is Ending.EXITED:
        return Ran(outcome.exit_code, said.strip()[-_SAID:])
    if outcome.ending is Ending.TIMEOUT:
        return Ran(outcome.exit_code, cut=f"it was ended after {TIME_S:g} s")
    return Ran(outcome.exit_code, cut=outcome.reason or f"it was ended ({outcome.ending.value})")


def _environment(env: dict[str, str]) -> dict[str, str]:
    """Return the variables of a trial: without credentials, and nothing of Siding's."""
    return {
        **{
            name: value
            for name, value in env.items()
            if not name.startswith("SIDING_") and not sounds_secret(name)
        },
        **_ENVIRONMENT,
    }


def _places(project: Project, workspace: Workspace, cwd: Path, env: dict[str, str]) -> Places:
    command = Command(argv=("/bin/sh",), cwd=cwd, env=env)
    return places_of(project, Path(workspace.path), Path(workspace.git_dir), command)


def _launch(project: Project, workspace: Workspace, command: Command, trial: Trial) -> Launch:
    places = _places(project, workspace, trial.cwd, command.env)
    files, directories = root_only((places.workspace, places.common_dir, places.program))
    demand = SandboxRequirements(
        network=Network.OFF,
        git=GitAccess.COMMIT if trial.uses_git else GitAccess.READ,
        hidden_files=tuple(files),
        hidden_directories=tuple(directories),
    )
    view = plan_view(
        places,
        demand,
        agent=None,
        quarantine=_quarantine(project, workspace, trial) if trial.uses_git else None,
        sockets=listening_sockets(),
    )
    found = engine_here(project)
    launch = found.launch(_with_copy(view, places, trial), Network.OFF, (("TMPDIR", "/tmp"),))
    return launch._replace(room=_ROOMS, rooms=_ROOMS)


def _quarantine(project: Project, workspace: Workspace, trial: Trial) -> Quarantine:
    root = trial.scratch / "git"
    root.mkdir(mode=0o700)
    git_dir = Path(workspace.git_dir)
    prepared = prepare(project.repository, git_dir, root, workspace.branch, ALTERNATE)
    return Quarantine(
        objects=str(prepared.objects), heads=str(prepared.heads), git_dir=str(prepared.copy)
    )


def _with_copy(view: View, places: Places, trial: Trial) -> View:
    """Show the copy where the workspace is, and what stayed out of it read-only in its place.

    What a sandboxed run may not write in its workspace, such as `.siding`, can be written in a
    copy; but for `.git`, which is not copied.
    """
    root = places.workspace
    ours = (f"{root}/.git", places.common_dir, places.git_dir)
    mounts: list[BindMount] = []
    for each in view.mounts:
        if each.path == root:
            mounts.append(each._replace(source=str(trial.copy)))
        elif not is_within(each.path, root) or any(is_within(each.path, one) for one in ours):
            mounts.append(each)
    mounts += [
        BindMount(kind=Kind.SHOW, path=f"{root}/{os.fsdecode(each.path)}")
        for each in trial.copied.left_out
    ]
    return View(mounts=tuple(mounts))
