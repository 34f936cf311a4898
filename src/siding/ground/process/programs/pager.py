"""Start a pager, which shares our terminal with us."""

import os
import subprocess
from collections.abc import Mapping, Sequence


class Pager:
    """A running pager that shows what the caller writes to `fd`.

    The caller closes `fd` and then calls `wait`.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", fd: int) -> None:
        self._process = process
        self.fd = fd

    def wait(self) -> None:
        """Wait until the person leaves the pager; ignore Ctrl-C, which the pager handles itself."""
        while True:
            try:
                self._process.wait()
                return
            except KeyboardInterrupt:
                continue


def start_pager(argv: Sequence[str], env: Mapping[str, str]) -> Pager | None:
    """Start a pager; return None when there is no such program."""
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(list(argv), stdin=reading, env=dict(env))
    except OSError:
        os.close(writing)
        return None
    finally:
        os.close(reading)
    return Pager(process, writing)
