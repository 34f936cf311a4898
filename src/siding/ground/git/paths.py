"""What git's trees hold: names and modes.

A name is bytes without NUL, relative to the root of a worktree; a mode is octal text.
"""

from collections.abc import Sequence

NOTHING = "000000"  # no entry, as git writes it in a raw diff
REGULAR = "100644"
EXECUTABLE = "100755"
SYMLINK = "120000"
GITLINK = "160000"  # a repository of its own

_ESCAPES = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 92: "\\"}
_UNESCAPES = {letter: code for code, letter in _ESCAPES.items()}


def quote_path(path: bytes) -> str:
    """Return the name as text that is safe to show and reads back exactly (`unquote_path`).

    A plain name stays as it is. Anything with a control character, a quote, a backslash, bytes
    that are not UTF-8, or characters that change the direction or the look of the text around
    them is written the way git does it: in double quotes, with backslash escapes.
    """
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        return '"' + "".join(map(_escape_byte, path)) + '"'
    if text.isprintable() and '"' not in text and "\\" not in text and text == text.strip():
        return text
    return '"' + "".join(map(_escape_character, text)) + '"'


def unquote_path(shown: str) -> bytes:
    """Return the bytes that `quote_path` (or git) wrote as `shown`; ValueError if it is neither."""
    if not shown.startswith('"'):
        return shown.encode("utf-8", "surrogateescape")
    if len(shown) < 2 or not shown.endswith('"'):
        raise ValueError(shown)
    body, out, at = shown[1:-1], bytearray(), 0
    while at < len(body):
        if body[at] != "\\":
            out += body[at].encode("utf-8", "surrogateescape")
            at += 1
        elif body[at + 1 : at + 2] in _UNESCAPES:
            out.append(_UNESCAPES[body[at + 1]])
            at += 2
        else:
            out.append(int(body[at + 1 : at + 4], 8))
            at += 4
    return bytes(out)


def c_quote(path: bytes) -> bytes:
    """Return the name in double quotes with every unusual byte escaped, as git reads it."""
    return b'"' + "".join(map(_escape_byte, path)).encode("ascii") + b'"'


def join(root: bytes, path: bytes) -> bytes:
    """Return the name on disk of a path below a root; the root itself for ``b""``."""
    return root + b"/" + path if path else root


def is_under(path: bytes, directory: bytes) -> bool:
    """Tell whether the path is the directory or lies in it; the root (``b""``) holds all."""
    return not directory or path == directory or path.startswith(directory + b"/")


def is_selected(path: bytes, selected: Sequence[bytes]) -> bool:
    """Tell whether the path is, or lies in, one of those a person named; no name selects all."""
    return not selected or any(is_under(path, each) for each in selected)


def parents(path: bytes) -> list[bytes]:
    """Return every directory above the path, nearest first, without the root."""
    found = []
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        found.append(path)
    return found


def _escape_byte(byte: int) -> str:
    if byte in _ESCAPES:
        return "\\" + _ESCAPES[byte]
    return chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"


def _escape_character(character: str) -> str:
    if character.isprintable() and character not in '"\\':
        return character
    return "".join(map(_escape_byte, character.encode("utf-8")))
