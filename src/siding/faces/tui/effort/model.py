"""The panel of efforts: where its cursor is, what holds, and what a key does. Pure.

The last position is no effort: it stands for a workflow of many agents, and choosing it changes
nothing but says how one is begun.
"""

from enum import StrEnum

from siding.ground.namedtuples import NamedTuple


class Position(StrEnum):
    """The positions, from the fastest to the one that thinks most."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"
    ULTRA = "ultra"


POSITIONS = tuple(Position)
USUAL = Position.HIGH  # shown where nothing is known of the effort
ULTRA_IS = "xhigh + workflows"
UNCHANGED = "the effort is as it was"
ULTRA_SAID = (
    "ultra is no effort: it stands for many agents at work. `siding workflow` begins a workflow; "
    "the effort is as it was"
)


class Outcome(StrEnum):
    """What comes of the panel when it is left."""

    APPLY = "apply"
    ULTRA = "ultra"
    CANCEL = "cancel"


class Left(NamedTuple):
    """The panel was left; `position` is where its cursor was."""

    outcome: Outcome
    position: Position


class Panel(NamedTuple):
    """What the panel shows."""

    cursor: Position = USUAL
    active: Position | None = None  # what holds, as far as it is one of these
    about: str = ""  # whose effort it is
    variable: str = ""  # of the environment: it goes before what is chosen
    override: str = ""  # what the variable says; "": it is not set
    refusal: str = ""  # why nothing can be chosen; the panel can only be left then


def level_of(said: str) -> Position | None:
    """Return the effort of a word; None for a number, another word, or none."""
    word = said.strip().lower()
    return Position(word) if word in POSITIONS and word != Position.ULTRA else None


def opened(effort: str, *, about: str = "", variable: str = "", override: str = "") -> Panel:
    """Return the panel as it opens: on what the variable says, else on what holds."""
    said = level_of(override)
    active = said or level_of(effort)
    return Panel(
        cursor=active or USUAL,
        active=active,
        about=about,
        variable=variable,
        override=override.strip(),
    )


def left(at: Position) -> Position:
    """Return the position before; the first one stays."""
    return POSITIONS[max(0, POSITIONS.index(at) - 1)]


def right(at: Position) -> Position:
    """Return the position behind; the last one stays."""
    return POSITIONS[min(len(POSITIONS) - 1, POSITIONS.index(at) + 1)]


_LEFT, _RIGHT = ("left", "h", "up", "k"), ("right", "l", "down", "j")
_CANCEL = ("escape", "q", "ctrl+c", "ctrl+q")


def press(panel: Panel, key: str) -> Panel | Left:
    """Return the panel after a key, or what came of it. A key without a meaning changes nothing."""
    if key in _CANCEL:
        return Left(Outcome.CANCEL, panel.cursor)
    if panel.refusal:
        return panel
    if key == "enter":
        is_ultra = panel.cursor is Position.ULTRA
        return Left(Outcome.ULTRA if is_ultra else Outcome.APPLY, panel.cursor)
    if key in _LEFT:
        return panel._replace(cursor=left(panel.cursor))
    if key in _RIGHT:
        return panel._replace(cursor=right(panel.cursor))
    if key == "home":
        return panel._replace(cursor=POSITIONS[0])
    if key == "end":
        return panel._replace(cursor=POSITIONS[-1])
    return panel
