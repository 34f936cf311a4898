"""Read the value of ``--from``: a branch, a pull request, a commit, or another task at a step.

A text that could be two of them is refused; ``task:``, ``branch:`` and ``commit:`` before it say
which one is meant. Whatever else git knows (``main~2``, ``main@{yesterday}``) is a commit.
"""

import re

from siding.applying.person_git import remotes_of
from siding.ground.errors import NotFound, UsageError
from siding.ground.git.command import Place
from siding.ground.git.errors import UnknownRevision
from siding.ground.git.refs import as_sha
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.place.named_task import resolve
from siding.record.place.project import Project
from siding.record.tasks.task import Task

_PULL = re.compile(r"(?:#|pr/)(\d+)")
_PAGE = re.compile(r"https?://[^/]+/([^/]+/[^/]+?)(?:\.git)?/pull/(\d+)(?:[/?#].*)?")
_SHORTEST_ID = 4  # of the beginning of a task's id: shorter ones are words


class PullReading(NamedTuple):
    """A pull request; `repository` is ``owner/name`` if the text was its page, else ""."""

    number: int
    repository: str = ""


class TaskReading(NamedTuple):
    """A task, and the step that was named: "" for its present state."""

    task: Task
    step: str


class CommitReading(NamedTuple):
    """A commit. `kind` is branch or commit, `name` what it was called."""

    kind: str
    name: str
    commit: Sha


Reading = PullReading | TaskReading | CommitReading


def read(project: Project, text: str) -> Reading:
    """Return what a text stands for.

    Raises NotFound, which lists what was looked for, and UsageError if it could be several things.
    """
    kind, _, rest = text.partition(":")
    if kind in ("task", "branch", "commit") and rest:
        return _one(project, kind, rest)
    page = _PAGE.fullmatch(text)
    if page is not None:
        return PullReading(number=int(page[2]), repository=page[1])
    found: list[tuple[str, Reading]] = []
    pull = _PULL.fullmatch(text)
    if pull is not None:
        found.append((f"#{pull[1]}", PullReading(number=int(pull[1]))))
    branch = _branch(project, text)
    if branch is not None:
        found.append((f"branch:{text}", branch))
    tag = _named(project, f"refs/tags/{text}")
    if tag is not None:
        found.append((f"commit:{text}", CommitReading("commit", text, tag)))
    task = _task(project, text)
    if task is not None:
        found.append((f"task:{text}", task))
    if len(found) > 1:
        raise UsageError(
            f"--from {text!r} could be {' or '.join(name for name, _ in found)}",
            hint=f"say which one with the word before it: `--from {found[0][0]}`",
        )
    return found[0][1] if found else _commit(project, text)


def branches(project: Project) -> list[str]:
    """Return the names of all local and remote branches, for a shell's completion."""
    listed = project.git.run(
        Place(git_dir=project.paths.common_dir),
        ["for-each-ref", "--format=%(refname:short)%(symref)", "refs/heads", "refs/remotes"],
        doing="listing the branches",
    )
    names = listed.decode("utf-8", "replace").split("\n")
    return [name for name in names if name and "refs/" not in name]


def _one(project: Project, kind: str, name: str) -> Reading:
    """Return what a name with its kind before it stands for."""
    if kind == "task":
        named, step = _with_step(name)
        try:
            return TaskReading(resolve(project, name), "")
        except NotFound:
            if not step:
                raise
            return TaskReading(resolve(project, named), step)
    if kind == "commit":
        tag = _named(project, f"refs/tags/{name}")  # a branch is `branch:NAME`
        return CommitReading("commit", name, tag or project.repository.resolve(name))
    found = _branch(project, name)
    if found is None:
        raise NotFound(
            f"there is no branch {name!r}, here or on a remote",
            hint="`git branch -a` lists them; `git fetch` brings what is new",
        )
    return found


def _branch(project: Project, name: str) -> CommitReading | None:
    sha = _named(project, f"refs/heads/{name}") or _named(project, f"refs/remotes/{name}")
    return None if sha is None else CommitReading("branch", name, sha)


def _named(project: Project, ref: str) -> Sha | None:
    """Return the commit of a ref with exactly this name."""
    done = project.git.attempt(
        Place(git_dir=project.paths.common_dir),
        ["for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", ref],
    )
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        name, *shas = line.split(" ")
        if name == ref:
            return as_sha((shas[-1] or shas[0]).encode("ascii", "replace"))
    return None


def _task(project: Project, text: str) -> TaskReading | None:
    """Return the task of this name, id or beginning of an id, with the step after ``@``."""
    names = {word for task in project.tasks.readable() for word in (task.name, task.id)}
    for name, step in ((text, ""), _with_step(text)):
        if name not in names and len(name) < _SHORTEST_ID:
            continue
        try:
            return TaskReading(resolve(project, name), step)
        except NotFound:
            continue
    return None


def _with_step(text: str) -> tuple[str, str]:
    """Return the two parts of ``NAME@STEP``; two empty texts if it is none."""
    name, at, step = text.rpartition("@")
    return (name, step) if at and name and step and not step.startswith("{") else ("", "")


def _commit(project: Project, text: str) -> CommitReading:
    try:
        return CommitReading("commit", text, project.repository.resolve(text))
    except UnknownRevision as unknown:
        remote = [f"{each}/{text}" for each in remotes_of(project)]
        meant = [name for name in remote if _branch(project, name) is not None]
        raise NotFound(
            f"--from {text!r} is no branch, tag, commit, pull request or task here",
            hint=f"did you mean {meant[0]!r}?"
            if meant
            else "`git branch -a`, `git tag` and `siding task list --all` show what there is; a "
            "pull request is written #12",
        ) from unknown
