"""Find the secret after a word that announces one: a name's value, or a private key block."""

from collections.abc import Iterable, Iterator

from siding.redaction.keys import BEGIN, PUTTY, block_from, putty_lines
from siding.redaction.pairs import pair_at
from siding.redaction.span import SecretSpan


def announced(
    data: bytes, places: Iterable[int], limit: int, *, final: bool
) -> Iterator[SecretSpan]:
    """Yield the secrets announced by the words at `places` (offsets from `prefilter.words`).

    `limit` is the end of the bytes to look at. With `final` no more bytes follow.
    """
    for at in places:
        span = pair_at(data, at, limit, final=final)
        if span is None and data[at - 1 : at] in (b" ", b"-"):
            if data[at - 8 : at] == b"PRIVATE ":
                span = _block(data, at, limit, final=final)
            elif data[at - 11 : at] == b"PuTTY-User-" and PUTTY.match(data, at - 11, limit):
                span = putty_lines(data, at - 11, limit, final=final)
        if span is not None:
            yield span


def _block(data: bytes, at: int, limit: int, *, final: bool) -> SecretSpan | None:
    """Return the private key block whose marker has the word ``KEY`` at `at`, None if none has."""
    start = data.rfind(b"-----BEGIN ", max(0, at - 90), at)
    begin = None if start < 0 else BEGIN.match(data, start, limit)
    if begin is None:
        return None
    block = block_from(data, begin.end(), limit, final=final)
    if not block.found:
        return SecretSpan(start, block.end, b"private-key", pending=True) if block.open else None
    return SecretSpan(start, block.end, b"private-key", block=True, open=block.open)
