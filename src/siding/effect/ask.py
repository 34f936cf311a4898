"""Begin to count the effect of what a person has just been asked about.

The question is on disk already and waits for nothing here: another process finds it out. It
ends when the question is closed, or when the one who began it dies.
"""

import json
import os
import re
import sys
import threading
import time
from contextlib import suppress

from siding.agents.edits import as_records
from siding.effect.count import Asked, not_tried, reach_in, swept, workspace_of
from siding.effect.effect import Counter, Effect, EffectState
from siding.effect.store import CUT_OFF, keep, kept, lives
from siding.ground.errors import SidingError
from siding.ground.process.capture import CannotStart
from siding.ground.process.dialogue import LinkedProgram, start_linked
from siding.ground.process.identity import started_of
from siding.record.place.project import Project

_LONGEST_KEPT = 8 << 10  # characters of a command
_LONGEST_EDITS = 64 << 10  # and of what a tool that edits was given
_GOODBYE_S = 10.0
_LOOK_S = 0.05
_VARIABLE = re.compile(r"\$\{?(\w+)")


class Counting:
    """A process that tries a command. End it when nobody waits for the answer any more."""

    def __init__(self, project: Project, session: str, program: LinkedProgram) -> None:
        self._project = project
        self._session = session
        self._program = program
        self._over = threading.Event()
        os.close(program.from_program)
        threading.Thread(target=self._watch, daemon=True).start()

    def end(self) -> None:
        """Let it end and remove its copy; this does not wait for that."""
        os.close(self._program.to_program)
        self._over.set()

    def _watch(self) -> None:
        """Wait until the process ends. If it was killed, say so, and remove what it left."""
        while self._program.status() is None and not self._over.wait(_LOOK_S):
            pass
        end = time.monotonic() + _GOODBYE_S
        while self._program.status() is None and time.monotonic() < end:
            time.sleep(_LOOK_S)
        self._program.end()
        with suppress(SidingError, OSError):
            present = kept(self._project, self._session)
            if (
                present is not None
                and present.state is EffectState.PENDING
                and not self._is_taken(present)
            ):
                keep(self._project, self._session, not_tried(present, CUT_OFF))
            swept(self._project)

    def _is_taken(self, present: Effect) -> bool:
        """Tell whether somebody else tries the command now."""
        return present.by.pid != os.getpid() and lives(present.by)


def begin(project: Project, task_id: str, asked: Asked) -> Counting | None:
    """Say on disk what is known of the effect now, and begin to count it if it can be tried.

    Nothing is done if the settings switch it off, or if somebody counts it already. Raises
    SidingError and OSError.
    """
    workspace, session_id = workspace_of(project, task_id), asked.session
    present = kept(project, session_id)
    if not project.settings.agents_effect or workspace is None:
        return None
    if present is not None and (present.state is not EffectState.PENDING or lives(present.by)):
        return None
    swept(project)
    pending = pending_of(project, asked)
    why_not = _no_edits(asked) if asked.is_edit else reach_in(project, workspace, asked).why_not
    if why_not:
        keep(project, session_id, not_tried(pending, project.redaction.text(why_not)))
        return None
    keep(project, session_id, pending)
    try:
        return Counting(project, session_id, _started(project, task_id, asked))
    except CannotStart as error:
        keep(project, session_id, not_tried(pending, error.message))
        return None


def pending_of(project: Project, asked: Asked) -> Effect:
    """Return the effect that this process is about to count."""
    shown = project.redaction.text(asked.line)
    names = _VARIABLE.findall(asked.line)
    by = Counter(pid=os.getpid(), started=started_of())
    if asked.is_edit:
        given = json.dumps(as_records(asked.edits))
        is_whole = len(given) <= _LONGEST_EDITS and project.redaction.text(given) == given
        return Effect(
            state=EffectState.PENDING,
            command=shown[:_LONGEST_KEPT],
            cwd=str(asked.cwd),
            again=is_whole,
            by=by,
            edits=asked.edits if is_whole else (),
            is_edit=True,
        )
    return Effect(
        state=EffectState.PENDING,
        command=shown[:_LONGEST_KEPT],
        cwd=str(asked.cwd),
        # Somebody else's variables may have other values.
        again=shown[:_LONGEST_KEPT] == asked.line and not any(n in project.app.env for n in names),
        by=by,
    )


def _no_edits(asked: Asked) -> str:
    """Return why nothing can be worked out; "" if something may be."""
    return "" if asked.edits else "the tool was given nothing that says what it would write"


def _started(project: Project, task_id: str, asked: Asked) -> LinkedProgram:
    app = project.app
    env = {name: value for name, value in app.env.items() if not name.startswith("SIDING_")}
    words = ["-C", str(project.paths.root), "-q", "__effect", "--task", task_id, asked.session]
    program = start_linked(
        [sys.executable, "-m", "siding", *words],
        env={**env, "SIDING_HOME": str(app.home.root)},
        cwd=project.layout.root,
    )
    told = json.dumps(asked.as_record()) + "\n"
    own = os.dup(program.to_program)  # the other one may be closed at any time
    threading.Thread(target=_tell, args=(own, told.encode()), daemon=True).start()
    return program


def _tell(fd: int, told: bytes) -> None:
    """Hand the command over. It is longer than a pipe takes at once, if it is long."""
    try:
        with suppress(OSError):
            while told:
                told = told[os.write(fd, told) :]
    finally:
        os.close(fd)
