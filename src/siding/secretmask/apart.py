r"""Find a value whose name stands beside it under a key of its own, in the same or the next line.

    - name: DB_PASSWORD          <add key="ApiSecret" value="…"/>
      value: hunter22            <name>db.password</name><value>…</value>

Manifests of Kubernetes, tasks of ECS, settings of .NET and Hadoop, and parameters of
CloudFormation are written so, with the name first or the value first. Lines may be those of a text
in JSON (``\n``), and quotes may be escaped.
"""

import re

from siding.secretmask.credit import Meter
from siding.secretmask.formats import STARTS, token_at
from siding.secretmask.lazily import lazily
from siding.secretmask.names import Meaning, Tier, meaning
from siding.secretmask.span import JUDGED, SecretSpan, plain_span
from siding.secretmask.values import is_password, is_random, is_token

_QUOTE = rb"(?:\\{0,6}[\"']|&quot;)?"
_GAP = rb"(?:[ \t\r\n]|\\[nrt]){0,40}"
_NAME = rb"[A-Za-z_][\w.:/-]{1,80}"
_VALUE = lazily(
    rb"(?:(?<![\w.-])|(?<=Parameter))[vV]alue" + _QUOTE + rb"(?:[ \t]{0,4}[:=][ \t]{0,8}|>)"
)
# Behind the name there may be its end (`</name>`), a comma, and other attributes on no line.
_BEFORE = lazily(
    rb"(?:(?<![\w.-])|(?<=Parameter))(?:[nN]ame|[kK]ey)"
    + _QUOTE
    + rb"(?:[ \t]{0,4}[:=][ \t]{0,8}|>)"
    + _QUOTE
    + rb"("
    + _NAME
    + rb")"
    + _QUOTE
    + rb"(?:</\w{3,10}>)?,?"
    + _GAP
    + rb"[<\"']?\\{0,6}[\"']?\Z"
)
_BEHIND = lazily(
    rb",?"
    + _GAP
    + _QUOTE
    + rb"(?:Parameter)?(?:[nN]ame|[kK]ey)"
    + _QUOTE
    + rb"[ \t]{0,4}[:=][ \t]{0,8}"
    + _QUOTE
    + rb"("
    + _NAME
    + rb")(?![\w.:/-])"
)
_COMES = lazily(
    rb",?"
    + _GAP
    + _QUOTE
    + rb"[\w.:/-]{0,80}"
    + _QUOTE
    + rb"[ \t:=]{0,12}"
    + _QUOTE
    + rb"[\w./:-]{0,80}\Z"
)
_QUOTED = lazily(rb"(\\{0,6}[\"']|&quot;)((?:(?!\1)[^\n\r]){4,4096}?)(?=\1)")
_OPEN = lazily(rb"(\\{0,6}[\"'])(?:(?!\1)[^\n\r]){0,4096}\Z")
_PLAIN = lazily(rb"[^\s\"'`<>,;{}\\]{4,4096}")
_STEPS = 12  # for each value
_LEFT = 200  # bytes before the key of a value in which its name begins


def apart(data: bytes, limit: int, meter: Meter, *, final: bool) -> list[SecretSpan]:
    """Return the secrets whose names stand beside them."""
    spans = []
    for found in _VALUE.finditer(data):
        meter.spend(_STEPS)
        span = _beside(data, found.start(), found.end(), limit, final=final)
        if span is not None:
            spans.append(span)
    return spans


def _beside(data: bytes, at: int, start: int, limit: int, *, final: bool) -> SecretSpan | None:
    left = data[max(0, at - _LEFT) : at].removesuffix(b"Parameter")
    before = _BEFORE.search(left) if b"ame" in left or b"ey" in left else None
    known = None if before is None else meaning(before[1])
    if before is not None and known is None:
        return None
    quoted = _QUOTED.match(data, start, limit)
    if quoted is None and known is not None and not final and _OPEN.match(data, start, limit):
        return SecretSpan(start, limit, known.kind, pending=True)
    found = quoted or _PLAIN.match(data, start, limit)
    if found is None:
        return None
    begin, end = found.span(2 if quoted else 0)
    value = data[begin : min(end, begin + JUDGED)]
    if known is None:  # the name may come behind it
        return _before_its_name(data, begin, end, value, quoted, limit, final=final)
    if not _is_secret(value, known, quoted=quoted is not None):
        return None
    if end == limit and not final:
        return SecretSpan(begin, end, known.kind, pending=True)
    return _span(data, begin, end, known)


def _before_its_name(
    data: bytes,
    begin: int,
    end: int,
    value: bytes,
    quoted: re.Match[bytes] | None,
    limit: int,
    *,
    final: bool,
) -> SecretSpan | None:
    behind = end if quoted is None else end + len(quoted[1])
    name = _BEHIND.match(data, behind, limit)
    if name is None:
        waits = not final and _COMES.match(data, behind, limit) is not None
        if waits and is_password(value, quoted=quoted is not None, assigned=True):
            return SecretSpan(begin, limit, b"password", pending=True)
        return None
    if name.end() == limit and not final:
        return SecretSpan(begin, limit, b"password", pending=True)
    known = meaning(name[1])
    if known is None or not _is_secret(value, known, quoted=quoted is not None):
        return None
    return _span(data, begin, end, known)


def _is_secret(value: bytes, known: Meaning, *, quoted: bool) -> bool:
    if known.tier is Tier.PASSWORD:
        return is_password(value, quoted=quoted, assigned=True)
    if known.tier is Tier.TOKEN:
        return is_token(value, quoted=True)
    return is_random(value)


def _span(data: bytes, start: int, end: int, known: Meaning) -> SecretSpan:
    token = token_at(data, start, end) if data[start : start + 3] in STARTS else None
    return plain_span(start, end, token[0] if token and token[1] == end else known.kind)
