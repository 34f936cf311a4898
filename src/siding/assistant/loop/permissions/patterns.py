"""Patterns with wildcards, and whether two of them can mean the same text.

The other side of a comparison may be a pattern too: a shell's ``cat *.env`` is a word with marks
(`siding.shellguard.face.Mark`). A match takes time in the product of both lengths at most.
"""

import shlex
from collections.abc import Iterator
from enum import IntEnum

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Mark


class _Letter(NamedTuple):
    """One character: of `letters`, or any other one if `is_other`; `repeats`: any number of them.

    With `skips`, so many of the next tokens may be left out, and this one is no character.
    """

    letters: frozenset[str] = frozenset()
    is_other: bool = False
    repeats: bool = False
    skips: int = 0


Glob = tuple[_Letter, ...]

_IN_NAME = _Letter(frozenset("/"), is_other=True)
ANYTHING = _Letter(is_other=True, repeats=True)
_OF_MARKS: dict[str, _Letter] = {
    Mark.UNKNOWN: ANYTHING,
    Mark.ANY: _IN_NAME._replace(repeats=True),
    Mark.ONE: _IN_NAME,
    Mark.NUMBER: _IN_NAME._replace(repeats=True),
}


def literal(text: str) -> Glob:
    """Return the pattern that means just this text."""
    return tuple(_Letter(frozenset(letter)) for letter in text)


def of_field(field: str) -> Glob:
    """Return the pattern of a word of a command: its marks stand for what is not known."""
    return tuple(_OF_MARKS.get(letter) or _Letter(frozenset(letter)) for letter in field)


def of_text(pattern: str) -> Glob:
    r"""Return the pattern of a text: ``*`` means any characters, ``\*`` the character.

    `` *`` at the end also means nothing at all: ``npm *`` is ``npm`` as well.
    """
    found: list[_Letter] = []
    rest = pattern
    ends_open = rest.endswith(" *") and not rest.endswith("\\ *")
    if ends_open:
        rest = rest[:-2]
    escaped = False
    for letter in rest:
        if escaped or letter not in "*\\":
            found.append(_Letter(frozenset(letter)))
            escaped = False
        elif letter == "\\":
            escaped = True
        else:
            found.append(ANYTHING)
    if escaped:
        found.append(_Letter(frozenset("\\")))
    if ends_open:
        found += [_Letter(skips=2), _Letter(frozenset(" ")), ANYTHING]
    return tuple(found)


def of_path(pattern: str) -> Glob:
    """Return the pattern of an absolute path, with the wildcards of a ``.gitignore``.

    ``*`` and ``?`` stay within a name, ``[a-z]`` is one character, ``**`` is any directories. What
    means a directory means all that is in it.
    """
    below = pattern.endswith("/**")
    path = pattern.removesuffix("/**").rstrip("/")
    found: list[_Letter] = []
    at = 0
    while at < len(path):
        if path.startswith("/**/", at):
            slash = _Letter(frozenset("/"))
            found += [slash, _Letter(skips=2), ANYTHING, slash]
            at += 4
            while path.startswith("**/", at):
                at += 3
        else:
            token, at = _token(path, at)
            found.append(token)
    slash = _Letter(frozenset("/"))
    found += [slash, ANYTHING] if below else [_Letter(skips=2), slash, ANYTHING]
    return tuple(found)


def _token(path: str, at: int) -> tuple[_Letter, int]:
    letter = path[at]
    if letter == "*":
        end = at
        while path[end : end + 1] == "*":
            end += 1
        return _IN_NAME._replace(repeats=True), end
    if letter == "?":
        return _IN_NAME, at + 1
    if letter == "\\" and at + 1 < len(path):
        return _Letter(frozenset(path[at + 1])), at + 2
    if letter == "[" and (end := path.find("]", at + 2)) > 0:
        return _set(path[at + 1 : end]), end + 1
    return _Letter(frozenset(letter)), at + 1


def _set(text: str) -> _Letter:
    is_other = text[0] in "!^"
    body, letters = text[is_other:], set()
    at = 0
    while at < len(body):
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            letters |= {chr(code) for code in range(ord(body[at]), ord(body[at + 2]) + 1)}
            at += 3
        else:
            letters.add(body[at])
            at += 1
    found = letters | {"/"} if is_other else letters - {"/"}
    return _Letter(frozenset(found), is_other=is_other)


def meet(one: Glob, other: Glob) -> bool:
    """Tell whether some text fits both patterns."""
    waiting, seen = [(0, 0)], {(0, 0)}
    while waiting:
        here = waiting.pop()
        if here == (len(one), len(other)):
            return True
        for each in _next(one, other, *here):
            if each not in seen:
                seen.add(each)
                waiting.append(each)
    return False


def _next(one: Glob, other: Glob, at: int, there: int) -> Iterator[tuple[int, int]]:
    mine = one[at] if at < len(one) else None
    its = other[there] if there < len(other) else None
    if mine is not None and (mine.repeats or mine.skips):
        yield at + 1, there
        if mine.skips:
            yield at + 1 + mine.skips, there
            return
    if its is not None and (its.repeats or its.skips):
        yield at, there + 1
        if its.skips:
            yield at, there + 1 + its.skips
            return
    if mine is not None and its is not None and _share(mine, its):
        yield at if mine.repeats else at + 1, there if its.repeats else there + 1


def _share(one: _Letter, other: _Letter) -> bool:
    if one.is_other and other.is_other:
        return True
    if one.is_other or other.is_other:
        named, others = (other, one) if one.is_other else (one, other)
        return bool(named.letters - others.letters)
    return bool(one.letters & other.letters)


# -- Whether the pattern of a rule for the shell means a command -----------------------------------


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
