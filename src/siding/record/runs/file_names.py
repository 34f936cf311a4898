"""How the files of a run are called, beside its record ``runs/<id>.json``."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from siding.record.runs.run import Run

RECORD, SOCKET = ".json", ".sock"
WIRE = ".wire"  # what passed the proxy of the run (`siding.sandbox.wire`)
PAUSED = "paused"  # the processes that an act has stopped (`paused`)
LEFT = ".left"  # what the run left running when it ended (`left`)
AGENT = ".agent"  # what the run's agent has reported (`reported`)


def socket_of(directory: Path, run: "Run") -> Path:
    """Return where the host of a run listens to those who watch it."""
    return directory / f"{run.id}{SOCKET}"
