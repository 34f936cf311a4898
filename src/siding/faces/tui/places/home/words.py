"""The sentences of home that are about no row: the counts, and how to begin. Pure."""

from collections.abc import Mapping

from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.text import cells, cut, inert
from siding.feed.model import Feed, State

_COUNTED: Mapping[State, str] = {
    State.WAITS: "wait",
    State.BROKE: "broke",
    State.READY: "ready",
    State.RUNS: "run",
    State.RESTS: "rest",
}
WELCOME = (
    "Siding runs any coding agent on its own git worktree and records every step.",
    "",
    "Nothing is here yet. N begins a task in the repository that you are in:",
    "type the command of an agent, such as   claude -p 'fix the parser'",
    "",
    "In a shell it is   siding run --new -- claude -p 'fix the parser'",
)
QUIET = (
    "Nothing waits, runs, broke or is ready to apply.",
    "",
    "N begins a task. z shows what rests and what was done today.",
)


def counts_pieces(counts: Mapping[State, int], width: int, *, words: str, moved: int) -> Pieces:
    """Return the line at the top: how many rows are in each state, and the filter."""
    pieces: Pieces = []
    used = 0
    for state, word in _COUNTED.items():
        shown = f"{counts.get(state, 0)} {word}"
        if used + len(shown) > width:
            break
        here = counts.get(state, 0) > 0
        pieces.append((shown, state.value if here and state is not State.RESTS else "dim"))
        pieces.append(("   ", "text"))
        used += len(shown) + 3
    told = f"/ {inert(words)}" if words else ""
    if moved:
        told = f"{moved} moved, . sorts   {told}".rstrip()
    told = cut(told or "all projects   / filter", max(0, width - used))
    room = max(0, width - used - cells(told))
    return [*pieces, (" " * room, "text"), (told, "warn" if words or moved else "dim")]


def empty_lines(feed: Feed, words: str) -> tuple[str, ...]:
    """Return what is said where no row is shown; () where there are some."""
    if words and feed.rows:
        return (
            f"No row has {inert(words)!r} in its project, name, agent or state.",
            "",
            "esc takes the filter away.",
        )
    if not feed.projects:
        return WELCOME if feed.epoch or feed.problems else ("Reading what there is.",)
    if not any(row.state not in (State.RESTS, State.DONE) for row in feed.rows):
        return QUIET
    return ()
