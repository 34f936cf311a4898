"""The entry point of redaction: a set of rules, for texts and streams."""

from binascii import b2a_base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote

from siding.secretmask.credit import ALLOWANCE
from siding.secretmask.rules import KnownSecret, Pattern, Rules

if TYPE_CHECKING:
    from siding.secretmask.stream import Stream

SHORTEST = 8  # bytes of a known value; shorter ones occur in too many other words
MOST_KNOWN = 200
_LONGEST = 4096
_HINTS = tuple(
    """
    TOKEN SECRET PASS PW KEY CRED AUTH PAT SALT SESSION COOKIE BEARER JWT SIGNING HMAC SEED PSK
    MNEMONIC
    """.split()
)


class Redactor:
    """Replaces secrets by ``[redacted:kind]``. One redactor can be used for many streams.

    `known`: values that are secret wherever they occur. `patterns`: a project's own rules.
    `allowed`: values, or ``kind:NAME``, that are not redacted.
    """

    def __init__(
        self,
        *,
        known: Sequence[KnownSecret] = (),
        patterns: Sequence[Pattern] = (),
        allowed: Iterable[str] = (),
    ) -> None:
        self._rules = Rules(known, patterns, frozenset(each.encode() for each in allowed))

    def stream(self) -> "Stream":
        """Return a new `Stream`, which redacts bytes that come in pieces."""
        from siding.secretmask.stream import Stream  # most texts are clean

        return Stream(self._rules)

    def mask(self, data: bytes) -> bytes:
        """Return `data` without its secrets."""
        stream = self.stream()
        return stream.feed(data) + stream.close()

    def mask_text(self, text: str) -> str:
        """Return `text` without its secrets; surrogates (bytes that are not UTF-8) are kept."""
        if self.is_clean(text):
            return text
        return self.mask(_bytes(text)).decode("utf-8", "surrogateescape")

    def mask_words(self, words: Sequence[str]) -> list[str]:
        """Return a command's words without secrets.

        Each word is redacted by itself, and also if the option before it takes a password.
        """
        from siding.secretmask.commands import masked_words

        return masked_words(self.mask_text, words)

    def is_clean(self, text: str) -> bool:
        """Return whether there is no secret in `text`."""
        data = _bytes(text)
        if len(data) > ALLOWANCE.block:  # one that may have too much to look at each
            return self.mask(data) == data
        heads: list[int] = []
        if self._rules.find(b"\n" + data, final=True, heads=heads):
            return False
        return not heads or self.mask(data) == data


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def known_values(env: Mapping[str, str]) -> list[KnownSecret]:
    """Return the values of variables whose names sound secret, also encoded and quoted, and the
    passwords in URLs.

    A value that is short, a placeholder, a path or an ordinary word is left out, because it would
    be masked everywhere. Of a value of several lines (a key) each line is a value. At most
    `MOST_KNOWN` values are returned, the longest first.
    """
    found: dict[bytes, KnownSecret] = {}
    likely = [
        (name, value)
        for name, value in env.items()
        if len(value) >= SHORTEST and any(hint in name.upper() for hint in _HINTS)
    ]
    urls = [each for each in env.items() if "://" in each[1] and "@" in each[1]]
    if not likely and not urls:
        return []
    for name, value in (*_secrets_of(likely), *(_passwords_of(urls) if urls else ())):
        if _is_worth_hiding(value):
            kind = b"env:" + name.encode("ascii", "replace")
            for form in _forms(value):
                found.setdefault(form, KnownSecret(value=form, kind=kind))
    return sorted(found.values(), key=lambda each: -len(each.value))[:MOST_KNOWN]


def _secrets_of(variables: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    """Yield each line of the values whose names say that they are secret."""
    from siding.secretmask.names import Tier, meaning  # rules are loaded when they are needed

    for name, value in variables:
        named = meaning(name.encode("utf-8", "surrogateescape"))
        data = value.encode("utf-8", "surrogateescape")
        if named is None or (named.tier in (Tier.KEY, Tier.COOKIE) and len(data) < 16):
            continue
        if named.only_random:
            from siding.secretmask.values import is_random

            if not is_random(data):
                continue
        for line in data.splitlines():
            yield name, line


def _passwords_of(variables: Iterable[tuple[str, str]]) -> Iterator[tuple[str, bytes]]:
    from siding.secretmask.urls import url_passwords

    for name, value in variables:
        data = value.encode("utf-8", "surrogateescape")
        for span in url_passwords(data, len(data)):
            yield name, data[span.start : span.end]


def _is_worth_hiding(value: bytes) -> bool:
    from siding.secretmask.values import stands_for_one

    if not SHORTEST <= len(value) <= _LONGEST or stands_for_one(value):
        return False
    if value.startswith((b"/", b"./", b"~/", b"-----")) or (value.isdigit() and len(value) < 12):
        return False
    return len(value) >= 16 or not value.isalpha() or not (value.islower() or value.istitle())


def _forms(value: bytes) -> Iterable[bytes]:
    """Yield the value as it is, in Base64 and hexadecimal, percent-encoded, escaped for JSON."""
    yield value
    yield value.hex().encode()
    if len(value) >= 12:
        yield b2a_base64(value, newline=False).rstrip(b"=")
    quoted = quote(value, safe="").encode()
    if quoted != value:
        yield quoted
    escaped = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    if escaped != value:
        yield escaped
