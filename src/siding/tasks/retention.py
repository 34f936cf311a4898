"""Plan which snapshots and patches `gc --older` frees. Nothing is changed here.

Which steps may go is the rule of `record/ledger/freed.py`. Here it is put together with what
else names a state, and with what the store would get back.

A patch of a binary file has its content twice, as text, so patches can be the largest thing on
disk. Small ones stay: people read them, and they take next to no room.
"""

import stat
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta

from siding.ground.git.errors import GitError
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.freed import freeable
from siding.record.ledger.step import Step
from siding.record.place.busy import acting_in
from siding.record.place.project import Project
from siding.record.recording.freed import freed_record
from siding.record.snapshots.task_line import TaskLine, read_line
from siding.record.snapshots.thinning import unneeded
from siding.tasks.recorded_tasks import CHECKOUT, RecordedTask, recorded_checkouts, recorded_tasks

SMALLEST = 64 * 1024  # bytes; smaller patches stay
BLOCK = 512  # bytes; POSIX counts blocks in this unit


class TaskRetention(NamedTuple):
    """What of one task is freed: snapshots, each with the ids of the steps whose state it is.

    Of a checkout it is the turns beside its branch, by their numbers.
    `bytes` is what only these snapshots take in the store, as it is stored now. `patches` are what
    the patches that go take on disk, by the ids of their steps.
    """

    task: RecordedTask
    snapshots: Mapping[str, tuple[str, ...]]
    bytes: int
    patches: Mapping[str, int] = {}

    @property
    def steps(self) -> list[str]:
        return sorted((step for steps in self.snapshots.values() for step in steps), key=int)


class Retention(NamedTuple):
    """What a freeing would free.

    `dropped` are the objects that would go, with their sizes. `lines` are the commits of every task
    in the store. `blocked` says why nothing can be freed: what a task needs cannot be told. `alone`
    are tasks whose record is not whole. `passed` says of tasks in which runs live what lives there,
    as one phrase each: nothing of these is freed.
    """

    older_s: float
    tasks: tuple[TaskRetention, ...] = ()
    dropped: Mapping[str, int] = {}
    lines: Mapping[TaskId, TaskLine] = {}
    alone: tuple[RecordedTask, ...] = ()
    blocked: str = ""
    freed_before: frozenset[str] = frozenset()
    passed: Mapping[TaskId, str] = {}

    @property
    def bytes(self) -> int:
        return sum(self.dropped.values())

    @property
    def steps(self) -> int:
        return sum(len(each.steps) for each in self.tasks if each.task.state != CHECKOUT)

    @property
    def turns(self) -> int:
        """How many turns beside a branch lose one of their two snapshots, or both."""
        beside = [each for each in self.tasks if each.task.state == CHECKOUT]
        return sum(len(set(each.steps)) for each in beside)

    @property
    def patches(self) -> int:
        return sum(len(each.patches) for each in self.tasks)

    @property
    def patch_bytes(self) -> int:
        return sum(size for each in self.tasks for size in each.patches.values())

    @property
    def freed(self) -> set[str]:
        """All snapshots that are freed then, with those that were freed before."""
        return {*self.freed_before, *(sha for each in self.tasks for sha in each.snapshots)}


def plan_retention(
    project: Project,
    older_s: float,
    *,
    only: "Retention | None" = None,
    spared: Collection[str] = (),
) -> Retention:
    """Return what may be freed of steps that are older than `older_s` seconds, and what is left of
    steps that were freed before.

    With `only`, no other snapshots and patches than that has. `spared` are contents that stay. A
    task in which a run lives is passed over: what its line will name is not known before it has
    ended.
    """
    before = project.app.clock.now() - timedelta(seconds=older_s)
    shown = None if only is None else {sha for each in only.tasks for sha in each.snapshots}
    shown_patches = {} if only is None else {each.task.id: each.patches for each in only.tasks}
    checkouts = recorded_checkouts(project)
    tasks = [*recorded_tasks(project), *(each.record for each in checkouts)]
    record = freed_record(project)
    # Whatever the journal says, this is never taken for freed.
    never = {sha for task in tasks for sha in task.never}
    freed = frozenset(record.of_all().keys() - never)
    whole = [task for task in tasks if not task.alone and task.state != CHECKOUT]
    passed = {task.id: what for task in whole if (what := acting_in(project, task.id))}
    found: dict[TaskId, dict[str, tuple[str, ...]]] = {}
    patches: dict[TaskId, dict[str, int]] = {}
    for task in whole:
        if task.id in passed:
            continue
        may = freeable(task.steps, before=before, is_open=task.state == "open", lost=task.lost)
        found[task.id] = {
            sha: tuple(step.id for step in steps)
            for sha, steps in may.items()
            if sha not in task.named and sha not in freed and (shown is None or sha in shown)
        }
        if task.state == "closed":
            old = [step for sha, steps in may.items() if sha not in task.named for step in steps]
            patches[task.id] = {
                step: size
                for step, size in patches_to_free(project, task, old).items()
                if only is None or step in shown_patches.get(task.id, ())
            }
    for each in checkouts:
        found[each.record.id] = {
            sha: turns
            for sha, turns in each.freeable(before).items()
            if sha not in freed and (shown is None or sha in shown)
        }
    alone = tuple(task for task in tasks if task.alone)
    empty = Retention(older_s, alone=alone, freed_before=freed, passed=passed)
    if not any(found.values()) and not any(patches.values()) and not freed:
        return empty
    if record.problems:
        return empty._replace(blocked=f"freed.jsonl is not as it was written: {record.problems[0]}")
    try:
        lines = {task.id: _line(project, task) for task in tasks}
        return _measured(project, empty._replace(lines=lines), tasks, found, patches, spared)
    except GitError as error:
        return empty._replace(blocked=str(error))


def _line(project: Project, task: RecordedTask) -> TaskLine:
    """Return the commits of a task; none of one whose snapshots are known to be lost."""
    try:
        return read_line(project.snapshots, task.id)
    except GitError:
        if task.lost:
            return TaskLine(Sha(""), {}, (), frozenset())
        raise


def _measured(
    project: Project,
    plan: Retention,
    tasks: Collection[RecordedTask],
    found: Mapping[TaskId, Mapping[str, tuple[str, ...]]],
    patches: Mapping[TaskId, Mapping[str, int]],
    spared: Collection[str],
) -> Retention:
    """Leave out what would bring nothing back, and measure the rest."""
    going = {sha for each in found.values() for sha in each} | plan.freed_before
    stays = {tree for line in plan.lines.values() for tree in line.kept(going)}
    store, held = project.snapshots, [*stays, *spared]
    retained: list[TaskRetention] = []
    for task in tasks:
        line = plan.lines[task.id]
        chosen = {
            sha: steps
            for sha, steps in found.get(task.id, {}).items()
            if (there := line.snapshots.get(Sha(sha))) is not None
            and not stays.issuperset(there.trees)
        }
        size = sum(unneeded(store, line.freed(chosen), held).values()) if chosen else 0
        if chosen or patches.get(task.id):
            retained.append(TaskRetention(task, chosen, size, patches.get(task.id, {})))
    plan = plan._replace(tasks=tuple(retained))
    freed = plan.freed
    trees = {tree for line in plan.lines.values() for tree in line.freed(freed)}
    return plan._replace(dropped=unneeded(store, trees, held))


def patches_to_free(project: Project, task: RecordedTask, old: Iterable[Step]) -> dict[str, int]:
    """Return the bytes on disk of the large patches of these steps of a closed task, by step.

    The ledger has to name a patch and its hash: that is what is left of it.
    """
    layout, found = project.task_layout(task.id), {}
    twice = {step for step, times in Counter(each.id for each in task.steps).items() if times > 1}
    for step in old:
        path = layout.artifact(step.number, "patch")
        named = step.artifacts.get("patch") == f"artifacts/{path.name}"
        if not named or not step.patch_sha256 or step.id in twice:
            continue
        try:
            seen = path.lstat()
        except FileNotFoundError:
            continue
        if stat.S_ISREG(seen.st_mode) and seen.st_size >= SMALLEST:
            found[step.id] = seen.st_blocks * BLOCK
    return found
