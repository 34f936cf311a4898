"""The task that the commands of one terminal are about: ``terminals/<pid>.json``.

A terminal is a session of processes: its leader (the shell) by process number and start time, and
the boot of the machine. The panes of tmux are sessions of their own. So two terminals each keep
their own task, whatever the other one switches to.

Reading costs one small file, or a look for a file that is not there.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.fields import text, whole
from siding.ground.storage.layout import ProjectLayout

TERMINAL_VERSION = 1
_SUFFIX = ".json"


class TerminalTask(NamedTuple):
    """What a terminal is bound to; `before` is the id of the task before that, or ""."""

    task: TaskId
    before: str


class Terminals:
    """The terminals of one project that are bound to a task."""

    def __init__(self, layout: ProjectLayout) -> None:
        self._layout = layout

    def of(self, leader: int) -> TerminalTask | None:
        """Return what the terminal is bound to whose session this process leads; None if it is not.

        Raises DamagedFile or NewerVersion.
        """
        found = self._read(leader)
        task_id = text(found.get("task_id"))
        if not task_id or not _is_of(found, leader):
            return None
        return TerminalTask(TaskId(task_id), text(found.get("before")))

    def bind(self, leader: int, bound: TerminalTask, *, at: str) -> None:
        """Bind a terminal to a task. The caller holds the project's lock.

        Bindings of terminals that are gone are removed on the way.
        """
        from siding.ground.files.durable import make_dirs
        from siding.ground.process.identity import boot_id, started_of

        make_dirs(self._layout.terminals_dir)
        self._sweep()
        document = {
            "version": TERMINAL_VERSION,
            "task_id": bound.task,
            "before": bound.before,
            "boot": boot_id(),
            "started": started_of(leader),
            "bound_at": at,
        }
        write_document(self._layout.terminal(leader), document)

    def _read(self, leader: int) -> Mapping[str, Any]:
        path = self._layout.terminal(leader)
        return read_document_or_none(path, what="terminal", version=TERMINAL_VERSION) or {}

    def _sweep(self) -> None:
        for name in os.listdir(self._layout.terminals_dir):
            pid = name.removesuffix(_SUFFIX)
            if name.endswith(_SUFFIX) and pid.isdigit():
                with suppress(OSError, SidingError):
                    if not _is_of(self._read(int(pid)), int(pid)):
                        self._layout.terminal(int(pid)).unlink()


def _is_of(document: Mapping[str, Any], leader: int) -> bool:
    """Tell whether a binding was made in this boot, by the process that has this number now."""
    from siding.ground.process.identity import boot_id, started_of

    if document.get("boot") != boot_id():
        return False
    started = whole(document.get("started"))
    return started > 0 and started == started_of(leader)
