"""How much may be judged: the steps that judging takes, and the credit of a stream.

Finding the places where a secret could be takes a fixed time for each byte. Judging one takes 1 to
20 µs, so bytes full of such places pass a hundred times more slowly than a log. A stream therefore
has a credit. It is cut into blocks of about 64 kB, at the ends of lines. Each block may take a fair
number of steps; what it takes beyond that is paid with the credit. A step is about half a
microsecond. The first block that takes nearly what is fair, or more, ends the part of the stream
that is judged as it comes; `blocks` says what happens to the rest.

What a block takes depends on its bytes alone, not on the pieces in which they came: it is counted
once more, over the block by itself, if the steps that were taken while it came are not clearly
within what is fair. In ordinary output they are.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.span import LEFT

T = TypeVar("T")


class TooMuch(Exception):
    """Judging takes more steps than it may."""


class Meter:
    """Counts steps; raises `TooMuch` when there are more than `most`."""

    def __init__(self, most: int | None = None) -> None:
        self.steps = 0
        self._most = most

    def spend(self, steps: int) -> None:
        """Count what was done, or is about to be done."""
        self.steps += steps
        if self._most is not None and self.steps > self._most:
            raise TooMuch

    def each(self, items: Iterable[T], steps: int) -> Iterator[T]:
        """Yield the items, each of which takes so many steps."""
        for item in items:
            self.spend(steps)
            yield item


class Allowance(NamedTuple):
    """What a stream may take.

    A block has `block` bytes and ends with the line it ends in, but at most `LEFT` bytes later. It
    may take `fair` steps; more of them come out of the `credit`. When that is spent, a block may
    take `least` steps. A block within `near` of what is fair ends the part that is judged as it
    comes, too, or each one like it would be counted by itself. `slack`: the
    steps by which two counts of the same bytes may differ.
    """

    block: int = 1 << 16
    fair: int = 14_200
    least: int = 8_000
    credit: int = 1_000_000
    near: int = 1_000
    slack: int = 500

    def end_of_block(self, data: bytes, start: int, size: int = 0) -> int | None:
        """Return where a block ends of which ``data[start:]`` is next; None if it goes on.

        `size`: how much of the block came before.
        """
        most = start + self.block + LEFT - size
        end = data.find(b"\n", max(start, start + self.block - size - 1), most)
        if end >= 0:
            return end + 1
        return most if len(data) >= most else None


ALLOWANCE = Allowance()


class Incoming:
    """The block that is coming in while a stream is judged as it comes.

    `find` judges bytes by themselves: that of `Rules`.
    """

    def __init__(self, find: Callable[..., object], allowance: Allowance) -> None:
        self._find = find
        self._allowance = allowance
        self._before = b"\n"  # the bytes before the block that a rule may look at
        self._parts: list[tuple[bytes, int, int]] = []  # the block so far: slices of what came
        self._steps = 0  # that were taken on the block, and on what came with it
        self.size = 0
        self.excess = 0  # steps of the last block beyond what is fair

    def unfair_end(self, data: bytes, start: int, steps: int) -> int | None:
        """Add ``data[start:]``, which took `steps`.

        Returns the end of the first block that takes more than is fair, None if there is none.
        """
        self._steps += steps
        unfair = self._allowance.fair - self._allowance.near
        while (end := self._allowance.end_of_block(data, start, self.size)) is not None:
            self._parts.append((data, start, end))
            if self._steps > unfair - self._allowance.slack:
                count = self._count()
                if count > unfair:
                    self.excess = max(0, count - self._allowance.fair)
                    return end
            self._begin_block(steps)
            start = end
        if start == len(data):
            self._steps = 0
        # A copy, so that `data` is let go: memory that is used again is still in the cache.
        self._parts.append((data[start:], 0, len(data) - start))
        self.size += len(data) - start
        return None

    def _begin_block(self, steps: int) -> None:
        data, start, end = self._parts[-1]
        self._before = data[end - LEFT : end] if end - start >= LEFT else self._bytes()[-LEFT:]
        self._parts.clear()
        self.size = 0
        self._steps = steps

    def _bytes(self) -> bytes:
        """Return the block, and what is before it."""
        return self._before + b"".join(data[start:end] for data, start, end in self._parts)

    def _count(self) -> int:
        """Return the steps that the block by itself takes, or what a stream may take at most."""
        most = self._allowance.fair + self._allowance.credit
        meter = Meter(most)
        try:
            self._find(self._bytes(), final=False, meter=meter)
        except TooMuch:
            return most
        return meter.steps
