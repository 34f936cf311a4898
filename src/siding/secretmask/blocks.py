"""A stream in which much has to be judged: it is judged block by block, or not at all.

A block that takes more steps than is fair takes them out of the stream's credit. When that is
spent, a block that takes little is still judged. One that takes more is masked unread, with all
that follows up to the next block that takes little, and its mark is ``[redacted:too-much]``. So
what is ordinary stays visible, and what is not judged is not shown.

Judging begins again only where nothing that began before can still go on: with the last bytes that
were masked judged too, at the beginning of a line, behind whatever could belong to a key.
"""

from typing import TYPE_CHECKING

from siding.secretmask.credit import Allowance, Meter, TooMuch
from siding.secretmask.keys import block_from
from siding.secretmask.rules import Rules
from siding.secretmask.span import LEFT, RIGHT, SecretSpan, mark
from siding.secretmask.window import Window

if TYPE_CHECKING:
    from siding.secretmask.sieve import Sieve

TAIL = LEFT + RIGHT  # bytes that were masked unread, and are judged to find what goes on
MARK = mark(b"too-much")
_SAYS = b" %s bytes were not read: they hold too much that could be a secret"


class BlockStream:
    """The rest of a stream, from the end of a block on.

    `window`: what is before it. `excess`: the steps that the block before took of the credit.
    `unread`: the bytes that were masked unread.
    """

    def __init__(
        self,
        rules: Rules,
        allowance: Allowance,
        window: Window,
        sieve: "Sieve | None",
        *,
        excess: int,
    ) -> None:
        self._rules = rules
        self._allowance = allowance
        self._window = window
        self._sieve = sieve
        self._credit = allowance.credit - excess
        self._parts: list[bytes] = []  # of the block that is coming in
        self._size = 0
        self._out: list[bytes] = []
        self._blind = False  # the last block was masked unread
        self._behind = 0  # bytes that were masked unread since the last one that was judged
        self._tail = b""  # the last of them
        self.unread = 0

    @property
    def held(self) -> int:
        """The number of bytes held back."""
        return self._size + (0 if self._blind else self._window.held)

    def feed(self, piece: bytes) -> bytes:
        """Add the next bytes; return what can be returned."""
        self._parts.append(piece)
        self._size += len(piece)
        if self._size >= self._allowance.block:
            data, start = b"".join(self._parts), 0
            while (end := self._allowance.end_of_block(data, start)) is not None:
                self._take(data[start:end], final=False)
                start = end
            self._parts, self._size = [data[start:]], len(data) - start
        return self._returned()

    def close(self) -> bytes:
        """Return the rest."""
        self._take(b"".join(self._parts), final=True)
        self._parts, self._size = [], 0
        if self._blind:
            self._end_mark(self._tail)
        return self._returned()

    def _returned(self) -> bytes:
        out, self._out = b"".join(self._out), []
        return out

    def _take(self, block: bytes, *, final: bool) -> None:
        """Judge a block if the credit allows it, or it takes little; else mask it."""
        fair, least = self._allowance.fair, self._allowance.least
        meter = Meter(fair + self._credit if self._credit > 0 else least)
        try:
            if not self._blind:
                self._go_on(block, meter, final=final)
            elif not self._begin_again(block, meter, final=final):
                self._mask(self._tail + block, len(block))
        except TooMuch:
            self._credit = 0
            if self._blind:
                self._mask(self._tail + block, len(block))
            else:
                self._begin_mark(block)
        else:
            self._credit -= max(0, meter.steps - fair)

    def _go_on(self, block: bytes, meter: Meter, *, final: bool) -> None:
        window = self._window
        data = window.data + block
        if window.done > len(data):  # a secret that was passed already is longer than the block
            window.keep(data, window.done)
            return
        spans = window.judge(data, final=final, meter=meter, sieve=self._sieve)
        if spans is not None:
            self._out += window.pass_on(data, spans, final=final)

    def _begin_mark(self, block: bytes) -> None:
        """Mask a block behind one that was judged, with what was held back of that."""
        self._blind = True
        self._behind = 0
        self._out.append(MARK)
        self._mask(self._window.data + block, self._window.held + len(block))

    def _mask(self, data: bytes, size: int) -> None:
        """Take note that the last `size` bytes of `data` are masked unread."""
        self.unread += size
        self._behind += size
        self._tail = data[-TAIL:]

    def _begin_again(self, block: bytes, meter: Meter, *, final: bool) -> bool:
        """Judge a block behind masked ones; return whether it can be told what goes on into it."""
        data = self._tail + block
        heads: list[int] = []
        spans = self._rules.find(data, final=final, sieve=self._sieve, meter=meter, heads=heads)
        begin = _clear(data, len(self._tail), spans, final=final)
        if begin is None:
            return False
        self.unread += begin - len(self._tail)
        self._behind += begin - len(self._tail)
        self._end_mark(data[:begin])
        self._blind = False
        self._window = Window(self._rules)
        self._window.data, self._window.done = data, begin
        self._window.heads = [at for at in heads if at >= begin]
        behind = [span for span in spans if span.start >= begin]
        self._out += self._window.pass_on(data, behind, final=final)
        return True

    def _end_mark(self, masked: bytes) -> None:
        self._out.append(_SAYS % f"{self._behind:,}".encode())
        if masked.endswith(b"\n"):
            self._out.append(b"\n")


def _clear(data: bytes, start: int, spans: list[SecretSpan], *, final: bool) -> int | None:
    """Return the first offset from `start` on that belongs to nothing that began before it.

    None if that cannot be told.
    """
    if data[start - 1] != 0x0A:  # within a line, a value may be longer than all that is in sight
        start = data.find(b"\n", start) + 1
        if start == 0:
            return None
    key = block_from(data, start, len(data), final=final, found=True)
    if key.open:
        return None
    start = key.end
    for span in spans:
        if span.start < start < span.end:
            if span.pending or span.open or span.end == len(data):
                return None
            start = span.end
    return start
