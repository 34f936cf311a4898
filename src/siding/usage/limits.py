"""Limits of what agents may use, as the settings have them. What was used beside them: `reached`.

The limits are the section `usage` of settings. Two files are read: the person's for everything
(``config.yaml`` in Siding's home) and the one of this project, which replaces what it names. A
repository has no say in what a person may spend.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.ground.errors import UsageError
from siding.ground.files.regular import read_bytes
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.settings import is_default, parse_settings

OF = ("run", "task", "day")
_EXAMPLES = "5M, 500k, $20, or both: [5M, $20]"
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}
NO_LIMIT = 0.0  # in the place of one


class AtLimit(StrEnum):
    """What happens when a limit is reached."""

    WARN = "warn"  # the person is told
    PAUSE = "pause"  # the agent waits until a person has said whether it goes on
    STOP = "stop"  # the run is ended


class Amount(NamedTuple):
    """How much may be used; None is no limit."""

    tokens: int | None = None
    dollars: float | None = None


class UsageLimits(NamedTuple):
    """What a run, a task, and all agents of this machine on one day may use."""

    run: Amount = Amount()
    task: Amount = Amount()
    day: Amount = Amount()
    at_limit: AtLimit = AtLimit.WARN

    @property
    def is_set(self) -> bool:
        """Whether there is any limit."""
        return (self.run, self.task, self.day) != (Amount(),) * 3

    @property
    def of_dollars(self) -> bool:
        """Whether any limit is one of dollars."""
        return any(each.dollars is not None for each in (self.run, self.task, self.day))


def usage_limits(project: Project) -> UsageLimits:
    """Return the limits in force. Raises UsageError that names the file and the key."""
    said = {**_said_in(project.app.home.config_path), **_said_in(project.layout.config_yaml)}
    return UsageLimits(**said)


def amount_in(value: object) -> Amount | None:
    """Return the amount that a value of the settings stands for; None if it stands for none."""
    found = Amount()
    for word in value if isinstance(value, list) else [value]:
        if not isinstance(word, int | str):
            return None
        one = _one(str(word).strip().lower().replace("_", "").replace(",", ""))
        if one is None:
            return None
        found = found._replace(**{name: it for name, it in one._asdict().items() if it is not None})
    return None if found == Amount() else found


def _one(word: str) -> Amount | None:
    if word.startswith("$"):
        dollars = _number(word[1:])
        return None if dollars is None else Amount(dollars=dollars)
    unit = word[-1:] if word[-1:] in _UNITS else ""
    tokens = _number(word.removesuffix(unit))
    return None if tokens is None else Amount(tokens=round(tokens * _UNITS[unit]))


def _number(digits: str) -> float | None:
    whole, _, part = digits.partition(".")
    if not (whole + part).isascii() or not (whole + part).isdigit() or len(digits) > 18:
        return None
    return float(digits) or None


def _said_in(path: Path) -> dict[str, Any]:
    try:
        raw = read_bytes(path, limit=1 << 20)
    except FileNotFoundError:
        return {}
    if is_default(raw) or b"usage" not in raw:
        return {}
    section = parse_settings(path, raw).get("usage")
    if section is None:
        return {}
    if not isinstance(section, dict):
        raise _wrong(path, "usage", "a section", section)
    return _values(section, path)


def _values(section: Mapping[str, Any], path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in section.items():
        name = f"usage.{key}"
        if key not in (*OF, "at_limit"):
            raise UsageError(
                f"{name} in {str(path)!r} is no setting", hint="it has run, task, day and at_limit"
            )
        if value is None:
            continue
        if key == "at_limit":
            if value not in tuple(AtLimit):
                raise _wrong(path, name, f"one of {', '.join(AtLimit)}", value)
            found[key] = AtLimit(value)
        else:
            amount = amount_in(value)
            if amount is None:
                raise _wrong(path, name, f"tokens or dollars ({_EXAMPLES})", value)
            found[key] = amount
    return found


def _wrong(path: Path, name: str, wanted: str, value: object) -> UsageError:
    return UsageError(f"{name} in {str(path)!r} should be {wanted}, and is {value!r}")
