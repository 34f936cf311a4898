"""Escapes in JavaScript strings, and texts as Python string literals."""

import re

_ESCAPE = re.compile(r"\\(u\{[\da-fA-F]{1,6}\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|\r\n|[\s\S])")
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_IN_PYTHON = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def unescape(raw: str) -> str:
    """Return what the inside of a string literal stands for."""
    text = _ESCAPE.sub(_one, raw)
    if any("\ud800" <= letter <= "\udfff" for letter in text):  # pairs are one character in Python
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _one(found: re.Match[str]) -> str:
    said = found[1]
    if said[0] in "ux" and len(said) > 1:
        code = int(said[1:].strip("{}"), 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    if said in {"\n", "\r", "\r\n", "\u2028", "\u2029"}:
        return ""  # the literal goes on in the next line
    return _LETTERS.get(said, said)


def inside_quotes(text: str) -> str:
    """Return a text as it stands between double quotes in Python."""
    return "".join(map(_letter, text))


def quoted(text: str) -> str:
    """Return a text as a Python literal."""
    return f'"{inside_quotes(text)}"'


def _letter(letter: str) -> str:
    if letter in _IN_PYTHON:
        return _IN_PYTHON[letter]
    if letter.isprintable():
        return letter
    code = ord(letter)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )
