"""The page of all keys, from the tables that the places have."""

from collections.abc import Iterable
from pathlib import Path

from siding.faces.tui.keys import EVERYWHERE, Key
from siding.faces.tui.places.home.keys import KEYS as OF_HOME
from siding.faces.tui.places.task.keys import (
    OF_COMPOSER,
    OF_OUTPUT,
    OF_PATCH,
    OF_QUEUE,
    OF_SEARCH,
    OF_STEPS,
    OF_TALK,
    OF_TASK,
    SHEET,
)

PAGE = Path("docs/reference/keys.md")
TABLES: tuple[tuple[str, str, Iterable[Key]], ...] = (
    ("Everywhere", "", EVERYWHERE),
    ("Home", "home", OF_HOME),
    ("A task", "task", OF_TASK),
    ("Its conversation", "task", OF_TALK),
    ("While you type to its agent", "task", OF_COMPOSER),
    ("In what waits for its agent", "task", OF_QUEUE),
    ("Its patch", "task", OF_PATCH),
    ("Its steps", "task", OF_STEPS),
    ("Its output", "task", OF_OUTPUT),
    ("While something is searched in it", "task", OF_SEARCH),
    ("While a plan or a choice is shown in it", "task", SHEET),
)
_BEGIN = """\
# Keys of the terminal

Every place shows its own keys with `?`; what is typed there filters, and enter runs one. Two keys
one after the other have a space between them. A key that a place has itself comes before one that
counts everywhere.

Each can be changed in `config.yaml` of Siding's home, by the name of its act, for one place or for
all of them. Only keys that every terminal can send are taken.

```yaml
terminal:
  keys:
    home.next: J
    palette: [ctrl+p, ctrl+k]
```
"""


def page() -> str:
    """Return the whole page."""
    parts = [_BEGIN]
    for title, place, keys in TABLES:
        prefix = f"{place}." if place else ""
        rows = [f"| {_keys(each)} | `{prefix}{each.act}` | {each.says} |" for each in keys]
        parts.append(
            "\n".join([f"## {title}", "", "| key | act | |", "| --- | --- | --- |", *rows])
        )
    return "\n".join(f"{part.rstrip()}\n" for part in parts)


def _keys(key: Key) -> str:
    return " ".join(f"`` {each} ``" if "`" in each else f"`{each}`" for each in key.keys).replace(
        "|", "\\|"
    )
