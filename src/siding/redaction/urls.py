"""Find the passwords in URLs: ``https://name:password@host``."""

import re

from siding.redaction.formats import STARTS, token_at
from siding.redaction.span import SecretSpan, plain_span
from siding.redaction.values import is_surely_password, stands_for_one

_URL_LEFT = 512
# A password of letters and digits (group 1), with a host behind it, takes no closer look.
_URL = re.compile(
    rb"://[^\s\"'<>\\/?:]{0,256}+:(?:([A-Za-z0-9]{6,64}+)@(?=[A-Za-z0-9])"
    rb"(?![^\s\"'<>\\/?@]{0,256}+@)|[^\s\"'<>\\/?]{3,256}@)"
)
_NOT_IN_USERINFO = re.compile(rb"[\s\"'<>\\/?]")


def url_passwords(data: bytes, limit: int) -> list[SecretSpan]:
    """Return the passwords in URLs."""
    spans = []
    for found in _URL.finditer(data):
        start, end = found.span(1)
        if start < 0 or data[start : start + 3] in STARTS:
            span = _url_password(data, found.end() - 1, limit)
            if span is not None:
                spans.append(span)
        elif _is_password(data[start:end]):
            at = found.start()
            if data[at - 1 : at].isalnum():
                spans.append(plain_span(start, end, b"url-password"))
    return spans


def _is_password(value: bytes) -> bool:
    return is_surely_password(value) or not stands_for_one(value)


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
