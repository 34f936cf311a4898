"""Whether a rule means a call: patterns with wildcards, compared with all that the call does.

Whether two of them can mean the same text matters because the other side of a comparison may be a
pattern too: a shell's ``cat *.env`` is a word with marks (`siding.shellguard.face.Mark`). A match
takes time in the product of both lengths at most.

Rules that deny, or ask, mean a call in the widest sense: each command of a line, files that a
command reads or changes, a file's name and where its link leads. What allows is narrower
(`decision`).
"""

import posixpath
import shlex
import unicodedata
from collections.abc import Iterable, Iterator
from enum import IntEnum

from siding.assistant.loop.permissions.facts import CallFacts, PermissionGround, UsedFile, is_below
from siding.assistant.loop.permissions.rules import DOMAIN, FETCH, SHELL, PermissionRule
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect, Mark

_BLANK = "\x1f"  # a blank within a word, so that it does not look like one between two
_AS_LETTER = dict.fromkeys(map(ord, Mark), "\ufffd")
_LONGEST = 10_000  # characters of a command that a pattern with a `*` is compared with
_MOST_OPTIONS = 6  # words between a program and its subcommand that a rule looks behind
READ = "Read"
EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_CHANGES = frozenset({Effect.WRITES, Effect.DELETES})


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


# -- Whether a rule means a call -------------------------------------------------------------------


def means(rule: PermissionRule, facts: CallFacts, ground: PermissionGround) -> Fit:
    """Tell whether a rule means a call, or some of what it does."""
    if not rule.pattern:
        return Fit.YES if names_tool(rule.tool, facts.tool) else Fit.NO
    if rule.tool == SHELL:
        return _of_line(rule.pattern, facts)
    if rule.tool == READ or rule.tool in EDITS:
        return _of_files(rule, facts, ground)
    if rule.tool == FETCH:
        return max((_of_host(rule.pattern, host) for host in facts.hosts), default=Fit.NO)
    if rule.tool != facts.tool:
        return Fit.NO
    return Fit.YES if fits_text(rule.pattern, facts.use.pattern) else Fit.NO


def names_tool(name: str, tool: str) -> bool:
    """Tell whether the name in a rule is that of a tool, or of the server that the tool is of."""
    is_server = name.startswith("mcp__") and "__" not in name.removeprefix("mcp__")
    if is_server and "*" not in name:
        return tool == name or tool.startswith(f"{name}__")
    return name == tool or ("*" in name and meet(of_text(name), literal(tool)))


def fits_text(pattern: str, text: str) -> bool:
    """Tell whether a pattern means what a tool without files or commands is used on."""
    return meet(of_text(pattern), literal(text))


def fits_host(pattern: str, host: str) -> bool:
    """Tell whether a pattern such as ``domain:*.example.org`` means a host."""
    name = pattern.removeprefix(DOMAIN).lower().rstrip(".")
    if name.startswith("*."):
        return host.endswith(name[1:])
    return bool(host) and host == name


def globs(pattern: str, ground: PermissionGround, *, anywhere: bool) -> Iterator[Glob]:
    """Yield what the pattern of a rule for files means, as patterns of absolute paths.

    ``//x`` is absolute, ``~/x`` in the home, ``/x`` and ``a/x`` in the workspace, ``x`` anywhere in
    it; with `anywhere`, ``x`` is anywhere on the machine, and ``a/x`` in any of the directories.
    """
    tops, rest = _tops(pattern, ground, anywhere=anywhere)
    for top in dict.fromkeys(tops):
        path = posixpath.normpath(f"/{top.lstrip('/')}/{rest}")
        path = f"/{path.lstrip('/')}"
        yield of_path(path)
        # An agent may make links in these directories; what allows must not follow them.
        if anywhere or not any(is_below(path, root) for root in ground.writable):
            yield of_path(_resolved(path, ground))


def _tops(pattern: str, ground: PermissionGround, *, anywhere: bool) -> tuple[tuple[str, ...], str]:
    """Return the directories from which a pattern counts, and what it is from there."""
    place = ground.place
    if pattern.startswith("//"):
        return ("",), pattern[2:]
    if pattern == "~" or pattern.startswith("~/"):
        return (place.home, place.resolve(place.home)), pattern[2:]
    if pattern.startswith("/"):
        return (place.workspace,), pattern[1:]
    rest = pattern.removeprefix("./")
    is_name = rest == pattern and "/" not in rest.rstrip("/")
    if is_name:
        return ("",) if anywhere else (place.workspace,), f"**/{rest}"
    return ground.writable if anywhere else (place.workspace,), rest


def _resolved(path: str, ground: PermissionGround) -> str:
    """Return the pattern with the links in its beginning followed, where no wildcard is."""
    at = min((path.index(each) for each in "*?[\\" if each in path), default=len(path))
    head, _, _ = path[:at].rpartition("/")
    if not head:
        return path
    return ground.place.resolve(head).rstrip("/") + path[len(head) :]


def of_file(file: UsedFile, path: str) -> Glob:
    """Return the pattern of a path that a call works on, with what is below it if that counts."""
    if not file.is_deep:
        return of_field(path)
    return (*of_field(path.rstrip("/")), *of_path("/x")[2:])


def _of_line(pattern: str, facts: CallFacts) -> Fit:
    if facts.line is None:
        return Fit.NO
    if facts.use.command.strip() == pattern:
        return Fit.YES
    found = max(
        (may_fit(pattern, each.words, each.text) for each in facts.line.commands), default=Fit.NO
    )
    return max(found, Fit.MAYBE) if facts.line.unclear else found


def _of_files(rule: PermissionRule, facts: CallFacts, ground: PermissionGround) -> Fit:
    effects: Iterable[Effect] = {Effect.READS} if rule.tool == READ else _CHANGES
    patterns = [_folded(each) for each in globs(_same_case(rule.pattern), ground, anywhere=True)]
    found = Fit.MAYBE if facts.line is not None and facts.line.unclear else Fit.NO
    for file in facts.files:
        if file.effect in effects:
            found = max(found, *(_of_path(patterns, file, path) for path in file.paths))
    return found


def _of_path(patterns: list[Glob], file: UsedFile, path: str) -> Fit:
    seen = _same_case(path)
    if not Mark.are_in(seen) and any(meet(p, literal(seen)) for p in patterns):
        return Fit.YES
    wide = (ANYTHING,) if path == Mark.UNKNOWN else of_file(file, seen)
    return Fit.MAYBE if any(meet(pattern, wide) for pattern in patterns) else Fit.NO


def _of_host(pattern: str, host: str) -> Fit:
    if not host:
        return Fit.MAYBE
    return Fit.YES if fits_host(pattern, host) else Fit.NO


def _same_case(text: str) -> str:
    """Return a name as file systems see it that do not tell capitals from small letters."""
    return unicodedata.normalize("NFC", text).casefold()


def _folded(glob: Glob) -> Glob:
    return tuple(
        each._replace(letters=frozenset(letter.casefold() for letter in each.letters))
        for each in glob
    )
