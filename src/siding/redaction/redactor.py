"""The entry point of redaction: a set of rules, for texts and streams."""

from binascii import b2a_base64
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

from siding.redaction.rules import KnownSecret, Pattern, Rules
from siding.redaction.stream import Stream

SHORTEST = 8  # bytes of a known value; shorter ones occur in too many other words
MOST_KNOWN = 200
_LONGEST = 4096
_HINTS = ("TOKEN", "SECRET", "PASS", "PWD", "KEY", "CRED", "AUTH")


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

    def stream(self) -> Stream:
        """Return a new `Stream`, which redacts bytes that come in pieces."""
        return Stream(self._rules)

    def mask(self, data: bytes) -> bytes:
        """Return `data` without its secrets."""
        stream = Stream(self._rules)
        return stream.feed(data) + stream.close()

    def mask_text(self, text: str) -> str:
        """Return `text` without its secrets; surrogates (bytes that are not UTF-8) are kept."""
        if self.is_clean(text):
            return text
        return self.mask(text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")

    def is_clean(self, text: str) -> bool:
        """Return whether there is no secret in `text`."""
        data = b"\n" + text.encode("utf-8", "surrogateescape")
        return not self._rules.find(data, final=True)


def known_values(env: Mapping[str, str]) -> list[KnownSecret]:
    """Return the values of variables whose names sound secret, also encoded and quoted.

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
    if not likely:
        return []
    from siding.redaction.names import Tier, meaning  # rules are loaded when they are needed

    for name, value in likely:
        named = meaning(name.encode("utf-8", "surrogateescape"))
        if named is None or (named.tier is Tier.KEY and len(value) < 16):
            continue
        for line in value.encode("utf-8", "surrogateescape").splitlines():
            if _is_worth_hiding(line):
                for form in _forms(line):
                    found.setdefault(
                        form,
                        KnownSecret(value=form, kind=b"env:" + name.encode("ascii", "replace")),
                    )
    return sorted(found.values(), key=lambda each: -len(each.value))[:MOST_KNOWN]


def _is_worth_hiding(value: bytes) -> bool:
    from siding.redaction.values import stands_for_one

    if not SHORTEST <= len(value) <= _LONGEST or stands_for_one(value):
        return False
    if value.startswith((b"/", b"./", b"~/", b"-----")) or (value.isdigit() and len(value) < 12):
        return False
    return len(value) >= 16 or not value.isalpha() or not (value.islower() or value.istitle())


def _forms(value: bytes) -> Iterable[bytes]:
    """Yield the value as it is, in Base64, percent-encoded, and escaped for JSON."""
    yield value
    if len(value) >= 12:
        yield b2a_base64(value, newline=False).rstrip(b"=")
    quoted = quote(value, safe="").encode()
    if quoted != value:
        yield quoted
    escaped = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    if escaped != value:
        yield escaped
