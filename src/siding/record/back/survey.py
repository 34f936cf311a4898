"""Work out exactly what restoring a workspace would change. Nothing is changed here.

A file that is in no snapshot is never deleted. It stays, or is moved into the project's trash if
the person asked for that.
"""

from collections.abc import Sequence

from siding.ground.errors import SidingError
from siding.ground.git.paths import is_selected, is_under, quote_path
from siding.ground.git.roots import WorktreeRoot
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.procfs import worked_in
from siding.record.back.sparse_part import kept_off, without_kept_off
from siding.record.place.project import Project
from siding.record.recording.freed import refuse_freed
from siding.record.restoring.aside import listed
from siding.record.restoring.emptying import leaving, with_directories
from siding.record.restoring.immovable import CannotMove, Stuck, immovable
from siding.record.restoring.linking import with_links
from siding.record.restoring.obstacles import obstacles, of_others
from siding.record.restoring.plan import LeftPath, Restoration, Why, plan_restoration
from siding.record.restoring.task_index import ignored_now, ignored_there
from siding.record.returning.plan import GitReturn
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.mode_changes import mode_changes
from siding.record.snapshots.modes import Modes
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.recorded_modes import TreeState, modes_of
from siding.record.snapshots.room import place_for
from siding.record.snapshots.store import PEEKS, SnapshotStore

__all__ = [
    "Destination",
    "Here",
    "InTheWay",
    "Moving",
    "NeedsConsent",
    "RestoreRequest",
    "Survey",
    "quote_path",
    "refuse",
    "refuse_moving",
    "survey",
]

NAMED = 5  # paths named in a message; lists show the others
ASIDE = "aside"  # the directory in a place in the trash that holds what was moved out of the way


class NeedsConsent(SidingError):
    """The restoration needs consent: ``--force``, or a yes to the question.

    `concerns` are the reasons, one sentence each.
    """

    code = "needs_consent"

    def __init__(self, concerns: Sequence[str], *, hint: str | None = None) -> None:
        self.concerns = tuple(concerns)
        super().__init__(
            "; ".join(concerns),
            hint=hint or "--force goes on all the same; --dry-run shows what it does",
        )


class InTheWay(SidingError):
    """A file that is in no snapshot is where another one has to be written."""

    code = "in_the_way"


class Moving(SidingError):
    """Another process changed the workspace after it was looked at. Nothing was restored."""

    code = "moving"


class Destination(NamedTuple):
    """The state to restore and its name in messages. `coverage` is its snapshot's report, if
    any."""

    snapshot: Sha
    name: str
    coverage: Coverage | None


class RestoreRequest(NamedTuple):
    """The options of a restoration."""

    paths: tuple[bytes, ...] = ()  # below the workspace's root; empty: everything
    hard: bool = False  # ignored files go into the trash
    force: bool = False  # incomplete snapshots are used, obstacles go into the trash
    bring_back: tuple[str, ...] = ()  # places in the trash whose files return
    files_only: bool = False  # HEAD, the branch, the index and the phases stay as they are

    @property
    def takes_all(self) -> bool:
        """Whether all parts of the state are restored, and not only files."""
        return not (self.files_only or self.paths)


class Survey(NamedTuple):
    """What a restoration would do: planned changes, obstacles, and reasons to ask first."""

    destination: Destination
    request: RestoreRequest
    plan: Restoration
    aside: tuple[bytes, ...]  # ignored files and directories that go into the trash
    blocked: tuple[bytes, ...]  # paths that are in the way and in no snapshot
    concerns: tuple[str, ...]
    stuck: tuple[Stuck, ...] = ()  # what has to be moved and cannot be
    git: GitReturn | None = None  # what happens to HEAD, the branch, the index and the phases
    off: tuple[Change, ...] = ()  # what a sparse checkout keeps off the disk in that state

    @property
    def nothing_to_do(self) -> bool:
        plan = self.plan
        files = plan.writes or plan.deletes or plan.chmods or plan.made or plan.removed
        return not (files or self.aside or self.git)


class Here(NamedTuple):
    """The present state of the workspace: a tree that `store` can read, and what it lacks."""

    store: SnapshotStore
    root: WorktreeRoot
    tree: Sha
    coverage: Coverage
    modes: Modes | None


def survey(
    project: Project, task_id: TaskId, here: Here, destination: Destination, request: RestoreRequest
) -> Survey:
    """Return what restoring the destination would do. Changes nothing.

    Raises SnapshotFreed if its snapshot was freed.
    """
    store = here.store
    refuse_freed(project, destination.name, destination.snapshot)
    changes: Sequence[Change] = diff_trees(store, here.tree, destination.snapshot)
    ignored: set[bytes] = set()
    # With --hard a file that is recorded now and ignored there is deleted: the snapshot holds it.
    if not request.hard:
        own = place_for(store, PEEKS, project.app.random_bytes(8).hex())
        ignored = ignored_there(store, task_id, here.root, destination.snapshot, changes, place=own)
    for place in request.bring_back:  # files that come back from the trash replace what is there
        ignored -= set(listed(project.layout.root / place / ASIDE))
    there = destination.coverage or Coverage()
    modes = modes_of(store, destination.snapshot)
    now, then = (None if each is None else each.bare for each in (here.modes, modes))
    if then is not None:
        lacks = (skipped.path for skipped in there.skipped)
        then = then.with_unknown([*lacks, *there.ignored, *there.special])
    differ = changes
    off: tuple[Change, ...] = ()
    if request.takes_all:  # else the index stays, which says what is kept off
        off = kept_off(project, store, task_id, changes, destination.snapshot)
        changes = without_kept_off(changes, off)
    plan = plan_restoration(
        changes,
        unknown={skipped.path for skipped in (*here.coverage.skipped, *there.skipped)},
        ignored=ignored,
        paths=request.paths,
        directories=there.empty_dirs if then is None else then.empty,
        mode_changes=mode_changes(
            store,
            TreeState(tree=here.tree, modes=here.modes),
            TreeState(tree=destination.snapshot, modes=modes),
            changes=differ,
            empty_before=here.coverage.empty_dirs if now is None else now.empty,
            empty_after=there.empty_dirs if then is None else then.empty,
        ),
        modes=modes,
    )
    linked = here.modes.links if here.modes else None
    plan = with_links(store, plan, linked or (), destination.snapshot, request.paths)
    plan = with_directories(here.root, plan, changes, now, then, request.paths)
    plan = leaving(plan, worked_in(here.root.path, plan.removed))
    plan = _without_others(here.root, plan)
    aside: list[bytes] = []
    if request.hard:
        written = {change.path for change in plan.writes}
        found = ignored_now(store, task_id, here.root)
        aside = [p for p in _limited(found, request.paths) if p not in written]
    blocked = obstacles(here.root, plan, store.repository.object_format, leaving=aside)
    return Survey(
        destination=destination,
        request=request,
        plan=plan,
        aside=tuple(aside),
        blocked=tuple(blocked),
        concerns=tuple(_concerns(destination)),
        stuck=tuple(immovable(here.root, plan)),
        off=off,
    )


def _without_others(root: WorktreeRoot, plan: Restoration) -> Restoration:
    """Take files of other users out of the permission changes: only their owners may chmod them."""
    theirs = set(of_others(root, plan))
    if not theirs:
        return plan
    left = (*plan.left, *(LeftPath(path=path, why=Why.FOREIGN) for path in theirs))
    return plan._replace(
        left=tuple(sorted(left)),
        chmods=tuple(change for change in plan.chmods if change.path not in theirs),
    )


def refuse(found: Survey, *, even_incomplete: bool) -> None:
    """Raise NeedsConsent or InTheWay if the person has to agree first, CannotMove if no consent
    helps."""
    if found.stuck:
        raise CannotMove(found.stuck)
    force = found.request.force
    if found.concerns and not (force or even_incomplete):
        raise NeedsConsent(found.concerns)
    if found.blocked and not force:
        raise InTheWay(
            f"{len(found.blocked)} paths that are in no snapshot stand in the way: "
            + _some(found.blocked),
            hint="--force moves them into the trash first; or move them elsewhere yourself",
        )


def refuse_moving(changed: Sequence[bytes]) -> None:
    """Raise Moving if paths were changed after they were looked at."""
    if changed:
        raise Moving(
            f"the workspace is being changed by somebody else: {_some(changed)}",
            hint="nothing was done; end what works in there, then try again",
        )


def _concerns(destination: Destination) -> list[str]:
    """Return a sentence that says what the snapshot lacks, nothing if it is complete."""
    report = destination.coverage
    if report is None or report.complete:
        return []
    parts = []
    if skipped := report.skipped:
        named = ", ".join(f"{quote_path(s.path)} ({s.reason})" for s in skipped[:NAMED])
        parts.append(f"it lacks {named}" + _and_more(skipped))
    if report.nested:
        named = ", ".join(quote_path(path) for path in report.nested[:NAMED])
        parts.append(f"of the repositories in {named} only the files")
    if report.unstable:
        parts.append(f"{_some(report.unstable)} changed while it was taken")
    if report.foreign:
        parts.append(f"the owner of {_some(report.foreign)}, who is another user")
    if report.lacks_more:
        parts.append("its record does not say in what")
    return [f"the snapshot of {destination.name} is incomplete: " + "; ".join(parts)]


def _and_more(items: Sequence[object]) -> str:
    return f" and {len(items) - NAMED} more" if len(items) > NAMED else ""


def _limited(found: Sequence[bytes], paths: Sequence[bytes]) -> list[bytes]:
    """Return the paths of `found` at or below `paths`. Where `found` has a whole directory, return
    only the wanted path in it."""
    if not paths:
        return list(found)
    limited = {path for path in found if is_selected(path, paths)}
    limited |= {wanted for wanted in paths if any(is_under(wanted, path) for path in found)}
    return sorted(limited)


def _some(paths: Sequence[bytes]) -> str:
    shown = ", ".join(quote_path(path) for path in paths[:NAMED])
    return shown + _and_more(paths)
