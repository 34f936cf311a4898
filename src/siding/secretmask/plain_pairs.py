"""Find the secrets that need no closer look: a name, and a value of letters and digits alone.

``DB_PASSWORD=hunter22`` and ``"token": "0123abcd"`` are most of what dense secrets are made of. One
expression finds name, value and what is around it, and one more tells whether the value could be
anything else than a secret. What is in doubt is left to `pairs`, which would judge the same here
and takes several times as long.
"""

import re

from siding.secretmask.formats import STARTS
from siding.secretmask.lazily import lazily
from siding.secretmask.names import Meaning, Tier
from siding.secretmask.phrases import PHRASES
from siding.secretmask.prefilter import SAYS
from siding.secretmask.span import SecretSpan, plain_span
from siding.secretmask.values import is_surely_password, is_surely_token

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
