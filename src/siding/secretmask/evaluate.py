"""Find the secret after a word that announces one: a name's value, or a private key block."""

import re
from collections.abc import Iterable, Iterator, Sequence

from siding.ground.namedtuples import NamedTuple
from siding.secretmask.credit import Meter
from siding.secretmask.keys import BEGIN, PUTTY, block_from, putty_lines
from siding.secretmask.names import Tier, meaning
from siding.secretmask.pairs import (
    ACCESS,
    beginning_of_name,
    dull_end,
    follows,
    is_word,
    may_be_in_head,
    pair_at,
    plain_pair,
    rest_of_name,
)
from siding.secretmask.span import SecretSpan

_NEAR = 160  # bytes; a value begins at most so far behind a word of its name
_LEFT = 192  # bytes before a word that can matter
_RIGHT = 1024  # bytes from a word on that decide where something short repeats
_OFTEN = 16  # words after which it is worth a look whether the bytes repeat
_LONGEST = 128  # bytes that repeat
_BEHIND_NAME = frozenset(b"\x1b\\\"'`&%] \t:=>,|")  # what can stand between name and value
_RECENT = 8  # words in them
# Bytes around a word from which mostly follows that it announces nothing. These bytes are
# remembered: the lines of an output are alike. More of them are remembered with all digits made
# equal, because lines differ in their numbers, and none of what is asked depends on which they are.
_BACK, _AHEAD, _FAR = 4, 14, 28
_LEVEL = bytes.maketrans(b"123456789", b"0" * 9)
_REMEMBERED = 4096
_dull: set[bytes] = set()
# Steps, beside those for each word.
_WORD = 16  # bytes before the last word of a name of two
_numbered = re.compile(rb"(?i)key \d(?=[:=])").match
_CLOSER, _PUTTY, _SPAN, _BLOCK, _HEAD = 13, 20, 4, 10, 20


# The offset of a word that was looked at, and the secret that it announces.
Outcome = tuple[int, SecretSpan | None]


class Repetition(NamedTuple):
    """What follows a word repeats the `period` bytes before it so many `times`.

    `outcomes` are those of the words in these bytes.
    """

    period: int
    times: int
    outcomes: Sequence[Outcome]

    def spans(self) -> Iterator[SecretSpan]:
        """Yield the secrets in what repeats."""
        found = [span for _, span in self.outcomes if span is not None]
        for moved in range(self.period, self.period * self.times + 1, self.period) if found else ():
            for span in found:
                yield SecretSpan(
                    span.start + moved, span.end + moved, span.kind, False, None, span.quote
                )


def announced(
    data: bytes,
    places: Iterable[int],
    limit: int,
    meter: Meter,
    heads: list[int],
    *,
    final: bool,
    since: int,
) -> Iterator[SecretSpan]:
    """Yield the secrets announced by the words at `places` (offsets from `prefilter.triggers`).

    A word inside a secret announces nothing there, so each byte is looked at a few times only.
    `limit` is the end of the bytes to look at. With `final` no more bytes follow. Those of the
    places that may be in the head of a table are added to `heads`.
    """
    covered = 0
    steps = 0
    putty = b"PuTTY-User-" in data
    recent: list[Outcome] = []
    for at in places:
        if at < covered:
            continue
        span = None
        if (
            data[at - _BACK : at + _AHEAD] not in _dull
            and data[at - _BACK : at + _FAR].translate(_LEVEL) not in _dull
        ):
            count = len(heads)
            span = _pair(data, at, limit, meter, heads, final=final)
            if len(heads) > count:  # what decides there is in other lines
                recent.clear()
        if (
            span is None
            and putty
            and data[at - 11 : at] == b"PuTTY-User-"
            and PUTTY.match(data, at - 11)
        ):
            steps += _PUTTY
            span = putty_lines(data, at - 11, limit, final=final)
            recent.clear()  # what decides here can be far away
        if span is not None:
            yield span
            steps += _SPAN
            if span.start >= since:  # else a stream has passed it, and may have seen more of it
                covered = limit if span.pending else span.end - _NEAR
        recent.append((at, span))
        if len(recent) == _OFTEN:
            meter.spend(steps)
            steps = 0
            repeated = _repetition(data, recent[-_RECENT:], limit, since)
            recent.clear()
            if repeated is not None:
                yield from repeated.spans()
                moved = repeated.period * repeated.times
                covered = max(covered + moved if span is not None else 0, at + moved + 1)
    meter.spend(steps)


def _pair(
    data: bytes, at: int, limit: int, meter: Meter, heads: list[int], *, final: bool
) -> SecretSpan | None:
    """Return the secret whose name has the word at `at` in it."""
    left = beginning_of_name(data, at)
    end = rest_of_name(data, at, limit).end()  # type: ignore[union-attr]
    known = meaning(data[left:end])
    if known is None and data[left - 1] == 0x20 and data[left:end].lower() == b"key":
        return _of_two_words(data, at, left, limit, meter, final=final)
    in_head = known is not None and may_be_in_head(data, left, end)
    if in_head:
        meter.spend(_HEAD)
        heads.append(at)
    # Most words of a log announce nothing, a number, or a word.
    if known is None or end >= limit or data[end] not in _BEHIND_NAME or is_word(data, left, end):
        if not in_head:
            decides = 2 if known is None else len(ACCESS)  # bytes behind the name
            _remember(data, at, left - at, end + decides - at)
        return None
    dull = dull_end(data, end, known)
    if dull is not None:
        _remember(data, at, left - at, dull - at if data[dull - 1] == 0x22 else _NEAR)
        return None
    span = plain_pair(data, at, left, known, limit)
    if span is not None:
        return span
    after = follows(data, at, limit)
    if after is None:
        return None
    meter.spend(_CLOSER)
    return pair_at(data, left, known, after, limit, final=final)


def _of_two_words(
    data: bytes, at: int, left: int, limit: int, meter: Meter, *, final: bool
) -> SecretSpan | None:
    """Return the secret that an ``API key`` is; `left`: where its last word begins."""
    name = data[max(0, left - _WORD) : left].rpartition(b"\n")[2].split()
    known = meaning(name[-1] + b"_key") if name else None
    number = _numbered(data, left, limit)
    after = follows(data, at if number is None else number.end(), limit)
    if known is None or known.tier is not Tier.TOKEN or after is None or after[3] is None:
        return None
    meter.spend(_CLOSER)
    return pair_at(data, left, known, after, limit, final=final)


def _remember(data: bytes, at: int, left: int, end: int) -> None:
    """Remember that the word at `at` announces nothing, if what is near it is all that tells so.

    `left`: where its name begins, `end`: up to where the bytes matter, both seen from the word.
    """
    if at < _BACK or left < 2 - _BACK or end > _FAR or at + _FAR > len(data):
        return
    if len(_dull) >= _REMEMBERED:
        _dull.clear()
    if end <= _AHEAD:
        _dull.add(data[at - _BACK : at + _AHEAD])
    _dull.add(data[at - _BACK : at + _FAR].translate(_LEVEL))


def _repetition(
    data: bytes, recent: Sequence[Outcome], limit: int, since: int
) -> Repetition | None:
    """Return how the bytes from the last of the `recent` words on repeat those before; else None.

    The same bytes around a word have the same outcome.
    """
    at, last = recent[-1]
    start, end = at - _LEFT, at + _RIGHT
    for index in range(len(recent) - 2, -1, -1):
        outcomes = recent[index + 1 :]
        before, span = recent[index]
        period = at - before
        if period > _LONGEST or not _is_near(outcomes[0], since):
            return None
        if (
            data[before:at] != data[at : at + period]
            or not _are_alike(span, last, period)
            or start < period
            or data[start - period : end - period] != data[start:end]
        ):
            continue
        times = (_end_of_repetition(data, end, period, limit) - _RIGHT - at) // period
        return Repetition(period, times, outcomes) if times > 0 else None
    return None


def _is_near(outcome: Outcome, since: int) -> bool:
    """Return whether the bytes near a word decide what it announces."""
    at, span = outcome
    if span is None:
        return True
    return not span.pending and span.until is None and since <= span.start < span.end < at + _RIGHT


def _are_alike(one: SecretSpan | None, other: SecretSpan | None, apart: int) -> bool:
    if one is None or other is None:
        return one is other
    return one == other._replace(start=other.start - apart, end=other.end - apart)


def _end_of_repetition(data: bytes, end: int, period: int, limit: int) -> int:
    """Return up to where the data goes on as it does in the `period` bytes before `end`.

    May return a little less.
    """
    step = _LONGEST
    while step >= _LONGEST:  # twice as far, as long as it repeats; then half as far
        further = end + step
        if further < limit and data[end - period : further - period] == data[end:further]:
            end, step = further, step * 2
        else:
            step //= 2
    return end


def blocks(data: bytes, limit: int, meter: Meter, *, final: bool) -> Iterator[SecretSpan]:
    """Yield the armoured blocks that hold a private key or an encrypted message."""
    at = data.find(b"-----BEGIN ")
    while at >= 0:
        end = at + 11
        meter.spend(1)
        begin = BEGIN.match(data, at, limit)
        if begin is not None:
            meter.spend(_BLOCK)
            end = begin.end()
            block = block_from(data, end, limit, final=final)
            if block.found:
                end = block.end
                yield SecretSpan(at, end, b"private-key", block=True, open=block.open)
            elif block.open:
                yield SecretSpan(at, block.end, b"private-key", pending=True)
        at = data.find(b"-----BEGIN ", end)
