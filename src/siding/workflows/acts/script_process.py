"""Start the process of a script, in a sandbox where there is one.

A script is checked before it runs, and that is a guard against mistakes. The sandbox is the wall:
inside it the process has no network, sees no home and can write nothing but its answers.
"""

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import siding
from siding.ground.process.dialogue import LinkedProgram, start_linked
from siding.record.place.project import Project
from siding.sandbox.engines.bwrap import arguments
from siding.sandbox.engines.values import BindMount, Engine, Kind, Network, View, is_within
from siding.sandbox.launch import engine_here

# No site packages and no user's directory; `-I` would also ignore PYTHONHASHSEED, which is needed:
# with it a set of texts has the same order in each process.
_CODE = (
    "import sys; sys.path[:0] = [sys.argv[1]];"
    " from siding.workflows.child.main import main; main(0, 1)"
)
SCRIPT_ENVIRONMENT: Mapping[str, str] = {
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
}
_HIDDEN = ("/home", "/root", "/tmp", "/run", "/var", "/srv", "/mnt", "/media", "/opt")
_DEVICES = "/dev"  # a new one in every sandbox, also where /dev/shm has files of people


def package_root() -> Path:
    """Return the directory from which the process imports this package; it reads nothing else."""
    return Path(siding.__file__).resolve().parent.parent


def script_argv() -> tuple[str, ...]:
    """Return the command that runs a script."""
    return (sys.executable, "-s", "-S", "-P", "-W", "ignore", "-c", _CODE, str(package_root()))


def starter(project: Project) -> Callable[[], LinkedProgram]:
    """Return what starts the process of a script."""
    found = engine_here(project)
    if found.engine is not Engine.BWRAP:
        return lambda: start_linked(script_argv(), env=SCRIPT_ENVIRONMENT, cwd=Path("/"))
    view = _view(project)

    def start() -> LinkedProgram:
        launch = found.launch(view, Network.OFF, ())
        silent = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        try:
            outer = arguments(launch, cwd="/", status_fd=silent, seccomp_fd=None, copies={})
            return start_linked(
                (*outer, *script_argv()), env=SCRIPT_ENVIRONMENT, cwd=Path("/"), keep=(silent,)
            )
        finally:
            os.close(silent)

    return start


def _view(project: Project) -> View:
    """Return a file system that has Python and this package, and nothing of the person's."""
    hidden = [*_HIDDEN, project.app.env.get("HOME", ""), str(project.app.home.root)]
    roots = {os.path.realpath(path) for path in hidden if path and os.path.isdir(path)}
    tops = sorted(
        path
        for path in roots
        if path != "/" and not any(path != other and is_within(path, other) for other in roots)
    )
    needed = {sys.base_prefix, sys.prefix, sys.exec_prefix, str(package_root())}
    shown = sorted({os.path.realpath(path) for path in needed} | {os.path.abspath(sys.prefix)})
    return View(
        mounts=(
            *(BindMount(kind=Kind.BLANK, path=path) for path in tops),
            *(
                BindMount(kind=Kind.SHOW, path=path)
                for path in shown
                if any(is_within(path, top) for top in (*tops, _DEVICES))
            ),
        )
    )
