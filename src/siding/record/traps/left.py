"""What sandboxed runs left where no snapshot looks: noted between their begin and their end.

Of what git ignores there is no patch that says what a run changed. So the contents of these places
are noted before a sandboxed run starts, and compared when it is over. What differs is its, and is
held until a person has seen it; what others change while no sandboxed run lives is theirs, and a
person's editor and installations ask nobody.

The caller of all of this holds the task's lock.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from siding.ground.errors import UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import DamagedFile, read_document_or_none, write_document
from siding.ground.storage.fields import mapping, strings, text
from siding.record.ledger.reports import Trap
from siding.record.place.project import Project
from siding.record.place.trust import trust_json, trusted_traps
from siding.record.tasks.registry import Workspace
from siding.record.traps.settings import TrapSettings, trap_settings
from siding.record.traps.unrecorded import unrecorded_traps

LEFT_VERSION = 1


class Unrecorded(NamedTuple):
    """The places of a workspace that no snapshot has, as a look at it found them."""

    ignored: Sequence[bytes]
    nested: Sequence[bytes]


class Left(NamedTuple):
    """What is known of a task's traps that no snapshot has.

    `known` are their contents at the last look, `runs` the sandboxed runs that lived then: what
    changed since counts as theirs. `left` are the paths that such runs changed, and of which no
    person has seen what is there.
    """

    known: Mapping[str, str]
    runs: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def begin(
    project: Project, workspace: Workspace, run: str, live: Collection[str], look: Unrecorded
) -> None:
    """Note what is there before a sandboxed run starts. `live` are the runs that live by now."""
    before = _read(project, workspace.task_id)
    now = _contents(traps_there(project, workspace, look))
    if before is None:
        _write(project, workspace.task_id, Left(now, (run,)))
        return
    if before.runs:
        before = _settled(before, now)
    runs = tuple(each for each in before.runs if each in live)
    _write(project, workspace.task_id, before._replace(known=now, runs=(*runs, run)))


def settle(
    project: Project, workspace: Workspace, live: Collection[str], look: Unrecorded
) -> tuple[Trap, ...]:
    """Note what sandboxed runs have left since the last look; return it.

    `live` are the runs that go on. What a person has seen meanwhile is not theirs any more.
    """
    before = _read(project, workspace.task_id)
    if before is None or not (before.runs or before.left):
        return ()
    there = traps_there(project, workspace, look)
    now = _contents(there)
    after = _settled(before, now) if before.runs else before
    new = [path for path in after.left if path in now and before.known.get(path) != now[path]]
    seen = trusted_traps(trust_json(project))
    after = Left(
        now if before.runs else before.known,
        tuple(run for run in before.runs if run in live),
        tuple(path for path in after.left if path in now and now[path] not in seen),
    )
    if after != before:
        _write(project, workspace.task_id, after)
    if not before.runs:
        return ()
    how = {path: "changed" if path in before.known else "made" for path in new}
    return tuple(there[path]._replace(how=how[path]) for path in sorted(new))


def left_traps(project: Project, workspace: Workspace, look: Unrecorded) -> tuple[Trap, ...]:
    """Return what sandboxed runs left that is still there, seen or not; nothing is noted."""
    found = _read(project, workspace.task_id)
    if found is None or not (found.runs or found.left):
        return ()
    there = traps_there(project, workspace, look)
    left = _settled(found, _contents(there)).left if found.runs else found.left
    return tuple(there[path] for path in sorted(left) if path in there)


def carry(project: Project, giver: TaskId, taker: TaskId) -> None:
    """Note what was left in a workspace that another task gets, or gets ignored files of.

    What runs of the giver have changed since the last look counts as left, too.
    """
    found = _read(project, giver)
    if found is not None and (found.runs or found.left):
        _write(project, taker, found)


def traps_there(project: Project, workspace: Workspace, look: Unrecorded) -> dict[str, Trap]:
    """Return the traps in these places now, by path.

    A mistake in the settings keeps no run from being recorded: then the table counts as it comes.
    """
    try:
        table = trap_settings(project).table
    except UsageError:
        table = TrapSettings().table
    return unrecorded_traps(table, Path(workspace.path), look.ignored, look.nested)


def _settled(before: Left, now: Mapping[str, str]) -> Left:
    changed = (path for path, content in now.items() if before.known.get(path) != content)
    return before._replace(left=tuple(sorted({*before.left, *changed})))


def _contents(there: Mapping[str, Trap]) -> dict[str, str]:
    return {path: each.content for path, each in there.items()}


def _read(project: Project, task_id: TaskId) -> Left | None:
    path = project.task_layout(task_id).traps_json
    try:
        found = read_document_or_none(path, what="the traps of the task", version=LEFT_VERSION)
    except DamagedFile:
        return Left({}, ("unknown",))  # then all that is there may be a run's
    if found is None:
        return None
    known = {str(path): text(content) for path, content in mapping(found.get("known")).items()}
    return Left(known, strings(found.get("runs")), strings(found.get("left")))


def _write(project: Project, task_id: TaskId, left: Left) -> None:
    document = {
        "version": LEFT_VERSION,
        "known": dict(left.known),
        "runs": list(left.runs),
        "left": list(left.left),
    }
    write_document(project.task_layout(task_id).traps_json, document)
