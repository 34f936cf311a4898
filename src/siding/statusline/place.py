"""What a screen shows, as far as the status line is about it."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple


class Place(NamedTuple):
    """What the line is about. `project` and `task` are as an address names them; "" for none."""

    project: str = ""
    task: str = ""
    lines_added: int = 0
    lines_removed: int = 0
    siding: Mapping[str, Any] = {}  # what else a script may want to show
    marks: tuple[str, ...] = ()  # they change with the task and its conversations
