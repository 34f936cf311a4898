"""Find the secret after a word that announces one: a name's value, or a private key block."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from siding.redaction.keys import BEGIN, PUTTY, block_from, putty_lines
from siding.redaction.pairs import name_at, pair_at
from siding.redaction.span import SecretSpan

_DENSE = 64  # bytes between words below which looking up what is remembered is cheaper
_LEFT = 192  # bytes before a word that can matter
_RIGHT = 512  # bytes from a word on that nearly always decide
_NEAR = 160  # bytes; a value begins at most so far behind a word of its name


def announced(
    data: bytes, places: Iterable[int], limit: int, *, final: bool, since: int
) -> Iterator[SecretSpan]:
    """Yield the secrets announced by the words at `places` (offsets from `prefilter.triggers`).

    A word inside a secret announces nothing there, so each byte is looked at a few times only.
    `limit` is the end of the bytes to look at. With `final` no more bytes follow.
    """
    covered = before = 0
    for at in places:
        if at < covered:
            continue
        dense = at - before < _DENSE
        before = at
        if not dense and name_at(data, at, limit)[1] is None and data[at - 5 : at] != b"User-":
            continue
        span = _pair(data, at, limit, final=final)
        if span is None and data[at - 11 : at] == b"PuTTY-User-" and PUTTY.match(data, at - 11):
            span = putty_lines(data, at - 11, limit, final=final)
        if span is not None:
            yield span
            if span.start >= since:  # else a stream has passed it, and may have seen more of it
                covered = limit if span.pending else span.end - _NEAR


def _pair(data: bytes, at: int, limit: int, *, final: bool) -> SecretSpan | None:
    """Return the secret whose name has the word at `at` in it.

    What is printed is often printed again: if the bytes around the word decide, the outcome is
    remembered.
    """
    if at >= _LEFT and at + _RIGHT < limit:
        around = _around(data[at - _LEFT : at + _RIGHT])
        if around is None:
            return None
        if around.end < _LEFT + _RIGHT and not around.pending:
            start, end, kind, _, _, quote = around[:6]
            return SecretSpan(start + at - _LEFT, end + at - _LEFT, kind, quote=quote)
    return pair_at(data, at, limit, final=final)


@lru_cache(maxsize=4096)
def _around(window: bytes) -> SecretSpan | None:
    return pair_at(window, _LEFT, len(window), final=False)


def blocks(data: bytes, limit: int, *, final: bool) -> Iterator[SecretSpan]:
    """Yield the armoured blocks that hold a private key or an encrypted message."""
    at = data.find(b"-----BEGIN ")
    while at >= 0:
        end = at + 11
        begin = BEGIN.match(data, at, limit)
        if begin is not None:
            end = begin.end()
            block = block_from(data, end, limit, final=final)
            if block.found:
                end = block.end
                yield SecretSpan(at, end, b"private-key", block=True, open=block.open)
            elif block.open:
                yield SecretSpan(at, block.end, b"private-key", pending=True)
        at = data.find(b"-----BEGIN ", end)
