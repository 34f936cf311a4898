"""Whether the pattern of a rule for the shell means a command."""

import shlex
from collections.abc import Iterator
from enum import IntEnum

from siding.assistant.loop.permissions.globs import Glob, literal, meet, of_field, of_text
from siding.assistant.loop.permissions.line_use import LineCommand
from siding.shellguard.fields import MARKS, known

_BLANK = "\x1f"  # a blank within a word, so that it does not look like one between two
_AS_LETTER = str.maketrans(dict.fromkeys(MARKS, "\ufffd"))
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
    return Fit.MAYBE if any(m in field for m in MARKS) and meet(glob, of_field(field)) else Fit.NO


def fits(pattern: str, command: LineCommand) -> Fit:
    """Tell whether a pattern means a command as it is written."""
    return _fits(pattern, command.words, command.text)


def may_fit(pattern: str, command: LineCommand) -> Fit:
    """Tell whether a pattern means a command, also in another spelling.

    Those are a program named by its path, and options before the subcommand: ``git -C . push``.
    """
    found = _fits(pattern, command.words, command.text)
    for words in _spellings(command.words):
        found = max(found, _fits(pattern, words, ""))
    return found


def _fits(pattern: str, words: tuple[str, ...], text: str) -> Fit:
    joined = _joined(words)
    if pattern.endswith(":*"):
        prefix = of_text(_joined(_words_of(pattern.removesuffix(":*"))))
        rest = of_text(" *")  # a blank and anything, or nothing
        begin = joined[: len(prefix) + 2]
        if "*" not in pattern[:-2] and known(begin):
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
