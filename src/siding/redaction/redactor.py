"""The rules in force, for texts of every size."""

from collections.abc import Iterable, Mapping, Sequence

from siding.redaction.rules import Known, Pattern, Rules
from siding.redaction.stream import Stream

SHORTEST = 8  # bytes of a known value: shorter ones would be found everywhere
MOST_KNOWN = 200
_LONGEST = 4096
_HINTS = ("TOKEN", "SECRET", "PASS", "PWD", "KEY", "CRED", "AUTH")


class Redactor:
    """Replaces secrets by ``[redacted:kind]``. Pure; safe to use for many streams."""

    def __init__(
        self,
        *,
        known: Sequence[Known] = (),
        patterns: Sequence[Pattern] = (),
        allowed: Iterable[str] = (),
    ) -> None:
        self._rules = Rules(known, patterns, frozenset(each.encode() for each in allowed))

    def stream(self) -> Stream:
        """Return a redactor of one stream, which gets it in pieces."""
        return Stream(self._rules)

    def mask(self, data: bytes) -> bytes:
        """Return `data` without its secrets."""
        stream = Stream(self._rules)
        return stream.feed(data) + stream.close()

    def mask_text(self, text: str) -> str:
        """Return `text` without its secrets; what is no text (surrogates) stays as it is."""
        data = b"\n" + text.encode("utf-8", "surrogateescape")
        if not self._rules.find(data, final=True):
            return text
        return self.mask(data[1:]).decode("utf-8", "surrogateescape")


def known_values(env: Mapping[str, str]) -> list[Known]:
    """Return the values of the variables whose names sound secret, and the forms they take.

    A value that is short, a placeholder, a path or an ordinary word is none: it would be masked
    wherever it stands. Of a value of several lines (a key) each line counts.
    """
    found: dict[bytes, Known] = {}
    likely = [
        (name, value)
        for name, value in env.items()
        if len(value) >= SHORTEST and any(hint in name.upper() for hint in _HINTS)
    ]
    if not likely:
        return []
    from siding.redaction.names import Tier, meaning  # rules are loaded when they are needed

    for name, value in likely:
        told = meaning(name.encode("utf-8", "surrogateescape"))
        if told is None or (told.tier is Tier.KEY and len(value) < 16):
            continue
        for line in value.encode("utf-8", "surrogateescape").splitlines():
            if _is_worth_hiding(line):
                for form in _forms(line):
                    found.setdefault(
                        form, Known(value=form, kind=b"env:" + name.encode("ascii", "replace"))
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
    from base64 import b64encode  # only where there is something to hide
    from urllib.parse import quote

    yield value
    if len(value) >= 12:
        yield b64encode(value).rstrip(b"=")
    quoted = quote(value, safe="").encode()
    if quoted != value:
        yield quoted
    escaped = value.replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    if escaped != value:
        yield escaped
