"""Whether the pattern of a rule for the shell means a command."""

import shlex
from collections.abc import Iterator
from enum import IntEnum

from siding.assistant.loop.permissions.globs import Glob, literal, meet, of_field, of_text
from siding.shellguard.face import Mark

_BLANK = "\x1f"  # a blank within a word, so that it does not look like one between two
_AS_LETTER = dict.fromkeys(map(ord, Mark), "\ufffd")
_LONGEST = 10_000  # characters of a command that a pattern with a `*` is compared with
_MOST_OPTIONS = 6  # words between a program and its subcommand that a rule looks behind


class Fit(IntEnum):
    """Whether a rule means something."""

    NO = 0
    MAYBE = 1  # it depends on what is known only when it runs
    YES = 2


def fit_of(glob: Glob, field: str) -> Fit:
    """Tell whether a pattern means a text that may have marks."""
    if meet(glob, literal(field.translate(_AS_LETTER))):
        return Fit.YES  # whatever the marks stand for
    return Fit.MAYBE if Mark.are_in(field) and meet(glob, of_field(field)) else Fit.NO


def may_fit(pattern: str, words: tuple[str, ...], text: str) -> Fit:
    """Tell whether a pattern means a command, also in another spelling.

    Those are a program named by its path, and options before the subcommand: ``git -C . push``.
    """
    found = fits(pattern, words, text)
    for each in _spellings(words):
        found = max(found, fits(pattern, each, ""))
    return found


def fits(pattern: str, words: tuple[str, ...], text: str) -> Fit:
    """Tell whether a pattern means a command: its words, and its text if it stands in a line."""
    joined = _joined(words)
    if pattern.endswith(":*"):
        prefix = of_text(_joined(_words_of(pattern.removesuffix(":*"))))
        rest = of_text(" *")  # a blank and anything, or nothing
        begin = joined[: len(prefix) + 2]
        if "*" not in pattern[:-2] and not Mark.are_in(begin):
            joined = begin  # what follows may be anything
        elif len(joined) > _LONGEST:
            return Fit.MAYBE
        return fit_of((*prefix, *rest), joined)
    if "*" in pattern:
        if len(joined) > _LONGEST or len(text) > _LONGEST:
            return Fit.MAYBE
        glob = of_text(pattern)
        found = fit_of(glob, " ".join(words))
        return max(found, fit_of(glob, text)) if text else found
    if text and text == " ".join(pattern.split()):
        return Fit.YES
    return fit_of(literal(_joined(_words_of(pattern))), joined)


def _joined(words: tuple[str, ...]) -> str:
    return " ".join(word.replace(" ", _BLANK) for word in words)


def _words_of(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:
        return tuple(text.split())


def _spellings(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    program = words[0].rpartition("/")[2]
    if program != words[0]:
        yield (program, *words[1:])
    if len(words) > 1 and words[1].startswith("-"):
        for count in range(2, min(len(words), _MOST_OPTIONS + 2)):
            yield (program, *words[count:])
