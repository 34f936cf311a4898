"""Apply all rules to one block of bytes."""

import re
from collections.abc import Iterator, Sequence

from siding.namedtuples import NamedTuple
from siding.redaction import prefilter
from siding.redaction.span import RIGHT, SecretSpan


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

    def find(self, data: bytes, *, final: bool) -> list[SecretSpan]:
        """Return the secrets in `data`, in order and without overlaps.

        If `data` starts at the beginning of a line, put a newline before it: some rules look for
        one. With `final` no more bytes follow.
        """
        spans = list(self._all_spans(data, final=final))
        return _without_overlaps(spans, data, self._allowed) if spans else spans

    def _all_spans(self, data: bytes, *, final: bool) -> Iterator[SecretSpan]:
        limit = len(data)
        runs = list(prefilter.runs(data))
        if runs:
            from siding.redaction.places import tokens  # much output never gets here

            yield from tokens(data, runs, limit)
        # A known value with a long run in it can only be inside a run: search for it only there.
        for start, end in runs if self._anchored else ():
            for anchor, offset, known in self._anchored:
                at = data.find(anchor, start, end)
                if at >= offset and data.startswith(known.value, at - offset):
                    yield SecretSpan(at - offset, at - offset + len(known.value), known.kind)
        words = list(prefilter.words(data))
        if words:
            from siding.redaction.evaluate import announced

            yield from announced(data, words, limit, final=final)
        yield from self._by_surroundings(data, limit)
        for value, kind in self._plain:
            for at in prefilter.positions(data, value):
                yield SecretSpan(at, at + len(value), kind)
        for kind, regex in self._patterns:
            for found in regex.finditer(data):
                if found.end() > found.start():
                    yield SecretSpan(found.start(), found.end(), kind)

    def _by_surroundings(self, data: bytes, limit: int) -> Iterator[SecretSpan]:
        if b"@" in data and b"://" in data:
            from siding.redaction.places import url_password

            for at in prefilter.positions(data, b"@"):
                span = url_password(data, at, limit)
                if span is not None:
                    yield span
        if b"$" in data:
            from siding.redaction.places import password_hash

            for at in prefilter.positions(data, b"$"):
                if data[at + 1 : at + 2] in _HASH_STARTS:
                    span = password_hash(data, at, limit)
                    if span is not None:
                        yield span
        if b":" in data and b"-" in data and b"curl " in data:
            from siding.redaction.places import curl_password

            for at in prefilter.positions(data, b"curl "):
                span = curl_password(data, at, limit)
                if span is not None:
                    yield span


_HASH_STARTS = frozenset(bytes([each]) for each in b"a123456789ygspPH")


def _without_overlaps(
    spans: list[SecretSpan], data: bytes, allowed: frozenset[bytes]
) -> list[SecretSpan]:
    """Return the spans in order, without the allowed ones; spans that overlap become one."""
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


def _is_allowed(span: SecretSpan, data: bytes, allowed: frozenset[bytes]) -> bool:
    if b"kind:" + span.kind in allowed:
        return True
    return span.end - span.start <= RIGHT and data[span.start : span.end] in allowed
