"""Run the person's own git, with their configuration and credentials, in their repository.

Only this reaches remotes: `siding pr` pushes with it, and `siding task start --from '#12'` fetches.
"""

from collections.abc import Sequence

from siding.ground.errors import SidingError
from siding.ground.process.capture import Completed, run_captured
from siding.record.place.project import Project

# These variables would make git work on another repository than the one it is started in.
_PLACES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)


def environment_of(project: Project) -> dict[str, str]:
    """Return the person's environment without what would lead git to another repository."""
    return {name: value for name, value in project.app.env.items() if name not in _PLACES}


def ask_git(project: Project, arguments: Sequence[str]) -> Completed:
    """Run git to its end and return its status and output."""
    argv = [project.git.program, *arguments]
    return run_captured(argv, env=environment_of(project), cwd=project.paths.root)


def remotes_of(project: Project) -> list[str]:
    """Return the names of the repository's remotes."""
    return ask_git(project, ["remote"]).stdout.decode("utf-8", "replace").split()


def remote_of(project: Project, named: str | None, base_ref: str) -> tuple[str, str]:
    """Return the remote of a base branch, or the one that is named, and its address.

    Raises SidingError if there is none.
    """
    known = remotes_of(project)
    if named is None:
        branch = base_ref.removeprefix("refs/heads/")
        configured = ask_git(project, ["config", "--get", f"branch.{branch}.remote"])
        wanted = configured.stdout.decode("utf-8", "replace").strip()
        named = next((name for name in (wanted, "origin", *known) if name in known), None)
    if named is None or named not in known:
        raise SidingError(
            f"there is no remote {named!r}" if named else "this repository has no remote",
            hint="`git remote add origin URL` adds one; --remote names another",
        )
    url = ask_git(project, ["remote", "get-url", "--push", named])
    return named, url.stdout.decode("utf-8", "replace").strip()
