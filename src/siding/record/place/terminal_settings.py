"""Read what the person's settings say about the terminal: the section `terminal`.

It is in the home's ``config.yaml`` only, because a terminal shows all projects.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple

OPENS = ("screen", "plain", "today")
THEMES = ("auto", "dark", "light", "sixteen", "none")


class TerminalSettings(NamedTuple):
    """What `siding` alone does at a terminal, and how that looks."""

    open: str = "screen"  # one of OPENS
    theme: str = "auto"  # one of THEMES
    mouse: bool = True
    keys: Mapping[str, Sequence[str]] = {}  # by `PLACE.ACT`, or ACT for all places


def terminal_settings(config: Path) -> TerminalSettings:
    """Return what a settings file says about the terminal; raise UsageError for nonsense."""
    try:
        raw = read_bytes(config, limit=1 << 20)
    except FileNotFoundError:
        return TerminalSettings()
    if b"terminal" not in raw:
        return TerminalSettings()
    # Most people have no such section, and yaml takes longer than the rest of the start.
    from siding.record.place.settings import parse_settings

    said = parse_settings(config, raw).get("terminal") or {}
    if not isinstance(said, dict):
        raise UsageError(f"terminal in {str(config)!r} should be a section, as `terminal:`")
    unknown = sorted(set(map(str, said)) - set(TerminalSettings._fields))
    if unknown:
        raise UsageError(
            f"terminal.{unknown[0]} in {str(config)!r} has no meaning",
            hint=f"there are: {', '.join(TerminalSettings._fields)}",
        )
    default = TerminalSettings()
    mouse = said.get("mouse", default.mouse)
    if not isinstance(mouse, bool):
        raise UsageError(f"terminal.mouse in {str(config)!r} should be true or false")
    return TerminalSettings(
        open=_one_of(said, "open", OPENS, config),
        theme=_one_of(said, "theme", THEMES, config),
        mouse=mouse,
        keys=_keys(said.get("keys") or {}, config),
    )


def _one_of(said: Mapping[str, Any], name: str, choices: Sequence[str], config: Path) -> str:
    found = said.get(name, choices[0])
    if found is False:  # YAML reads `off` as false
        found = "none" if name == "theme" else "today"
    if found not in choices:
        raise UsageError(
            f"terminal.{name} in {str(config)!r} is {found!r}", hint=f"one of {', '.join(choices)}"
        )
    return str(found)


def _keys(said: object, config: Path) -> dict[str, tuple[str, ...]]:
    if not isinstance(said, dict):
        raise UsageError(
            f"terminal.keys in {str(config)!r} should name acts", hint="as `home.next: n`"
        )
    found = {}
    for act, keys in said.items():
        listed = keys if isinstance(keys, list) else [keys]
        if not all(isinstance(each, str | int) for each in listed):
            raise UsageError(
                f"terminal.keys.{act} in {str(config)!r} is {keys!r}", hint="a key, or a list"
            )
        found[str(act)] = tuple(str(each) for each in listed)
    return found
