"""Find out which sandbox engine works on this machine, by trying it.

An installed bwrap may still fail: a kernel setting or AppArmor can forbid user namespaces. So a
probe sets up a whole sandbox, as a run does, and runs `true` in it. A positive answer about a
program is kept until the machine restarts or the program changes (`Known`); a negative one is not.
"""

import os
import select
import signal
import stat
import time
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.process.command import Command
from siding.ground.process.lookup import Program, find_program
from siding.ground.process.spawn import spawn_piped
from siding.sandbox.engines.kernel import landlock_version
from siding.sandbox.engines.port import FoundEngine, Known
from siding.sandbox.engines.start import Sandboxed
from siding.sandbox.engines.table import ENGINES
from siding.sandbox.engines.values import Launch

if TYPE_CHECKING:
    from siding.ground.process.ports import Child

PROBE_TIMEOUT_S = 10.0
_UNIX_SOCKETS = "/proc/net/unix"
_MOST_SOCKETS = 500  # masked at most; each takes a mount


def find_engine(env: Mapping[str, str], known: Known | None = None) -> FoundEngine:
    """Return the best engine that works; with a ``known`` that still holds, nothing is tried."""
    found = FoundEngine(
        engine=None,
        program="",
        userns=True,
        setsid=program_at("setsid", env),
        reason="",
        version=_landlock_version(),
        known=None,
    )
    for engine in ENGINES:
        program = program_at(engine.program, env) if engine.program else ""
        found = engine.found(found._replace(program=program), known, _tried)
        if found.engine is not None:
            break
    return found


def program_at(name: str, env: Mapping[str, str]) -> str:
    """Return a program's absolute path, "" if it is not there.

    Relative directories of the PATH are skipped.
    """
    path = ":".join(each for each in env.get("PATH", "").split(":") if each.startswith("/"))
    found = find_program([name], {"PATH": path} if path else {}, Path("/"))
    return found.path if isinstance(found, Program) else ""


def listening_sockets() -> list[str]:
    """Return the paths of Unix sockets that processes have bound, at most `_MOST_SOCKETS`.

    Those are left out that nobody could reach without our privileges. A sandbox has none: root is
    stopped there by another user's directory as anybody is, and so is bwrap when it sets it up.
    """
    try:
        text = Path(_UNIX_SOCKETS).read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    names = (line.split(" ", 7)[-1] for line in text.splitlines()[1:])
    found = {name for name in names if name.startswith("/")}
    there = (path for path in sorted(found) if os.path.exists(path) and _may_be_reached(path))
    return list(islice(there, _MOST_SOCKETS))


def _may_be_reached(path: str) -> bool:
    """Tell whether the directories above a path let our user through, without privileges."""
    groups = {os.getegid(), *os.getgroups()}
    for directory in Path(path).parents:
        try:
            found = directory.stat()
        except OSError:
            return False
        if found.st_uid == os.geteuid():
            bit = stat.S_IXUSR
        else:
            bit = stat.S_IXGRP if found.st_gid in groups else stat.S_IXOTH
        if not found.st_mode & bit:
            return False
    return True


def _landlock_version() -> int:
    if os.uname().sysname != "Linux":
        return 0
    return landlock_version()


def _tried(launch: Launch) -> str:
    """Run `true` in a sandbox; return "" or what went wrong."""
    program = find_program(["true"], {}, Path("/"))
    if not isinstance(program, Program):
        return "there is no `true` to try it with"
    command = Command(argv=("true",), cwd=Path("/"), env={"PATH": os.defpath})
    return tried(launch, command, program)[1]


def tried(launch: Launch, command: Command, program: Program) -> tuple[int, str]:
    """Run a command in a sandbox, without input; return its exit status and what went wrong.

    The status is -1 when it could not be started. What went wrong is "" after a success.
    """
    sandboxed = Sandboxed(launch)
    try:
        try:
            plan = sandboxed.spawn_plan(command, program, tty=False)
            started = spawn_piped(plan.command, plan.program, stdin=None, plan=plan)
        except OSError as error:
            return -1, error.strerror or str(error)
        sandboxed.started()
        said = _read_both(started.stdout, started.stderr)
        status = _waited(started.child)
        if status == 0 and sandboxed.was_started():
            return 0, ""
        lines = said.decode("utf-8", "replace").strip().splitlines()
        return status, lines[-1][:200] if lines else f"it ended with {status}"
    finally:
        sandboxed.close()


def _read_both(stdout: int, stderr: int) -> bytes:
    """Read both pipes until they end or PROBE_TIMEOUT_S has passed; return those of `stderr`."""
    end = time.monotonic() + PROBE_TIMEOUT_S
    said, open_fds = b"", {stdout, stderr}
    while open_fds and (left := end - time.monotonic()) > 0:
        for fd in select.select(list(open_fds), [], [], left)[0]:
            block = os.read(fd, 4096)
            if not block:
                open_fds.discard(fd)
            elif fd == stderr:
                said += block
    os.close(stdout)
    os.close(stderr)
    return said


def _waited(child: "Child") -> int:
    end = time.monotonic() + PROBE_TIMEOUT_S
    while (status := child.poll()) is None:
        if time.monotonic() > end:
            os.killpg(child.pid, signal.SIGKILL)
        time.sleep(0.0005)
    child.leave()
    return status
