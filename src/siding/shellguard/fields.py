"""Fields: the words a program gets, as far as they can be known without running anything.

A field is text in which four control characters (`Mark`) stand for what is decided only at run
time. None of them can come from the line itself: the engine refuses a line that contains them.
"""

from enum import StrEnum

from siding.ground.namedtuples import NamedTuple


class Mark(StrEnum):
    """A character of a field that stands for what is decided only at run time."""

    UNKNOWN = "\x00"  # any text at all, or none, or several words
    ANY = "\x01"  # the name of an entry of that directory (``*``), or a part of one
    ONE = "\x02"  # one character of such a name (``?``, ``[…]``)
    NUMBER = "\x03"  # something without a slash or a space: a process id, a date, a random name

    @staticmethod
    def are_in(field: str) -> bool:
        """Return whether there is a mark in a field: it is not exactly known."""
        return not known(field)


UNKNOWN, ANY, ONE, NUMBER = (each.value for each in Mark)

FOUND_BY_NAME = NUMBER + NUMBER  # the numbers of processes that have some name
FROM_A_LIST = ANY + NUMBER + ANY  # a line of a file of the workspace, taken for a name in it
MARKS = UNKNOWN + ANY + ONE + NUMBER
_SHOWN = str.maketrans({UNKNOWN: "…", ANY: "*", ONE: "?", NUMBER: "#"})


class PrintedText(NamedTuple):
    """What a command writes to its standard output, as far as that can be known."""

    text: str | None = None  # None: not known; may hold marks
    remote: bool = False  # comes from the network
    secret: bool = False  # holds what must not leave
    endless: bool = False
    listed: bool = False  # lines of files of the workspace


NOTHING = PrintedText(text="")
ANYTHING = PrintedText(text=None)


def known(field: str) -> bool:
    """Return whether the field is exactly known."""
    return not any(mark in field for mark in MARKS)


def shown(field: str) -> str:
    """Return the field with its marks as readable characters."""
    return field.translate(_SHOWN)


def shown_words(words: tuple[str, ...] | list[str]) -> str:
    """Return a command on one line for people to read, with words quoted where needed."""
    return " ".join(
        shown(word) if word and not set(word) & set(" \t\n'\"\\|&;<>()$") else repr(shown(word))
        for word in words
    )
