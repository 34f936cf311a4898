"""Values: the command to run, how it is started and connected, and how it ended."""

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from pathlib import Path

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.lookup import Program

TOKEN_VARIABLE = "SIDING_STEP_TOKEN"  # marks every process of a step in its environment
# What the commands of Siding's own agent have in its place: the digests of the tokens.
MARK_VARIABLE = "SIDING_STEP_MARK"
Enter = Callable[[], None]


def step_marks(env: Mapping[str, str]) -> list[str]:
    """Return the tokens of the steps that an environment is of, or their marks; outermost first."""
    texts = (env.get(MARK_VARIABLE, ""), env.get(TOKEN_VARIABLE, ""))
    return [each for text in texts for each in text.split(":") if each]


def is_marked(marks: Collection[str], token: str) -> bool:
    """Tell whether the step with this token is among the marks."""
    return bool(token) and bool(marks) and (token in marks or mark_of(token) in marks)


def mark_of(token: str) -> str:
    """Return the mark of a step, from which nobody learns its token. It is not longer."""
    return sha256_hex(token.encode())[: len(token)]


def with_marks_alone(env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which marks stand for the tokens of steps."""
    own = [each for each in env.get(TOKEN_VARIABLE, "").split(":") if each]
    marks = [*filter(None, env.get(MARK_VARIABLE, "").split(":")), *map(mark_of, own)]
    kept = {name: value for name, value in env.items() if name != TOKEN_VARIABLE}
    return {**kept, MARK_VARIABLE: ":".join(dict.fromkeys(marks))} if marks else kept


class Command(NamedTuple):
    """The user's command. ``env`` is the whole environment it gets (plus the step's token)."""

    argv: tuple[str, ...]
    cwd: Path
    env: dict[str, str]


class StreamPlan(StrEnum):
    """How the command's output reaches us."""

    PIPED = "piped"  # stdout and stderr apart, through pipes
    PTY = "pty"  # one stream, through a terminal of its own


class StdinPlan(StrEnum):
    """What the command's standard input is."""

    TERMINAL = "terminal"  # the caller's terminal
    INHERIT = "inherit"  # the caller's input, a file or a pipe with data
    NULL = "null"  # nothing
    VIEWERS = "viewers"  # of a terminal: what those who attach to the run type
    FED = "fed"  # what the program that hosts the run gives it


class Ending(StrEnum):
    """How a run came to its end."""

    EXITED = "exited"
    SIGNALLED = "signalled"  # a signal ended it that Siding did not send
    TIMEOUT = "timeout"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"  # somebody asked for its end: `siding stop`, or the program that hosts it
    LIMIT = "limit"  # it passed a limit on output, memory, processes or disk
    NOT_STARTED = "not_started"


class WindowSize(NamedTuple):
    """A terminal's size in characters."""

    rows: int
    columns: int


class OutputScreen(NamedTuple):
    """The caller's file descriptors: output is shown on ``stdout`` and ``stderr``.

    None for one of them shows nothing there. ``size`` is the window size of a PTY when neither
    ``stdin`` nor ``stdout`` is a terminal.
    """

    stdin: int = 0
    stdout: int | None = 1
    stderr: int | None = 2
    size: WindowSize = WindowSize(rows=24, columns=80)


class ProcessInfo(NamedTuple):
    """One process.

    ``started`` is its start time (on Linux in clock ticks since boot). It tells the process from a
    later one that got the same pid.
    """

    pid: int
    name: str
    started: int


class Outcome(NamedTuple):
    """How a recorded run ended.

    ``exit_code`` follows the shell: the command's own, 128 + signal, 126 or 127 when it could not
    be started, 124 after a timeout, 125 after another limit, 130 after Ctrl-C, 128 + signal when
    Siding itself was told to stop. ``child_exit_code`` is always the command's own (None when it
    never ran, or could not be ended). ``reason`` explains an ending other than a normal exit.
    ``notes`` are sentences about the recording: it stopped on a full disk, say.
    ``output_complete`` is False when the artifact lacks bytes that the command wrote.
    ``size`` is that of the command's terminal at the end, None if it had none.
    ``output_sha256`` is the digest of the whole artifact in its joined form ("" without one).
    """

    exit_code: int
    ending: Ending
    child_exit_code: int | None
    duration_ms: int
    ended_by_us: tuple[ProcessInfo, ...]
    survivors: tuple[ProcessInfo, ...]
    left_running: tuple[ProcessInfo, ...]
    stdout_bytes: int
    stderr_bytes: int
    output_sha256: str
    output_complete: bool
    reason: str | None
    notes: tuple[str, ...]
    size: WindowSize | None = None


class ProcessStatus(NamedTuple):
    """A living process.

    ``started`` is its start time. It tells the process from a later one with the same pid.
    """

    pid: int
    name: str
    parent: int
    group: int
    session: int
    started: int


class SpawnPlan(NamedTuple):
    """The program to start so that the user's command runs in a sandbox.

    ``command`` and ``program`` are started in place of the user's (bwrap, say). The child calls
    ``enter`` right before exec, and keeps the descriptors ``keep`` open. With ``takes_terminal``
    the command inside takes the terminal as its own, so the child must not do so. ``is_warden``:
    what is started is the warden, whose end ends everything inside.
    """

    command: Command
    program: Program
    enter: Enter | None
    keep: tuple[int, ...]
    takes_terminal: bool
    is_warden: bool = False


class Survival(NamedTuple):
    """What the keeper of a run holds that survives its host.

    `locks` are the descriptors of those by which others see that the run lives; to `fate` it writes
    how the command ended.
    """

    locks: tuple[int, ...]
    fate: int


class TurnTimes(NamedTuple):
    """When turns are recorded, in seconds; None for not at all."""

    every_s: float | None = None
    quiet_s: float | None = None

    @property
    def any(self) -> bool:
        """Whether turns are recorded at all."""
        return self != TurnTimes()
