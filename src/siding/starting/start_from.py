"""Start a task from a branch, a commit, a pull request or another task (`task start --from`).

``--from`` decides where the workspace starts, the base what the task is compared with and applied
to. Everything that the start has and the base has not belongs to the new task: `siding diff` shows
it, `siding apply` applies it and `siding pr` proposes it. So the base commit is where the history
of the start left the base branch; of another task it is what that task's change is counted from.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from siding.applying.person_git import ask_git, environment_of, remote_of, remotes_of
from siding.ground.errors import SidingError, UsageError
from siding.ground.git.command import Place
from siding.ground.ids import Sha
from siding.ground.process.attached import run_attached
from siding.record.ledger.kinds import BASE
from siding.record.place.project import Project
from siding.record.snapshots.coverage import Coverage
from siding.record.workspaces.beginning import Beginning, StartPoint
from siding.record.worktrees.keeping import give_objects
from siding.starting.readings import CommitReading, PullReading, TaskReading, read
from siding.starting.task_state import state_of_task, take_state
from siding.tasks.start import Started, StartRequest, resolve_base, start


def start_from(project: Project, request: StartRequest, origin: str) -> Started:
    """Start a task from what `origin` names; see `readings.read`.

    Raises NotFound and UsageError for a name that says nothing or too much, NotFetched,
    SnapshotDamaged, and the errors of `start`. Before the task is on the board, nothing is changed.
    """
    if request.carry:
        raise UsageError(
            "--carry takes the uncommitted changes of your checkout along, and --from starts "
            "somewhere else",
            hint="leave out one of them",
        )
    if not request.workspace:
        raise UsageError(
            "--from says where the workspace starts, and --no-workspace makes none",
            hint="leave out one of them",
        )
    with _beginning(project, request, origin) as beginning:
        return start(project, request, beginning)


@contextmanager
def _beginning(project: Project, request: StartRequest, origin: str) -> Iterator[Beginning]:
    reading = read(project, origin)
    if isinstance(reading, TaskReading):
        yield _from_task(project, request, reading)
        return
    base_ref, base = resolve_base(project, request.base)
    if isinstance(reading, CommitReading):
        point = StartPoint(kind=reading.kind, name=reading.name, commit=reading.commit)
        yield _from_commit(project, base_ref, base, point)
        return
    with fetched(project, reading, base_ref) as commit:
        yield _from_commit(project, base_ref, base, _pull_point(reading, commit))


def _pull_point(pull: PullReading, commit: Sha) -> StartPoint:
    return StartPoint(kind="pull request", name=str(pull.number), commit=commit)


def _from_commit(project: Project, base_ref: str, base: Sha, point: StartPoint) -> Beginning:
    return Beginning(point, base_ref, _common(project, base_ref, base, point.commit, point.title))


def _common(project: Project, base_ref: str, base: Sha, commit: Sha, title: str) -> Sha:
    """Return where the history of a commit left that of the base branch, which is at `base`."""
    found = project.repository.merge_base(base, commit)
    if found is None:
        shallow = project.repository.is_shallow()
        raise UsageError(
            f"{title} and {base_ref} have no commit in common",
            hint="this clone has no full history: `git fetch --unshallow`"
            if shallow
            else "--base names the branch that it belongs to",
        )
    return found


def _from_task(project: Project, request: StartRequest, reading: TaskReading) -> Beginning:
    source = reading.task
    state = state_of_task(project, source, reading.step)
    base_ref, base = source.base_ref, state.base
    if project.snapshots.objects.is_dir():
        give_objects(project.repository, project.snapshots, [base])  # a sync may have had it alone
    point = StartPoint(
        kind="task", name=source.name, commit=state.head, task=source.id, step=state.step
    )
    if request.base is not None:
        base_ref, named = resolve_base(project, request.base)
        base = _common(project, base_ref, named, base, point.title)
    lacks = _lacks(state.destination.coverage)
    if state.step == BASE and state.head == base:
        notes = (*state.notes, *lacks)
        return Beginning(point, base_ref, base, notes=notes, source=source)
    fill = partial(take_state, state=state, title=point.title)
    return Beginning(point, base_ref, base, fill, (*state.notes, *lacks), source)


def _lacks(coverage: Coverage | None) -> tuple[str, ...]:
    """Return a sentence if the snapshot of the state is not complete."""
    if coverage is None or coverage.complete:
        return ()
    return ("its snapshot is incomplete: `siding show` of the step names what it lacks",)


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
