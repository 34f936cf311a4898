"""Plan how the part of a state that is not files becomes another one. Nothing is changed here.

HEAD goes onto the branch that it was on if that branch is at the recorded commit then; else it is
detached there. Of all branches only the task's own is ever moved, and only if no other checkout has
it. Branches are never removed.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from shlex import quote

from siding.ground.files.regular import read_small
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.checkout import CheckoutPlace
from siding.record.snapshots.git_details import GitDetails, parse
from siding.record.snapshots.git_state import GitState, state_of
from siding.record.snapshots.store import SnapshotStore
from siding.record.worktrees.listing import worktrees


class GitReturn(NamedTuple):
    """How a workspace goes from the state `now` to the state `then`.

    `task_branch` is the branch of the task; `tip` is where it will be, None if it stays. `branch`
    is what HEAD will be on, None if it will be detached. `notes` are sentences about what will not
    be as it was. `off` are paths that a sparse checkout keeps off the disk there.
    """

    now: GitState
    then: GitState
    task_branch: str
    tip: Sha | None
    branch: str | None
    present: GitDetails
    wanted: GitDetails
    notes: tuple[str, ...] = ()
    off: tuple[bytes, ...] = ()

    @property
    def moves_head(self) -> bool:
        """Whether HEAD will be on another branch, or at another commit."""
        return (self.now.branch, self.now.head) != (self.branch, self.then.head)

    @property
    def changes_index(self) -> bool:
        """Whether the index will have other entries."""
        same = self.now.head == self.then.head and self.present.entries == self.wanted.entries
        return not same or bool(self.off)


def recorded_state(store: SnapshotStore, task_id: TaskId, branch: str, snapshot: Sha) -> GitState:
    """Return the git state of a snapshot of a task; raises SnapshotDamaged if it is lost.

    `branch` is the task's.
    """
    return state_of(store.read_commit(snapshot), base=store.base(task_id), branch=branch)


def plan_return(
    repository: Repository,
    store: SnapshotStore,
    place: CheckoutPlace,
    task_branch: str,
    *,
    now: GitState,
    then: GitState,
    with_documents: bool,
) -> GitReturn | None:
    """Return what has to be done; None if the two states are equal.

    Without `with_documents` the task's documents stay as they are: it is not known what they were.
    Raises SnapshotDamaged if a recorded state cannot be read.
    """
    if now == then:
        return None
    present, wanted = details_of(store, now), details_of(store, then)
    if not with_documents:
        wanted = wanted._replace(documents=present.documents)
    if now._replace(details=None) == then._replace(details=None) and present == wanted:
        return None
    notes: list[str] = []
    others = dict(_branches_elsewhere(repository, place.git_dir))
    tip = _tip(task_branch, now, then, others, notes)
    at = tip or now.tip
    branch = _branch(repository, place, now, then, task_branch, at, others, notes)
    return GitReturn(now, then, task_branch, tip, branch, present, wanted, tuple(notes))


def stay(store: SnapshotStore, task_branch: str, now: GitState) -> GitReturn:
    """Return the return of a workspace whose HEAD, branch and index stay as they are."""
    present = details_of(store, now)
    return GitReturn(now, now, task_branch, None, now.branch, present, present)


def details_of(store: SnapshotStore, state: GitState) -> GitDetails:
    """Return the details of a state; raise SnapshotDamaged if they cannot be read."""
    if state.details is None:
        return GitDetails()
    found = parse(store.read_commit(state.details).message)
    if found is None:
        raise SnapshotDamaged(f"what is staged in a snapshot cannot be read: {state.details}")
    return found


def _tip(
    task_branch: str,
    now: GitState,
    then: GitState,
    others: Mapping[str, Path],
    notes: list[str],
) -> Sha | None:
    """Return where the task's branch has to go, None if it stays."""
    if then.tip is None or then.tip == now.tip:
        return None
    if task_branch in others:
        notes.append(
            f"branch {task_branch} stays where it is: it is checked out in "
            f"{str(others[task_branch])!r}"
        )
        return None
    return then.tip


def _branch(
    repository: Repository,
    place: CheckoutPlace,
    now: GitState,
    then: GitState,
    task_branch: str,
    tip: Sha | None,
    others: Mapping[str, Path],
    notes: list[str],
) -> str | None:
    """Return what HEAD can be on."""
    wanted = then.branch
    if wanted is None:
        return None
    at = tip if wanted == task_branch else repository.branch(wanted)
    if at == then.head and (wanted == now.branch or wanted not in others):
        return wanted  # also a branch that has no commit yet, then as now
    if then.head is None:
        notes.append(f"HEAD stays where it is: branch {wanted} had no commit then, and has now")
        return now.branch
    where = f"git -C {quote(str(place.root))}"
    if wanted in others:
        notes.append(
            f"HEAD is detached at {then.head[:10]}: branch {wanted} is checked out in "
            f"{str(others[wanted])!r}"
        )
    elif at is None:
        notes.append(
            f"HEAD is detached at {then.head[:10]}: branch {wanted} is gone; "
            f"`{where} switch -c {quote(wanted)}` makes it again"
        )
    else:
        notes.append(
            f"HEAD is detached at {then.head[:10]}: branch {wanted} is at {at[:10]} now; "
            f"`{where} switch -C {quote(wanted)}` brings it there"
        )
    return None


def _branches_elsewhere(repository: Repository, git_dir: Path) -> Iterator[tuple[str, Path]]:
    """Yield the branches that other checkouts have checked out, or rebase, and where."""
    for info in worktrees(repository):
        if info.path is None or not info.path.is_dir() or info.git_dir.samefile(git_dir):
            continue
        if info.head is not None and info.head.branch:
            yield info.head.branch, info.path
        for name in ("rebase-merge", "rebase-apply"):
            named = read_small(info.git_dir / name / "head-name", 4096) or b""
            if named.startswith(b"refs/heads/"):
                text = named.strip().decode("utf-8", "surrogateescape")
                yield text.removeprefix("refs/heads/"), info.path
