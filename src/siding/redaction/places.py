"""Find secrets by their surroundings: in a URL, after ``Bearer``, in a cookie, in a password hash.

`tokens` also finds tokens with a known format anywhere.
"""

import base64
import binascii
import re
from collections.abc import Iterable, Iterator

from siding.redaction.formats import BEHIND_TOKEN, STARTS, joined, suffixed, token_at
from siding.redaction.span import LEFT, RIGHT, SecretSpan
from siding.redaction.values import stands_for_one

_PLAIN = re.compile(rb"[A-Za-z0-9]++\Z|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
_SHORTEST = 16  # bytes; a shorter rest of a run cannot hold a token
_INNER = re.compile(rb"[_-]+")
_COLOUR = re.compile(rb"[0-9;]{0,12}m")
_TOKEN68 = re.compile(rb"[A-Za-z0-9._~+/=%-]+")
_JOINABLE = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.~:/-$"
_GAPS = re.compile(rb"[./:~]|bot(?=\d)")
_SIGNATURE = re.compile(
    rb"(?i)(?:[?&;]|amp;|u0026)(?:sig|signature|x-(?:amz|goog)-signature|hmac|code|state_?token)=[A-Za-z0-9%_+-]{0,80}\Z"
)
_SIGNATURE_VALUE = re.compile(rb"[A-Za-z0-9%_+/=-]+")
_HOOK = re.compile(
    rb"(?i)(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
    rb"|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/"
    rb"|\.webhook\.office\.com/webhookb2/|outlook\.office(?:365)?\.com/webhook/"
    rb"|hooks\.zapier\.com/hooks/catch/|hook\.[a-z0-9.]{0,12}make\.com/"
    rb"|\.com?/open-apis/bot/v2/hook/|maker\.ifttt\.com/trigger/\w{1,64}/with/key/"
    rb"|hooks\.airtable\.com/workflows/v1/genericWebhook/|chat\.googleapis\.com/v1/spaces/)"
    rb"([A-Za-z0-9_/@.-]+)"
)
_URL_LEFT = 512
_NOT_IN_USERINFO = re.compile(rb"[\s\"'<>\\/?]")
_COOKIE = re.compile(rb"(?i)cookie2?\\{0,6}[\"']?[ \t]?[:=,][ \t]?\\{0,6}[\"']?\Z")
_COOKIE_VALUE = re.compile(rb"[^;\s\"'\\,<>]+")
_COOKIE_WORD = re.compile(rb"(?:\A|[;\s\"',:])([A-Za-z0-9_.$!*~^-]{1,80})=([^;\s\"'\\,=]*)\Z")
_SIGNED = re.compile(rb"s(?:%3[Aa]|:)")
_NOT_COOKIES = frozenset({b"path", b"domain", b"expires", b"max-age", b"samesite", b"version"})
_HASH = re.compile(
    rb"\$(?:(?:apr1|1)\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{20,}"
    rb"|2[abxy]?\$\d\d\$[./A-Za-z0-9]{50,}"
    rb"|[56]\$(?:rounds=\d+\$)?[^$\s:]{1,16}\$[./A-Za-z0-9]{40,}"
    rb"|(?:y|gy|7)\$[./A-Za-z0-9]+\$[./A-Za-z0-9]+\$[./A-Za-z0-9]{40,}"
    rb"|argon2(?:id|i|d)\$[A-Za-z0-9=,$+/]{20,}"
    rb"|(?:scrypt|pbkdf2(?:-sha\d+)?)\$[A-Za-z0-9=,$+/.]{20,}|[PH]\$[./A-Za-z0-9]{31}"
    rb"|\d{4,8}\$[A-Za-z0-9./]{6,32}\$[A-Za-z0-9+/]{20,}=*)"
)
_CURL = re.compile(
    rb"[ \t](?:-u|--user|--proxy-user|-U)[ \t=]?\\{0,6}[\"']?[^\s:\"'\\]{1,64}:([^\s\"'\\]+)"
)


def tokens(data: bytes, runs: Iterable[tuple[int, int]], limit: int) -> Iterator[SecretSpan]:
    """Yield the secrets that the long runs of letters and digits are, belong to, or contain.

    `runs` are start and end of each, from `prefilter.runs`.
    """
    for start, end in runs:
        look = _BEFORE.get(data[start - 1 : start])
        span = None
        if data[start : start + 3] in STARTS:
            found = token_at(data, start, limit)
            if found is not None:
                span = _span(start, found[1], found[0], limit)
        if span is None and look is not None:
            span = look(data, start, limit)
        if span is not None:
            yield span
            if span.end < end:
                yield from _inside(data, span.end, end, limit)
        elif not _PLAIN.match(data, start, end):
            yield from _inside(data, start, end, limit)


def _inside(data: bytes, start: int, end: int, limit: int) -> Iterator[SecretSpan]:
    """Yield the tokens inside a run, which begin after a ``-`` or ``_``."""
    run = data[start:end]
    if b"-" in run or b"_" in run:
        for gap in _INNER.finditer(data, start, end):
            at = gap.end()
            if end - at < _SHORTEST:
                break
            if at >= start and data[at : at + 3] in STARTS:
                found = token_at(data, at, limit)
                if found is not None:
                    start = found[1]
                    yield _span(at, start, found[0], limit)
    if b"-us" in run or b"Q~" in run:
        for kind, pattern in suffixed():
            for whole in pattern.finditer(data, max(0, start - 8), min(limit, end + 64)):
                yield _span(whole.start(), whole.end(), kind, limit)


def _behind_escape(data: bytes, start: int, limit: int) -> SecretSpan | None:
    r"""Return the secret after ``\n``, ``%3D``, ``\u003d`` or a colour code.

    The last letters of these are part of the run, so the secret begins after them.
    """
    before = data[start - 1]
    if before == 0x25:  # %
        skipped = 2
    elif before == 0x5C:  # a backslash
        skipped = 5 if data[start : start + 3] == b"u00" else 1
    else:
        colour = _COLOUR.match(data, start, start + 16)
        skipped = 0 if colour is None else colour.end() - start
    at = start + skipped
    if skipped and data[at : at + 3] in STARTS:
        found = token_at(data, at, limit)
        if found is not None:
            return _span(at, found[1], found[0], limit)
    return _behind_equals(data, start, limit) if before == 0x25 else None


def _behind_blank(data: bytes, start: int, limit: int) -> SecretSpan | None:
    if data[start - 2] not in b"rRcC":  # the last letters of "bearer" and "basic"
        return None
    word = data[max(0, start - 8) : start - 1].lower()
    if word.endswith(b"bearer"):
        found = _TOKEN68.match(data, start, limit)
        if found is not None and not stands_for_one(found[0][:LEFT]) and _has_digit(found[0]):
            return _span(start, found.end(), b"auth", limit)
    if word.endswith(b"basic"):
        found = _TOKEN68.match(data, start, limit)
        if found is not None and _is_userinfo(found[0][:LEFT]):
            return _span(start, found.end(), b"auth", limit)
    return None


def _behind_joint(data: bytes, start: int, limit: int) -> SecretSpan | None:
    """Return a token of several joined words, of which the run is not the first."""
    if not data[start - 2 : start - 1].isalnum():
        return None
    window = data[max(0, start - 80) : start]
    first = start - len(window) + len(window.rstrip(_JOINABLE))
    first += data[first - 1 : first] == b"\\"  # the letter of an escape
    if window.endswith((b".", b"$")):
        span = _first_token(data, first, start, limit)
        if span is not None:
            return span
    if (
        start - first < 2
        or first == start - len(window)
        or not data[start - 2 : start - 1].isalnum()
    ):
        return None
    for kind, pattern in joined(data[start - 1 : start]):
        for at in (first, *(gap.end() for gap in _GAPS.finditer(data, first, start - 1))):
            whole = pattern.match(data, at, limit)
            if whole is not None and whole.end() > start:
                return _span(at, whole.end(), kind, limit)
    return None


def _first_token(data: bytes, first: int, start: int, limit: int) -> SecretSpan | None:
    for at in (first, *(gap.end() for gap in _GAPS.finditer(data, first, start - 1))):
        if data[at : at + 3] in STARTS:
            found = token_at(data, at, limit)
            if found is not None and found[1] > start:
                return _span(at, found[1], found[0], limit)
    return None


def _behind_slash(data: bytes, start: int, limit: int) -> SecretSpan | None:
    left = max(0, start - 200)
    if data.rfind(b".co", left, start) >= 0:
        for hook in _HOOK.finditer(data, left, min(limit, start + RIGHT)):
            if hook.start(1) <= start < hook.end(1):
                return _span(hook.start(1), hook.end(1), b"webhook", limit)
            if hook.start() > start:
                break
    if data.startswith(b"1//0", start - 3):
        found = token_at(data, start - 3, limit)
        return None if found is None else _span(start - 3, found[1], found[0], limit)
    return None


def _behind_equals(data: bytes, start: int, limit: int) -> SecretSpan | None:
    left = max(0, start - 120)
    if _SIGNATURE.search(data, left, start):
        first = data.rindex(b"=", left, start) + 1
        found = _SIGNATURE_VALUE.match(data, first, limit)
        assert found is not None
        return _span(first, found.end(), b"signature", limit)
    return _in_cookie(data, start, limit)


def _in_cookie(data: bytes, start: int, limit: int) -> SecretSpan | None:
    left = max(0, start - LEFT)
    header = data.rfind(b"ookie", left, start)
    if header < 0 or data.find(b"\n", header, start) >= 0:
        return None
    word = _COOKIE_WORD.search(data, max(left, start - 120), start)
    if word is None or word[1].lower() in _NOT_COOKIES:
        return None
    behind = data.find(b":", header, start)
    behind = behind if behind >= 0 else data.find(b"=", header, start)
    if not (0 <= behind - header < 16):
        return None
    signed = _SIGNED.match(data, word.start(2))
    first = word.start(2) if signed is None else signed.end()
    found = _COOKIE_VALUE.match(data, first, limit)
    if found is None or stands_for_one(found[0][:LEFT]) or not _has_digit(found[0]):
        return None
    return _span(first, found.end(), b"cookie", limit)


def _behind_brace(data: bytes, start: int, limit: int) -> SecretSpan | None:
    if (
        data[max(0, start - 9) : start]
        .upper()
        .endswith((b"{SSHA}", b"{SHA}", b"{SMD5}", b"{SSHA512}"))
    ):
        found = _TOKEN68.match(data, start, limit)
        return None if found is None else _span(start, found.end(), b"password-hash", limit)
    return None


_BEFORE = {
    b" ": _behind_blank,
    b".": _behind_joint,
    b":": _behind_joint,
    b"/": _behind_slash,
    b"=": _behind_equals,
    b"%": _behind_escape,
    b"\\": _behind_escape,
    b"[": _behind_escape,
    b";": _behind_escape,
    b"}": _behind_brace,
    b"$": _behind_joint,
}


def url_password(data: bytes, at: int, limit: int) -> SecretSpan | None:
    """Return the password of a URL whose host comes after the ``@`` at `at`."""
    scheme = data.rfind(b"://", max(0, at - _URL_LEFT), at)
    if scheme < 0:
        return None
    colon = data.find(b":", scheme + 3, at)
    if colon < 0 or _NOT_IN_USERINFO.search(data, scheme + 3, at):
        return None
    value = data[colon + 1 : at]
    if len(value) < 3 or stands_for_one(value) or value[:1] in (b"{", b"[", b"<", b":"):
        return None
    if (
        value.lower() in (b"pass", b"pw", b"pwd", b"pswd")
        or not data[scheme - 1 : scheme].isalnum()
    ):
        return None
    if at + 1 < limit and not (data[at + 1 : at + 2].isalnum() or data[at + 1] in b"[_$*<{-/%"):
        return None
    token = token_at(data, colon + 1, at)
    return SecretSpan(
        colon + 1, at, token[0] if token is not None and token[1] == at else b"url-password"
    )


def password_hash(data: bytes, at: int, limit: int) -> SecretSpan | None:
    """Return the password hash, as in ``/etc/shadow``, that begins with the ``$`` at `at`."""
    found = _HASH.match(data, at, limit)
    return None if found is None else _span(at, found.end(), b"password-hash", limit)


def curl_password(data: bytes, at: int, limit: int) -> SecretSpan | None:
    """Return the password in ``-u NAME:PASSWORD`` of the curl command at `at`."""
    line = data.find(b"\n", at, min(limit, at + LEFT - 128))
    found = _CURL.search(data, at, line if line >= 0 else min(limit, at + LEFT - 128))
    if found is None or stands_for_one(found[1]) or len(found[1]) < 3:
        return None
    return _span(found.start(1), found.end(1), b"password", limit)


def _span(start: int, end: int, kind: bytes, limit: int) -> SecretSpan:
    return SecretSpan(start, end, kind, until=BEHIND_TOKEN if end == limit else None)


def _has_digit(value: bytes) -> bool:
    return any(each in b"0123456789" for each in value[:LEFT])


def _is_userinfo(value: bytes) -> bool:
    try:
        decoded = base64.b64decode(value + b"=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii()
