"""Plan how the part of a state that is not files becomes another one. Nothing is changed here.

HEAD goes onto the branch that it was on if that branch is at the recorded commit then; else it is
detached there. Of all branches only the task's own is ever moved, and only if no other checkout has
it. Branches are never removed. What only has to know whether anything is to be done asks `plan_git`
(`survey.py`), which loads this where the two states differ.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from siding.ground.files.regular import read_small
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.model import CheckoutPlace
from siding.record.snapshots.git_details import GitDetails, details_of
from siding.record.snapshots.git_state import GitState
from siding.record.snapshots.store import SnapshotStore

if TYPE_CHECKING:
    from siding.ground.git.repository import Repository

_COMMANDS = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
}
PARTS = {
    "head": "HEAD",
    "branch": "the task's branch",
    "index": "what is staged",
    "git": "a git command under way",
    "phases": "the phases",
}
"""The parts that `git_lines` names, as words of a sentence."""


class GitRestoration(NamedTuple):
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


def plan_git_restoration(
    repository: "Repository",
    store: SnapshotStore,
    place: CheckoutPlace,
    task_branch: str,
    *,
    now: GitState,
    then: GitState,
    with_documents: bool,
) -> GitRestoration | None:
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
    return GitRestoration(now, then, task_branch, tip, branch, present, wanted, tuple(notes))


def stay(store: SnapshotStore, task_branch: str, now: GitState) -> GitRestoration:
    """Return the return of a workspace whose HEAD, branch and index stay as they are."""
    present = details_of(store, now)
    return GitRestoration(now, now, task_branch, None, now.branch, present, present)


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
    repository: "Repository",
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


def _branches_elsewhere(repository: "Repository", git_dir: Path) -> Iterator[tuple[str, Path]]:
    """Yield the branches that other checkouts have checked out, or rebase, and where."""
    from siding.record.worktrees.listing import worktrees

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


def under_way(names: Iterable[str]) -> list[str]:
    """Return the git commands that are unfinished, by the names of their small files."""
    tops = {name.partition("/")[0] for name in names}
    return sorted({word for name, word in _COMMANDS.items() if name in tops})


def git_lines(plan: GitRestoration) -> Iterator[tuple[str, str]]:
    """Yield lines that say what changes, each with a word for its part."""
    now, then = plan.now, plan.then
    if plan.moves_head:
        after = _at(plan.branch, then.head)
        if plan.branch is not None and plan.branch == now.branch:
            after = _short(then.head)
        yield "head", f"{_at(now.branch, now.head)} -> {after}"
    on_branch = plan.task_branch in (now.branch, plan.branch)
    if plan.tip is not None and not (on_branch and plan.moves_head):
        yield "branch", f"{plan.task_branch} {_short(now.tip)} -> {_short(plan.tip)}"
    if plan.present.entries != plan.wanted.entries:
        yield "index", _index(plan)
    yield from _unfinished(plan.present.files, plan.wanted.files)
    if plan.present.documents != plan.wanted.documents:
        yield "phases", "as they were then"


def _index(plan: GitRestoration) -> str:
    entries = plan.wanted.entries
    if entries is None:
        return "gone, as it was then"
    count = len({entry.path for entry in entries})
    if not count:
        return "as HEAD: nothing is staged"
    return f"as it was then: {count} {'path is' if count == 1 else 'paths are'} not as in HEAD"


def _unfinished(present: Mapping[str, Sha], wanted: Mapping[str, Sha]) -> Iterator[tuple[str, str]]:
    if present == wanted:
        return
    before, after = under_way(present), under_way(wanted)
    for word in before:
        if word not in after:
            yield "git", f"the {word} that is under way is set aside, and kept"
    for word in after:
        yield "git", f"a {word} is under way, as it was then"


def _at(branch: str | None, sha: Sha | None) -> str:
    return f"{branch or '(detached)'} {_short(sha)}"


def _short(sha: Sha | None) -> str:
    return "(no commit)" if sha is None else sha[:10]
