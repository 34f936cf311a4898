"""How the process of a script is started."""

import sys
from collections.abc import Mapping
from pathlib import Path

import siding

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


def package_root() -> Path:
    """Return the directory from which the process imports this package; it reads nothing else."""
    return Path(siding.__file__).resolve().parent.parent


def script_argv() -> tuple[str, ...]:
    """Return the command that runs a script."""
    return (sys.executable, "-s", "-S", "-P", "-W", "ignore", "-c", _CODE, str(package_root()))
