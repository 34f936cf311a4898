"""Lines that a program may have wrapped at the edge of a terminal, within a word."""

WIDTH = 80  # columns at which programs wrap lines
_LENGTHS = frozenset({WIDTH, WIDTH + 1})  # of such a line, without its end or with a CR
_IN_WORD = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+/=-")


def has_wide_lines(data: bytes) -> bool:
    """Return whether a line of the data is as long as a terminal is wide."""
    return not _LENGTHS.isdisjoint(map(len, data.split(b"\n")))


def is_wrap(data: bytes, end: int) -> bool:
    """Return whether a line that ends at `end` is that long, and ends within a word."""
    start = data.rfind(b"\n", max(0, end - WIDTH - 1), end) + 1
    return end - start == WIDTH and data[end - 1] in _IN_WORD


def wrapped_word(data: bytes, line_end: int, least: int) -> int:
    """Return the offset of the last word of a line if it may go on in the next one.

    `line_end` is behind the line break, and returned if the word ends there. A word that comes from
    lines before begins there, but not before `least`.
    """
    begin = line_end
    while begin > least:
        end = begin - 1
        if data[end:begin] == b"\n" and data[end - 1 : end] == b"\r":
            end -= 1
        if not is_wrap(data, end):
            return begin
        start = end - WIDTH
        begin = max(data.rfind(b" ", start, end), data.rfind(b"\t", start, end)) + 1
        if begin > start:
            return max(begin, least)
        begin = start
    return least
