"""Watch a run in our terminal, and type into it, as those do who sit at its own."""

import time
from collections.abc import Sequence
from pathlib import Path

from siding.ground.errors import SidingError, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process import terminal
from siding.ground.process.command import StreamPlan, WindowSize, is_marked, step_marks
from siding.ground.process.control import frames
from siding.ground.process.control.client import Connection, HostGone, Refused
from siding.ground.process.control.viewer import (
    Left,
    UnknownKey,
    View,
    Viewer,
    key_bytes,
    text_bytes,
)
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.recording.last_screen import last_screen
from siding.record.recording.step_details import Output
from siding.record.runs.live_run import RunRecords
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.running.named_run import live_runs
from siding.running.stop import step_of_run

__all__ = ["Left", "Watched", "Watching", "attach", "control_key", "send", "watch"]

_OPENS_WITHIN_S = 2.0  # a host opens its socket a moment after the command has started
_ENDS_WITHIN_S = 10.0  # how long a host may take to record a run
_LOOK_S = 0.02
_TAKES_WITHIN_S = 10.0  # how long a program may take to read what was typed
# Programs with an input of their own take keys that come in one piece for pasted text, in which
# Enter begins a line and sends nothing.
_BEFORE_ENTER_S = 0.05


class CannotAttach(SidingError):
    """The host of the run cannot be reached."""

    code = "cannot_attach"


class NotTaken(SidingError):
    """What was typed did not reach the program."""

    code = "not_taken"


class Watching(NamedTuple):
    """A run that is about to be watched."""

    task: Task
    run: Run
    has_terminal: bool
    viewer: Viewer
    connection: Connection


class Watched(NamedTuple):
    """How watching a run ended. `exit_code` is None if the run goes on, or nobody knows it."""

    left: Left
    exit_code: int | None
    step: Step | None
    skipped: int


def attach(
    project: Project,
    named: str | None,
    wanted: str | None,
    *,
    prefix: bytes,
    read_only: bool,
    stdin: int = 0,
    stdout: int = 1,
    leaves_at_once: bool = False,
) -> Watching:
    """Connect with the host of a run that lives; `watch` then shows it.

    With `leaves_at_once` the prefix alone leaves it. Raises NotFound, UsageError, CannotAttach.
    """
    if not terminal.is_ours(stdin) or terminal.attributes(stdout) is None:
        raise UsageError(
            "attaching needs a terminal on both sides",
            hint="`siding output RUN --follow` prints what a run prints, `siding send` types",
        )
    task, run = _one_run(project, named, wanted)
    size = terminal.window_size(stdout)
    connection = _connect(project, task, run, mode="attach", size=size, read_only=read_only)
    viewer = Viewer(
        connection,
        prefix=prefix,
        read_only=read_only,
        stdin=stdin,
        stdout=stdout,
        leaves_at_once=leaves_at_once,
    )
    return Watching(task, run, connection.welcome.terminal, viewer, connection)


def watch(project: Project, watching: Watching) -> Watched:
    """Show the run until it ends or the viewer is detached; then wait until it is recorded."""
    try:
        view = watching.viewer.run()
    finally:
        watching.connection.close()
    if view.left is Left.DETACHED:
        return Watched(view.left, None, None, view.skipped)
    runs = RunRecords(project.task_layout(watching.task.id))
    if view.left is Left.ENDED:
        runs.wait(watching.run)
    elif _goes_on(runs, watching.run):
        return Watched(view.left, None, None, view.skipped)
    step = step_of_run(project, watching.task.id, watching.run)
    return Watched(view.left, _exit_code(view, step), step, view.skipped)


def send(
    project: Project,
    named: str | None,
    wanted: str | None,
    *,
    text: str | None,
    enter: bool,
    keys: Sequence[str],
    data: bytes | None,
) -> tuple[Task, Run]:
    """Type into the terminal of a run: a text and Enter, then keys, then bytes as they are.

    Returns when the program's terminal has taken all of it. Raises NotFound, UsageError,
    CannotAttach and NotTaken.
    """
    for name in keys:
        _check_key(name)
    task, run = _one_run(project, named, wanted)
    connection = _connect(project, task, run, mode="send")
    try:
        _refuse_pipes(connection, run)
        modes = connection.welcome.modes
        _type_all(connection, run, _pieces(text, keys, data, modes, enter=enter))
    finally:
        connection.close()
    return task, run


def size_of_terminal(project: Project, task_id: TaskId, run_id: str) -> WindowSize | None:
    """Return the size of the terminal of a run that lives; None if nobody can say."""
    runs = Runs(project.task_layout(task_id))
    run = next((each for each in runs.live() if each.id == run_id), None)
    if run is None:
        return None
    try:
        connection = Connection(runs.socket(run), mode="send")
    except (OSError, HostGone, Refused):
        return None
    connection.close()
    welcome = connection.welcome
    return welcome.size if welcome.terminal and all(welcome.size) else None


def require_terminal(project: Project, task_id: str, run_id: str) -> None:
    """Raise NotTaken or CannotAttach if nothing can be typed into a run."""
    task, run = _one_run(project, task_id, run_id)
    connection = _connect(project, task, run, mode="send")
    try:
        _refuse_pipes(connection, run)
    finally:
        connection.close()


def _refuse_pipes(connection: Connection, run: Run) -> None:
    if not connection.welcome.terminal:
        raise NotTaken(
            f"run {run.id} has no terminal and no input, so nothing can be typed into it",
            hint="start it with `siding run --detach --tty`",
        )


def control_key(name: str) -> bytes:
    """Return the control character that a name such as ``ctrl-]`` means; raise UsageError."""
    try:
        found = key_bytes(name)
    except UnknownKey:
        found = b""
    if len(found) != 1 or not (found[0] < 0x20 and found not in b"\r\n\t\x1b"):
        raise UsageError(
            f"{name!r} cannot be the key for leaving", hint="a control key: ctrl-], ctrl-a, ctrl-\\"
        )
    return found


def _one_run(project: Project, named: str | None, wanted: str | None) -> tuple[Task, Run]:
    task, (run, *_others) = live_runs(project, named, () if wanted is None else (wanted,))
    _refuse_itself(project, run)
    return task, run


def _connect(
    project: Project,
    task: Task,
    run: Run,
    *,
    mode: str,
    size: WindowSize | None = None,
    read_only: bool = False,
) -> Connection:
    runs = Runs(project.task_layout(task.id))
    path: Path = runs.socket(run)
    end = time.monotonic() + _OPENS_WITHIN_S
    while True:
        try:
            return Connection(path, mode=mode, size=size, read_only=read_only)
        except Refused as error:
            raise CannotAttach(f"the host of run {run.id} refuses: {error}") from error
        except (OSError, HostGone) as error:
            lives = any(each.id == run.id for each in runs.live())
            if not lives:
                raise CannotAttach(
                    f"run {run.id} has ended",
                    hint=f"`siding output {run.id}` shows what it printed",
                ) from error
            if time.monotonic() > end:
                raise CannotAttach(
                    f"the host of run {run.id} does not answer: {error}",
                    hint="was it started by an earlier version, or is this inside a sandbox?",
                ) from error
        time.sleep(_LOOK_S)


def _pieces(
    text: str | None,
    keys: Sequence[str],
    data: bytes | None,
    modes: frozenset[int],
    *,
    enter: bool,
) -> list[bytes]:
    """Return what is typed, in pieces between which there is a moment."""
    pieces = []
    if text:
        pieces.append(text_bytes(text, modes))
    if text is not None and enter:
        pieces.append(key_bytes("enter"))
    pieces += [key_bytes(name, modes) for name in keys]
    if data:
        pieces.append(data)
    return pieces


def _type_all(connection: Connection, run: Run, pieces: Sequence[bytes]) -> None:
    connection.wait_at_most(_TAKES_WITHIN_S)
    typed = 0
    try:
        for number, piece in enumerate(pieces):
            if number:
                time.sleep(_BEFORE_ENTER_S)
            connection.type(piece)
            typed += len(piece)
            _await_taken(connection, typed)
    except TimeoutError:
        raise NotTaken(
            f"run {run.id} does not read what is typed; some of it waits in its terminal"
        ) from None
    except HostGone:
        raise NotTaken(f"run {run.id} ended before it had read everything") from None


def _await_taken(connection: Connection, typed: int) -> None:
    while True:
        for frame in connection.read():
            if frame.kind == frames.TYPED and frame.fields().get("bytes") == typed:
                return
            if frame.kind == frames.ENDED:
                raise HostGone("the run ended")


def _check_key(name: str) -> None:
    try:
        key_bytes(name)
    except UnknownKey:
        raise UsageError(
            f"there is no key {name!r}",
            hint="enter, escape, tab, up, f1, ctrl-c, alt-x, or one sign",
        ) from None


def _goes_on(runs: Runs, run: Run) -> bool:
    """Tell whether a run still lives whose host has closed the connection.

    A host that ends does not wait for a viewer that is too slow to hear of it, and then records
    the run.
    """
    end = time.monotonic() + _ENDS_WITHIN_S
    while any(each.id == run.id for each in runs.live()):
        if time.monotonic() > end:
            return True
        time.sleep(_LOOK_S)
    return False


def _refuse_itself(project: Project, run: Run) -> None:
    """Refuse a run that this command is inside of: what it shows would be shown again, for ever."""
    if is_marked(step_marks(project.app.env), run.token):
        raise UsageError(
            f"this is inside run {run.id}, which cannot attach to itself or type into itself",
            hint="do it in another terminal",
        )


def _exit_code(view: View, step: Step | None) -> int | None:
    if step is not None and step.exit_code is not None:
        return step.exit_code
    return None if view.end is None else view.end.exit_code


def screen_lines(project: Project, task: Task, step: Step, kept: Output) -> tuple[str, ...] | None:
    """Return the lines of the last screen; None if the program prints lines."""
    if kept.streams is not StreamPlan.PTY:
        return None
    lives = bool(step.run) and not step.ended_at
    size = size_of_terminal(project, task.id, step.run) if lives else None
    found = last_screen(step, kept, size)
    return None if found is None else found.lines
