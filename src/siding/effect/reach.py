"""Which commands may be tried: those whose effect is on files of the workspace alone.

A command is tried only if the guard's reading of the line says so of every program in it: each is
in the table below, its words are known, and nothing that it touches lies outside. The sandbox would
keep the others from doing harm, but what they did there would not be what they do: a script that
fails without the network changes nothing, and a person would read that it changes nothing.
"""

import os
import re
from collections.abc import Iterator, Mapping

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect, JudgingPlace, LineUse, Mark, Policy

# Programs that touch the files they are given, and nothing else: no network, no server of this
# machine, no code of the project. What a launcher among them starts is judged by itself.
_OF_FILES = frozenset(
    """
    : [ [[ alias b2sum basename break bunzip2 bzcat bzip2 cat cd chmod cmp col column comm
    continue cp csplit cut dash bash date dd declare diff dirname du echo egrep env exit expand
    export expr false fgrep file find fmt fold getopts grep gunzip gzip head hash id
    join let link ln local ls md5sum mkdir mktemp mv nice nl nproc od paste patch
    popd printenv printf pushd pwd read readlink readonly realpath return rev rm rmdir
    sed seq set sh sha1sum sha224sum sha256sum sha384sum sha512sum shift shopt shuf sleep sort
    split stat stdbuf strings sum tac tail tar tee test time timeout touch tr tree true
    truncate tsort type typeset umask unalias uname unexpand uniq unlink unset unxz unzip unzstd
    wc which xargs xz xzcat zcat zip zstd
    """.split()
)
# Formatters that run nothing of the project.
_FORMATTERS = frozenset(
    "autopep8 black clang-format gofmt isort ruff rustfmt shfmt stylua taplo yapf".split()
)
_KNOWN = _OF_FILES | _FORMATTERS
_SHELLS = frozenset(("bash", "dash", "sh"))
# Verbs of git that change files, and those that only read; what a hook of these does is of files.
GIT_WRITES = frozenset("add apply checkout clean mv reset restore rm switch".split())
_GIT_READS = frozenset(
    """
    blame cat-file check-ignore describe diff grep log ls-files ls-tree merge-base rev-list
    rev-parse shortlog show show-ref status
    """.split()
)
# Of the guard's findings, those about files in the workspace; each other one says no.
_ABOUT_FILES = frozenset(("delete-all", "git-discards", "steer-agents"))
_SYSTEM = ("/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/")
_SCRATCH = ("/tmp", "/var/tmp")
_NOWHERE = ("/dev/null", "/dev/zero", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty")
_CHANGES = (Effect.WRITES, Effect.DELETES)
_SHOWN = 80  # characters of a path or a program


class Reach(NamedTuple):
    """Whether a command may be tried: `why_not` is "" then.

    `notes` say what of it will not be shown; with `uses_git` it needs a git that can write.
    `changes` are the paths that it changes as far as they are known, and whether with all below.
    """

    why_not: str = ""
    notes: tuple[str, ...] = ()
    uses_git: bool = False
    changes: tuple[tuple[str, bool], ...] = ()

    def may_change(self, directory: str) -> bool:
        """Tell whether the command is known to change something in a directory."""
        return any(
            _is_in(path, directory) or (is_deep and _is_in(directory, path))
            for path, is_deep in self.changes
        )


def reach_of(
    line: str, place: JudgingPlace, env: Mapping[str, str], hidden: tuple[str, ...]
) -> Reach:
    """Return how far a line of shell reaches, as the guard reads it.

    `hidden` are directories that are empty in the sandbox.
    """
    if place.cwd != place.workspace and not _is_in(place.cwd, place.workspace):
        return Reach(why_not=f"it runs in {place.cwd[:_SHOWN]}, which is outside the workspace")
    use = LineUse.of(line, place, env)
    if use.unclear:
        return Reach(why_not=f"what it does is not understood ({use.unclear})")
    why = next(filter(None, (*_of_findings(use), *_of_programs(use))), "")
    if not why and not use.commands and not use.touches:
        why = "no command is in it"
    notes: list[str] = []
    for each in use.touches if not why else ():
        why, note = _of_touch(each.effect, each.path, place, hidden)
        notes += [note] if note else []
        if why:
            break
    uses_git = any(_git_verb(each.words) in GIT_WRITES for each in use.commands)
    changes = [
        (place.resolve(_known(each.path)), each.is_deep)
        for each in use.touches
        if each.effect in _CHANGES
    ]
    return Reach(why, tuple(dict.fromkeys(notes)), uses_git, tuple(changes))


def _of_findings(use: LineUse) -> Iterator[str]:
    """Say what the guard has found that is not about files of the workspace."""
    for each in use.findings:
        if each.rule not in _ABOUT_FILES:
            rule = Policy.built_in(each.rule)
            yield f"{rule.reason} ({each.rule})" if rule else each.rule


def _of_programs(use: LineUse) -> Iterator[str]:
    for each in use.commands:
        if not each.is_function:
            yield _of_program(each.words)


def _of_program(words: tuple[str, ...]) -> str:
    first = words[0] if words else ""
    program = first.rpartition("/")[2]
    is_plain = not Mark.are_in(first) and ("/" not in first or first.startswith(_SYSTEM))
    if any(Mark.UNKNOWN in word for word in words):
        return "a value in it is known only when it runs"
    if program == "git" and is_plain:
        verb = _git_verb(words)
        named = f"git {_shown(verb)}" if verb else "git"
        is_known = verb in GIT_WRITES | _GIT_READS
        return "" if is_known else f"{named} may reach more than the files of the workspace"
    if program in _SHELLS and len(words) > 1 and not re.fullmatch("-[a-z]*c", words[1]):
        return f"{program} runs a script, and what is in that is not read"
    if not is_plain or program not in _KNOWN:
        return f"{_shown(first)} may reach more than the files of the workspace"
    return ""


def _git_verb(words: tuple[str, ...]) -> str:
    """Return the verb of a command of git; "" for none, or behind an option of git's own."""
    if len(words) < 2 or words[0].rpartition("/")[2] != "git":
        return ""
    return words[1] if not words[1].startswith("-") else ""


def _of_touch(
    effect: Effect, path: str, place: JudgingPlace, hidden: tuple[str, ...]
) -> tuple[str, str]:
    """Return why something that is touched keeps the line from being tried, and a note."""
    if Mark.UNKNOWN in path:
        return "a path in it is known only when it runs", ""
    known = _known(path)
    real = place.resolve(known)
    if _is_in(real, place.workspace) or known in _NOWHERE:
        return "", ""
    if effect in _CHANGES:
        if any(_is_in(real, each) for each in _SCRATCH):
            return "", f"not shown: {known[:_SHOWN]}, which lies outside the workspace"
        return f"it changes {known[:_SHOWN]}, which lies outside the workspace", ""
    if any(_is_in(real, each) for each in hidden):
        return f"it reads {known[:_SHOWN]}, which the sandbox hides", ""
    return "", ""


def _known(path: str) -> str:
    """Return the directory, or the file, that a path is known to lead to or into."""
    begin = re.split(f"[{''.join(Mark)}]", path)[0]
    return (begin if begin == path else begin.rpartition("/")[0]).rstrip("/") or "/"


def _is_in(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def _shown(word: str) -> str:
    return "".join(each if each.isprintable() else "…" for each in word)[:_SHOWN]
