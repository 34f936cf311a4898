"""Lines that a program may have wrapped at the edge of a terminal, within a word.

The rest of the word is at the beginning of the next line, or behind blanks there; but then it is a
word by itself, because many lines are indented.
"""

from siding.secretmask.lazily import lazily

WIDTH = 80  # columns at which programs wrap lines
_LINE_ENDS = frozenset((b"\n", b"\r"))
_IN_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+/=-")
_WORD = rb"[A-Za-z0-9_+/=-]"
INDENT = 24  # blanks before the rest of the word
INDENTED = rb"[ ]{1,%d}+(?=-?[A-Za-z0-9_+/][A-Za-z0-9_+/=-]{0,%d}+(?:[\s\"'`,;.)\]}|]|\Z))" % (
    INDENT,
    WIDTH,
)
_REST = rb"(?=%b|%b)" % (_WORD, INDENTED)
# Both look back from the end of a line, so that a search passes at once over lines of another
# length: the first byte it looks back at is no line feed there.
_BREAK = lazily(rb"\n(?<=\n[^\n]{%d}\n)%b(?<=%b\n)" % (WIDTH, _REST, _WORD))
_CR_BREAK = lazily(rb"\n(?<=\n[^\n]{%d}\r\n)%b(?<=%b\r\n)" % (WIDTH, _REST, _WORD))


def wide_line_ends(data: bytes) -> list[int]:
    """Return where the lines end that are as long as a terminal is wide, and a word may go on."""
    ends = [found.start() for found in _BREAK.finditer(data)]
    if b"\r" in data:
        ends += [found.start() - 1 for found in _CR_BREAK.finditer(data)]
        ends.sort()
    return ends


def is_wrap(data: bytes, end: int) -> bool:
    """Return whether a line that ends at `end` is that long, and ends within a word."""
    start = data.rfind(b"\n", max(0, end - WIDTH - 1), end) + 1
    return end - start == WIDTH and data[end - 1] in _IN_WORD


def indented(data: bytes, start: int) -> int:
    """Return the offset behind the blanks with which the line at `start` may be indented."""
    line = data[start : start + INDENT]
    return start + len(line) - len(line.lstrip(b" "))


def wrapped_word(data: bytes, behind: int, least: int) -> int:
    """Return the offset of the last word of a line if it may go on in the next one.

    `behind` is behind the line break, and the blanks after it, and returned if the word ends there.
    A word that comes from lines before begins there, but not before `least`.
    """
    line = data[max(least, behind - INDENT) : behind].rstrip(b" ")
    begin = max(least, behind - INDENT) + len(line)
    if line[-1:] not in _LINE_ENDS:
        return behind
    while begin > least:
        end = begin - 1
        if data[end:begin] == b"\n" and data[end - 1 : end] == b"\r":
            end -= 1
        if not is_wrap(data, end):
            return behind
        start = end - WIDTH
        behind = max(data.rfind(b" ", start, end), data.rfind(b"\t", start, end), start - 1) + 1
        if behind > indented(data, start):
            return max(behind, least)
        begin = start
    return least
