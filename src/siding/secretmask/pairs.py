"""Find a secret by its name: ``DB_PASSWORD=…``, ``"token": "…"``, ``--password …``, ``<secret>…``,
``Authorization: Bearer …``. The value can be quoted in any way, also inside a JSON string.
"""

import re

from siding.secretmask.formats import STARTS, token_at
from siding.secretmask.lazily import lazily
from siding.secretmask.names import Meaning, Tier
from siding.secretmask.phrases import PHRASES, behind_name
from siding.secretmask.prefilter import SAYS
from siding.secretmask.span import JUDGED, LEFT, RIGHT, SecretSpan, plain_span
from siding.secretmask.values import (
    is_password,
    is_random,
    is_surely_password,
    is_surely_token,
    is_token,
    is_told,
    reads_like_words,
    stands_for_one,
)

_NAME_LEFT = 64
_SHORT_LEFT = 3  # bytes that are looked at first
_NAME = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
_IN_NAME = frozenset(_NAME)
_BLANKS = b" \t\n"
_COLOUR = rb"(?:\x1b\[[0-9;]{0,16}m){0,4}+"
_QUOTE = rb"(?:\\{0,6}[\"'`]|&quot;|%22)"
_AFTER = lazily(
    rb"(?P<rest>[A-Za-z0-9_.-]{0,48}+)"
    + _COLOUR
    + rb"(?P<q>"
    + _QUOTE
    + rb")?+\]?+"
    + _COLOUR
    + rb"(?:(?P<sep>[ \t]{0,16}+"
    rb"(?::[ \t]?[A-Za-z][\w.\[\]|, ]{0,30}?=[ \t]?(?=[a-zA-Z]{0,2}\\{0,6}[\"'])"
    rb"|=>|:=|=(?!=)|:(?!:)|%3[AaDd])[ \t]{0,64}+)"
    rb"|(?P<xml>>)"
    rb"|(?P<pair>[ ]?,[ ]?\\{0,6}[\"']value\\{0,6}[\"'][ ]?:[ ]?)"
    rb"|(?P<cell>[ \t]{0,64}\|[ \t]{0,64}|\t[ \t]{0,16})"
    rb"|(?P<gap>[ \t]{1,16}+))" + _COLOUR
)
rest_of_name = re.compile(rb"[A-Za-z0-9_.-]{0,48}+").match
follows = _AFTER.match  # the end of a name, and what a value can follow; None without it
_OPEN = lazily(rb"(?:[bBrRuUfF]{0,2}(?=[\"']))?(" + _QUOTE + rb")")
_BODY = {quote: re.compile(rb"(?:[^%s\\\n\r]|\\[^\n\r])*+" % quote) for quote in (b'"', b"'", b"`")}
_LINE_START = lazily(
    rb"[ \t]*(?:[-+>#|$%][ \t]?)?"
    rb"(?:(?:export|set|setx|ENV|ARG|declare -x|local|readonly|env)[ \t]+)?\Z"
)
_TO_BLANK = lazily(rb"[^\s\x1b]++")
_NEXT_PAIR = lazily(rb"[;&](?=[A-Za-z_][\w .-]{0,40}=)")
_IN_LINE = lazily(rb"[^\s\"'`<>&;,)\]}\\|\x1b]++")
_AFTER_VALUE = lazily(rb"[\s\"'`<>&;,)\]}\\|\x1b]")
_CELL = lazily(rb"`?([^\s|`]{4,256})`?[ \t]*(?=[|\r\n]|\Z)")
_COLUMN = lazily(rb"([^\s|`]{4,256})(?=[\t\r\n]|\Z)")
_SCHEME = lazily(
    rb"(?i)(?:bearer|basic|token|apikey|api-key|key|bot|splunk|negotiate|oauth"
    rb"|genie-?key|sso-key|ntlm)[ \t]+"
)
_CREDENTIAL = lazily(rb"[^\s\"'`<>,;\\{}\x1b]++")
_TOLD = lazily(rb"is:? [\"'`]?([^\s\"'`<>,;]{7,255}[^\s\"'`<>,;.])")
_NETRC = lazily(rb"(?:\n|\\[nr]|login[ \t]\S{1,80}[ \t])[ \t]*\Z")
_SETTING = lazily(rb"(?:\n|\\[nr]|[ \t\"'])(?:ENV|setx|set -[gxU]{1,3}|config(?:ure)? set)[ \t]+\Z")
_PREFIXES = (b"django-insecure-", b"base64:")  # not secret: they say what kind of secret follows


def pair_at(
    data: bytes, left: int, known: Meaning, after: re.Match[bytes], limit: int, *, final: bool
) -> SecretSpan | None:
    """Return the secret of the name that begins at `left`; None if there is none.

    `known`: what the name says. `after`: what `follows` a word of it.
    """
    before = data[left - 1]
    if after[6] is not None:
        span = _in_the_next_cell(data, left, after, limit, known, final=final)
        if span is not None or b"|" in after[6]:
            return span
    gap = after[6] is not None or after[7] is not None
    if gap and before not in _BLANKS and data[left] != 0x2D and data[left - 2] != 0x5C:
        return None
    if before == 0x3A and data[left - 10 : left] == b"[redacted:":
        return None
    if before == 0x2F and data[left - 3 : left] == b"://":  # a user's name in a URL
        return None
    start = after.end()
    if known.tier is Tier.HEADER:
        return None if after[3] is None else _header(data, start, limit)
    if known.tier is Tier.COOKIE:
        return None  # `places` finds the pairs
    if gap:
        quoted = after[2] is not None
        return _behind_a_gap(data, left, start, limit, known, quoted=quoted, final=final)
    if after[4] is not None:
        attribute = after[2] is not None and data[left - 5 : left - 1] in (b"key=", b"ame=")
        if not attribute and (
            after[2] is not None or before not in b"<:" or data[left - 2] == 0x5C
        ):
            return None
    return _value(data, left, start, limit, known, after, final=final)


def beginning_of_name(data: bytes, at: int) -> int:
    """Return where the name begins that has the word at `at` in it."""
    if at < _SHORT_LEFT:
        pass  # an index below 0 would look at the end of the data
    elif data[at - 1] not in _IN_NAME:
        if data[at - 1] != 0x5C:
            return at
    elif data[at - 3] not in _IN_NAME and data[at - 3] != 0x5C and data[at - 2] in _IN_NAME:
        return at - 2  # "token" and "secret", of which the word is the end
    before = data[max(0, at - _NAME_LEFT) : at]
    left = at - len(before) + len(before.rstrip(_NAME))
    if (
        left and data[left - 1] == 0x5C and data[left] in b"nrt"
    ):  # the letter of an escape is not part of it
        left += 1
    return left


def _value(
    data: bytes,
    left: int,
    start: int,
    limit: int,
    known: Meaning,
    after: re.Match[bytes],
    *,
    final: bool,
) -> SecretSpan | None:
    opened = _OPEN.match(data, start, limit)
    if opened is not None:
        start = opened.end()
        end, closed = _end_of_quoted(data, start, limit, opened[1])
        if closed:
            return _if_secret(data, start, end, known, quoted=True)
        if _may_close(start, end, limit, final=final):
            return SecretSpan(start, limit, known.kind, pending=True)
    style, assigned = _style(data, left, after)
    found = style.match(data, start, min(limit, start + JUDGED))
    if found is None:
        return None
    end = len(found[0].rstrip(b",;")) + start
    following = _NEXT_PAIR.search(data, start, end) if style is _TO_BLANK else None
    if following is not None:
        end = following.start()
    elif style is _TO_BLANK and found[0][-1:] in (b'"', b"'") and opened is None:
        end -= 1
    if assigned and data[left] == 0x2D and _is_word(data[start:end]):
        assigned = False  # an option is given a word more often than a variable is
    span = _if_secret(data, start, end, known, assigned=assigned, quoted=opened is not None)
    if span is None:
        return None
    if after[2] is not None and opened is None and data[start:end].isdigit():
        return span._replace(quote=after[2])
    return _to_its_end(data, span, start + JUDGED, limit)


def _in_the_next_cell(
    data: bytes,
    left: int,
    after: re.Match[bytes],
    limit: int,
    known: Meaning,
    *,
    final: bool,
) -> SecretSpan | None:
    """Return a secret in the cell of a table behind the one in which its name is alone."""
    bar = b"|" in after[6]
    before = data[max(0, left - 80) : left].rstrip(b" `*")
    if known.tier is Tier.HEADER or known.tier is Tier.COOKIE or before[-1:] not in b"\n|\t":
        return None
    if not bar and b"|" in before[-1:]:
        return None
    found = (_CELL if bar else _COLUMN).match(data, after.end(), limit)
    if found is None:
        return None
    start, end = found.span(1)
    if end == limit and not final:
        return SecretSpan(start, limit, known.kind, pending=True)
    value = data[start:end]
    random = value.isalpha() and not value.islower() and not reads_like_words(value)
    return _if_secret(data, start, end, known, quoted=False, assigned=random)


def _is_word(value: bytes) -> bool:
    return value.isalpha() and (value.islower() or value.isupper() or value.istitle())


def _may_close(start: int, end: int, limit: int, *, final: bool) -> bool:
    """Tell whether the quote of a text that goes to the end of the data may be closed later."""
    return not final and end == limit and end - start < RIGHT


def _quoted_value(
    data: bytes, start: int, limit: int, quote: bytes, known: Meaning, *, final: bool
) -> SecretSpan | None:
    """Return the secret in the quotes of which the first is before `start`."""
    end, closed = _end_of_quoted(data, start, limit, quote)
    if closed:
        return _if_secret(data, start, end, known, quoted=True)
    if _may_close(start, end, limit, final=final):
        return SecretSpan(start, limit, known.kind, pending=True)
    return None


def _to_its_end(data: bytes, span: SecretSpan, judged: int, limit: int) -> SecretSpan:
    """Return the span extended to the end of the value.

    Only the first `JUDGED` bytes of a value are judged; the rest of it is secret as well.
    """
    if span.end >= judged:
        behind = _AFTER_VALUE.search(data, span.end)
        span = span._replace(end=limit if behind is None else behind.start())
    return span._replace(until=_AFTER_VALUE) if span.end == limit else span


def _style(data: bytes, left: int, after: re.Match[bytes]) -> tuple[re.Pattern[bytes], bool]:
    """Return the pattern of an unquoted value, and whether only a literal can be there."""
    tight = after[3] == b"="
    if left > 1 and data[left - 2] == 0x5C:
        return _IN_LINE, tight and data[left : left + 1].isupper()
    name = data[left : left + 1]
    if after[2] is not None or after[3] is None:
        return _IN_LINE, False
    before = data[left - 1]
    if before == 0x0A or (before not in b"\"'" and _begins_line(data, left)):
        return _TO_BLANK, tight and name.isupper()
    return _IN_LINE, tight and (name.isupper() or name == b"-")


def _begins_line(data: bytes, left: int) -> bool:
    """Return whether there is at most an `export` or a prompt before `left` in its line."""
    line = data.rfind(b"\n", max(0, left - 64), left) + 1
    return line > 0 and _LINE_START.match(data, line, left) is not None


def _if_secret(
    data: bytes, start: int, end: int, known: Meaning, *, quoted: bool, assigned: bool = False
) -> SecretSpan | None:
    for prefix in _PREFIXES:
        if data.startswith(prefix, start, end):
            start += len(prefix)
    value = data[start : min(end, start + JUDGED)]
    if known.tier is Tier.PASSWORD:
        secret = is_password(value, quoted=quoted, assigned=assigned)
    elif known.tier is Tier.TOKEN:
        secret = is_token(value, quoted=quoted or assigned)
    else:
        secret = is_random(value)
    if not secret:
        return None
    token = token_at(data, start, end)  # a known token has a more exact kind than its name
    return plain_span(start, end, known.kind if token is None or token[1] != end else token[0])


def _end_of_quoted(data: bytes, start: int, limit: int, quote: bytes) -> tuple[int, bool]:
    """Return the end of a quoted text that starts at `start`, and whether its quote is closed."""
    most = min(limit, start + RIGHT)
    body = _BODY.get(quote)
    if body is not None:
        found = body.match(data, start, most)
        assert found is not None
        end = found.end()
        if end < most and data[end] == 0x5C and end + 1 == limit:
            return limit, False  # the data ends inside an escape
        return end, data.startswith(quote, end, most)
    line = min(each for each in (data.find(b"\n", start, most), most) if each >= 0)
    end = data.find(quote, start, line)
    while end > 0 and data[end - 1] == 0x5C and quote[0] == 0x5C:
        end = data.find(quote, end + 1, line)
    return (end, True) if end >= 0 else (line, False)


def _header(data: bytes, start: int, limit: int) -> SecretSpan | None:
    opened = _OPEN.match(data, start, limit)
    start = start if opened is None else opened.end()
    scheme = _SCHEME.match(data, start, limit)
    start = start if scheme is None else scheme.end()
    found = _CREDENTIAL.match(data, start, min(limit, start + JUDGED))
    if found is None:
        return None
    value, end = found[0], found.end()
    if len(value) < 6 or stands_for_one(value) or (value.isalpha() and len(value) < 20):
        return None
    if scheme is None and not is_token(value, quoted=False):
        return None
    token = token_at(data, start, limit)
    if token is not None and token[1] >= end:
        return SecretSpan(
            start, token[1], token[0], until=_AFTER_VALUE if token[1] == limit else None
        )
    return _to_its_end(data, SecretSpan(start, end, b"auth"), start + JUDGED, limit)


def _behind_a_gap(
    data: bytes, left: int, start: int, limit: int, known: Meaning, *, quoted: bool, final: bool
) -> SecretSpan | None:
    """Return a secret that only white space separates from its name.

    That is ``--password X``, ``ENV DB_PASSWORD X``, a line of a netrc file, or ``PASSWORD 'X'`` in
    SQL.
    """
    if quoted or known.tier is Tier.KEY:
        return None
    name = data[left:start].rstrip(b" \t")
    if name in PHRASES:
        span = behind_name(data, left, name, limit, final=final)
        if span is not None:
            return span
    flag = data[left : left + 1] == b"-"
    # With a `_`: the prefilter looks for nothing of this where there is no punctuation at all.
    setting = (
        b"_" in data[left:start] and _SETTING.search(data, max(0, left - 32), left) is not None
    )
    if not (flag or setting):
        told = _TOLD.match(data, start, limit)
        if told is not None:
            return _told(data, told, known, limit, final=final)
        if known.tier is not Tier.PASSWORD:
            return None
        return _after_password(data, left, start, limit, known, final=final)
    opened = _OPEN.match(data, start, limit)
    if opened is not None:
        return _quoted_value(data, opened.end(), limit, opened[1], known, final=final)
    found = _IN_LINE.match(data, start, limit)
    if found is None or found[0].startswith(b"-"):
        return None
    return _if_secret(data, start, found.end(), known, quoted=False, assigned=setting)


def _told(
    data: bytes, told: re.Match[bytes], known: Meaning, limit: int, *, final: bool
) -> SecretSpan | None:
    """Return what a sentence says that a password or a token is."""
    start, end = told.span(1)
    if end == limit and not final:
        return SecretSpan(start, limit, known.kind, pending=True)
    if not is_told(told[1]):
        return None
    token = token_at(data, start, end)
    return plain_span(start, end, known.kind if token is None or token[1] != end else token[0])


def _after_password(
    data: bytes, left: int, start: int, limit: int, known: Meaning, *, final: bool
) -> SecretSpan | None:
    if data[start : start + 1] == b"'" and data[left : left + 8].lower() == b"password":
        return _quoted_value(data, start + 1, limit, b"'", known, final=final)
    if data[left : left + 9] not in (b"password ", b"password\t"):
        return None
    before = max(0, left - min(LEFT, 128))
    if not _NETRC.search(data, before, left) or b"." not in data[before:left]:
        return None
    found = _IN_LINE.match(data, start, limit)
    if found is None or found[0].islower() or found[0].isupper() or found[0].istitle():
        return None
    return _if_secret(data, start, found.end(), known, quoted=False)


# -- Find the secrets that need no closer look: a name, and a value of letters and digits alone ----
#
# ``DB_PASSWORD=hunter22`` and ``"token": "0123abcd"`` are most of what dense secrets are made of.
# One expression finds name, value and what is around it, and one more tells whether the value could
# be anything else than a secret. What is in doubt is left to `pairs`, which would judge the same
# here and takes several times as long.


_VALUE = rb"([A-Za-z0-9]{6,64}+)"
# From a word of the name on. Behind a colon a value without quotes is the last word of its line,
# because in ``password: str = "…"`` it is a type.
_PAIR = lazily(
    rb"([A-Za-z0-9_.-]{0,48}+)(?:="
    + _VALUE
    + rb"(?=[ \t\r\n])|[\"']?(?:=|: ?)(?:\""
    + _VALUE
    + rb"\"|'"
    + _VALUE
    + rb"')|: ?"
    + _VALUE
    + rb"(?=[\r\n]))"
)
_pair = _PAIR.match
_IN_DOUBT = frozenset(b":/\\")  # before a name: of a mark, of a URL, an escape
_PASSWORD, _TOKEN, _KEY = Tier.PASSWORD, Tier.TOKEN, Tier.KEY
# Around a name in the head line of a table: bytes before and behind it, and those beside a blank.
_BEFORE_CELL, _BEFORE_BLANK = frozenset(b'\n|,;\t" `*\x82'), frozenset(b" |\x82\n")
_BEHIND_CELL = frozenset(bytes([each]) for each in b'|,;\t" \r\n`*\xe2')
_BEHIND_BLANK, _BEHIND_QUOTE = frozenset(b" |\xe2\r\n"), frozenset(b",;\t\r\n")
ACCESS = b" access "  # the only name of several words: "Secret access key"
# A value in JSON that is too short, or a word, to be of a name whose values a machine has made.
_is_dull = re.compile(
    rb"\": ?(?:(?:true|false|null|[0-9]{1,7})(?=\}|\n|, ?\")|\"[^\"\\\n]{0,7}\")"
).match


def is_word(data: bytes, left: int, end: int) -> bool:
    """Return whether the name ``data[left:end]`` is surely a word of a sentence."""
    if data[end] != 0x20 or data[left] == 0x2D or not data[end + 1 : end + 2].isalnum():
        return False
    name = data[left:end]
    if data[end : end + 4] in SAYS:
        return False
    return b"_" not in name and name not in PHRASES  # no setting, and nothing that has a blank


def may_be_in_head(data: bytes, left: int, end: int) -> bool:
    """Return whether the name ``data[left:end]`` may stand in the head line of a table."""
    before, behind = data[left - 1], data[end : end + 2]
    if before not in _BEFORE_CELL or behind[:1] not in _BEHIND_CELL or len(behind) < 2:
        return False
    if before == 0x20 and data[left - 2] not in _BEFORE_BLANK:
        return False
    if behind[0] == 0x22:
        return behind[1] in _BEHIND_QUOTE
    return behind[0] != 0x20 or behind[1] in _BEHIND_BLANK or data.startswith(ACCESS, end)


def dull_end(data: bytes, end: int, known: Meaning) -> int | None:
    """Return the end of what is behind a name that ends at `end` if it is surely no secret."""
    tier = known[0]
    found = _is_dull(data, end) if tier is _TOKEN or tier is _KEY else None
    return None if found is None else found.end()


def plain_pair(data: bytes, at: int, left: int, known: Meaning, limit: int) -> SecretSpan | None:
    """Return the secret whose name has the word at `at` in it; None if that takes a closer look.

    `left`, `known`: where the name begins, and what it says.
    """
    found = _pair(data, at, limit)
    if found is None or data[left - 1] in _IN_DOUBT:
        return None
    group = found.lastindex
    assert group is not None
    value = found[group]
    tier, kind, _ = known
    if tier is _TOKEN:
        sure = is_surely_token(value)
    else:
        sure = tier is _PASSWORD and is_surely_password(value)
    if not sure or value[:3] in STARTS:
        return None
    start = found.start(group)
    return plain_span(start, start + len(value), kind)
