"""The traps of a task that nobody has seen yet, and what is held until somebody has.

A trap is seen by its content: what was seen once is not asked again, in no task of the project, and
what changed since is.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from shlex import quote

from siding.ground.errors import SidingError
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.reports import Trap
from siding.record.place.locks import live_in
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.trust import TRAPS, add_all, trust_json, trusted_traps
from siding.record.recording.calling_step import refuse_inside_step
from siding.record.recording.difference import no_base
from siding.record.recording.line_base import line_base
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.store import SnapshotStore
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task
from siding.record.traps.finding import find_traps, reader_of
from siding.record.traps.left import Unrecorded, left_traps
from siding.record.traps.marks import mark_of
from siding.record.traps.settings import Hold, trap_settings

NEEDS_A_PERSON = 5  # the exit status of what the policy would ask, and nobody could be asked


class TrapsUnseen(SidingError):
    """Files that a program outside would run were not seen by a person. Nothing was changed."""

    code = "traps_unseen"
    exit_code = NEEDS_A_PERSON

    def __init__(self, task: Task, traps: Sequence[Trap], instead: str) -> None:
        super().__init__(unseen_words(traps), hint=f"{instead}. {ways_to_see(task.name)}")
        self.task = task
        self.traps = tuple(traps)


def unseen_words(traps: Sequence[Trap]) -> str:
    """Return the sentence about traps that nobody has seen."""
    shown = ", ".join(each.path for each in traps[:5])
    more = f" and {len(traps) - 5} more" if len(traps) > 5 else ""
    were, it = ("was", "it") if len(traps) == 1 else ("were", "them")
    return f"{shown}{more} {were} left for other programs to run, and nobody has seen {it} yet"


def ways_to_see(task: str) -> str:
    """Return the sentence that names the commands that show and accept the traps of a task."""
    see = f"siding trust -t {quote(task)}"
    return f"`{see} --show` shows what there is, `{see}` says that you have seen it"


def holds(project: Project, task_id: TaskId) -> bool:
    """Tell whether the traps of a task are held until somebody has seen them."""
    hold = trap_settings(project).hold
    return hold is Hold.ALWAYS or (hold is not Hold.NEVER and mark_of(project, task_id) is not None)


def traps_of_task(
    project: Project, workspace: Workspace, store: SnapshotStore, state: Sha
) -> tuple[Trap, ...]:
    """Return the traps of a task in a state (a snapshot or tree of `store`), seen or not."""
    changes = changes_of_task(project, workspace, store, state)
    return find_traps(trap_settings(project).table, changes, reader_of(store))


def changes_of_task(
    project: Project, workspace: Workspace, store: SnapshotStore, state: Sha
) -> list[Change]:
    """Return the paths in which traps of the task can be: those that differ from its base."""
    mark = mark_of(project, workspace.task_id)
    reference = line_base(project, workspace).snapshot
    # What a fork was made from may be gone with its task: then the fork's own base has to do.
    if mark is not None and mark.reference and store.present([mark.reference]):
        reference = Sha(mark.reference)
    return diff_trees(store, reference, state) if reference and reference != state else []


class TaskTraps(NamedTuple):
    """The traps of a task as it is now. `new` are those that nobody has seen.

    Of those in `unrecorded` no snapshot has the content: git ignores them.
    """

    task: Task
    traps: tuple[Trap, ...]
    new: tuple[Trap, ...]
    held: bool  # until somebody has seen them
    unrecorded: tuple[Trap, ...] = ()


def traps_now(project: Project, named: str | None) -> TaskTraps:
    """Return the traps in a task's workspace, or in its newest snapshot if it has none any more.

    While runs live, those of the newest step as well: an apply takes that.
    """
    task = select(project, named)
    workspace = project.workspaces.of_task(task.id)
    if workspace is None or not workspace.base_snapshot:
        raise no_base(task)
    last = project.ledger(task.id).last()
    found: dict[str, Trap] = {}
    left: tuple[Trap, ...] = ()
    is_there = Path(workspace.path).is_dir()
    if is_there:
        with TaskSnapshots(project, workspace).peek() as (seen, view):
            look = Unrecorded(seen.ignored, seen.coverage.nested)
            left = left_traps(project, workspace, look)
            traps = traps_of_task(project, workspace, view.store, seen.tree)
            found = {each.content: each for each in (*traps, *left)}
    if last is not None and last.snapshot and (not is_there or live_in(project, task.id)):
        traps = traps_of_task(project, workspace, project.snapshots, Sha(last.snapshot))
        found |= {each.content: each for each in traps}
    all_of_them = tuple(sorted(found.values()))
    new = not_seen(project, all_of_them)
    return TaskTraps(task, all_of_them, new, bool(new) and holds(project, task.id), left)


def not_seen(project: Project, traps: Iterable[Trap]) -> tuple[Trap, ...]:
    """Return those of the traps whose content nobody has seen."""
    found = tuple(traps)
    seen = trusted_traps(trust_json(project)) if found else {}
    return tuple(each for each in found if each.content not in seen)


def see(project: Project, traps: Iterable[Trap]) -> None:
    """Record that a person has seen these traps. Raises InsideStep."""
    refuse_inside_step(
        project,
        "what a run left for other programs to run is a person's to see",
        hint="`siding trust -t TASK` in a terminal of your own",
    )
    told = {each.content: {"path": each.path, "by": each.by} for each in traps}
    if told:
        add_all(project, TRAPS, told)
