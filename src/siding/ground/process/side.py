"""What a run consists of, and how its command is connected with the caller."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.ground.process import lookup
from siding.ground.process.command import (
    Command,
    OutputScreen,
    SpawnPlan,
    StdinPlan,
    StreamPlan,
    Survival,
    WindowSize,
)
from siding.ground.process.descriptors import pipe_above_standard
from siding.ground.process.drive import Suspends
from siding.ground.process.limits import Limits
from siding.ground.process.output.recording import OutputFiles
from siding.ground.process.spawn import spawn_piped
from siding.ground.process.streams import Channel, ScreenWriter, TerminalInput
from siding.ground.process.tree import TERM_GRACE_S, ProcessTree

if TYPE_CHECKING:
    from siding.ground.process.broker.door import Door
    from siding.ground.process.control.control import Control
    from siding.ground.process.control.shared import SharedTerminal
    from siding.ground.process.ctrl_z import Suspending
    from siding.ground.process.drive import Beside
    from siding.ground.process.limit_watch import LimitWatch
    from siding.ground.process.ports import Child, Looks, Pause, Sandboxed
    from siding.ground.process.requests import Requests
    from siding.ground.process.terminal import RawMode

_DEFAULT_TERM = "xterm-256color"  # when the caller's environment names none


class RunSandbox(NamedTuple):
    """The limits of a run and, if it has one, its sandbox.

    ``grows`` are the directories that the limit on the disk measures. The caller, who made the
    sandbox, closes it.
    """

    limits: Limits = Limits()
    grows: tuple[Path, ...] = ()
    sandboxed: "Sandboxed | None" = None

    def watch(self, tree: ProcessTree) -> "LimitWatch":
        """Return what checks the limits while the command runs."""
        from siding.ground.process.limit_watch import LimitWatch

        group = None if self.sandboxed is None else self.sandboxed.group
        return LimitWatch(self.limits, tree, self.grows, group)


class Plan(NamedTuple):
    """Everything about a run that `record.run_recorded` carries out.

    ``token`` is put into the command's environment as SIDING_STEP_TOKEN, behind a token that is
    there already (Siding inside Siding). ``on_started`` gets the command right after the start.
    ``pause`` knows whether another command has stopped the run's processes for a moment.

    ``sandbox`` holds the run's limits, which end it as the timeout does, and its sandbox. Nothing
    outlives a run in a sandbox that has a warden.

    ``control`` is the socket for those who watch the run and type into its terminal. ``requests``
    are those of another thread of this process; with ``StdinPlan.FED`` the input comes from there.
    ``door`` makes the socket at which the command's processes reach their broker.

    Each of ``looks`` returns what looks at the workspace from time to time while the command lives;
    it is told when the command has ended. ``beside`` is what else the loop serves while the command
    lives; the caller closes it.

    With ``survival`` the command goes on when this process is killed, and its keeper holds what is
    in it until then.
    """

    command: Command
    recorder: OutputFiles
    screen: OutputScreen
    stdin: StdinPlan
    timeout_s: float | None
    token: str
    on_started: "Callable[[Child], None] | None" = None
    grace_s: float = TERM_GRACE_S
    sandbox: RunSandbox | None = None
    pause: "Pause | None" = None
    control: "Control | None" = None
    requests: "Requests | None" = None
    door: "Callable[[], Door | None] | None" = None
    ends_left: bool = False
    survival: Survival | None = None
    looks: "Sequence[Callable[[ProcessTree], Looks]]" = ()
    beside: "Sequence[Beside]" = ()


class Side:
    """Connects the caller's screen and keyboard with the command's pipes or terminal."""

    def __init__(self, stack: ExitStack, run: Plan, sandboxed: "Sandboxed | None") -> None:
        self.channels: list[Channel] = []
        self.typed: TerminalInput | None = None
        self._stack = stack
        self._screen = run.screen
        self._stdin = run.stdin
        self._recorder = run.recorder
        self._sandboxed = sandboxed
        self._raw: RawMode | None = None
        self.shared: SharedTerminal | None = None  # of a command in a terminal
        self._control = run.control
        self._requests = run.requests
        self._survival = run.survival

    def start(self, command: Command, program: lookup.Program) -> "Child":
        """Start the command and connect it. Raises OSError as exec does."""
        if self._recorder.streams is StreamPlan.PTY:
            return self._start_in_terminal(command, program)
        plan = self._spawn_plan(command, program, tty=False)
        with self._input() as stdin:
            piped = spawn_piped(
                *((command, program) if plan is None else plan[:2]),
                stdin=stdin,
                plan=plan,
                survival=self._surviving(),
            )
        self._connect(piped.stdout, self._screen.stdout)
        self._connect(piped.stderr, self._screen.stderr, stderr=True)
        return piped.child

    def resize(self) -> None:
        """Give the command's terminal the size of the caller's window, if that changed."""
        seen = self._own_window()
        if self.shared is not None and seen is not None:
            self.shared.owner = self
            self.shared.look(self, seen)

    def suspends(self, tree: ProcessTree, *, may_stop: bool, pause: "Pause | None") -> Suspends:
        """Return what suspends this run."""
        suspends = Suspends(partial(self._suspending, tree, may_stop, pause))
        if self.typed is not None:
            self.typed.used = partial(self._used, suspends)
        return suspends

    def _suspending(self, tree: ProcessTree, may_stop: bool, pause: "Pause | None") -> "Suspending":
        from siding.ground.process.ctrl_z import Suspending

        return Suspending(
            tree,
            raw=self._raw,
            master=None if self.typed is None else self.typed.master,
            resized=self.resize,
            may_stop=may_stop,
            pause=pause,
        )

    def _used(self, suspends: Suspends, keys: bytes) -> None:
        """The person types: the terminal has the size of their window, and Ctrl-Z is heeded."""
        self.resize()
        suspends().typed(keys)

    def restore_screen(self) -> None:
        for channel in self.channels:
            channel.restore_screen()

    def notes(self) -> list[str]:
        """Return a sentence for each stream that was not shown to its end."""
        found = []
        for name, channel in zip(("stdout", "stderr"), self.channels, strict=False):
            if channel.screen.gone is not None:
                found.append(f"{name} could not be shown to its end: {channel.screen.gone}")
            elif channel.screen.dropped:
                found.append(f"{name} was not shown to its end: the screen was too slow")
        return found

    @contextmanager
    def _input(self) -> Iterator[int | None]:
        """Yield what the command reads through a pipe or file; None for nothing."""
        if self._stdin is not StdinPlan.FED or self._requests is None:
            yield None if self._stdin is StdinPlan.NULL else self._screen.stdin
            return
        reading, writing = pipe_above_standard()
        try:
            self._requests.feed(writing)
            yield reading
        finally:
            os.close(reading)

    def _start_in_terminal(self, command: Command, program: lookup.Program) -> "Child":
        from siding.ground.process import terminal
        from siding.ground.process.control.shared import SharedTerminal
        from siding.ground.process.spawn_terminal import spawn_in_terminal

        fd = self._screen.stdin
        own = self._stdin is StdinPlan.TERMINAL and terminal.is_ours(fd)
        like = terminal.attributes(fd) or terminal.attributes(self._shown_on())
        size = self._own_window(at_start=True) or self._screen.size
        if "TERM" not in command.env:
            command = command._replace(env={**command.env, "TERM": _DEFAULT_TERM})
        spawn_plan = self._spawn_plan(command, program, tty=True)
        started = spawn_in_terminal(
            *((command, program) if spawn_plan is None else spawn_plan[:2]),
            size=size,
            like=like,
            plan=spawn_plan,
            survival=self._surviving(),
        )
        self._connect(started.master, self._screen.stdout, slave=started.slave)
        if own:
            self._raw = self._stack.enter_context(terminal.RawMode(fd))
        plan = StdinPlan.NULL if self._stdin is StdinPlan.TERMINAL and not own else self._stdin
        self.typed = TerminalInput(fd, started.master, plan)
        self.shared = SharedTerminal(self.channels[0], self.typed, size)
        self.resize()
        return started.child

    def _surviving(self) -> Survival | None:
        survival = self._survival
        if survival is None or self._sandboxed is None:
            return survival
        return survival._replace(locks=(*survival.locks, *self._sandboxed.told))

    def _spawn_plan(
        self, command: Command, program: lookup.Program, *, tty: bool
    ) -> SpawnPlan | None:
        if self._sandboxed is None:
            return None
        return self._sandboxed.spawn_plan(command, program, tty=tty)

    def _connect(
        self, fd: int, shown_on: int | None, *, stderr: bool = False, slave: int | None = None
    ) -> None:
        writer = ScreenWriter(shown_on)
        self._stack.callback(writer.close)
        seen = partial(self._saw, stderr=stderr)
        channel = Channel(fd, self._recorder, writer, stderr=stderr, slave=slave, seen=seen)
        self._stack.callback(channel.close)
        self.channels.append(channel)

    def _saw(self, data: memoryview, *, stderr: bool) -> None:
        if self._control is not None:
            self._control.saw(data)
        if self._requests is not None:
            self._requests.saw(data, stderr=stderr)

    def _own_window(self, *, at_start: bool = False) -> WindowSize | None:
        """Return the size of the caller's window; None if there is none, or it is left behind."""
        if self._stdin is StdinPlan.VIEWERS and not at_start:
            return None
        from siding.ground.process import terminal

        return terminal.window_size(self._screen.stdin) or terminal.window_size(self._shown_on())

    def _shown_on(self) -> int:
        return -1 if self._screen.stdout is None else self._screen.stdout
