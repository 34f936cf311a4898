"""A child that shares our terminal: the person's own git when it goes to the network, which may
ask for a passphrase. It stays in our process group, so that Ctrl-C reaches it."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from siding.process.capture import Completed
from siding.process.errors import CannotStart


def run_attached(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> Completed:
    """Run a command to its end with our terminal; its standard output is captured, its standard
    error goes where ours goes. Raises CannotStart."""
    try:
        done = subprocess.run(
            list(argv), env=dict(env), cwd=cwd, stdout=subprocess.PIPE, check=False
        )
    except OSError as error:
        raise CannotStart(
            f"{argv[0]!r} cannot be started: {error.strerror}",
            hint=f"is {argv[0]!r} installed and on the PATH?",
        ) from error
    return Completed(argv=tuple(argv), returncode=done.returncode, stdout=done.stdout, stderr=b"")
