"""Run the user's command: show and record its output, and list the processes it leaves behind.

If Siding itself is killed with SIGKILL, the keeper (`keeper.program`) ends what the command
started. The artifact holds everything that had been read; `output.reading.recover_output` brings it
into its final form. If the keeper was killed, too, `ender.end_token` ends what still lives.
"""

import signal
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from siding.ground.process import lookup
from siding.ground.process.command import (
    TOKEN_VARIABLE,
    Command,
    Ending,
    Outcome,
    ProcessInfo,
)
from siding.ground.process.drive import Drive
from siding.ground.process.limits import LIMIT_EXIT_CODE
from siding.ground.process.output.recording import OutputFiles, Recorded
from siding.ground.process.side import Plan, Side
from siding.ground.process.signals import SignalInbox
from siding.ground.process.streams import Channel
from siding.ground.process.tree import EndedProcesses, ProcessTree, info

if sys.platform == "linux":
    from siding.ground.process.procfs import adopting_orphans
else:
    from siding.ground.process.ps import adopting_orphans

TIMEOUT_EXIT_CODE = 124  # the one of timeout(1)
if TYPE_CHECKING:
    from siding.ground.process.broker.door import Door
    from siding.ground.process.ports import Child, Sandboxed

_SANDBOX_TRIES = 3  # what a sandbox hides (sockets of others) can go while bwrap sets it up
_WARDEN_S = 2.0  # the kernel kills a whole PID namespace at once, but swapped-out ones take time
_SETTLE_S = 0.05  # processes that end this soon after the command do not count as left running


def run_recorded(plan: Plan) -> Outcome:
    """Run a command to its end and record its output, through pipes or a PTY (recorder.streams).

    Input: ``stdin`` decides. In a PTY the command always reads its terminal. It gets the caller's
    keys with ``TERMINAL``, the caller's file or pipe and then an end-of-file with ``INHERIT``, and
    an end-of-file alone with ``NULL``.

    Output: every byte goes into the artifact, then onto the screen. A slow screen slows the
    command down; a screen that is gone, or a disk that is full, does not stop it. When the command
    has ended, a process it left behind that holds a pipe open is not waited for.

    Ending: Ctrl-C (SIGINT to us) is passed to the command's group once. A second one, SIGTERM,
    SIGHUP or SIGQUIT to us, or the timeout, ends everything the command started: SIGTERM,
    ``grace_s`` seconds, SIGKILL, and at most five seconds to see it gone. After an interruption
    processes that outlive the command are ended too; after a normal end they are left running and
    listed, or with ``ends_left`` ended in the same way. In a PTY the caller's Ctrl-C, Ctrl-Z and
    Ctrl-\\ are bytes for the command.

    Call this from the main thread, or signals are not handled. Raises OSError when the artifact
    cannot be created; nothing was started then. If anything else is raised (by ``on_started``,
    say), everything that was started has been ended.
    """
    run = plan._replace(command=_marked(plan.command, plan.token))
    run.recorder.open()
    program = lookup.find_program(run.command.argv, run.command.env, run.command.cwd)
    if isinstance(program, lookup.NotStartable):
        return _not_started(program, run.recorder)
    try:
        for tries_left in reversed(range(_SANDBOX_TRIES)):
            result = _run_once(run, program)
            if isinstance(result, Outcome):
                return result
            if not tries_left or not result.is_outdated():
                break
        return _not_started(_no_sandbox(), run.recorder)
    finally:
        if run.requests is not None:
            run.requests.over()


def _run_once(run: Plan, program: lookup.Program) -> "Outcome | Sandboxed":
    """Run the command to its end; return its sandbox when that could not be set up."""
    began = time.monotonic()
    with ExitStack() as stack:
        inbox = stack.enter_context(SignalInbox())
        stack.enter_context(adopting_orphans())
        tree = ProcessTree(run.token, adopting=True)
        stack.callback(tree.close)
        sandboxed = None if run.sandbox is None else run.sandbox.sandboxed
        side = Side(stack, run, sandboxed)
        door = _open_door(run, stack)
        # Before the start: the limit on the disk counts from what is there now.
        watch = run.sandbox and run.sandbox.watch(tree)
        try:
            child = side.start(run.command, program)
        except OSError as error:
            reason = lookup.explain_exec_error(run.command.argv[0], error)
            return _not_started(reason, run.recorder)
        drive = Drive(
            child,
            tree,
            inbox,
            side.channels,
            timeout_s=run.timeout_s,
            grace_s=run.grace_s,
            typed=side.typed,
            suspends=side.suspends(tree, may_stop=inbox.active, pause=run.pause),
        )
        tree.watch(child)
        if watch is not None:
            drive.watch(watch)
        _begin_looks(run, tree, drive, stack)
        if sandboxed is not None:
            _enter_sandbox(sandboxed, child, tree, drive)
        try:
            _serve(run, drive, side, inbox, stack)
            drive.serve(*door, *run.beside)
            if run.on_started is not None:
                run.on_started(child)
            drive.run()
        except BaseException:
            _abort(child, tree, side.channels, run.recorder)
            raise
        failed = not drive.ending_was_forced and (drive.status or 0) > 0
        if failed and sandboxed is not None and not sandboxed.was_started():
            return sandboxed
        ending, number = _ending(drive)
        if ending is not Ending.EXITED:
            side.restore_screen()
        if tree.warden and not drive.ending_was_forced:
            _await_the_end(tree)
        tidied, left = _what_is_left(run, drive, tree)
        child.leave()
        tree.reap()
        notes = side.notes()
        if child.lost_keeper:
            notes.append("the process that kept watch over the run was killed")
        outcome = _outcome(
            drive,
            ending=ending,
            signal_number=number,
            duration_ms=round((drive.ended_at - began) * 1000),
            tidied=tidied,
            left_running=left,
            recorded=run.recorder.finish(),
            notes=notes,
        )
        if side.shared is not None:
            outcome = outcome._replace(size=side.shared.size)
        if run.control is not None:
            run.control.ended(outcome.exit_code, outcome.ending.value)
        return outcome


def _open_door(run: Plan, stack: ExitStack) -> "tuple[Door, ...]":
    """Return the socket of the broker, if the run has one. The command finds it when it starts."""
    door = None if run.door is None else run.door()
    if door is None:
        return ()
    stack.callback(door.close)
    return (door,)


def _serve(run: Plan, drive: Drive, side: Side, inbox: SignalInbox, stack: ExitStack) -> None:
    """Have the loop serve those who watch the run, and other threads."""
    if run.control is not None:
        stack.callback(run.control.close)
        run.control.begin(side.shared, inbox.stop)
        drive.serve(run.control)
    if run.requests is not None:
        run.requests.begin(inbox, side.typed)
        drive.serve(run.requests)


def _begin_looks(run: Plan, tree: ProcessTree, drive: Drive, stack: ExitStack) -> None:
    for begin in run.looks:
        looks = begin(tree)
        stack.callback(looks.finish)
        drive.look_with(looks)


def _enter_sandbox(sandboxed: "Sandboxed", child: "Child", tree: ProcessTree, drive: Drive) -> None:
    """Tell those who end the run that the child is bwrap and the command its grandchild."""
    sandboxed.started()
    if sandboxed.guarded:
        tree.warden = sandboxed.warden = child.pid
        drive.interrupt(sandboxed.command_group)


def _marked(command: Command, token: str) -> Command:
    outer = command.env.get(TOKEN_VARIABLE)
    marked = token if not outer else f"{outer}:{token}"
    return command._replace(env={**command.env, TOKEN_VARIABLE: marked})


def _abort(
    child: "Child", tree: ProcessTree, channels: list[Channel], recorder: OutputFiles
) -> None:
    """End everything after an error on our side, and keep what was recorded."""
    from siding.ground.process.ender import end_all

    for channel in channels:
        channel.close()
    end_all(tree)
    child.poll()
    child.leave()
    recorder.finish()


def _await_the_end(tree: ProcessTree) -> None:
    """Wait until the processes of the sandbox have ended with their warden, bwrap.

    The kernel kills them then. After `_WARDEN_S` seconds we kill those that are left.
    """
    end = time.monotonic() + _WARDEN_S
    while tree.left():
        if time.monotonic() > end:
            from siding.ground.process.ender import end_all

            end_all(tree, grace_s=0.0)
            return
        time.sleep(0.001)


def _what_is_left(
    run: Plan, drive: Drive, tree: ProcessTree
) -> tuple[EndedProcesses, tuple[ProcessInfo, ...]]:
    """Return the processes that were ended, and those that the command leaves running.

    With `ends_left` the latter are ended now, after the output was read: much of what outlives a
    command by a moment, such as the `tee` behind it, ends by itself.
    """
    if drive.ending_was_forced:
        return drive.result(), ()
    left = _left_running(tree)
    if left and run.ends_left:
        from siding.ground.process.ender import end_all

        return end_all(tree, grace_s=run.grace_s), ()
    return drive.result(), left


def _left_running(tree: ProcessTree) -> tuple[ProcessInfo, ...]:
    if not tree.left():
        return ()
    time.sleep(_SETTLE_S)
    return tuple(info(status) for status in tree.left())


def _ending(drive: Drive) -> tuple[Ending, int]:
    """Return how the run ended, and the number of the signal that ended it; 0 without one."""
    if drive.breach is not None:
        return Ending.LIMIT, 0
    if drive.timed_out:
        return Ending.TIMEOUT, 0
    if drive.interrupted_by is not None:
        how = Ending.STOPPED if drive.was_stopped else Ending.INTERRUPTED
        return how, drive.interrupted_by
    assert drive.status is not None
    return (Ending.SIGNALLED, -drive.status) if drive.status < 0 else (Ending.EXITED, 0)


def _outcome(
    drive: Drive,
    *,
    ending: Ending,
    signal_number: int,
    duration_ms: int,
    tidied: EndedProcesses,
    left_running: tuple[ProcessInfo, ...],
    recorded: Recorded,
    notes: list[str],
) -> Outcome:
    own = drive.status
    if own is not None and own < 0:
        own = 128 - own
    if ending is Ending.TIMEOUT:
        exit_code = TIMEOUT_EXIT_CODE
    elif ending is Ending.LIMIT:
        exit_code = LIMIT_EXIT_CODE
    elif signal_number:
        exit_code = 128 + signal_number
    else:
        assert own is not None
        exit_code = own
    if drive.held_open and not tidied.ended:
        notes.append("a process left behind holds the output open: what it writes is not recorded")
    return Outcome(
        exit_code=exit_code,
        ending=ending,
        child_exit_code=own,
        duration_ms=duration_ms,
        ended_by_us=tidied.ended,
        survivors=tidied.survivors,
        left_running=left_running,
        stdout_bytes=recorded.stdout_bytes,
        stderr_bytes=recorded.stderr_bytes,
        output_sha256=recorded.sha256,
        output_complete=recorded.complete,
        reason=drive.breach.sentence if drive.breach else _reason(ending, signal_number),
        notes=(*recorded.notes, *notes),
    )


def _reason(ending: Ending, signal_number: int) -> str | None:
    if ending is Ending.TIMEOUT:
        return "it took longer than it was given"
    if ending is Ending.STOPPED:
        return "it was stopped on request"
    if signal_number:
        name = signal.strsignal(signal_number) or "?"
        whose = "Siding was told to stop" if ending is Ending.INTERRUPTED else "ended by a signal"
        return f"{whose}: {name} ({signal_number})"
    return None


def _no_sandbox() -> lookup.NotStartable:
    return lookup.NotStartable(
        lookup.NOT_EXECUTABLE,
        "the sandbox could not be set up: what its engine said is in the output",
    )


def _not_started(why: lookup.NotStartable, recorder: OutputFiles) -> Outcome:
    recorded = recorder.finish()
    return Outcome(
        exit_code=why.exit_code,
        ending=Ending.NOT_STARTED,
        child_exit_code=None,
        duration_ms=0,
        ended_by_us=(),
        survivors=(),
        left_running=(),
        stdout_bytes=recorded.stdout_bytes,
        stderr_bytes=recorded.stderr_bytes,
        output_sha256=recorded.sha256,
        output_complete=recorded.complete,
        reason=why.reason,
        notes=recorded.notes,
    )
