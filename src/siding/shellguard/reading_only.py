"""Tell whether a line of shell changes nothing, for whoever wants to run it without a question.

The engine tells whether a line may do harm; that is another question: ``make test`` is harmless and
changes files. Here a line counts only if every command of it is of a short list, with words that
are known, and the engine has nothing to say against it.
"""

from collections.abc import Iterator, Sequence

from siding.shellguard.budget import TooMuch
from siding.shellguard.engine import check_line
from siding.shellguard.grammar import parse
from siding.shellguard.names import names
from siding.shellguard.paths import JudgingPlace
from siding.shellguard.tree import (
    Command,
    Group,
    If,
    Literal,
    Redirect,
    Script,
    Simple,
    Word,
)
from siding.shellguard.verdict import Action
from siding.shellguard.words import NotUnderstood

# Programs that only read files and print, whatever their options are.
_READERS = names("""
    : [ b2sum basename cat cd cksum cmp column comm cut df diff dirname du echo
    egrep expand expr false fgrep file fmt fold getconf grep groups head id jq ls md5sum nl
    nproc od paste printenv printf pwd readlink realpath rev seq sha1sum sha256sum sha512sum
    stat strings sum tac tail test tr true type uname unexpand uptime wc which whoami
""")
# Options that make others than readers of these, by the beginning of the word.
_UNLESS = {
    "date": ("-s", "--set"),
    "file": ("-C", "--compile"),
    "rg": ("--pre", "-z", "--search-zip", "--hostname-bin"),
    "sort": ("-o", "--o", "-T", "--t", "--compress"),
    "tree": ("-o", "-R"),
    "find": ("-delete", "-exec", "-ok", "-fprint", "-fls"),
}
_GIT_VERBS = names("""
    blame cat-file cherry check-ignore describe diff grep log ls-files ls-tree merge-base name-rev
    rev-list rev-parse shortlog show show-ref status whatchanged
""")
_GIT_UNLESS = ("--output", "--ext-diff", "--textconv", "-O", "--open-files-in-pager", "--filters")
_TO_NOTHING = ("/dev/null",)


def is_reading_only(text: str, place: JudgingPlace) -> bool:
    """Return whether the line certainly changes nothing."""
    try:
        commands = list(_simple_commands(parse(text)))
    except (NotUnderstood, TooMuch, RecursionError):
        return False
    if not commands or not all(map(_reads_only, commands)):
        return False
    verdict = check_line(text, place)
    return verdict.action is Action.ALLOW and not verdict.findings


class _Unclear(Exception):
    """There is something else than simple commands with known words."""


def _simple_commands(script: Script) -> Iterator[Simple]:
    try:
        yield from _below(script)
    except _Unclear:
        yield Simple((), (), (), "")  # which reads nothing


def _below(script: Script) -> Iterator[Simple]:
    for pipeline in script.pipelines:
        if pipeline.connector == "&":
            raise _Unclear
        for command in pipeline.commands:
            yield from _of(command)


def _of(command: Command) -> Iterator[Simple]:
    match command:
        case Simple():
            yield command
        case Group(script=script):
            yield from _below(script)
        case If(branches=branches, otherwise=otherwise):
            for condition, body in branches:
                yield from _below(condition)
                yield from _below(body)
            if otherwise is not None:
                yield from _below(otherwise)
        case _:
            raise _Unclear


def _reads_only(command: Simple) -> bool:
    if command.assignments or not all(map(_is_harmless, command.redirects)):
        return False
    words = [_literal(word) for word in command.words]
    return None not in words and words_only_read([word for word in words if word is not None])


def words_only_read(words: Sequence[str]) -> bool:
    """Return whether a program with these arguments changes nothing, whatever it reads."""
    if not words:
        return False
    program, *rest = words
    if program == "git":
        return _git_reads_only(rest)
    if program == "uniq":  # its second file is written
        return sum(not word.startswith("-") for word in rest) < 2
    if program in _UNLESS:
        return not any(_is_option(word, _UNLESS[program]) for word in rest)
    return program in _READERS and not (program == "printf" and "-v" in rest)


def _is_option(word: str, options: tuple[str, ...]) -> bool:
    """Tell whether a word is one of the options, also as a letter among others (``-uo``)."""
    letters = "" if word.startswith("--") or not word.startswith("-") else word[1:]
    return any(
        word.startswith(option) or (len(option) == 2 and option[1] in letters) for option in options
    )


def _git_reads_only(words: list[str]) -> bool:
    verb, *rest = words or [""]
    return verb in _GIT_VERBS and not any(word.startswith(_GIT_UNLESS) for word in rest)


def _is_harmless(redirect: Redirect) -> bool:
    """Tell whether a redirection opens no file for writing."""
    target = _literal(redirect.target) if redirect.heredoc is None else ""
    match redirect.operator:
        case "<" | "<<<" | "<<" | "<<-":
            return target is not None
        case ">&" | "<&":
            return target is not None and (target.isdigit() or target == "-")
        case ">" | ">>" | "&>" | "&>>" | ">|":
            return target in _TO_NOTHING
        case _:
            return False


def _literal(word: Word) -> str | None:
    """Return a word that has no expansions; None if it has.

    An unquoted pattern stays as it is: the names that it stands for are only read.
    """
    if not all(isinstance(part, Literal) for part in word.parts):
        return None
    return "".join(part.text for part in word.parts if isinstance(part, Literal))
