"""Redact bytes that come in pieces; the result does not depend on where the pieces are cut.

Each `feed` returns everything that later bytes cannot change. It holds back only the rest: the last
word, a text whose quote is not closed, a key block of which only the first line has come. So a
prompt that waits for input is shown, but the beginning of a possible secret is not. `LEFT` bytes
that were returned already are remembered, because rules look back that far.
"""

import re
from typing import TYPE_CHECKING

from siding.redaction.rules import Rules
from siding.redaction.span import LEFT, RIGHT, SecretSpan, mark
from siding.redaction.wide_lines import wrapped_word

if TYPE_CHECKING:
    from siding.redaction.sieve import Sieve

SIEVE_AFTER = 1 << 21  # bytes; what is longer pays for loading what searches faster
_BLANKS = (b" ", b"\n", b"\t", b"\r")
_SMALL = 4096  # a smaller piece without a blank is only stored: nothing can be returned yet


class Stream:
    """Redacts one stream: `feed` piece after piece, then `close`.

    When `sieve_after` bytes have come, the searches are done by a sieve, if it can be loaded; with
    None they never are. The outcome is the same.
    """

    def __init__(self, rules: Rules, *, sieve_after: int | None = SIEVE_AFTER) -> None:
        self._rules = rules
        self._until_sieve = sieve_after
        self._sieve: Sieve | None = None
        self._data = b"\n"  # some rules look for the beginning of a line; it is never returned
        self._done = 1  # everything before this offset was returned
        self._until: re.Pattern[bytes] | None = None  # finds the end of a secret that goes on
        self._in_key = False  # inside a key block whose mark was returned

    @property
    def held(self) -> int:
        """The number of bytes held back."""
        return len(self._data) - self._done

    def feed(self, piece: bytes | memoryview) -> bytes:
        """Add the next bytes; return the redacted bytes that later ones cannot change."""
        data = self._data + piece
        if len(piece) < _SMALL and self.held < 4 * RIGHT and self._until is None:
            come = data[len(self._data) :]
            if not any(blank in come for blank in _BLANKS):
                self._data = data
                return b""
        return b"".join(self._advance(data, final=False))

    def close(self) -> bytes:
        """Return the redacted rest: no more bytes follow."""
        return b"".join(self._advance(self._data, final=True))

    def _advance(self, data: bytes, *, final: bool) -> list[bytes]:
        done = self._pass_secret(data, final=final)
        if done is None:
            return []
        if self._until_sieve is not None:
            self._come_nearer(len(data) - done)
        spans = self._rules.find(data, final=final, since=done, sieve=self._sieve)
        if spans and spans[0].start < done:
            spans = [span for span in spans if span.start >= done]
        hold = len(data) if final else self._hold(data, done, spans)
        out: list[bytes] = []
        for span in spans:
            # Unpacked, because asking by name takes as long as all the rest of this loop.
            start, end, kind, _, until, quote, _, is_open, wide = span
            if start >= hold:
                break
            out.append(data[done:start])
            out.append(span.replacement if quote or wide else mark(kind))
            done = end
            if is_open and not final:
                self._in_key = True
                self._keep(data, done)
                return out
            if until is not None and end == len(data) and not final:
                self._until = until
        if done < hold:
            out.append(data[done:hold])
            done = hold
        self._keep(data, done)
        return out

    def _come_nearer(self, size: int) -> None:
        """Load the sieve if enough bytes were looked at."""
        assert self._until_sieve is not None
        self._until_sieve -= size
        if self._until_sieve <= 0:
            from siding.redaction.sieve import new_sieve  # most streams are short

            self._until_sieve, self._sieve = None, new_sieve()

    def _pass_secret(self, data: bytes, *, final: bool) -> int | None:
        """Return the offset after the secret that goes on from the last piece.

        None if it goes on behind this piece too.
        """
        done = self._done
        if self._until is not None:
            behind = self._until.search(data, done)
            if behind is None:
                self._keep(data, len(data))
                return None
            self._until = None
            done = behind.start()
        if self._in_key:
            from siding.redaction.keys import block_from  # its rules are rarely needed

            block = block_from(data, done, len(data), final=final, found=True)
            done = block.end
            if block.open:
                self._keep(data, done)
                return None
            self._in_key = False
        return done

    def _keep(self, data: bytes, done: int) -> None:
        """Remember the bytes from `LEFT` before `done` on; those before `done` were returned."""
        start = max(0, done - LEFT)
        self._data = data[start:] if start else data
        self._done = done - start

    def _hold(self, data: bytes, done: int, spans: list[SecretSpan]) -> int:
        """Return the offset before which later bytes can change nothing."""
        size = len(data)
        first = max(done, size - RIGHT)
        hold = max(first, max(data.rfind(blank, first) for blank in _BLANKS) + 1)
        if data[hold - 1] in b"\r\n" and hold > first:
            hold = wrapped_word(data, hold, first)
        if data.find(b"-----BEGIN", max(done, size - 120)) >= 0:
            from siding.redaction.keys import beginning_of_marker

            hold = min(hold, max(done, beginning_of_marker(data)))
        for span in spans:
            if span[3]:  # pending; by its place, which takes half as long as by its name
                hold = min(hold, span.start)
        for value in self._rules.spaced:
            hold = min(hold, _beginning_of(value, data, done))
        for span in reversed(spans):
            if span.end <= hold:
                break
            if span.start < hold < span.end and size - span.start < RIGHT:
                hold = span.start
        return hold


def _beginning_of(value: bytes, data: bytes, done: int) -> int:
    """Return the offset of the longest prefix of `value` that `data` ends with, else its length."""
    for length in range(min(len(value) - 1, len(data) - done), 0, -1):
        if data.endswith(value[:length]):
            return len(data) - length
    return len(data)
