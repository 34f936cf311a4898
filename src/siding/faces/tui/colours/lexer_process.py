"""Talk with the helper process: it is started by the first question, and again after it died."""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from threading import Lock

from siding.faces.tui.colours.packed import FileColours
from siding.ground.process.dialogue import LinkedProgram, start_linked

CHILD = (sys.executable, "-m", "siding.faces.tui.colours.child")
_PATIENCE_S = 10.0  # for one file
_BLOCK = 1 << 16


class HelperFailed(Exception):
    """The process did not start, died, or took too long. The next question starts another."""


class Helper:
    """One process, one question at a time. Its methods may be called from any thread."""

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        argv: Sequence[str] = CHILD,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        self._env = env
        self._argv = argv
        self._patience_s = patience_s
        self._asking = Lock()
        self._program: LinkedProgram | None = None

    @property
    def is_running(self) -> bool:
        """Tell whether there is a process."""
        return self._program is not None

    def ask(self, name: str, text: str) -> FileColours | None:
        """Return the colours of a text; None if it has none. Raises HelperFailed."""
        with self._asking:
            try:
                program = self._program = self._program or self._started()
                return self._answer(program, name, text.encode("utf-8", "surrogatepass"))
            except (OSError, ValueError, KeyError) as error:
                self._end()
                raise HelperFailed(str(error)) from error

    def end(self) -> None:
        """End the process, after the question that it is at."""
        with self._asking:
            self._end()

    def interrupt(self) -> None:
        """End the process now: the question that it is at fails."""
        program = self._program
        if program is not None:
            program.kill()

    def _started(self) -> LinkedProgram:
        try:
            return start_linked(self._argv, env=self._env, cwd=Path("/"))
        except Exception as error:
            raise OSError(f"the helper cannot be started: {error}") from error

    def _end(self) -> None:
        program, self._program = self._program, None
        if program is not None:
            program.end()
            os.close(program.to_program)
            os.close(program.from_program)

    def _answer(self, program: LinkedProgram, name: str, data: bytes) -> FileColours | None:
        head = json.dumps({"name": name, "size": len(data)}).encode()
        _write(program.to_program, head + b"\n" + data)
        reader = _Reader(program.from_program, time.monotonic() + self._patience_s)
        sizes = json.loads(reader.line())
        firsts, numbers = reader.bytes(sizes["firsts"]), reader.bytes(sizes["numbers"])
        return FileColours.from_bytes(firsts, numbers) if firsts else None


def _write(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


class _Reader:
    """Reads an answer. Raises OSError at the end of the input, and after the deadline."""

    def __init__(self, fd: int, deadline: float) -> None:
        self._fd = fd
        self._deadline = deadline
        self._kept = b""

    def line(self) -> bytes:
        while b"\n" not in self._kept:
            self._more()
        line, _, self._kept = self._kept.partition(b"\n")
        return line

    def bytes(self, size: int) -> bytes:
        pieces, have = [self._kept], len(self._kept)
        while have < size:
            self._kept = b""
            self._more()
            pieces.append(self._kept)
            have += len(self._kept)
        whole = b"".join(pieces)
        self._kept = whole[size:]
        return whole[:size]

    def _more(self) -> None:
        with DefaultSelector() as selector:
            selector.register(self._fd, EVENT_READ)
            if not selector.select(max(0.0, self._deadline - time.monotonic())):
                raise OSError("the helper takes too long")
        data = os.read(self._fd, _BLOCK)
        if not data:
            raise OSError("the helper has ended")
        self._kept += data
