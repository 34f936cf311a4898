"""Whether the host of a run that lives is there: a run may survive it."""

from siding.ground.process.identity import started_of
from siding.record.runs.run import Run


def has_host(run: Run) -> bool:
    """Tell whether the host of a run lives.

    Without one its keeper holds it until it has ended (`ground.process.keeper.program`).
    """
    return not run.keeper.pid or started_of(run.host.pid) == run.host.started
