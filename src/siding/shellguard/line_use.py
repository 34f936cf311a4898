"""What a line of shell runs, reads and writes, as far as that is known before it runs.

Rules about commands and files ask this, so that they hold for what a command does and not for how
it is spelled. The line is read as the policy reads it (`examiner`), and nothing is run.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.budget import LONGEST_LINE, TooMuch
from siding.shellguard.engine import BUILT_IN_ONLY, JUDGES, NO_VARIABLES, check_line
from siding.shellguard.examiner import Examiner
from siding.shellguard.fields import ANY, MARKS, UNKNOWN, PrintedText, shown_words
from siding.shellguard.grammar import parse
from siding.shellguard.names import names
from siding.shellguard.paths import JudgingPlace, absolute
from siding.shellguard.rules import BUILT_IN
from siding.shellguard.state import Call, ShellState
from siding.shellguard.tool_use import Effect
from siding.shellguard.tree import (
    Command,
    Group,
    If,
    Literal,
    Redirect,
    Redirected,
    Script,
    Simple,
    Word,
)
from siding.shellguard.verdict import Action
from siding.shellguard.words import NotUnderstood

# --------------------------------------------------------------------------------------------------
# Tell whether a line of shell changes nothing, for whoever wants to run it without a question
#
# The engine tells whether a line may do harm; that is another question: ``make test`` is harmless
# and changes files. Here a line counts only if every command of it is of a short list, with words
# that are known, and the engine has nothing to say against it.


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


# -- What a line of shell runs, reads and writes, as far as that is known before it runs -----------
#
# Rules about commands and files ask this, so that they hold for what a command does and not for how
# it is spelled. The line is read as the policy reads it (`examiner`), and nothing is run.


# Findings that say: what this line runs is known only when it runs.
_UNCLEAR = names("""
    not-whole odd-characters dynamic-command dynamic-value code-from-input code-unclear too-much
""")


class LineCommand(NamedTuple):
    """One program that the line starts, with its words after expansion.

    A `Mark` in a word stands for what is known only when it runs.
    `text` is the command as it stands in the line; of one that another command starts, its words.
    `variables` are set for it alone. `within` is the place of the command that starts it, as sudo
    does. A function of the line is no program: what it starts has its place in `within`. `cwds` are
    the directories in which it may run.
    """

    words: tuple[str, ...]
    text: str
    variables: tuple[str, ...] = ()
    within: int | None = None
    is_function: bool = False
    cwds: tuple[str, ...] = ()

    @property
    def only_reads(self) -> bool:
        """Whether the program changes nothing with these words, whatever it reads."""
        return words_only_read(self.words)


class LineTouch(NamedTuple):
    """One file, and what is done to it. `by` is the place of a command; None is a redirection.

    `path` is absolute and may hold marks. `is_deep`: all that is below it is touched, too.
    `within`: see `LineCommand`; of a redirection only.
    """

    effect: Effect
    path: str
    by: int | None = None
    within: int | None = None
    is_deep: bool = False


class LineFinding(NamedTuple):
    """A built-in rule of the policy that matched. `by`: the place of a command, None of none."""

    rule: str
    by: int | None = None


class LineUse(NamedTuple):
    """What is known of a line. `variables` are those that it sets for what follows in it.

    `unclear` says why some of it is known only when it runs, "" if all is known.
    """

    commands: tuple[LineCommand, ...]
    touches: tuple[LineTouch, ...]
    variables: tuple[str, ...]
    findings: tuple[LineFinding, ...]
    unclear: str = ""

    @classmethod
    def of(cls, text: str, place: JudgingPlace, env: Mapping[str, str] = NO_VARIABLES) -> "LineUse":
        """Return what a line of shell does. A line that cannot be read is unclear, not an error."""
        reader = _Reader(place, env)
        problem = ""
        try:
            reader.whole_line(text)
        except (TooMuch, NotUnderstood, RecursionError) as error:
            problem = str(error) or "it is nested too deeply"
        findings = tuple(reader.noted)
        unclear = next((each for each in findings if each.rule in _UNCLEAR), None)
        if unclear is not None and not problem:
            problem = BUILT_IN[unclear.rule].reason
        return cls(
            commands=tuple(reader.commands),
            touches=tuple(dict.fromkeys(reader.touches)),
            variables=tuple(dict.fromkeys(reader.lasting)),
            findings=findings,
            unclear=problem,
        )

    @staticmethod
    def only_reads(text: str, place: JudgingPlace) -> bool:
        """Return whether a line certainly changes nothing."""
        return is_reading_only(text, place)


class _Reader(Examiner):
    """Notes what is run and touched, in the order in which the examiner comes to it."""

    def __init__(self, place: JudgingPlace, env: Mapping[str, str]) -> None:
        super().__init__(BUILT_IN_ONLY, place, env, JUDGES)
        self.commands: list[LineCommand] = []
        self.touches: list[LineTouch] = []
        self.lasting: list[str] = []
        self.noted: list[LineFinding] = []
        self._by: int | None = None  # the command that is being judged
        self._within: int | None = None  # the command that starts what is being read
        self._text = ""  # of the simple command that is being read, until it is called

    def whole_line(self, text: str) -> None:
        """Read a line and the functions that it does not call. Raises TooMuch and NotUnderstood."""
        if len(text) > LONGEST_LINE:
            raise TooMuch(f"it is longer than {LONGEST_LINE:,} characters")
        if any(mark in text for mark in MARKS):
            raise NotUnderstood("it has a control character", 0)
        self.line(text, self.new_state())
        self.uncalled()

    # -- commands --------------------------------------------------------------------------

    def _simple(self, command: Simple, state: ShellState, stdin: PrintedText) -> PrintedText:
        with self._reading(" ".join(command.text.split())):
            return super()._simple(command, state, stdin)

    def _redirected(
        self, command: Redirected, state: ShellState, stdin: PrintedText
    ) -> PrintedText:
        with self._reading(""):
            return super()._redirected(command, state, stdin)

    @contextmanager
    def _reading(self, text: str) -> Iterator[None]:
        """Read a part of the line: what it touches is by redirections, until a program is called.

        `_by` of a program becomes `_within` of what it starts.
        """
        before = self._by, self._within, self._text
        within = self._within if self._by is None else self._by
        self._by, self._within, self._text = None, within, text
        try:
            yield
        finally:
            self._by, self._within, self._text = before

    def call(self, call: Call) -> PrintedText:
        self.commands.append(
            LineCommand(
                words=call.words,
                text=self._text or shown_words(call.words),
                variables=tuple(call.env),
                within=self._within if self._by is None else self._by,
                is_function=call.words[0] in call.state.functions,
                cwds=tuple(cwd or UNKNOWN for cwd in _cwds(call.state)),
            )
        )
        before = self._by, self._text
        self._by, self._text = len(self.commands) - 1, ""
        try:
            return super().call(call)
        finally:
            self._by, self._text = before

    def variable(self, name: str, value: str, state: ShellState, *, lasting: bool) -> None:
        if lasting:
            self.lasting.append(name)
        super().variable(name, value, state, lasting=lasting)

    def found(self, rule: str, matched: str = "") -> None:
        self.noted.append(LineFinding(rule, self._by))
        super().found(rule, matched)

    # -- files -----------------------------------------------------------------------------

    def reads(self, field: str, state: ShellState) -> None:
        self._touch(Effect.READS, field, state)
        super().reads(field, state)

    def reads_below(self, directory: str, state: ShellState) -> None:
        self._touch(Effect.READS, directory, state, is_deep=True)
        super().reads_below(directory, state)

    def writes(self, field: str, state: ShellState) -> None:
        self._touch(Effect.WRITES, field, state)
        super().writes(field, state)

    def writes_into(self, directory: str, state: ShellState) -> None:
        self._touch(Effect.WRITES, directory, state)
        self._touch(Effect.WRITES, f"{directory.rstrip('/') or '/'}/{ANY}", state)
        super().writes_into(directory, state)

    def deletes(self, field: str, state: ShellState, *, recursive: bool = False) -> None:
        self._touch(Effect.DELETES, field, state, is_deep=recursive)
        super().deletes(field, state, recursive=recursive)

    def _touch(
        self, effect: Effect, field: str, state: ShellState, *, is_deep: bool = False
    ) -> None:
        within = self._within if self._by is None else None
        for cwd in _cwds(state):
            path = absolute(field, cwd)
            self.touches.append(LineTouch(effect, path or UNKNOWN, self._by, within, is_deep))


def _cwds(state: ShellState) -> tuple[str | None, ...]:
    return (state.cwd, *sorted(state.other_cwds))
