"""What it costs to start the agent: CPU time and memory of each phase, measured in new processes.

Each phase is a fresh interpreter that does what the phase does and says what it has used by then.
A phase includes those before it. CPU time is that of the process, so a busy machine changes little.
"""

import json
import os
import sys
from pathlib import Path

from siding.agents.own.providers import PROVIDERS
from siding.assistant.models.names import named
from siding.assistant.models.scripted import PROVIDER as SCRIPTED
from siding.assistant.starting import model_or_none
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import CannotStart, TimedOut, run_captured
from siding.ground.storage.codec import NotJson
from siding.ground.storage.fields import mapping, whole
from siding.record.place.wiring import App

_LONGEST_S = 120.0
_KIB = 1024
_PACKAGE = Path(__file__).parents[3]

# What each phase does, in Python. The last words of each are `_TELL`.
_PHASES = (
    ("python", "the interpreter alone", ""),
    ("version", "`siding --version`", "import siding.faces.cli.main"),
    (
        "command",
        "any command",
        "import siding.faces.cli.main, siding.faces.cli.globals, siding.faces.cli.help",
    ),
    ("agent", "the agent with its tools", "import siding.faces.cli.assistant.serving"),
)
_LIBRARIES = (
    "import siding.faces.cli.assistant.serving, siding.assistant.models.requests, "
    "siding.assistant.models.makers.{maker}"
)
_TELL = """
import sys
modules = len(sys.modules)
import json, resource
used = resource.getrusage(resource.RUSAGE_SELF)
cpu = round((used.ru_utime + used.ru_stime) * 1e6)
print(json.dumps({"cpu": cpu, "memory": used.ru_maxrss, "modules": modules}))
"""


class StartPhase(NamedTuple):
    """A phase of the start. `problem`: why it was not measured, "" if it was."""

    name: str
    about: str
    cpu_us: int = 0  # microseconds
    memory: int = 0  # bytes, the most that were resident
    modules: int = 0  # of Python
    problem: str = ""


def start_phases(app: App) -> list[StartPhase]:
    """Measure the phases of the start."""
    phases = list(_PHASES)
    maker = _maker(app)
    if maker:
        about = f"and the libraries of {model_or_none(app)}"
        phases.append(("libraries", about, _LIBRARIES.format(maker=maker)))
    return [_measured(app, *phase) for phase in phases]


def _maker(app: App) -> str:
    """Return the module that makes the usual model; "" if it needs no library."""
    try:
        found = named(model_or_none(app), frozenset({SCRIPTED, *PROVIDERS}))
    except SidingError:
        return ""
    return "" if found.provider == SCRIPTED else PROVIDERS[found.provider].maker[0]


def _measured(app: App, name: str, about: str, code: str) -> StartPhase:
    phase = StartPhase(name, about)
    places = [str(_PACKAGE), app.env.get("PYTHONPATH", "")]
    env = {**app.env, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    try:
        done = run_captured((sys.executable, "-c", code + _TELL), env=env, timeout_s=_LONGEST_S)
    except (CannotStart, TimedOut) as error:
        return phase._replace(problem=str(error))
    if done.returncode != 0:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return phase._replace(problem=last or f"exit status {done.returncode}")
    try:
        told = mapping(json.loads(done.stdout.splitlines()[-1]))
    except (NotJson, ValueError, IndexError):
        return phase._replace(problem="it said nothing that can be read")
    scale = 1 if sys.platform == "darwin" else _KIB  # of ru_maxrss
    return phase._replace(
        cpu_us=whole(told.get("cpu")),
        memory=whole(told.get("memory")) * scale,
        modules=whole(told.get("modules")),
    )
