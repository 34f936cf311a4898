"""The state of the repository when the conversation begins, as the model is told."""

from collections.abc import Sequence

from siding.ground.git.paths import quote_path
from siding.ground.git.status import EntryKind, StatusEntry
from siding.ground.namedtuples import NamedTuple

MOST_ENTRIES = 40  # of the status
MOST_COMMITS = 5
_LONGEST = 200  # characters of a line


class GitState(NamedTuple):
    """The state of a checkout. `task` is Siding's task and `base` what it began from, "" for none.

    `status` has the lines of `git status --short`, of which `more` are left out. `problem` says
    why a part is missing.
    """

    branch: str = ""
    task: str = ""
    base: str = ""
    status: tuple[str, ...] = ()
    more: int = 0
    commits: tuple[str, ...] = ()
    problem: str = ""


def short_status(entries: Sequence[StatusEntry]) -> tuple[tuple[str, ...], int]:
    """Return the first lines of ``git status --short``, and the number of the others."""
    shown = tuple(map(_short, entries[:MOST_ENTRIES]))
    return shown, len(entries) - len(shown)


def one_line(text: str) -> str:
    """Return a text of the repository as a short line without control characters."""
    line = "".join(each if each.isprintable() else " " for each in text)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"


def lines_of(state: GitState) -> list[str]:
    """Return the state as lines."""
    lines = [f"Branch: {state.branch or 'none, a commit is checked out'}"]
    if state.task:
        base = f", which began from {one_line(state.base)}" if state.base else ""
        lines.append(f"Task of Siding: {one_line(state.task)}{base}")
    if state.problem:
        lines.append(state.problem)
    else:
        lines += ["Status:", *state.status] if state.status else ["Status: nothing is uncommitted"]
    if state.more:
        lines.append(f"and {state.more:,} more")
    return [*lines, "Last commits:", *state.commits] if state.commits else lines


def _short(entry: StatusEntry) -> str:
    letters = "??"
    if entry.kind is not EntryKind.UNTRACKED:
        letters = f"{entry.staged}{entry.unstaged}".replace(".", " ")
    return one_line(f"{letters} {quote_path(entry.path)}")
