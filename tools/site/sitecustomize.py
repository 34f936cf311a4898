"""Loaded by Python itself where `tools.mutate` has its copy of the package first on the path.

A process that is forked while the copy has a changed module gets the change (`in_place.py`); one
that is started reads it from the copy. While the tests' lines are noted, each process writes down
which lines of the chosen modules it runs. The files that say so are in the copy's directory.
"""

import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

SCRATCH = Path(__file__).resolve().parents[1]
CHANGE = SCRATCH / "change"  # the name of the module that is changed
NOTING = SCRATCH / "noting"  # the paths of the modules whose lines are noted
LINES = SCRATCH / "lines"

_open, _write, _close = os.open, os.write, os.close  # a test may put others into their place
seen: set[tuple[str, int]] = set()
_noted: frozenset[str] = frozenset()
_changed = ""


def begin() -> None:
    """Take what holds at this moment into this process."""
    global _noted, _changed
    seen.clear()
    if NOTING.exists():
        _noted = frozenset(NOTING.read_text("utf-8").splitlines())
        threading.settrace(_on_call)
        sys.settrace(_on_call)
    elif not _changed and CHANGE.exists():
        _changed = CHANGE.read_text("utf-8")
        module = sys.modules.get(_changed)
        if module is not None:
            from tools.in_place import replace

            replace(module, Path(str(module.__file__)).read_bytes())


def _on_call(frame: FrameType, _event: str, _argument: object) -> Any:
    if frame.f_code.co_filename not in _noted:
        return None
    return _on_line(frame, "line", None)


def _on_line(frame: FrameType, _event: str, _argument: object) -> Any:
    place = (frame.f_code.co_filename, frame.f_lineno)
    if place not in seen:
        seen.add(place)
        # Opened each time: a command may close whatever it finds open at its start.
        out = _open(LINES, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        _write(out, f"{place[1]} {place[0]}\n".encode())
        _close(out)
    return _on_line


os.register_at_fork(after_in_child=begin)
begin()
