"""Find a program the way a shell does, and give the shell's exit code when there is none."""

import errno
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.ground.namedtuples import NamedTuple

NOT_EXECUTABLE = 126
NOT_FOUND = 127
_DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


class Program(NamedTuple):
    """An absolute path that can be given to exec."""

    path: str


class NotStartable(NamedTuple):
    """Why a program cannot be started.

    ``exit_code`` is the shell's: 126 when the file cannot be executed, 127 when there is none.
    """

    exit_code: int
    reason: str


def find_program(argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Program | NotStartable:
    """Look up ``argv[0]``: as a path when it holds a slash, else along the PATH of ``env``.

    Relative paths, also those inside PATH, start at ``cwd``. Returns NotStartable too when the
    arguments or the environment cannot be passed to any program.
    """
    name = argv[0]
    if not cwd.is_dir():
        return NotStartable(NOT_EXECUTABLE, f"the working directory {str(cwd)!r} is not there")
    if "\0" in name or not name:
        return NotStartable(NOT_FOUND, f"{name!r}: command not found")
    if any("\0" in word for word in (*argv, *env, *env.values())):
        return NotStartable(NOT_EXECUTABLE, f"{name!r}: a NUL byte cannot be passed to a program")
    for variable in env:
        if "=" in variable or not variable:
            return NotStartable(NOT_EXECUTABLE, f"{variable!r} cannot name a variable")
    if "/" in name:
        path = os.path.join(cwd, name)
        problem = _problem(path)
        return Program(path) if problem is None else _explain(name, problem)
    blocked: int | None = None
    for folder in (env.get("PATH") or _DEFAULT_PATH).split(os.pathsep):
        path = os.path.join(cwd, folder, name)
        problem = _problem(path)
        if problem is None:
            return Program(path)
        if problem == errno.EACCES:
            blocked = problem
    if blocked is not None:
        return _explain(name, blocked)
    return NotStartable(NOT_FOUND, f"{name!r}: command not found")


def explain_exec_error(name: str, error: OSError) -> NotStartable:
    """Explain why exec failed for a program that `find_program` found."""
    if error.errno == errno.ENOENT:
        return NotStartable(NOT_FOUND, f"{name!r}: its interpreter is not there")
    return NotStartable(NOT_EXECUTABLE, f"{name!r}: {error.strerror}")


def is_plain_script(path: str) -> bool:
    """Return whether a file without ``#!``, which exec refuses, is a text a shell would run.

    Like bash, this looks for a NUL byte in the first line.
    """
    try:
        with open(path, "rb") as file:
            first_line, _newline, _rest = file.read(256).partition(b"\n")
    except OSError:
        return False
    return b"\0" not in first_line


def _problem(path: str) -> int | None:
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        return error.errno if isinstance(error, OSError) else errno.ENOENT
    if stat.S_ISDIR(mode):
        return errno.EISDIR
    if not stat.S_ISREG(mode) or not os.access(path, os.X_OK):
        return errno.EACCES
    return None


def _explain(name: str, problem: int) -> NotStartable:
    if problem in {errno.ENOENT, errno.ENOTDIR}:
        return NotStartable(NOT_FOUND, f"{name!r}: {os.strerror(problem)}")
    return NotStartable(NOT_EXECUTABLE, f"{name!r}: {os.strerror(problem)}")
