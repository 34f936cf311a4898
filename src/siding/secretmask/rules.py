"""Apply all rules to one block of bytes."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter, le
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.secretmask import prefilter
from siding.secretmask.credit import Meter
from siding.secretmask.prefilter import Found
from siding.secretmask.span import RIGHT, SecretSpan
from siding.secretmask.wide_lines import wide_line_ends

if TYPE_CHECKING:
    from siding.secretmask.sieve import Sieve
    from siding.secretmask.wrappings import Reading


_START, _END = itemgetter(0), itemgetter(1)
# Steps. What only some places take is counted where they are judged.
_NAME, _LIST, _RUN, _URL = 2, 5, 2, 8
_READING, _UNDONE, _MOVED = 40, 3, 8
_TAIL = 600  # bytes at the end of the data in which a value may wait for its name
_SEARCHED = 32  # bytes of a reading that are searched in a step


class KnownSecret(NamedTuple):
    """A value that is secret wherever it occurs, and the kind for its mark."""

    value: bytes
    kind: bytes


class Pattern(NamedTuple):
    """A project's own rule; `patterns.pattern` makes it."""

    kind: bytes
    regex: re.Pattern[bytes]


class Rules:
    """A set of rules. `allowed`: values, or kinds as ``kind:NAME``, that are not redacted.

    `spaced` are the known values with blanks in them: a stream must not cut them in two.
    """

    def __init__(
        self, known: Sequence[KnownSecret], patterns: Sequence[Pattern], allowed: frozenset[bytes]
    ) -> None:
        self._patterns = tuple(patterns)
        self._allowed = allowed
        self._anchored: list[tuple[bytes, int, KnownSecret]] = []
        self._plain: list[KnownSecret] = []
        self.spaced: list[bytes] = []
        for each in known:
            run = next(iter(prefilter.runs(each.value)), None)
            if run is None:
                self._plain.append(each)
            else:
                self._anchored.append((each.value[run[0] : run[0] + prefilter.RUN], run[0], each))
            if any(blank in each.value for blank in (b" ", b"\t")):
                self.spaced.append(each.value)

    def find(
        self,
        data: bytes,
        *,
        final: bool,
        since: int = 0,
        sieve: "Sieve | None" = None,
        meter: Meter | None = None,
        heads: list[int] | None = None,
    ) -> list[SecretSpan]:
        """Return the secrets in `data`, in order and without overlaps.

        If `data` starts at the beginning of a line, put a newline before it: some rules look for
        one. With `final` no more bytes follow. What begins before `since` is of no interest.
        `sieve` searches faster, with the same outcome. `meter` counts the steps that it takes, and
        may stop it. The offsets of words that may be in the head of a table are added to `heads`.
        """
        meter = meter or Meter()
        found = None if sieve is None else sieve.found(data, meter)
        if found is None:
            found = prefilter.found(data, meter)
        heads = [] if heads is None else heads
        spans = list(self._spans(data, found, meter, heads, final=final, since=since))
        spans += (passwords := _in_urls(data, meter))
        wide = wide_line_ends(data)
        if wide or prefilter.may_be_interrupted(data):
            from siding.secretmask.wrappings import readings  # much output never gets here

            for reading in readings(data, wide, meter):
                meter.spend(_READING + reading.size // _SEARCHED + _UNDONE * len(reading.at))
                spans += self._in_reading(reading, data, meter, final=final, since=since)
        if len(spans) == len(passwords) and not self._allowed:  # these are in order
            return spans
        return _without_overlaps(spans, data, self._allowed)

    def apart(self, spans: list[SecretSpan], data: bytes) -> list[SecretSpan]:
        """Return spans in order, without overlaps and what is allowed."""
        return _without_overlaps(spans, data, self._allowed)

    def _spans(
        self,
        data: bytes,
        found: Found,
        meter: Meter,
        heads: list[int],
        *,
        final: bool,
        since: int = 0,
    ) -> Iterator[SecretSpan]:
        runs, triggers = found.runs, found.triggers
        limit = len(data)
        meter.spend(_NAME * len(triggers.names) + _LIST * len(triggers.lists) + _RUN * len(runs))
        if runs:
            from siding.secretmask.places import tokens  # much output never gets here

            yield from tokens(data, runs, limit, self._hidden, meter, final=final)
        yield from self._known_values(data, has_runs=bool(runs))
        if triggers.names:
            from siding.secretmask.evaluate import announced

            yield from announced(
                data, triggers.names, limit, meter, heads, final=final, since=since
            )
        if triggers.lists:
            from siding.secretmask.seeds import listed

            yield from listed(data, triggers.lists, limit, final=final)
        yield from self._by_surroundings(data, found, meter, final=final)
        for kind, regex in self._patterns:
            for match in regex.finditer(data):
                if match.end() > match.start():
                    yield SecretSpan(match.start(), match.end(), kind)

    def _known_values(self, data: bytes, *, has_runs: bool) -> Iterator[SecretSpan]:
        # A known value with a long run in it can only be where there are runs.
        for anchor, offset, known in self._anchored if has_runs else ():
            for at in prefilter.positions(data, anchor):
                if at >= offset and data.startswith(known.value, at - offset):
                    yield SecretSpan(at - offset, at - offset + len(known.value), known.kind)
        for value, kind in self._plain:
            for at in prefilter.positions(data, value):
                yield SecretSpan(at, at + len(value), kind)

    def _hidden(self, text: bytes, meter: Meter) -> bytes | None:
        """Return the kind of the first secret in a text that was decoded, None without one."""
        data = b"\n" + text
        spans = self._spans(data, prefilter.found(data, meter), meter, [], final=True)
        return next((span.kind for span in chain(spans, _in_urls(data, meter))), None)

    def _in_reading(
        self, reading: "Reading", data: bytes, meter: Meter, *, final: bool, since: int
    ) -> Iterator[SecretSpan]:
        goes_on = reading.end == len(data) and not final
        begin = reading.offset(since) + 1
        text = b"\n" + reading.text
        found = prefilter.found(text, meter)
        spans = self._spans(text, found, meter, [], final=not goes_on, since=begin)
        for span in chain(spans, _in_urls(text, meter)):
            meter.spend(_UNDONE)
            if not reading.undoes(span.start - 1, span.end - 1):
                continue
            meter.spend(_MOVED)
            start, end = reading.span(span.start - 1, span.end - 1)
            waits = span.pending or (span.open and len(data) - start < 4 * RIGHT)
            yield span._replace(
                start=start,
                end=len(data) if waits else end,
                pending=waits,
                until=span.until if end == len(data) else None,
                block=False,
                open=False,
                wide=reading.step > 1,
            )

    def _by_surroundings(
        self, data: bytes, found: Found, meter: Meter, *, final: bool
    ) -> Iterator[SecretSpan]:
        limit = len(data)
        # A name has a word of the triggers; what comes behind a value at the end is not known yet.
        looked = data if found.triggers.names else b"" if final else data[-_TAIL:]
        if prefilter.contains(looked, b"alue"):
            from siding.secretmask.tables import apart

            yield from apart(data, limit, meter, final=final)
        from siding.secretmask.phrases import phrases

        yield from phrases(data, meter, any_word=found.phrase, final=final)
        if b"$" in data:
            from siding.secretmask.formats import password_hashes

            yield from password_hashes(data, limit)
        if found.armour:
            from siding.secretmask.evaluate import blocks

            yield from blocks(data, limit, meter, final=final)
        if found.comment:
            from siding.secretmask.keys import signing_keys

            yield from signing_keys(data)
        if found.options:
            from siding.secretmask.clients import client_passwords

            yield from client_passwords(data, found.options, limit, meter)


def _in_urls(data: bytes, meter: Meter) -> Sequence[SecretSpan]:
    if b"@" not in data or b"://" not in data:
        return ()
    from siding.secretmask.urls import url_passwords

    passwords = url_passwords(data, len(data))
    meter.spend(_URL * len(passwords))
    return passwords


def _without_overlaps(
    spans: list[SecretSpan], data: bytes, allowed: frozenset[bytes]
) -> list[SecretSpan]:
    """Return the spans in order, without the allowed ones; spans that overlap become one."""
    if not allowed and _are_apart(spans):
        return spans
    spans.sort(key=lambda span: (span.start, -span.end))
    apart: list[SecretSpan] = []
    for span in spans:
        if allowed and not span.pending and _is_allowed(span, data, allowed):
            continue
        last = apart[-1] if apart else None
        if last is None or span.start >= last.end:
            apart.append(span)
        elif span.end > last.end and not last.block:
            apart[-1] = last._replace(
                end=span.end, pending=last.pending or span.pending, until=span.until, open=span.open
            )
    return apart


def _are_apart(spans: list[SecretSpan]) -> bool:
    """Return whether each span begins where the one before it ends, or behind it."""
    starts, ends = map(_START, spans), map(_END, spans)
    next(starts, None)
    return all(map(le, ends, starts))


def _is_allowed(span: SecretSpan, data: bytes, allowed: frozenset[bytes]) -> bool:
    if b"kind:" + span.kind in allowed:
        return True
    return span.end - span.start <= RIGHT and data[span.start : span.end] in allowed
