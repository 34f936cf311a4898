"""The environment variables of a command in a workspace."""

import os
from collections.abc import Mapping
from pathlib import Path

from siding.app.place.project import Project
from siding.process.broker.place import SOCKET_VARIABLE
from siding.tasks.registry import Workspace
from siding.tasks.task import Task

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
    added. `port` is the first of the task's ports, 0 if it has none. Variables in `wanted` replace
    all others.
    """
    inherited = {
        name: value
        for name, value in project.app.env.items()
        if name not in _TIED_TO_A_REPOSITORY
        and name not in _DIRECTORIES
        and not name.startswith(("SIDING_TASK_", "SIDING_STEP_", "SIDING_RUN_"))
        and name not in _OF_A_RUN
    }
    return {
        **inherited,
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
