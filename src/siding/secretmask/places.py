"""Find secrets by their surroundings: after ``Bearer``, in a cookie, in a webhook.

`tokens` also finds tokens with a known format anywhere.
"""

import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from siding.secretmask.credit import Meter
from siding.secretmask.formats import (
    BEHIND_TOKEN,
    FOURTH,
    STARTS,
    heads,
    joined,
    suffixed,
    token_at,
)
from siding.secretmask.lazily import lazily
from siding.secretmask.names import LAST_WORDS, Tier, meaning
from siding.secretmask.span import JUDGED, LEFT, RIGHT, SecretSpan, plain_span

_is_uuid = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z").match
# As lock files and pages have them: exactly as many letters as the digest has in Base64.
_checksum = re.compile(
    rb"sha(?:512-[A-Za-z0-9+/]{86}==|384-[A-Za-z0-9+/]{64}|256-[A-Za-z0-9+/]{43}=)(?=[\"'\s])"
).match
_SHORTEST = 16  # bytes; a shorter rest of a run cannot hold a token
_ENCODED, _SPAN, _INSIDE, _SUFFIXED = 30, 8, 4, 25  # steps, beside those for each run
_LONG = 64  # bytes of a run in which each word is a step
_TRIES = 4  # of the same prefix within one run
_INNER = lazily(rb"[_-]+")
_SINGLE_GAP = lazily(rb"[_-]")
_COLOUR = lazily(rb"[0-9;]{0,12}m")
_DIGIT = lazily(rb"[0-9]")
_TOKEN68 = lazily(rb"[A-Za-z0-9._~+/=%-]+")
_JOINABLE = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.~:/-$"
_GAPS = lazily(rb"[./:~]|bot(?=\d)")
_SIGNATURE = lazily(
    rb"(?i)(?:[?&;]|amp;|u0026|SignedHeaders=[\w;-]{1,80}, ?(?=Signature))"
    rb"(?:sig|signature|x-(?:amz|goog)-signature|hmac|code|state_?token)=[A-Za-z0-9%_+-]{0,80}\Z"
)
_SIGNATURE_ENDS = frozenset({b"sig", b"ure", b"mac", b"ode", b"ken"})
_LAST_LETTERS = frozenset(each[-3:] for each in LAST_WORDS)
# The last letters of all words that announce what is behind a blank or an equals sign.
_ANNOUNCING = _LAST_LETTERS | _SIGNATURE_ENDS | {b"rer", b"sic"}
_LAST = 3  # letters of a word by which it is told apart first
_GLANCE = 12  # bytes before a run of which most announce nothing, whatever is before them
_REMEMBERED = 4096  # of these: most lines of an output are alike
# Those that announce nothing, and the steps that a look takes: without and with cookies in sight.
_dull: tuple[dict[bytes, int], dict[bytes, int]] = ({}, {})
# A gap in a run behind which a token may begin, by each of its first three bytes alone; also
# what is in tokens that are known by their end.
_gap = re.compile(
    rb"~|[_-](?=us|%b[A-Za-z0-9_~-]{13})"
    % b"".join(b"[%b]" % re.escape(bytes({*each})) for each in zip(*STARTS, strict=True))
).search
_SIGNATURE_VALUE = lazily(rb"[A-Za-z0-9%_+/=-]+")
_HOOK = lazily(
    rb"(?i)(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
    rb"|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/"
    rb"|\.webhook\.office\.com/webhookb2/|outlook\.office(?:365)?\.com/webhook/"
    rb"|hooks\.zapier\.com/hooks/catch/|hook\.[a-z0-9.]{0,12}make\.com/"
    rb"|\.com?/open-apis/bot/v2/hook/|maker\.ifttt\.com/trigger/\w{1,64}/with/key/"
    rb"|hooks\.airtable\.com/workflows/v1/genericWebhook/|chat\.googleapis\.com/v1/spaces/)"
)
_HOOK_PATH = lazily(rb"[A-Za-z0-9_/@.-]+")
_NAME_LEFT = 64
_NAME_BYTES = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_BETWEEN = b" \t=:\"'\\>[]"  # a name and its value
_SET = lazily(rb"(?:ENV|ARG|set -[gxU]{1,3}|setx|config(?:ure)? set)[ \t]+[A-Za-z0-9_.-]+\Z")
# Base64 of ASCII text: the highest bit of each byte is 0, and the first byte is no control code.
_TEXT_STARTS = frozenset(b"IJKLMNOPQRSTUVWXYZabcdef")
_TEXT_NEXT = frozenset(b"ABCDEFGHQRSTUVWXghijklmnwxyz0123")
_ASCII = rb"[C-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/]"
_TEXT = lazily(rb"(?:" + _ASCII + rb"){5,}+(?:[C-Za-f][A-Za-z0-9+/]{1,3})?=*(?![A-Za-z0-9+/_-])")
_COOKIE_VALUE = lazily(rb"[^;\s\"'\\,<>]+")
_COOKIE_NAME = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$!*~^-"
_LONGEST_COOKIE_NAME = 80
_BEFORE_COOKIE = frozenset(b"; \t\n\r\f\v\"',:")
_BEHIND_COOKIE = lazily(rb"[;\s\"'\\,]")
_SIGNED = lazily(rb"s(?:%3[Aa]|:)")
_NOT_COOKIES = frozenset({b"path", b"domain", b"expires", b"max-age", b"samesite", b"version"})


def tokens(
    data: bytes,
    runs: Iterable[tuple[int, int]],
    limit: int,
    hidden: Callable[[bytes, Meter], bytes | None],
    meter: Meter,
    *,
    final: bool,
) -> Iterator[SecretSpan]:
    """Yield the secrets that the long runs of letters and digits are, belong to, or contain.

    `runs` are start and end of each, from `prefilter.runs`. `hidden` returns the kind of the
    secret in a text that was decoded, None if there is none.
    """
    steps = 0
    # What only a word that is nowhere in sight can announce is not looked for at each run.
    cookies = b"ookie" in data
    looks, told = (_BEFORE, b" \"':") if cookies else (_WITHOUT_COOKIES, b" \"':=")
    dull = _dull[cookies]
    passed = 0
    for start, end in runs:
        span = None
        if start < passed:
            continue
        head = data[start : start + 3]
        fourth = FOURTH.get(head)
        if fourth is not None and data[start + 3] in fourth:
            span = _with_prefix(data, start, limit, final=final)
        before = data[start - 1]
        glance = data[start - _GLANCE : start] if before in told else b""
        if glance in dull and span is None:
            steps += dull[glance]  # nearly all: no word is before it that announces something
        elif span is None and (look := looks.get(before)) is not None:
            steps += look[1]
            if glance and _announces_nothing(glance):
                _remember(dull, glance, look[1])
            else:
                meter.spend(steps)
                steps = 0
                span = look[0](data, start, limit)
        if span is None and head == b"sha":
            passed = _end_of_checksum(data, start)
        elif (
            span is None
            and data[start] in _TEXT_STARTS
            and data[start + 1] in _TEXT_NEXT
            and _TEXT.match(data, start, limit)
        ):
            meter.spend(_ENCODED + steps)
            steps = 0
            span = _encoded(data, start, limit, hidden, meter)
        if span is not None:
            meter.spend(_SPAN + steps)
            steps = 0
            yield span
            if span.end < end:
                yield from _inside(data, span.end, end, limit, meter)
        elif (
            start >= passed
            and not (run := data[start:end]).isalnum()
            and _begins_inside(data, start, end, run)
        ):
            steps += _INSIDE
            yield from _inside(data, start, end, limit, meter)
    meter.spend(steps)


def _remember(dull: dict[bytes, int], glance: bytes, steps: int) -> None:
    if len(dull) >= _REMEMBERED:
        dull.clear()
    dull[glance] = steps


def _announces_nothing(before: bytes) -> bool:
    """Return whether the `_GLANCE` bytes before a run tell that they announce no secret.

    The last one is a blank, a quote, a colon or an equals sign that is in no cookie.
    """
    name = before.rstrip(_BETWEEN)
    if len(name) < _LAST or name[-_LAST:].lower() in _ANNOUNCING:
        return False
    # What the tokens with a colon have before it: see `_behind_colon`.
    return before[-1] != 0x3A or not (before[-2:-1].isdigit() or before.startswith(b"AAAA"))


def _end_of_checksum(data: bytes, start: int) -> int:
    """Return the end of the checksum at `start`; 0 if there is none."""
    found = _checksum(data, start)
    return 0 if found is None else found.end()


def _begins_inside(data: bytes, start: int, end: int, run: bytes) -> bool:
    """Return whether a token may begin behind a gap in the run, or have its suffix there."""
    if data[start + 8] == 0x2D and _is_uuid(data, start, end):
        return False
    # Nearly all: words that are in other runs, too, and one more, of letters and digits alone.
    words, gap, last = run.rpartition(b"-")
    if 0x5F in last:  # a number is looked for in half the time of a byte
        words, gap, last = run.rpartition(b"_")
    if (
        last.isalnum()
        and last[:3] not in STARTS
        and last[:2] != b"us"
        and _begins_nowhere(words + gap)
    ):
        return False
    found = _gap(data, start, end)
    return found is not None and heads().search(data, found.start(), end) is not None


@lru_cache(maxsize=_REMEMBERED)
def _begins_nowhere(words: bytes) -> bool:
    """Return whether no token may begin behind a gap between the words, nor end there.

    They end with a gap, of which it is not asked.
    """
    for gap in _SINGLE_GAP.finditer(words, 0, len(words) - 1):
        begin = words[gap.end() : gap.end() + 4]
        if begin.startswith(b"us") or any(
            each.startswith(begin[:3]) and (len(begin) < 4 or begin[3] in fourth)
            for each, fourth in FOURTH.items()
        ):
            return False
    return b"~" not in words


def _with_prefix(data: bytes, start: int, limit: int, *, final: bool) -> SecretSpan | None:
    found = token_at(data, start, limit)
    if found is not None and found[0] == b"key-without-armour":
        from siding.secretmask.keys import block_from

        block = block_from(data, start, limit, final=final)
        end = block.end if block.found else limit
        pending = not block.found and block.open
        return SecretSpan(
            start, end, b"private-key", pending=pending, block=block.found, open=block.open
        )
    return None if found is None else _span(start, found[1], found[0], limit)


def _named(data: bytes, start: int, limit: int) -> SecretSpan | None:
    """Return a long value whose name ends with a word that announces only long ones."""
    if data[start - 2] not in _BETWEEN and data[start - 4 : start - 1].lower() not in _LAST_LETTERS:
        return None  # nearly all: one byte is between
    left = data[max(0, start - 16) : start].rstrip(_BETWEEN)
    if left[-3:].lower() not in _LAST_LETTERS:
        return None
    left = data[max(0, start - _NAME_LEFT) : start]
    name = left.rstrip(_BETWEEN)
    if not name.lower().endswith(LAST_WORDS):
        return None
    between = left[len(name) :]
    if b"=" not in between and b":" not in between and not _SET.search(name):
        return None
    word = name[len(name.rstrip(_NAME_BYTES)) :]
    known = meaning(word)
    kind = b"cookie" if known is not None and known.tier is Tier.COOKIE else None
    if known is None or (kind is not None and not word.rpartition(b".")[2].isupper()):
        return None
    found = _TOKEN68.match(data, start, limit)
    if found is None:
        return None
    from siding.secretmask.values import is_random

    if not is_random(found[0][:JUDGED]):
        return None
    return _span(start, found.end(), kind or known.kind, limit)


def _encoded(
    data: bytes,
    start: int,
    limit: int,
    hidden: Callable[[bytes, Meter], bytes | None],
    meter: Meter,
) -> SecretSpan | None:
    """Return the Base64 at `start` if it is that of a text with a secret in it."""
    found = _TEXT.match(data, start, min(limit, start + RIGHT))
    if found is None:
        return None
    text = binascii.a2b_base64(found[0].rstrip(b"=") + b"=" * (-len(found[0].rstrip(b"=")) % 4))
    kind = hidden(text, meter)
    return None if kind is None else _span(start, found.end(), kind, limit)


def _inside(data: bytes, start: int, end: int, limit: int, meter: Meter) -> Iterator[SecretSpan]:
    """Yield the tokens inside a run, which begin after a ``-`` or ``_``."""
    run = data[start:end]
    if end - start > _LONG:
        meter.spend(run.count(b"-") + run.count(b"_"))
    if b"-" in run or b"_" in run:
        tried: dict[bytes, int] = {}
        for gap in _INNER.finditer(data, start, end):
            at = gap.end()
            if end - at < _SHORTEST:
                break
            head = data[at : at + 3]
            if at >= start and head in STARTS and tried.get(head, 0) < _TRIES:
                tried[head] = tried.get(head, 0) + 1
                found = token_at(data, at, limit)
                if found is not None:
                    start = found[1]
                    yield _span(at, start, found[0], limit)
    if b"-us" in run or b"Q~" in run:
        meter.spend(_SUFFIXED)
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
        return _named(data, start, limit)
    word = data[max(0, start - 8) : start - 1].lower()
    if word.endswith(b"bearer"):
        found = _TOKEN68.match(data, start, limit)
        if found is not None and _is_value(found[0]):
            return _span(start, found.end(), b"auth", limit)
    if word.endswith(b"basic"):
        from siding.secretmask.values import is_userinfo

        found = _TOKEN68.match(data, start, limit)
        if found is not None and is_userinfo(found[0][:LEFT]):
            return _span(start, found.end(), b"auth", limit)
    return _named(data, start, limit)


def _behind_colon(data: bytes, start: int, limit: int) -> SecretSpan | None:
    # What the tokens with a colon have next to it: checksums (`sha256:…`) have none of it.
    if (
        data[start - 11 : start - 1].isdigit()
        or (data[start : start + 2] == b"AA" and data[start - 9 : start - 1].isdigit())
        or data[start - 12 : start - 8] == b"AAAA"
    ):
        return _behind_joint(data, start, limit) or _named(data, start, limit)
    return _named(data, start, limit)


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
    left = start - 200 if start > 200 else 0
    if data.rfind(b".co", left, start) >= 0:
        before = data[left:start].lower()
        if b"hook" in before or b"trigger" in before or b"googleapis" in before:  # in each is one
            for hook in _HOOK.finditer(data, left, start):
                path = _HOOK_PATH.match(data, hook.end(), min(limit, start + RIGHT))
                if path is not None and path.end() > start:
                    return _span(path.start(), path.end(), b"webhook", limit)
    if data[start - 2] == 0x2F and data.startswith(b"1//0", start - 3):
        found = token_at(data, start - 3, limit)
        return None if found is None else _span(start - 3, found[1], found[0], limit)
    return None


def _behind_equals(data: bytes, start: int, limit: int) -> SecretSpan | None:
    left = max(0, start - 120)
    if data[start - 1] != 0x3D or data[start - 4 : start - 1].lower() in _SIGNATURE_ENDS:
        span = _signature(data, left, start, limit)
        if span is not None:
            return span
    return _in_cookie(data, start, limit) or _named(data, start, limit)


def _behind_equals_alone(data: bytes, start: int, limit: int) -> SecretSpan | None:
    """Do as `_behind_equals` where no cookie is in sight."""
    if data[start - 4 : start - 1].lower() in _SIGNATURE_ENDS:
        span = _signature(data, max(0, start - 120), start, limit)
        if span is not None:
            return span
    return _named(data, start, limit)


def _signature(data: bytes, left: int, start: int, limit: int) -> SecretSpan | None:
    if _SIGNATURE.search(data, left, start):
        first = data.rindex(b"=", left, start) + 1
        found = _SIGNATURE_VALUE.match(data, first, limit)
        assert found is not None
        return _span(first, found.end(), b"signature", limit)
    return None


def _in_cookie(data: bytes, start: int, limit: int) -> SecretSpan | None:
    left = max(0, start - LEFT)
    header = data.rfind(b"ookie", left, start)
    if header < 0 or data.find(b"\n", header, start) >= 0:
        return None
    first = _beginning_of_cookie(data, max(left, start - 120), start)
    if first is None:
        return None
    behind = data.find(b":", header, start)
    behind = behind if behind >= 0 else data.find(b"=", header, start)
    if not (0 <= behind - header < 16):
        return None
    signed = _SIGNED.match(data, first)
    first = first if signed is None else signed.end()
    found = _COOKIE_VALUE.match(data, first, limit)
    if found is None or not _is_value(found[0]):
        return None
    return _span(first, found.end(), b"cookie", limit)


def _beginning_of_cookie(data: bytes, begin: int, start: int) -> int | None:
    """Return where the value of a cookie begins in whose value, or before it, `start` is."""
    before, equals, value = data[begin:start].rpartition(b"=")
    if not equals or (value and _BEHIND_COOKIE.search(value)):
        return None
    outside = before.rstrip(_COOKIE_NAME)
    name = before[len(outside) :]
    if not 0 < len(name) <= _LONGEST_COOKIE_NAME or name.lower() in _NOT_COOKIES:
        return None
    if outside:
        return start - len(value) if outside[-1] in _BEFORE_COOKIE else None
    return start - len(value) if begin == 0 else None


def _behind_brace(data: bytes, start: int, limit: int) -> SecretSpan | None:
    if (
        data[max(0, start - 9) : start]
        .upper()
        .endswith((b"{SSHA}", b"{SHA}", b"{SMD5}", b"{SSHA512}"))
    ):
        found = _TOKEN68.match(data, start, limit)
        return None if found is None else _span(start, found.end(), b"password-hash", limit)
    return None


# What looks at a run, by the byte before it, and how many steps that takes.
_BEFORE = {
    0x20: (_behind_blank, 3),
    0x22: (_named, 2),  # "
    0x27: (_named, 2),  # '
    0x2E: (_behind_joint, 10),  # .
    0x3A: (_behind_colon, 6),
    0x2F: (_behind_slash, 9),
    0x3D: (_behind_equals, 8),
    0x25: (_behind_escape, 12),  # %
    0x5C: (_behind_escape, 4),  # a backslash
    0x5B: (_behind_escape, 4),  # [
    0x3B: (_behind_escape, 4),  # ;
    0x7D: (_behind_brace, 2),
    0x24: (_behind_joint, 10),  # $
}
_WITHOUT_COOKIES = {**_BEFORE, 0x3D: (_behind_equals_alone, 8)}


def _span(start: int, end: int, kind: bytes, limit: int) -> SecretSpan:
    if end < limit:
        return plain_span(start, end, kind)
    return SecretSpan(start, end, kind, until=BEHIND_TOKEN)


def _is_value(found: bytes) -> bool:
    """Tell whether what was found has a digit, and stands for no value that a person fills in."""
    if _DIGIT.search(found, 0, LEFT) is None:
        return False
    from siding.secretmask.values import stands_for_one

    return not stands_for_one(found[:LEFT])
