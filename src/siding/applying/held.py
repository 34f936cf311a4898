"""Hold an apply until a person has seen the traps in it."""

from collections.abc import Sequence
from functools import partial

from siding.applying.content import Sources
from siding.applying.plan import ApplyPlan
from siding.record.ledger.reports import Trap
from siding.record.moving.bench import Bench
from siding.record.place.project import Project
from siding.record.recording.held_traps import TrapsUnseen, holds, not_seen, see, trap_reference
from siding.record.tasks.task import Task
from siding.record.traps.traps import find_traps, reader_of, trap_settings


def with_traps(sources: Sources, plan: ApplyPlan) -> ApplyPlan:
    """Return the plan with the traps in it that nobody has seen."""
    if not plan.changes:
        return plan
    project = sources.project
    found = not_seen(project, _traps_of(sources, plan))
    return plan._replace(traps=found, holds=bool(found) and holds(project, sources.task.id))


def require_seen(project: Project, task: Task, plan: ApplyPlan, *, seen: bool) -> None:
    """Raise TrapsUnseen if the plan is held. With `seen`, record that a person has seen them."""
    if not plan.holds:
        return
    if not seen:
        raise TrapsUnseen(task, plan.traps, "nothing was applied")
    see(project, plan.traps)


def _traps_of(sources: Sources, plan: ApplyPlan) -> list[Trap]:
    """Return the traps among what the plan changes on its target.

    Their content is that of the workspace, and not what a merge or a filter makes of it: so what
    was seen in the workspace has been seen. Of what is not there, such as an ignored file that was
    committed all the same, it is what arrives.
    """
    project, store = sources.project, sources.bench.store
    table = trap_settings(project).table
    reference, state = trap_reference(project, sources.workspace, store), plan.wanted.snapshot
    same = not reference or reference == state
    changes = [] if same else sources.bench.changes_between(reference, state)
    own = {each.path for each in changes}
    arriving = {each.path: each for each in plan.changes if each.status != "D"}
    there = find_traps(table, (c for c in changes if c.path in arriving), reader_of(store))
    others = [change for path, change in arriving.items() if path not in own]
    return [*there, *find_traps(table, others, partial(_read, sources.bench))]


def _read(bench: Bench, shas: Sequence[str]) -> dict[str, bytes]:
    found = zip(shas, bench.find(shas, kind=b"blob"), strict=True)
    return {sha: body for sha, body in found if body is not None}
