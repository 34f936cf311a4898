"""Kinds of files by their names: ``py``, ``rust``, ``js``. The table is ripgrep's (15.2)."""

import json
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path

from siding.assistant.tools.search.request import SearchFailed


def names_of(kind: str) -> tuple[str, ...]:
    """Return the patterns of the names that files of a kind have. Raises SearchFailed."""
    table = _table()
    if kind not in table:
        like = get_close_matches(kind, table, n=4)
        told = f"like it are {', '.join(like)}" if like else "use `glob`, such as *.ext"
        raise SearchFailed(f"There is no type {kind!r}; {told}.")
    return table[kind]


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[str, ...]]:
    rows = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    return {name: tuple(globs) for name, globs in rows.items()}
