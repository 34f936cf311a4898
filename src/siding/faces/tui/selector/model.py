"""Which agents, shells and workflows work beside a conversation, which is chosen, which is shown.

No clock, no screen. The first choice is always the conversation itself, called main. One that has
ended stays for 30 s, so that it can still be looked at, and as long as it is shown. The cursor is
on a row and not on a number: when a row goes, it moves to the one that takes its place.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from siding.ground.namedtuples import NamedTuple

GRACE_S = 30.0
MAIN = ""  # the key of the conversation itself
KEYS = ("up", "down", "enter", "escape", "x")


class Kind(StrEnum):
    """What works there."""

    AGENT = "agent"  # a helper of the conversation's agent
    SHELL = "shell"  # what it has running in the background
    WORKFLOW = "workflow"  # a run of one
    MEMBER = "member"  # an agent of a workflow


class End(StrEnum):
    """How it ended; "" while it works."""

    NONE = ""
    DONE = "done"
    FAILED = "failed"


class Entry(NamedTuple):
    """One that works, or has worked. Times are seconds of the clock that the selector is given."""

    key: str
    kind: Kind
    name: str  # what it is: its type, its agent
    about: str = ""  # what it is to do
    started_s: float = 0.0
    ended_s: float | None = None
    end: End = End.NONE
    tokens: int = 0  # 0: not known
    address: str = ""  # where it can be looked at, if it has a place of its own
    part: str = ""  # below which part of the story it can be, if it has none

    @property
    def is_running(self) -> bool:
        return self.end is End.NONE

    def lasted_s(self, now: float) -> float:
        """Return for how long it has worked: after its end that is the same for ever."""
        return max(0.0, (now if self.ended_s is None else self.ended_s) - self.started_s)


class Row(NamedTuple):
    """An entry of the list. `leaves_at`: when it goes; None while it works or is shown."""

    entry: Entry
    leaves_at: float | None = None


class View(NamedTuple):
    """Show this one in place of what is shown; MAIN is the conversation."""

    key: str


class Stop(NamedTuple):
    """End this one."""

    entry: Entry


class Leave(NamedTuple):
    """The keys go back to where they came from."""


Act = View | Stop | Leave


class Selector(NamedTuple):
    """The list."""

    rows: tuple[Row, ...] = ()  # in the order in which they began
    is_focused: bool = False  # the keys go to it
    cursor: str = MAIN  # while it is focused
    viewed: str = MAIN
    dismissed: frozenset[str] = frozenset()  # are not listed again

    @property
    def keys(self) -> list[str]:
        """The keys from the top to the bottom."""
        return [MAIN, *(row.entry.key for row in self.rows)]

    @property
    def highlighted(self) -> str:
        """The key of the row that stands out."""
        return self.cursor if self.is_focused else self.viewed

    @property
    def wake_at(self) -> float | None:
        """When the next row goes; None for none."""
        return min((row.leaves_at for row in self.rows if row.leaves_at is not None), default=None)

    def entry(self, key: str) -> Entry | None:
        """Return the entry with a key."""
        return next((row.entry for row in self.rows if row.entry.key == key), None)


class Step(NamedTuple):
    """What a key makes of a selector, and what is to be done."""

    selector: Selector
    acts: Sequence[Act] = ()


def taken(selector: Selector, entries: Iterable[Entry], now: float) -> Selector:
    """Return the selector with what is known now. One that is not there any more has ended."""
    given = {each.key: each for each in entries if each.key not in selector.dismissed}
    rows = []
    for row in selector.rows:
        entry = given.pop(row.entry.key, None) or _over(row.entry, now)
        rows.append(_kept(selector, row, entry, now))
    for entry in given.values():
        ended_s = entry.ended_s if entry.ended_s is not None else now
        if entry.is_running or entry.key == selector.viewed or ended_s + GRACE_S > now:
            rows.append(_kept(selector, None, entry, now))
    rows.sort(key=lambda row: (row.entry.started_s, row.entry.key))
    return _settled(selector, rows)


def _over(entry: Entry, now: float) -> Entry:
    return entry._replace(end=End.DONE, ended_s=now) if entry.is_running else entry


def _kept(selector: Selector, before: Row | None, entry: Entry, now: float) -> Row:
    """Return the row of an entry: its 30 s begin when it ends, and are not begun anew."""
    if entry.is_running:
        return Row(entry)
    if entry.ended_s is None:
        known = None if before is None else before.entry.ended_s
        entry = entry._replace(ended_s=now if known is None else known)
    if entry.key == selector.viewed:
        return Row(entry)
    if before is not None and before.leaves_at is not None:
        return Row(entry, before.leaves_at)
    return Row(entry, (entry.ended_s if before is None and entry.ended_s else now) + GRACE_S)


def expired(selector: Selector, now: float) -> Selector:
    """Return the selector without the rows whose time is over."""
    rows = [row for row in selector.rows if row.leaves_at is None or row.leaves_at > now]
    return selector if len(rows) == len(selector.rows) else _settled(selector, rows)


def _settled(selector: Selector, rows: Sequence[Row]) -> Selector:
    """Return the selector with these rows, the cursor on one of them, or without the keys."""
    after = selector._replace(rows=tuple(rows))
    if selector.cursor not in after.keys:
        place = selector.keys.index(selector.cursor) if selector.cursor in selector.keys else 0
        after = after._replace(cursor=after.keys[min(place, len(after.keys) - 1)])
    if not rows:
        return unfocused(after)
    return after


def focused(selector: Selector) -> Selector:
    """Give it the keys, with the cursor on main. An empty one takes none."""
    if not selector.rows:
        return selector
    return selector._replace(is_focused=True, cursor=MAIN)


def unfocused(selector: Selector) -> Selector:
    """Take the keys away from it."""
    return selector._replace(is_focused=False, cursor=MAIN)


def press(selector: Selector, key: str, now: float) -> Step:
    """Return what a key does while the selector has the keys."""
    keys, at = selector.keys, selector.keys.index(selector.cursor)
    if key == "escape" or (key == "up" and at == 0):
        return Step(unfocused(selector), (Leave(),))
    if key == "up":
        return Step(selector._replace(cursor=keys[at - 1]))
    if key == "down":
        return Step(selector._replace(cursor=keys[min(at + 1, len(keys) - 1)]))
    if key == "enter":
        return view(selector, selector.cursor, now)
    if key == "x":
        return stop_or_clear(selector, selector.cursor, now)
    return Step(selector)


def view(selector: Selector, key: str, now: float) -> Step:
    """Show one, or main. The one that was shown may go from now on, if it has ended."""
    if key == selector.viewed or key not in selector.keys:
        return Step(selector)

    def retained(row: Row) -> Row:
        if row.entry.key == key:
            return row._replace(leaves_at=None)
        if row.entry.key == selector.viewed and not row.entry.is_running:
            return row._replace(leaves_at=now + GRACE_S)
        return row

    rows = tuple(map(retained, selector.rows))
    return Step(selector._replace(rows=rows, viewed=key), (View(key),))


def stop_or_clear(selector: Selector, key: str, now: float) -> Step:
    """End one that works; take one that has ended off the list, and show main in its place."""
    entry = selector.entry(key)
    if entry is None:
        return Step(selector)
    if entry.is_running:
        return Step(selector, (Stop(entry),))
    step = view(selector, MAIN, now) if key == selector.viewed else Step(selector)
    rows = [row for row in step.selector.rows if row.entry.key != key]
    after = _settled(step.selector, rows)._replace(dismissed=selector.dismissed | {key})
    return Step(after, step.acts)
