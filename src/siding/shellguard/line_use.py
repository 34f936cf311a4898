"""What a line of shell runs, reads and writes, as far as that is known before it runs.

Rules about commands and files ask this, so that they hold for what a command does and not for how
it is spelled. The line is read as the policy reads it (`examiner`), and nothing is run.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.budget import LONGEST_LINE, TooMuch
from siding.shellguard.call import Call
from siding.shellguard.engine import BUILT_IN_ONLY, JUDGES, NO_VARIABLES
from siding.shellguard.examiner import Examiner
from siding.shellguard.fields import ANY, MARKS, UNKNOWN, PrintedText, shown_words
from siding.shellguard.names import names
from siding.shellguard.paths import JudgingPlace, absolute
from siding.shellguard.reading_only import is_reading_only, words_only_read
from siding.shellguard.rules import BUILT_IN
from siding.shellguard.state import ShellState
from siding.shellguard.tool_use import Effect
from siding.shellguard.tree import Redirected, Simple
from siding.shellguard.words import NotUnderstood

# Findings that say: what this line runs is known only when it runs.
_UNCLEAR = names("""
    not-whole odd-characters dynamic-command dynamic-value code-from-input code-unclear too-much
""")
_MOST = 2000  # commands, and files


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
        if len(self.commands) >= _MOST:
            raise TooMuch(f"it runs more than {_MOST:,} commands")
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
        if len(self.touches) >= _MOST:
            raise TooMuch(f"it works on more than {_MOST:,} files")
        within = self._within if self._by is None else None
        for cwd in _cwds(state):
            path = absolute(field, cwd)
            self.touches.append(LineTouch(effect, path or UNKNOWN, self._by, within, is_deep))


def _cwds(state: ShellState) -> tuple[str | None, ...]:
    return (state.cwd, *sorted(state.other_cwds))
