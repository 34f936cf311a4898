"""Text on pages: what comes from outside made safe, numbers and sizes in words.

Invisible characters are spelled out, so that a person sees all of a text. The templates escape
markup; this module does not.
"""

# Control characters draw nothing and may change what is drawn. Bidirectional controls reorder the
# text after them (U+202A to U+202E, U+2066 to U+2069). Others are invisible (U+200B, U+FEFF, tags).
_HIDDEN = {
    *range(0x09),
    *range(0x0B, 0x20),
    *range(0x7F, 0xA0),
    0xAD,
    0x061C,
    0x180E,
    *range(0x200B, 0x2010),
    *range(0x2028, 0x202F),
    *range(0x2060, 0x2070),
    0xFEFF,
    *range(0xFFF9, 0xFFFC),
    *range(0xE0000, 0xE0080),
}
_LONGEST = 160  # characters


_SPELLED = {code: f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}" for code in _HIDDEN}


_SPELLED |= {code: chr(0x2400 + code) for code in range(0x20) if code in _HIDDEN}  # ␀ ␛ and so on


_SPELLED[0x7F] = "\u2421"


def inert(text: str) -> str:
    """Return `text` with every control, bidirectional and hidden character spelled out.

    Line feeds and tabs stay. Bytes that were not UTF-8 are spelled ``\\xNN``.
    """
    if text.isascii() and text.isprintable():
        return text
    safe = text.translate(_SPELLED)
    return safe.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def duration(milliseconds: int) -> str:
    """Return ``0.4 s``, ``12 s``, ``3 min 05 s`` or ``2 h 10 min``."""
    if milliseconds < 9950:
        return f"{milliseconds / 1000:.1f} s"
    seconds = round(milliseconds / 1000)
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    return f"{seconds // 3600} h {seconds % 3600 // 60:02d} min"


def size(count: int) -> str:
    """Return a number of bytes as ``512 B``, ``1.4 MiB``."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024:
            return f"{value:.1f} {unit}"
    return f"{value / 1024:.1f} TiB"


def quoted(text: str) -> str:
    """Return untrusted text as one short quotation.

    Apostrophes in it are replaced, so that the text cannot end the quotation and pass for ours.
    """
    line = " ".join(text.split()).replace("'", "\u2019")
    if len(line) > _LONGEST:
        line = line[: _LONGEST - 1] + "\u2026"
    return f"'{line}'"


def tone_of(status_word: str) -> str:
    """Return the tone that a status is shown in: good, bad, warn or live."""
    return {"completed": "good", "failed": "bad", "blocked": "bad", "running": "live"}.get(
        status_word, "warn"
    )
