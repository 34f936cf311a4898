"""The bytes of a stream that are in sight, and how far they were returned.

Each `judge` finds the secrets in what has come, and `pass_on` returns everything that later bytes
cannot change. It holds back only the rest: the last word, a text whose quote is not closed, a key
block of which only the first line has come. So a prompt that waits for input is shown, but the
beginning of a possible secret is not. `LEFT` bytes that were returned already are remembered,
because rules look back that far.
"""

import re
from typing import TYPE_CHECKING

from siding.secretmask.credit import Meter
from siding.secretmask.rules import Rules
from siding.secretmask.span import LEFT, RIGHT, SecretSpan, mark
from siding.secretmask.wide_lines import wrapped_word

if TYPE_CHECKING:
    from siding.secretmask.sieve import Sieve
    from siding.secretmask.tables import Table

BLANKS = (b" ", b"\n", b"\t", b"\r")


class Window:
    """The part of a stream in sight. `data` begins at the offset `offset` of the stream, and
    everything before ``data[done]`` was returned."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.data = b"\n"  # some rules look for the beginning of a line; it is never returned
        self.done = 1
        self.offset = -1
        self.until: re.Pattern[bytes] | None = None  # finds the end of a secret that goes on
        self._in_key = False  # inside a key block whose mark was returned
        self.heads: list[int] = []  # offsets of words in the data that may be in a table's head
        self._table: Table | None = None  # the table in which …
        self._read = 0  # … the line is that begins at this offset of the stream

    @property
    def held(self) -> int:
        """The number of bytes held back."""
        return len(self.data) - self.done

    def judge(
        self, data: bytes, *, final: bool, meter: Meter, sieve: "Sieve | None"
    ) -> list[SecretSpan] | None:
        """Return the secrets in `data`, which is `self.data` and what has come.

        None if all of it belongs to a secret whose mark was returned. Moves `done` to the end of
        such a secret. May raise `TooMuch`.
        """
        done = self._pass_secret(data, final=final)
        if done is None:
            return None
        self.done = done
        self.heads = []
        spans = self._rules.find(
            data, final=final, since=done, sieve=sieve, meter=meter, heads=self.heads
        )
        passed = next((at for at, span in enumerate(spans) if span[0] >= done), len(spans))
        return spans[passed:] if passed else spans

    def pass_on(
        self, data: bytes, spans: list[SecretSpan], *, final: bool, stop: int | None = None
    ) -> list[bytes]:
        """Return what later bytes cannot change, with marks for the secrets in it.

        Nothing that begins at `stop` or behind it is returned.
        """
        done = self.done
        if self.heads or self._table is not None:
            spans = self._with_tables(data, spans, len(data) if stop is None else stop, final=final)
        hold = len(data) if final else self._hold(data, done, spans)
        if stop is not None:
            hold = min(hold, stop)
        out: list[bytes] = []
        add = out.append
        last, text = b"", b""
        for span in spans:
            # Unpacked, because asking by name takes as long as all the rest of this loop.
            start, end, kind, _, until, quote, _, is_open, wide = span
            if start >= hold:
                break
            add(data[done:start])
            if kind is not last:
                last, text = kind, mark(kind)
            add(span.replacement if quote or wide else text)
            done = end
            if is_open and not final:
                self._in_key = True
                self.keep(data, done)
                return out
            if until is not None and end == len(data) and not final:
                self.until = until
        if done < hold:
            out.append(data[done:hold])
            done = hold
        self.keep(data, done)
        return out

    def _with_tables(
        self, data: bytes, spans: list[SecretSpan], stop: int, *, final: bool
    ) -> list[SecretSpan]:
        """Return the spans with those of tables, in whose lines nothing was returned yet."""
        from siding.secretmask.tables import State, in_tables  # most output has none

        read = self._read - self.offset
        state = State(self._table, read) if read >= 0 else State(None, 0)  # else a secret hid it
        found, (self._table, read) = in_tables(data, state, self.heads, stop, final=final)
        self._read = read + self.offset
        self.heads = []
        found = [span for span in found if span[0] >= self.done or span[3]]
        return self._rules.apart([*spans, *found], data) if found else spans

    def keep(self, data: bytes, done: int) -> None:
        """Remember the bytes from `LEFT` before `done` on; those before `done` were returned.

        `done` may lie behind the data, in what is still to come: a secret that was passed already
        goes on there.
        """
        start = max(0, min(done - LEFT, len(data)))
        self.data = data[start:] if start else data
        self.done = done - start
        self.offset += start

    def _pass_secret(self, data: bytes, *, final: bool) -> int | None:
        """Return the offset after the secret that goes on from the last piece.

        None if it goes on behind this piece too.
        """
        done = self.done
        if self.until is not None:
            behind = self.until.search(data, done)
            if behind is None:
                self.keep(data, len(data))
                return None
            self.until = None
            done = behind.start()
        if self._in_key:
            from siding.secretmask.keys import block_from  # its rules are rarely needed

            block = block_from(data, done, len(data), final=final, found=True)
            done = block.end
            if block.open:
                self.keep(data, done)
                return None
            self._in_key = False
        return done

    def _hold(self, data: bytes, done: int, spans: list[SecretSpan]) -> int:
        """Return the offset before which later bytes can change nothing."""
        size = len(data)
        first = max(done, size - RIGHT)
        hold = max(first, max(data.rfind(blank, first) for blank in BLANKS) + 1)
        if data[hold - 1] in b"\r\n " and hold > first:
            hold = wrapped_word(data, hold, first)
        if data.find(b"-----BEGIN", max(done, size - 120)) >= 0:
            from siding.secretmask.keys import beginning_of_marker

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
