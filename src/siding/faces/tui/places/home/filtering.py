"""Which rows a filter leaves: those with all words in project, name, agent, state or id. Pure."""

from collections.abc import Sequence

from siding.feed.model import Row, State

_STATES = {state.value for state in State}


def filtered(rows: Sequence[Row], words: str) -> list[Row]:
    """Return the rows that have all words, with those above and below them.

    A word that is a state is only that: `runs` does not find a task that is called so.
    """
    wanted = words.casefold().split()
    if not wanted:
        return list(rows)
    by_key = {row.key: row for row in rows}
    kept: set[str] = set()
    for row in rows:
        if _has(row, wanted):
            kept.add(row.key)
            above = by_key.get(row.parent)
            while above is not None and above.key not in kept:
                kept.add(above.key)
                above = by_key.get(above.parent)
    hit = {row.key for row in rows if _has(row, wanted)}
    return [row for row in rows if row.key in kept or _is_below(row, hit, by_key)]


def _has(row: Row, wanted: Sequence[str]) -> bool:
    text = f"{row.project_name} {row.name} {row.agent} {row.id} {row.kind}".casefold()
    return all(row.state == word if word in _STATES else word in text for word in wanted)


def _is_below(row: Row, hit: set[str], by_key: dict[str, Row]) -> bool:
    seen = {row.key}
    above = by_key.get(row.parent)
    while above is not None and above.key not in seen:
        if above.key in hit:
            return True
        seen.add(above.key)
        above = by_key.get(above.parent)
    return False
