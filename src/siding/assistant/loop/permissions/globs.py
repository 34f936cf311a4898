"""Patterns with wildcards, and whether two of them can mean the same text.

The other side of a comparison may be a pattern too: a shell's ``cat *.env`` is a word with marks
(`siding.shellguard.face.Mark`). A match takes time in the product of both lengths at most.
"""

from collections.abc import Iterator

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
