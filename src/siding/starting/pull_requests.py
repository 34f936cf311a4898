"""Fetch the commits of a pull request with the person's own git."""

from collections.abc import Iterator
from contextlib import contextmanager

from siding.applying.person_git import ask_git, environment_of, remote_of, remotes_of
from siding.ground.errors import SidingError
from siding.ground.git.command import Place
from siding.ground.ids import Sha
from siding.ground.process.attached import run_attached
from siding.record.place.project import Project
from siding.starting.readings import PullReading


class NotFetched(SidingError):
    """The pull request could not be fetched. Nothing was changed."""

    code = "not_fetched"


@contextmanager
def fetched(project: Project, pull: PullReading, base_ref: str) -> Iterator[Sha]:
    """Fetch a pull request, and yield its newest commit, which a ref keeps until the block ends.

    It comes from the remote of the base branch, or from the one whose repository the page named.
    Raises NotFetched, and SidingError if there is no such remote.
    """
    named = _remote_with(project, pull.repository) if pull.repository else None
    remote, _url = remote_of(project, named, base_ref)
    ref = f"refs/siding/pull/{project.app.random_bytes(8).hex()}"
    argv = [
        project.git.program,
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        remote,
        f"+refs/pull/{pull.number}/head:{ref}",
    ]
    done = run_attached(argv, env=environment_of(project), cwd=project.paths.root)
    try:
        if done.returncode:
            raise NotFetched(
                f"{remote} gave no pull request #{pull.number}",
                hint="git has said above what is wrong; nothing was changed",
            )
        yield project.repository.resolve(ref)
    finally:
        project.git.attempt(Place(git_dir=project.paths.common_dir), ["update-ref", "-d", ref])


def _remote_with(project: Project, repository: str) -> str:
    """Return the remote whose address ends with ``owner/name``."""
    for name in remotes_of(project):
        done = ask_git(project, ["remote", "get-url", name])
        url = done.stdout.decode("utf-8", "replace").strip().removesuffix("/").removesuffix(".git")
        if url.lower().endswith((f"/{repository.lower()}", f":{repository.lower()}")):
            return name
    raise SidingError(
        f"no remote of this repository is {repository}",
        hint="`git remote add NAME URL` adds it; `git remote -v` shows what there is",
    )
