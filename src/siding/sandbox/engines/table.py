"""The table of engines: the best first. A new engine is a file and a row here."""

from siding.sandbox.engines.bwrap import Bwrap
from siding.sandbox.engines.landlock import Landlock
from siding.sandbox.engines.port import SandboxEngine
from siding.sandbox.engines.values import Engine

ENGINES: tuple[SandboxEngine, ...] = (Bwrap(), Landlock())
_BY_NAME = {engine.name: engine for engine in ENGINES}


def engine_of(name: Engine) -> SandboxEngine:
    """Return the engine of this name."""
    return _BY_NAME[name]
