"""Hold a run without a sandbox while its workspace has traps that nobody has seen."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.guard.ruling import Ruling
from siding.record.acts.skeleton import Work
from siding.record.recording.recorder import Recorder
from siding.record.runs.run import Run
from siding.record.traps.marks import may_hold
from siding.sandbox.sandbox import SandboxPlan

if TYPE_CHECKING:
    from siding.record.ledger.reports import Trap
    from siding.record.snapshots.capture import Capture
    from siding.record.snapshots.peek import Peek

# Shows traps to a person, and returns whether they have seen them.
AskSeen = Callable[["tuple[Trap, ...]"], bool]


def rule_on_traps(work: Work, ruling: Ruling, sandbox: SandboxPlan, ask: AskSeen | None) -> Ruling:
    """Return whether the command may run beside what was left for other programs to run.

    In a sandbox it may: what it starts is confined as it is. `ask` is None if nobody can be asked.
    The caller holds the task's lock.
    """
    stays_in = sandbox.launch is not None or bool(sandbox.refusal)
    if not ruling.runs or stays_in or not may_hold(work.project, work.task.id):
        return ruling
    from siding.record.recording import held_traps as held

    project, task = work.project, work.task
    traps = held.not_seen(project, _traps(work)) if held.holds(project, task.id) else ()
    if not traps:
        return ruling
    if ask is not None and ask(traps):
        held.see(project, traps)
        return ruling
    hint = f"run it with --sandbox, or look first: {held.ways_to_see(task.name)}"
    return ruling._replace(runs=False, reason=held.unseen_words(traps), hint=hint, by_traps=True)


def note_before(recorder: Recorder, run: Run) -> None:
    """Note what is there of traps that no snapshot has, before a sandboxed run starts."""
    from siding.record.traps.left import Unrecorded, begin

    live = [each.id for each in recorder.runs.live()]
    if recorder.has_seen:
        seen = recorder.seen
        look = Unrecorded(seen.ignored, seen.coverage.nested)
    else:
        with recorder.snapshots.look() as found:  # for a run that makes no step
            look = Unrecorded(found.ignored, found.coverage.nested)
    begin(recorder.project, recorder.workspace, run.id, live, look)


def _traps(work: Work) -> "tuple[Trap, ...]":
    """Return the traps of the task, seen or not, those that no snapshot has as well."""
    from siding.record.recording.held_traps import traps_of_task

    recorder, project = work.recorder, work.project
    if recorder.has_seen:
        seen, store = recorder.seen, project.snapshots
        traps = traps_of_task(project, recorder.workspace, store, seen.snapshot)
        return (*traps, *_left(recorder, seen))
    with recorder.snapshots.peek() as (found, view):  # of a run that makes no step
        traps = traps_of_task(project, recorder.workspace, view.store, found.tree)
        return (*traps, *_left(recorder, found))


def _left(recorder: Recorder, found: "Capture | Peek") -> "tuple[Trap, ...]":
    from siding.record.traps.left import Unrecorded, left_traps, settle

    look = Unrecorded(found.ignored, found.coverage.nested)
    settle(recorder.project, recorder.workspace, [each.id for each in recorder.runs.live()], look)
    return left_traps(recorder.project, recorder.workspace, look)
