"""The environment variables of a command in a workspace."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import replace_bytes
from siding.ground.files.regular import read_small
from siding.ground.ids import is_fork
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.record.place.project import Project
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task

# The list of `git rev-parse --local-env-vars`. These variables tie git to one repository: a git
# command in the workspace would work in the caller's repository instead.
_TIED_TO_A_REPOSITORY = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_INTERNAL_SUPER_PREFIX",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)


# The caller's directories. Some programs trust PWD more than the kernel: opencode 1.18 takes PWD as
# the root of the project, and so it edited the person's checkout.
_DIRECTORIES = frozenset({"PWD", "OLDPWD"})
# Not taken along: handled elsewhere, or undone by who set them.
_SAY_THEMSELVES = ("GIT_", "SIDING_", "DIRENV_")
# Programs make these when they are missing: what they write is of the workspace.
_MADE_THERE = frozenset(
    """
    CARGO_BUILD_TARGET_DIR CARGO_TARGET_DIR COVERAGE_FILE MYPY_CACHE_DIR PYTHONPYCACHEPREFIX
    RUFF_CACHE_DIR UV_PROJECT_ENVIRONMENT
    """.split()
)
_DONE = {
    "map": "taken along into the workspace",
    "leave": "and stay so, as the workspace has no such path",
    "drop": "left out",
}
# Those of a run that this command is part of; the new run has its own, or none.
_OF_A_RUN = frozenset({"SIDING_PORT", SOCKET_VARIABLE})


def environment_in(
    project: Project,
    task: Task,
    workspace: Workspace,
    wanted: Mapping[str, str],
    *,
    cwd: Path,
    port: int = 0,
) -> dict[str, str]:
    """Return the complete environment of a command in the directory `cwd` of a workspace.

    It is the caller's environment without the variables above, with the variables of the task
    added. What leads into the person's checkout is taken along into the workspace as the settings
    say; that is said once for each task. `port` is the first of the task's ports, 0 if it has none.
    Variables in `wanted` replace all others.
    """
    inherited = {
        name: value
        for name, value in project.app.env.items()
        if name not in _TIED_TO_A_REPOSITORY
        and name not in _DIRECTORIES
        and not name.startswith(("SIDING_TASK_", "SIDING_STEP_", "SIDING_RUN_"))
        and name not in _OF_A_RUN
    }
    roots, how = tuple(_checkouts(project)), project.settings.variables
    moved = taken_along(inherited, roots, workspace.path, how, os.path.lexists)
    if moved.names and not is_fork(task.id):  # of a fork it was said in the task that it is of
        _say_once(project, task, moved.names)
    taken = {**inherited, **moved.values}
    return {
        **{name: value for name, value in taken.items() if value is not None},
        "GIT_CEILING_DIRECTORIES": _ceilings(inherited, workspace),
        "PWD": str(cwd),
        "SIDING_ACTIVE": "true",
        "SIDING_TASK_ID": task.id,
        "SIDING_TASK_NAME": task.name,
        "SIDING_WORKSPACE": workspace.path,
        "SIDING_BASE_REF": task.base_ref,
        "SIDING_REPO_ROOT": str(project.paths.root),
        **({"SIDING_PORT": str(port)} if port else {}),
        **wanted,
    }


def _ceilings(inherited: Mapping[str, str], workspace: Workspace) -> str:
    """Return the directories in which git looks for no repository: the caller's, and the one that
    the workspace is in.

    Else a command in a workspace that lost its `.git` works in a repository around it, such as one
    of the person's home. git compares real paths, and after an empty entry it resolves no links.
    """
    above = os.path.dirname(os.path.realpath(workspace.path))
    theirs = inherited.get("GIT_CEILING_DIRECTORIES", "")
    return f"{theirs}:{above}" if theirs else above


class Moved(NamedTuple):
    """What becomes of the variables that lead into a checkout.

    `values` are the new ones, None for a variable of which nothing is left. `names` are the
    variables by what was done with them, for a person: "map", "leave" or "drop".
    """

    values: Mapping[str, str | None]
    names: Mapping[str, Sequence[str]]


def taken_along(
    env: Mapping[str, str],
    roots: Sequence[str],
    workspace: str,
    how: str,
    exists: Callable[[str], bool],
) -> Moved:
    """Return what becomes of paths in variables that lead into a checkout, in a workspace.

    A value is a path, or several with colons between them. A path in one of `roots` becomes the
    same path in the workspace if that `exists`, or if programs make it. Else it stays, or goes
    where `how` is "drop". With "leave" all of them stay.
    """
    values: dict[str, str | None] = {}
    names: dict[str, list[str]] = {}
    if how == "leave":
        return Moved(values, names)
    for name, value in env.items():
        if not any(root in value for root in roots) or name.startswith(_SAY_THEMSELVES):
            continue
        entries, kept = value.split(":"), []
        for entry in entries:
            below = _below(entry, roots, workspace)
            there = entry if below is None else os.path.join(workspace, below).rstrip("/")
            if below is None:
                kept.append(entry)
                continue
            if name in _MADE_THERE or exists(there):
                done = "map"
            else:
                done = "drop" if how == "drop" else "leave"
            names.setdefault(done, []).append(
                name if len(entries) == 1 else f"{name} ({below or '.'})"
            )
            if done != "drop":
                kept.append(there if done == "map" else entry)
        if kept != entries:
            values[name] = ":".join(kept) if kept else None
    return Moved(values, names)


def _below(entry: str, roots: Sequence[str], workspace: str) -> str | None:
    """Return a path relative to the root that it is in; None for one in none, or in a workspace."""
    if entry == workspace or entry.startswith(f"{workspace}/"):
        return None  # one that lies in a checkout
    for root in roots:
        if entry == root or entry.startswith(f"{root}/"):
            return entry[len(root) + 1 :].rstrip("/")
    return None


def _checkouts(project: Project) -> Iterator[str]:
    """Yield the roots of the person's checkouts, as git and as the person's shell spells them.

    One that holds the person's home is left out: what leads into the home leads to their tools.
    """
    env, checkout = project.app.env, project.checkout
    here = None if checkout is None else str(checkout.root)
    home = os.path.realpath(env.get("HOME") or "/")
    for root in {here, str(project.paths.main_worktree or here)} - {None}:
        assert root is not None
        if f"{home}/".startswith(f"{root.rstrip('/')}/"):
            continue
        yield root
        # A shell that came through a symbolic link has the link in PWD, and in VIRTUAL_ENV.
        spelled, cwd = env.get("PWD", ""), str(project.app.cwd)
        below = cwd.removeprefix(root)
        is_link = cwd.startswith(root) and spelled != cwd and spelled.endswith(below)
        if is_link and spelled.startswith("/") and os.path.realpath(spelled) == cwd:
            yield spelled.removesuffix(below)


def _say_once(project: Project, task: Task, names: Mapping[str, Sequence[str]]) -> None:
    """Warn of variables that lead into the checkout, unless just this was said in the task."""
    place = project.task_layout(task.id).root / "variables"
    lines = [f"{how} {name}" for how in sorted(names) for name in names[how]]
    text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
    if read_small(place) == text:
        return
    with suppress(OSError):
        replace_bytes(place, text)
    parts = [f"{_DONE[how]}: {', '.join(names[how])}" for how in _DONE if how in names]
    project.app.warn(
        f"variables lead into your checkout, {'; '.join(parts)} "
        "(`runs.variables` in the settings says what is done with them)"
    )
