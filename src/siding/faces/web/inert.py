"""Spell out the invisible characters of text from outside, so that a person sees all of it.

The templates escape markup; this module does not.
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
