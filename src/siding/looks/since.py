"""The patch since a state that a person chooses: their last look, a turn, or the base.

A look is kept with all that the workspace had at that moment, also what no step has yet.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.looks.marking import refuse_inside_run
from siding.looks.store import Look, Looks
from siding.record.ledger.turns import reported_turns
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import known_workspace, workspace_of
from siding.record.recording.difference import Difference, KeptState, difference
from siding.record.recording.freed import freed_snapshots
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.runs.reported import title_of
from siding.record.snapshots.kept_look import keep_look as keep
from siding.record.tasks.task import Task, WorkspaceState

TERMINAL = "terminal"  # the device that the command line and the terminal are
LOOK, BASE = "look", "base"
_KEEPS = "`siding viewed --all` keeps one; `siding diff` shows the whole change"
_TURNS = 50  # that are offered


class Start(NamedTuple):
    """A state since which the change can be shown: `name` is what `changed_since` takes."""

    name: str
    title: str
    at: str


def keep_look(project: Project, named: str | None, *, device: str = TERMINAL) -> Task:
    """Keep the present state of a task as the one that a person saw last, on this device."""
    refuse_inside_run(project)
    task = select(project, named)
    workspace = known_workspace(project, task)
    layout, at = project.task_layout(task.id), project.app.now()
    snapshots = TaskSnapshots(project, workspace)
    if workspace.status is WorkspaceState.REMOVED:
        with Looks.changing(layout) as looks:
            looks.last[device] = Look(snapshots.tip() or workspace.base_snapshot, "", at)
        return task
    name = project.app.random_bytes(6).hex()
    with snapshots.look() as found, Looks.changing(layout) as looks:
        sha = keep(found, looks.root / name, at=int(project.app.clock.now().timestamp()))
        looks.last[device] = Look(sha, name, at)
    return task


def last_look(project: Project, named: str | None, *, device: str = TERMINAL) -> KeptState:
    """Return the state that a person saw last. Raises NotFound if none was kept."""
    task = select(project, named)
    looks = Looks.read(project.task_layout(task.id))
    look = looks.last.get(device)
    if look is None:
        raise NotFound(f"no look at task {task.name!r} was kept", hint=_KEEPS)
    kept = KeptState(look.snapshot, looks.objects_of(look), LOOK)
    store = TaskSnapshots(project, known_workspace(project, task), beside=kept.objects).store
    if store.git.attempt(store.place(), ["cat-file", "-e", f"{look.snapshot}^{{tree}}"]).returncode:
        raise NotFound(
            f"the state in which you saw task {task.name!r} last is gone: its files were freed "
            "with a snapshot, or are lost",
            hint=_KEEPS,
        )
    return kept


def starts(project: Project, named: str | None, *, device: str = TERMINAL) -> list[Start]:
    """Return since what the change can be shown: my last look, the base, turns from the newest on.

    A turn stands for the state after it. Turns whose snapshots were freed are left out.
    """
    task = select(project, named)
    look = Looks.read(project.task_layout(task.id)).last.get(device)
    found = [] if look is None else [Start(LOOK, "my last look", look.at)]
    found.append(Start(BASE, "base", task.created_at))
    workspace = workspace_of(project, task)
    if workspace is None:
        return found
    freed, lost = freed_snapshots(project), workspace.lost_until
    turns = [
        turn
        for turn in reported_turns(project.ledger(task.id).steps())
        if turn.stands and turn.last.snapshot not in (None, *freed) and turn.last.number > lost
    ]
    for turn in turns[: -_TURNS - 1 : -1]:
        step, title = turn.last, title_of(turn.detail.prompts)
        found.append(Start(str(step.number), f"turn {step.number}: {title}", step.ended_at))
    return found


@contextmanager
def changed_since(
    project: Project, named: str | None, start: str, *, device: str = TERMINAL
) -> Iterator[Difference]:
    """Yield what changed since a state of `starts`, up to now. Raises NotFound."""
    point = last_look(project, named, device=device) if start == LOOK else start
    with difference(project, named, at=None, start=point, end=None) as found:
        assert isinstance(found, Difference)  # only a step may be a recorded patch
        yield found
