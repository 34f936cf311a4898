"""Redaction of bytes that come in pieces: whatever the pieces, the outcome is the same.

What more bytes could still change is held back, and nothing else: the last word, a text whose quote
is not closed, a key block whose first line has just been seen. Everything before it goes out with
every `feed`, so the end of a quiet stream (a prompt, say) is not withheld; but what may be the
beginning of a secret is never passed on. Behind what went out, `LEFT` bytes are remembered: no rule
looks back further.
"""

import re

from siding.redaction.rules import Rules
from siding.redaction.span import LEFT, RIGHT, Span, mark

_BLANKS = (b" ", b"\n", b"\t", b"\r")
_SMALL = 4096  # a piece this small that ends no word cannot let anything go


class Stream:
    """Redacts one stream: `feed` piece after piece, then `close`."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._data = b"\n"  # where a line begins; never passed on
        self._done = 1  # up to here it went out
        self._until: re.Pattern[bytes] | None = None  # inside a secret of which the mark went out
        self._in_key = False

    @property
    def held(self) -> int:
        """How many bytes are held back."""
        return len(self._data) - self._done

    def feed(self, piece: bytes | memoryview) -> bytes:
        """Take the next bytes; return what can go out."""
        data = self._data + piece
        if len(piece) < _SMALL and self.held < 4 * RIGHT and self._until is None:
            come = data[len(self._data) :]
            if not any(blank in come for blank in _BLANKS):
                self._data = data
                return b""
        return b"".join(self._advance(data, final=False))

    def close(self) -> bytes:
        """Nothing follows: return the rest."""
        return b"".join(self._advance(self._data, final=True))

    def _advance(self, data: bytes, *, final: bool) -> list[bytes]:
        done = self._pass_secret(data, final=final)
        if done is None:
            return []
        spans = [span for span in self._rules.find(data, final=final) if span.start >= done]
        hold = len(data) if final else self._hold(data, done, spans)
        out: list[bytes] = []
        for span in spans:
            if span.start >= hold:
                break
            out.append(data[done : span.start])
            out.append(span.quote + mark(span.kind) + span.quote)
            done = span.end
            if span.open and not final:
                self._in_key = True
                self._keep(data, done)
                return out
            if span.end == len(data) and not final:
                self._until = span.until
        if done < hold:
            out.append(data[done:hold])
            done = hold
        self._keep(data, done)
        return out

    def _pass_secret(self, data: bytes, *, final: bool) -> int | None:
        """Return where what is behind the current secret begins; None while it goes on."""
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
        start = max(0, done - LEFT)
        self._data = data[start:] if start else data
        self._done = done - start

    def _hold(self, data: bytes, done: int, spans: list[Span]) -> int:
        """Return up to where nothing can change any more."""
        size = len(data)
        first = max(done, size - RIGHT)
        hold = max(first, max(data.rfind(blank, first) for blank in _BLANKS) + 1)
        if data.find(b"-----BEGIN", max(done, size - 120)) >= 0:
            from siding.redaction.keys import beginning_of_marker

            hold = min(hold, max(done, beginning_of_marker(data)))
        for span in spans:
            if span.pending and span.start < hold:
                hold = span.start
        for value in self._rules.spaced:
            hold = min(hold, _beginning_of(value, data, done))
        for span in reversed(spans):
            if span.start < hold < span.end and size - span.start < RIGHT:
                hold = span.start
        return hold


def _beginning_of(value: bytes, data: bytes, done: int) -> int:
    """Return where the longest beginning of `value` that ends `data` begins, else the end."""
    for length in range(min(len(value) - 1, len(data) - done), 0, -1):
        if data.endswith(value[:length]):
            return len(data) - length
    return len(data)
