"""Start a command inside a sandbox.

bwrap is started in place of the command, and starts the command inside. With Landlock the forked
child restricts itself before it execs the command. As much as possible is prepared before the fork,
where an error can still be raised.
"""

import fcntl
import os
import stat
import sys
from contextlib import ExitStack

from siding.ground.files.durable import write_all
from siding.ground.process.command import TOKEN_VARIABLE, Command, with_marks_alone
from siding.ground.process.lookup import Program
from siding.ground.process.spawn_plan import Enter, SpawnPlan
from siding.ground.process.status import ProcessStatus
from siding.sandbox.engines import bwrap, handing_in, handing_out, kernel, landlock
from siding.sandbox.engines.cgroup import RunGroup
from siding.sandbox.engines.values import Engine, Kind, Launch, Network, View

if sys.platform == "linux":
    from siding.ground.process import procfs as processes
else:
    from siding.ground.process import ps as processes

_LARGEST_COPY = 64 << 20
_STATUS_BYTES = 1 << 16


class Sandboxed:
    """One sandboxed command.

    Start it with `spawn_plan`, call `started`, and call `close` when the command has ended.
    """

    def __init__(self, launch: Launch, group: RunGroup | None = None) -> None:
        """Prepare it; `group` is the control group that it enters, which `close` closes."""
        self.launch = launch
        self.group = group
        self.warden = 0  # bwrap's pid, set by the caller; its end ends everything inside
        self._stack = ExitStack()
        self._status_fd = -1
        self._told: bool | None = None
        self._masked = View(mounts=())  # what bwrap was told

    @property
    def guarded(self) -> bool:
        """Whether bwrap is the warden: our child is bwrap, and the command is its grandchild."""
        return self.launch.engine is Engine.BWRAP

    def spawn_plan(self, command: Command, program: Program, *, tty: bool) -> SpawnPlan:
        """Return the program to start in place of the command. Raises OSError."""
        plan = self._spawn_plan(command, program, tty=tty)
        return plan if self.group is None else plan._replace(enter=_both(self.group, plan.enter))

    def _spawn_plan(self, command: Command, program: Program, *, tty: bool) -> SpawnPlan:
        command = command._replace(env={**command.env, **dict(self.launch.env)})
        if self.guarded:
            return self._by_bwrap(command, program, tty=tty)
        version = kernel.landlock_version()
        rules = landlock.rules(self.launch.view, self.launch.network, version=version)
        ruleset = self._held(kernel.ruleset(rules, version))
        code = self.launch.seccomp

        def enter() -> None:
            kernel.no_new_privileges()
            kernel.drop_capabilities()
            kernel.restrict(ruleset)
            if code:
                kernel.install_filter(code)

        return SpawnPlan(
            command=command, program=program, enter=enter, keep=(), takes_terminal=False
        )

    def command_group(self) -> int | None:
        """Return the process group of the command inside; None when it has ended."""
        everything = processes.all_processes().values()
        inits = {status.pid for status in everything if status.parent == self.warden}
        inside = [status for status in everything if status.parent in inits]
        return min(inside, key=_age).group if inside else None

    @property
    def told(self) -> tuple[int, ...]:
        """The descriptor at which bwrap says how the command ended; without a reader it dies."""
        return (self._status_fd,) if self._status_fd >= 0 else ()

    def was_started(self) -> bool:
        """Return whether the command itself ran; False when bwrap failed before.

        Call this after the command has ended.
        """
        if self._told is None and self._status_fd >= 0:
            try:
                self._told = b'"exit-code"' in os.read(self._status_fd, _STATUS_BYTES)
            except BlockingIOError:
                self._told = False
        return self._told is not False

    def is_outdated(self) -> bool:
        """Return whether something that bwrap was told to mask is gone, so that it failed.

        Another attempt leaves it out.
        """
        return _without_the_gone(self._masked) != self._masked

    def started(self) -> None:
        """Close the descriptors that were made for the child; it has its own copies now."""
        kept, self._stack = self._stack, ExitStack()
        kept.close()
        if self._status_fd >= 0:
            self._stack.callback(os.close, self._status_fd)

    def close(self) -> None:
        self._stack.close()
        if self.group is not None:
            self.group.close()

    def _by_bwrap(self, command: Command, program: Program, *, tty: bool) -> SpawnPlan:
        self._told = None
        self._masked = _without_the_gone(self.launch.view)
        launch = self.launch._replace(view=self._masked)
        self._status_fd, status = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        keep = [self._held(status)]
        if launch.seccomp:
            keep.append(self._held(_in_memory(launch.seccomp)))
        seccomp = keep[1] if launch.seccomp else None
        copies: dict[str, int] = {}
        for mount in launch.view.mounts:
            if mount.kind is Kind.COPY and (content := _content(mount.origin)) is not None:
                copies[mount.path] = self._held(_in_memory(content))
        env, handed_in = self._handed_in(command.env)
        outer = bwrap.arguments(
            launch, cwd=str(command.cwd), status_fd=status, seccomp_fd=seccomp, copies=copies
        )
        setsid = [launch.setsid, *(["--ctty"] if tty else [])]
        first = (*_first_inside(launch), *self._hands_in(handed_in))
        argv = (*outer, *setsid, *first, program.path, *command.argv[1:])
        return SpawnPlan(
            command=command._replace(argv=argv, env=env),
            program=Program(launch.bwrap),
            enter=self._scope() if launch.scoped and launch.network is Network.ON else None,
            keep=(*keep, *copies.values(), *handed_in),
            takes_terminal=tty,
            is_warden=True,
        )

    def _handed_in(self, env: dict[str, str]) -> tuple[dict[str, str], tuple[int, ...]]:
        """Return the environment of bwrap, and the pipe with what the command gets beside it."""
        secluded = self.launch.secluded
        if secluded is None:
            return env, ()
        apart = {name: env[name] for name in (*secluded.names, TOKEN_VARIABLE) if name in env}
        rest = {name: value for name, value in env.items() if name not in secluded.names}
        reading, writing = os.pipe2(os.O_CLOEXEC)
        self._held(reading)
        with open(writing, "wb", buffering=0) as pipe:
            data = b"".join(os.fsencode(f"{name}={value}\0") for name, value in apart.items())
            fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, max(len(data), 1 << 16))  # nobody reads yet
            write_all(writing, data)
            pipe.flush()
        return with_marks_alone(rest), (reading,)

    def _hands_in(self, pipe: tuple[int, ...]) -> tuple[str, ...]:
        """Return the words of what takes the variables inside, and becomes the command."""
        if self.launch.secluded is None:
            return ()
        python = self.launch.secluded.python
        return (python, "-S", "-E", "-I", handing_in.__file__, *map(str, pipe), "--")

    def _scope(self) -> Enter:
        """Return a function that blocks abstract sockets outside.

        Abstract sockets belong to the network namespace, which the sandbox shares with the machine.
        """
        ruleset = self._held(kernel.ruleset(landlock.scope_only(), kernel.landlock_version()))

        def enter() -> None:
            kernel.no_new_privileges()
            kernel.restrict(ruleset)

        return enter

    def _held(self, fd: int) -> int:
        self._stack.callback(os.close, fd)
        return fd


def _both(group: RunGroup, enter: Enter | None) -> Enter:
    """Return a function that enters the group, and then does what the sandbox needs."""

    def enter_both() -> None:
        group.enter()  # first: the sandbox closes the way there
        if enter is not None:
            enter()

    return enter_both


def _first_inside(launch: Launch) -> tuple[str, ...]:
    """Return the words of what runs before the command, in its place, and becomes it."""
    if launch.handover is None:
        return ()
    python, socket, ports = launch.handover
    return (python, "-S", "-E", "-I", handing_out.__file__, socket, *map(str, ports), "--")


def _without_the_gone(view: View) -> View:
    """Leave out what hides something that no longer exists: bwrap can make nothing where all is
    read-only.

    Sockets, and directories that only root may enter, come and go at any time. The view was planned
    a moment ago.
    """
    hides = (Kind.MASK, Kind.BLANK)
    there = (m for m in view.mounts if m.kind not in hides or os.path.lexists(m.path))
    return View(mounts=tuple(there))


def _age(status: ProcessStatus) -> int:
    return status.started


def _in_memory(data: bytes) -> int:
    fd = os.memfd_create("siding", os.MFD_CLOEXEC)
    write_all(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _content(path: str) -> bytes | None:
    """Return the bytes of a file, at most `_LARGEST_COPY`; None when it is no regular file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(fd, "rb") as file:
        return file.read(_LARGEST_COPY) if stat.S_ISREG(os.fstat(fd).st_mode) else None
