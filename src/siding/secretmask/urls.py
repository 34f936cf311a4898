"""Find the passwords in URLs: ``https://name:password@host``."""

import re
from collections.abc import Sequence

from siding.secretmask.formats import PLAIN_STARTS, token_at
from siding.secretmask.lazily import lazily
from siding.secretmask.span import SecretSpan, plain_span, plain_spans
from siding.secretmask.values import are_hex, none_stands_for_one, stands_for_one

_KIND = b"url-password"
_URL_LEFT = 512
# Each byte is written out: a set with a class such as ``\s`` in it takes twice as long.
_OUTSIDE = rb" \t\n\r\f\v\"'<>\\/?"
_BEGIN = rb"://(?<=[A-Za-z0-9]://)[^%b:]{0,256}+:" % _OUTSIDE
_ANY = rb"[^%b]{3,256}@" % _OUTSIDE
# A password of letters and digits (group 1), with a host behind it, takes no closer look, unless
# there is one more ``@`` before the host.
_URL = lazily(rb"%b(?:([A-Za-z0-9]{6,64}+)@(?=[A-Za-z0-9])|%b)" % (_BEGIN, _ANY))
_more = re.compile(rb"[^%b@]{0,256}+@" % _OUTSIDE).match
_to_the_last = re.compile(rb"%b(?:((?!))|%b)" % (_BEGIN, _ANY)).match
# So many addresses are judged together; a few are judged one by one, as are those beside one that
# takes a closer look.
_TOGETHER, _FEW = 64, 4
_NOT_IN_USERINFO = lazily(rb"[\s\"'<>\\/?]")


def url_passwords(data: bytes, limit: int) -> list[SecretSpan]:
    """Return the passwords in URLs."""
    urls = list(_URL.finditer(data))
    if data.count(b"@") > len(urls):  # else each has one, which is the last
        urls = [_with_all(data, url) for url in urls]
    spans: list[SecretSpan] = []
    for first in range(0, len(urls), _TOGETHER):
        some = urls[first : first + _TOGETHER]
        plain = _plain(some) if len(some) > _FEW else None
        if plain is None:
            found = (_password(data, url, limit) for url in some)
            plain = [span for span in found if span is not None]
        spans += plain
    return spans


def _with_all(data: bytes, url: re.Match[bytes]) -> re.Match[bytes]:
    """Return the match up to the last ``@`` before the host."""
    if url[1] is None or _more(data, url.end()) is None:
        return url
    return _to_the_last(data, url.start()) or url


def _plain(urls: Sequence[re.Match[bytes]]) -> list[SecretSpan] | None:
    """Return the passwords of these URLs; None if one of them may take a closer look."""
    values = [url[1] for url in urls]
    if None in values or not none_stands_for_one(values):
        return None
    if not (are_hex(values) or PLAIN_STARTS.isdisjoint([value[:3] for value in values])):
        return None
    return plain_spans([url.start(1) for url in urls], [url.end(1) for url in urls], _KIND)


def _password(data: bytes, url: re.Match[bytes], limit: int) -> SecretSpan | None:
    value = url[1]
    if value is None or value[:3] in PLAIN_STARTS:
        return _url_password(data, url.end() - 1, limit)
    return None if stands_for_one(value) else plain_span(*url.span(1), _KIND)


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
    return SecretSpan(colon + 1, at, token[0] if token is not None and token[1] == at else _KIND)
