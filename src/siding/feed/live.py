"""A feed that is kept up to date: woken by files and by ends of processes, and counted.

Nothing starts a process by the clock. While a run prints and somebody watches, the fold is asked
once a second; once in some minutes it is told that everything may have changed, because a hint can
be lost where this code is wrong.
"""

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Protocol

from siding.feed.ends import Ends
from siding.feed.model import Change, Feed, RowKind, difference
from siding.feed.watch import Watch
from siding.ground.errors import SidingError
from siding.record.place.wiring import HomeHidden

GATHER_S = 0.015  # a hint is followed by others; and a lock is freed a moment after its file closed
PRINTS_EVERY_S = 1.0
RETRY_S = 2.0  # after a look that failed as a whole
NET_S = 120.0
_MOST_ROUNDS = 5  # of looking and following what the look has found


class Fold(Protocol):
    """Makes rows of files. `siding.feed.fold.HomeFold` is the one there is."""

    def look(self) -> Feed:
        """Return the feed as it is now."""

    def touched(self, paths: Collection[Path]) -> None:
        """Take note that these may have changed; nothing named: everything may have."""

    def directories(self) -> set[Path]:
        """Return the directories whose entries matter."""

    def living(self) -> set[int]:
        """Return the processes whose end no file tells."""


class LiveFeed:
    """A fold, what wakes it, and the count of its changes. It is used by one thread."""

    def __init__(
        self,
        fold: Fold,
        watch: Watch,
        ends: Ends,
        *,
        root: Path,
        epoch: int,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._fold = fold
        self._root = root  # in it the directory of the projects begins
        self._watch = watch
        self._ends = ends
        self._monotonic = monotonic
        self._look_at: float | None = None
        self._rested_until = 0.0  # a look that took long is followed by a pause as long
        self._prints_at = self._net_at = monotonic()
        self.is_watched = True  # somebody looks at what runs
        self.feed = Feed(epoch, 0, (), (), (), 0)

    def begin(self) -> Feed:
        """Look for the first time, and return the feed."""
        after = self._looked()
        self.feed = after._replace(epoch=self.feed.epoch, seq=0)
        self._look_soon(self._monotonic())
        return self.feed

    def filenos(self) -> list[int]:
        """Return the descriptors that can be read when `step` has something to do."""
        return [fd for fd in (self._watch.fileno(), self._ends.fileno()) if fd >= 0]

    def due(self) -> float:
        """Return when `step` is to be called though nothing can be read."""
        moments = [self._net_at + NET_S, self._look_at, self._watch.due, self._ends.due]
        if self._prints():
            moments.append(self._prints_at + PRINTS_EVERY_S)
        return min(each for each in moments if each is not None)

    def step(self) -> Change | None:
        """Do what is due, without waiting; return the change if there is one."""
        now = self._monotonic()
        self._take_hints(now)
        if now >= self._net_at + NET_S:
            self._net_at = now
            self._touched(now, ())
        if self._look_at is not None and now >= self._look_at:
            return self._look()
        if self._prints() and now >= self._prints_at + PRINTS_EVERY_S:
            return self._look()
        return None

    def close(self) -> None:
        self._watch.close()
        self._ends.close()

    def _take_hints(self, now: float) -> None:
        hints = self._watch.hints()
        if hints.everything:
            self._touched(now, ())
        elif hints.paths:
            self._touched(now, hints.paths)
        if self._ends.ended():
            self._touched(now, ())

    def _touched(self, now: float, paths: Collection[Path]) -> None:
        self._fold.touched(paths)
        self._look_soon(now)

    def _look_soon(self, now: float) -> None:
        if self._look_at is None:
            self._look_at = max(now + GATHER_S, self._rested_until)

    def _prints(self) -> bool:
        """Tell whether somebody watches a run of which no file tells what it does.

        What a conversation does, its host says.
        """
        if not self.is_watched:
            return False
        chats = [row for row in self.feed.rows if row.kind is RowKind.CHAT]
        held = {(key, row.run) for row in chats for key in (row.key, row.parent)}
        return any(row.run and (row.key, row.run) not in held for row in self.feed.rows)

    def _look(self) -> Change | None:
        """Look, count the change, and follow what there is now."""
        begun = self._monotonic()
        self._look_at = None
        after = self._looked()
        change = difference(self.feed, after, epoch=self.feed.epoch, seq=self.feed.seq + 1)
        ended = self._monotonic()
        self._prints_at = ended
        self._rested_until = ended + (ended - begun)
        if change is not None:
            self.feed = after._replace(epoch=change.epoch, seq=change.seq)
        return change

    def _looked(self) -> Feed:
        """Return what there is, after everything that it is made of is followed."""
        for _ in range(_MOST_ROUNDS):
            found = self._safe_look()
            self._ends.follow(self._fold.living())
            # What happens in a directory before it is followed is told by nobody: look again.
            new = self._watch.follow({self._root, *self._fold.directories()})
            if not new:
                return found
            self._fold.touched(new)
        self._look_soon(self._monotonic())
        return found

    def _safe_look(self) -> Feed:
        try:
            found = self._fold.look()
        except HomeHidden:
            raise
        except (SidingError, OSError) as error:
            self._fold.touched(())
            self._look_at = self._monotonic() + RETRY_S
            told = error.message if isinstance(error, SidingError) else str(error)
            found = self.feed._replace(problems=(f"the projects cannot be read: {told}",))
        if not self._watch.slow:
            return found
        late = f"slow watch: {self._watch.slow}, so changes are seen up to a second late"
        return found._replace(problems=(*found.problems, late))
