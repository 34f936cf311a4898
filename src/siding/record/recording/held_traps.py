"""The traps of a task that nobody has seen yet, and what is held until somebody has.

A trap is seen by its content: what was seen once is not asked again, in no task of the project, and
what changed since is.
"""

from collections.abc import Iterable, Sequence
from shlex import quote

from siding.ground.errors import SidingError
from siding.ground.ids import Sha, TaskId
from siding.record.ledger.reports import Trap
from siding.record.place.project import Project
from siding.record.recording.line_base import line_base
from siding.record.snapshots.patches import diff_trees
from siding.record.snapshots.store import SnapshotStore
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task
from siding.record.traps.marks import mark_of
from siding.record.traps.traps import Hold, find_traps, reader_of, trap_settings

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
    reference = trap_reference(project, workspace, store)
    if not reference or reference == state:
        return ()
    changes = diff_trees(store, reference, state)
    return find_traps(trap_settings(project).table, changes, reader_of(store))


def trap_reference(project: Project, workspace: Workspace, store: SnapshotStore) -> Sha:
    """Return the snapshot with which a task began, "" if unknown: traps are in what differs."""
    mark = mark_of(project, workspace.task_id)
    reference = line_base(project, workspace).snapshot
    # What a fork was made from may be gone with its task: then the fork's own base has to do.
    if mark is not None and mark.reference and store.present([mark.reference]):
        reference = Sha(mark.reference)
    return reference


def not_seen(project: Project, traps: Iterable[Trap]) -> tuple[Trap, ...]:
    """Return those of the traps whose content nobody has seen."""
    found = tuple(traps)
    if not found:
        return ()
    from siding.record.place.trust import trust_json, trusted_traps

    seen = trusted_traps(trust_json(project))
    return tuple(each for each in found if each.content not in seen)


def see(project: Project, traps: Iterable[Trap]) -> None:
    """Record that a person has seen these traps. Raises InsideStep."""
    from siding.record.place.trust import TRAPS, add_all
    from siding.record.recording.calling_step import refuse_inside_step

    refuse_inside_step(
        project,
        "what a run left for other programs to run is a person's to see",
        hint="`siding trust -t TASK` in a terminal of your own",
    )
    told = {each.content: {"path": each.path, "by": each.by} for each in traps}
    if told:
        add_all(project, TRAPS, told)
