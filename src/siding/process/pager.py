"""A pager: the one child that shares our terminal."""

import os
import subprocess
from collections.abc import Mapping, Sequence


class Pager:
    """A running pager that reads what is written to `fd`. The caller closes `fd`, then waits."""

    def __init__(self, process: "subprocess.Popen[bytes]", fd: int) -> None:
        self._process = process
        self.fd = fd

    def wait(self) -> None:
        """Wait until the person leaves the pager; Ctrl-C is the pager's to handle."""
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
