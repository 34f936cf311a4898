"""Find the passwords in URLs: ``https://name:password@host``."""

import re
from collections.abc import Iterator

from siding.redaction.formats import token_at
from siding.redaction.span import SecretSpan
from siding.redaction.values import stands_for_one

_URL_LEFT = 512
_URL = re.compile(rb"://[^\s\"'<>\\/?:]{0,256}:[^\s\"'<>\\/?]{3,256}@")
_NOT_IN_USERINFO = re.compile(rb"[\s\"'<>\\/?]")


def url_passwords(data: bytes, limit: int) -> Iterator[SecretSpan]:
    """Yield the passwords in URLs."""
    for found in _URL.finditer(data):
        span = _url_password(data, found.end() - 1, limit)
        if span is not None:
            yield span


def _url_password(data: bytes, at: int, limit: int) -> SecretSpan | None:
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
