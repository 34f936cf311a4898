"""The system prompt of the built-in agent: what lasts longest comes first.

| text                           | changes                                      |
|--------------------------------|----------------------------------------------|
| the base, with what is added   | with the version of Siding, and the options  |
| instruction files              | when somebody writes them                    |
| environment, git's state       | with each process                            |

Providers keep a prompt from its beginning to the first change. So the first two name no directory
of the task: they are the same in all tasks of a project in which the files are the same.
"""

from functools import lru_cache
from pathlib import Path

from siding.assistant.briefing import Briefing
from siding.assistant.loop.compaction import estimated
from siding.assistant.loop.context.files import InstructionFile, Omitted
from siding.assistant.loop.context.texts import (
    ContextPart,
    environment_text,
    file_text,
    instructions_text,
)
from siding.ground.namedtuples import NamedTuple

_SIDING = "Siding"
_OPTIONS = "the person's options"


class SystemPrompt(NamedTuple):
    """The fields `system` and `stable` of a turn's `Setup`."""

    system: tuple[str, ...]
    stable: int


def system_prompt(briefing: Briefing, *, base: str | None = None, more: str = "") -> SystemPrompt:
    """Return the system prompt. `base` replaces the usual text; `more` comes behind either."""
    first = "\n\n".join(part for part in (base_text(base), more.strip()) if part)
    lasting = (first, instructions_text(briefing.instructions))
    stable = tuple(text for text in lasting if text)
    last = environment_text(briefing.environment, briefing.git)
    return SystemPrompt((*stable, last), len(stable))


def base_text(base: str | None = None) -> str:
    """Return the beginning of the system prompt: Siding's own, if no other one is given."""
    return _own() if base is None else base.strip()


def context_parts(
    briefing: Briefing, *, base: str | None = None, more: str = ""
) -> tuple[ContextPart, ...]:
    """Return what the system prompt consists of, with sizes, in its order.

    Files that were found and are not shown are among the parts.
    """
    who = _SIDING if base is None else _OPTIONS
    parts = [
        _part("system prompt", who, base_text(base)),
        _part("added to it", _OPTIONS, more.strip()),
        *map(_of_file, briefing.instructions.files),
        *map(_of_omitted, briefing.instructions.omitted),
        _part("environment", _SIDING, environment_text(briefing.environment, briefing.git)),
    ]
    return tuple(part for part in parts if part.characters or part.note)


def _part(name: str, origin: str, text: str) -> ContextPart:
    return ContextPart(name, origin, characters=len(text), tokens=estimated(text))


def _of_file(file: InstructionFile) -> ContextPart:
    part = _part(file.name, file.origin.value, file_text(file))
    return part._replace(size=file.size, note="only its beginning is shown" if file.is_cut else "")


def _of_omitted(omitted: Omitted) -> ContextPart:
    return _part(omitted.name, omitted.origin.value, "")._replace(note=omitted.why.value)


@lru_cache(maxsize=1)
def _own() -> str:
    return Path(__file__).with_suffix(".md").read_text("utf-8").strip()
