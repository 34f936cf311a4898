"""The proxy of a run, as far as every run needs to know it; `sandbox.proxy` has the rest."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import Command, Outcome
from siding.record.acts.skeleton import Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.run_details import RunDetail
from siding.record.runs.file_names import WIRE
from siding.record.runs.run import Run
from siding.running.request import RunRequest
from siding.sandbox.sandbox import SandboxPlan

if TYPE_CHECKING:
    from siding.ground.process.broker.lookout import Lookout
    from siding.ground.storage.layout import TaskLayout
    from siding.sandbox.proxy import RunningProxy, WirePlan


class Wire(NamedTuple):
    """A command as it is started, and its proxy if it has one."""

    command: Command
    sandbox: SandboxPlan
    proxy: "RunningProxy | None" = None
    notes: tuple[str, ...] = ()

    @property
    def beside(self) -> "tuple[Lookout, ...]":
        return () if self.proxy is None else (self.proxy.lookout,)

    @property
    def locks(self) -> tuple[int, ...]:
        """What keeps the proxy alive where the run survives its host."""
        return () if self.proxy is None else (self.proxy.lifeline,)

    def noted(self, outcome: Outcome) -> Outcome:
        """Return the outcome with what is to be said of the proxy."""
        notes = self.notes
        if self.proxy is not None and self.proxy.ended_at:
            what = "its way to the allowed hosts" if self.sandbox.hosts is not None else "metering"
            notes = (
                *notes,
                f"{what} ended at {self.proxy.ended_at}: the proxy was killed, or failed; "
                "nothing after that went through it",
            )
        return outcome._replace(notes=(*outcome.notes, *notes))


def wire_plan_of(work: Work, request: RunRequest, sandbox: SandboxPlan) -> "WirePlan | None":
    """Return what of a run goes through a proxy; None for nothing. Raises UsageError."""
    by_setting = request.meter is None and work.project.settings.agents_meter
    if not (request.meter or by_setting or sandbox.hosts is not None):
        return None
    from siding.sandbox.proxy import wire_plan

    return wire_plan(
        work.project, request.argv[0], request.meter, sandbox, is_recorded=request.record
    )


@contextmanager
def wired(
    work: Work, plan: "WirePlan | None", sandbox: SandboxPlan, command: Command, run: Run
) -> Iterator[Wire]:
    """Yield the command as it is started, with a proxy that lives until the end of the block."""
    if plan is None:
        yield Wire(command, sandbox)
        return
    from siding.sandbox.proxy import opened

    path = _file_of(work.recorder.layout, run) if run.is_recorded else None
    with opened(work.project, plan, sandbox, command, path, run.broker) as found:
        yield Wire(*found)


def with_wire(work: Work, run: Run, draft: Draft, wire: Wire, plan: "WirePlan | None") -> Draft:
    """Return the draft with what passed the run's proxy, which has ended; unchanged without one."""
    if plan is None:
        return draft
    from siding.record.wire.report import report_of_run

    ended_at = "" if wire.proxy is None else wire.proxy.ended_at
    report = report_of_run(work.recorder.layout, run.id, metered=plan.meters, ended_at=ended_at)
    assert isinstance(draft.detail, RunDetail)
    return draft._replace(detail=draft.detail._replace(wire=report))


def _file_of(layout: "TaskLayout", run: Run) -> str:
    return os.path.join(layout.runs_dir, f"{run.id}{WIRE}")
