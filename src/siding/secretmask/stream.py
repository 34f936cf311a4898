"""Redact bytes that come in pieces; the result does not depend on where the pieces are cut."""

from typing import TYPE_CHECKING

from siding.secretmask.credit import ALLOWANCE, Allowance, Incoming, Meter
from siding.secretmask.rules import Rules
from siding.secretmask.span import LEFT, RIGHT
from siding.secretmask.window import BLANKS, Window

if TYPE_CHECKING:
    from siding.secretmask.blocks import BlockStream
    from siding.secretmask.sieve import Sieve

SIEVE_AFTER = 1 << 21  # bytes; what is longer pays for loading what searches faster
_SMALL = 4096  # a smaller piece without a blank is only stored: nothing can be returned yet
_MANY = 4  # blocks that are judged at once
_THIN, _FULL = 0.024, 0.18  # steps a byte: where that needs no care, and as many as are fair


class Stream:
    """Redacts one stream: `feed` piece after piece, then `close`.

    When `sieve_after` bytes have come, the searches are done by a sieve, if it can be loaded; with
    None they never are. The outcome is the same. `allowance`: how much may be judged.
    """

    def __init__(
        self,
        rules: Rules,
        *,
        sieve_after: int | None = SIEVE_AFTER,
        allowance: Allowance = ALLOWANCE,
    ) -> None:
        self._rules = rules
        self._allowance = allowance
        self._until_sieve = sieve_after
        self._sieve: Sieve | None = None
        self._window = Window(rules)
        self._incoming = Incoming(rules.find, allowance)
        self._uncounted = 0  # bytes in the window that are not yet in the incoming block
        self._stop: int | None = None  # the offset in the stream from which blocks are judged
        self._rest: BlockStream | None = None  # what comes behind it
        self._density = _FULL  # steps a byte of what was judged last

    @property
    def held(self) -> int:
        """The number of bytes held back."""
        return self._window.held if self._rest is None else self._rest.held

    @property
    def unread(self) -> int:
        """The number of bytes that were masked unread, because too much had to be judged."""
        return 0 if self._rest is None else self._rest.unread

    def feed(self, piece: bytes | memoryview) -> bytes:
        """Add the next bytes; return the redacted bytes that later ones cannot change."""
        out, at = [], 0
        while at < len(piece):
            end = len(piece) if self._rest is not None else self._end(piece, at)
            out.append(self._feed(piece[at:end]))
            at = end
        return out[0] if len(out) == 1 else b"".join(out)

    def _end(self, piece: bytes | memoryview, at: int) -> int:
        """Return up to where ``piece[at:]`` is judged at once.

        The more has to be judged, the less, so that the steps taken on one block are not taken for
        those on another.
        """
        allowed = self._allowance
        if self._density < _THIN:
            return min(len(piece), at + _MANY * allowed.block)
        size = self._incoming.size + self._uncounted
        if size >= allowed.block:
            return len(piece)
        blocks = max(1, min(_MANY, int(_FULL / self._density)))
        most = bytes(piece[at : at + blocks * (allowed.block + LEFT)])
        done = 0
        for _ in range(blocks):
            end = allowed.end_of_block(most, done, size)
            if end is None:
                break
            done, size = end, 0
        return at + (done or len(most))

    def close(self) -> bytes:
        """Return the redacted rest: no more bytes follow."""
        out = [] if self._rest is not None else self._advance(self._window.data, final=True)
        return b"".join(out) + self._close_rest()

    def _close_rest(self) -> bytes:
        return b"" if self._rest is None else self._rest.close()

    def _feed(self, piece: bytes | memoryview) -> bytes:
        if self._rest is not None:
            return self._rest.feed(bytes(piece))
        window = self._window
        data = window.data + piece
        self._uncounted += len(piece)
        if len(piece) < _SMALL and window.held < 4 * RIGHT and window.until is None:
            come = data[len(window.data) :]
            if not any(blank in come for blank in BLANKS):
                window.data = data
                return b""
        return b"".join(self._advance(data, final=False))

    def _advance(self, data: bytes, *, final: bool) -> list[bytes]:
        window, offset, meter = self._window, self._window.offset, Meter()
        done = window.done
        if self._until_sieve is not None:
            self._come_nearer(len(data) - done)
        spans = window.judge(data, final=final, meter=meter, sieve=self._sieve)
        passed = spans is None or window.done > done
        # What was passed over may still take many steps where it is counted by itself.
        self._count(data, offset, self._allowance.fair if passed else meter.steps)
        stop = None if self._stop is None else self._stop - offset
        out = [] if spans is None else window.pass_on(data, spans, final=final, stop=stop)
        if stop is not None and window.offset + window.done >= offset + stop:
            out.append(self._by_blocks(data, stop, offset))
        return out

    def _count(self, data: bytes, offset: int, steps: int) -> None:
        self._density = steps / max(1, len(data))
        if self._stop is None:
            stop = self._incoming.unfair_end(data, len(data) - self._uncounted, steps)
            self._stop = None if stop is None else offset + stop
        self._uncounted = 0

    def _by_blocks(self, data: bytes, stop: int, offset: int) -> bytes:
        """Go on by blocks from ``data[stop]`` on, before which everything was returned."""
        from siding.secretmask.blocks import BlockStream  # few streams get here

        window = self._window
        start = max(0, stop - LEFT)
        window.data, window.done = data[start:stop], window.offset + window.done - offset - start
        window.offset = offset + start
        excess = self._incoming.excess
        self._rest = BlockStream(self._rules, self._allowance, window, self._sieve, excess=excess)
        return self._rest.feed(data[stop:])

    def _come_nearer(self, size: int) -> None:
        """Load the sieve if enough bytes were looked at."""
        assert self._until_sieve is not None
        self._until_sieve -= size
        if self._until_sieve <= 0:
            from siding.secretmask.sieve import new_sieve  # most streams are short

            self._until_sieve, self._sieve = None, new_sieve()
