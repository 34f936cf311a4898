"""Phases on disk, in the task's directory: the status of a pass, and the move under way.

    flow-status*.json               the passes (`documents.py`)
    phase-intent.json               a move under way, or one that was cut off

A move makes a commit. The intent says what is to be recorded; it is written before the branch moves
and removed when ``flow-status.json`` holds the move. If an intent is found later, the branch
decides: if it has the commit, the move happened and is recorded; otherwise the intent is removed.
The caller must hold the lock of the task's phases for everything but reading.

In ``flow-status.json`` `task_id` is the time at which the pass began (``2025-01-15T10-30-00``); the
id of the task is in `task`. Other programs that read the file expect these names.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.ground.files.durable import copy_aside, remove_file
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import DamagedFile, read_document_or_none, write_document
from siding.ground.storage.layout import checked_name
from siding.record.phases.documents import CURRENT, PREFIX, SUFFIX, document_names
from siding.record.phases.states import PhaseMove, PhasePosition

STATUS_VERSION = 1
_STATUS = (
    "version",
    "task_id",
    "task",
    "current_phase",
    "current_step",
    "started_at",
    "phases",
    "history",
)
_ENTRY = ("timestamp", "action", "phase", "step", "summary", "git_commit", "gates", "inside_step")
_WAY_OUT = (
    "`siding phase start PHASE SUMMARY --again` keeps a copy of the file and begins a new pass"
)


class PassedGate(NamedTuple):
    """A gate that held, in an entry of the history.

    A command has its `exit_code` and `step_id`, a decision its `session_id` and `via`.
    """

    kind: str
    text: str
    exit_code: int | None = None
    duration_ms: int = 0
    output: str = ""  # the end of what the command printed
    session_id: str = ""
    step_id: str = ""  # of the ledger; "" when the command ran inside the step that moved
    via: str = ""  # how a person answered the decision: "terminal", "flag", "page with code" …


class HistoryEntry(NamedTuple):
    """One move in the history. `timestamp` is ISO 8601 with an offset.

    `git_commit` is the move's commit, "" if there is none.
    """

    timestamp: str
    action: str  # a PhaseMove, or a word of another release
    phase: str
    step: int
    summary: str
    git_commit: str = ""
    gates: tuple[PassedGate, ...] = ()
    inside_step: str = ""  # the run in which the move was made ("r7", or a step's number), or ""
    rest: Mapping[str, Any] = {}  # fields of other releases, written back as they are


class FlowStatus(NamedTuple):
    """One pass through the phases. `phases` are the ones configured at the last move.

    `task_id` is the id of the pass, `task` the id of the task.
    """

    task_id: str
    task: str
    current_phase: str
    current_step: int
    started_at: str
    phases: tuple[str, ...]
    history: tuple[HistoryEntry, ...]
    rest: Mapping[str, Any] = {}

    @property
    def position(self) -> PhasePosition:
        return PhasePosition(self.current_phase, self.current_step)


def started(entry: HistoryEntry, *, pass_id: str, task: str, phases: tuple[str, ...]) -> FlowStatus:
    """Return the status of a new pass, with its first entry."""
    return FlowStatus(
        task_id=pass_id,
        task=task,
        current_phase=entry.phase,
        current_step=entry.step,
        started_at=entry.timestamp,
        phases=phases,
        history=(entry,),
    )


def moved(status: FlowStatus, entry: HistoryEntry, *, phases: tuple[str, ...]) -> FlowStatus:
    """Return the status after one more move."""
    return status._replace(
        current_phase=entry.phase,
        current_step=entry.step,
        phases=phases,
        history=(*status.history, entry),
    )


def commit_message(entry: HistoryEntry) -> str:
    """Return the message of the move's commit, such as ``[siding] impl: SUMMARY``.

    Moves other than start, next-step and next-part are named: ``[siding] impl issue: SUMMARY``.
    """
    plain = (PhaseMove.START, PhaseMove.NEXT_STEP, PhaseMove.NEXT_PART)
    subject, _, rest = entry.summary.partition("\n")
    word = "" if entry.action in plain else f" {entry.action}"
    body = f"\n\n{rest.strip()}" if rest.strip() else ""
    return f"[siding] {entry.phase}{word}: {subject.strip()}{body}\n"


def document_of(status: FlowStatus) -> dict[str, Any]:
    """Return the JSON document of a status."""
    return {
        "version": STATUS_VERSION,
        "task_id": status.task_id,
        "task": status.task,
        "current_phase": status.current_phase,
        "current_step": status.current_step,
        "started_at": status.started_at,
        "phases": list(status.phases),
        "history": [_entry_document(each) for each in status.history],
        **status.rest,
    }


def status_from(document: Mapping[str, Any]) -> FlowStatus:
    """Return the status in a document; raises ValueError with a reason."""
    history = document.get("history")
    if not isinstance(history, list):
        raise ValueError("`history` is not a list")  # noqa: TRY004 - about the file
    try:
        return FlowStatus(
            task_id=str(document["task_id"]),
            task=str(document.get("task") or ""),
            current_phase=str(document["current_phase"]),
            current_step=int(document["current_step"]),
            started_at=str(document["started_at"]),
            phases=tuple(str(each) for each in document.get("phases") or ()),
            history=tuple(_entry_from(each) for each in history),
            rest={key: value for key, value in document.items() if key not in _STATUS},
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"a field is missing or wrong: {error!r}") from error


def _entry_document(entry: HistoryEntry) -> dict[str, Any]:
    document: dict[str, Any] = {
        "timestamp": entry.timestamp,
        "action": entry.action,
        "phase": entry.phase,
        "step": entry.step,
        "summary": entry.summary,
    }
    if entry.git_commit:
        document["git_commit"] = entry.git_commit
    if entry.gates:
        document["gates"] = [_gate_document(each) for each in entry.gates]
    if entry.inside_step:
        document["inside_step"] = entry.inside_step
    return {**document, **entry.rest}


def _gate_document(gate: PassedGate) -> dict[str, Any]:
    document: dict[str, Any] = {"kind": gate.kind, "text": gate.text}
    if gate.exit_code is not None:
        document |= {"exit_code": gate.exit_code, "duration_ms": gate.duration_ms}
    texts = {
        "output": gate.output,
        "session_id": gate.session_id,
        "step_id": gate.step_id,
        "via": gate.via,
    }
    return document | {key: value for key, value in texts.items() if value}


def _entry_from(value: Mapping[str, Any]) -> HistoryEntry:
    gates = value.get("gates")
    return HistoryEntry(
        timestamp=str(value["timestamp"]),
        action=str(value["action"]),
        phase=str(value["phase"]),
        step=int(value["step"]),
        summary=str(value["summary"]),
        git_commit=str(value.get("git_commit") or ""),
        gates=tuple(_gate_from(each) for each in gates) if isinstance(gates, list) else (),
        inside_step=str(value.get("inside_step") or ""),
        rest={key: each for key, each in value.items() if key not in _ENTRY},
    )


def _gate_from(value: Mapping[str, Any]) -> PassedGate:
    exit_code = value.get("exit_code")
    return PassedGate(
        kind=str(value.get("kind") or ""),
        text=str(value.get("text") or ""),
        exit_code=exit_code if isinstance(exit_code, int) else None,
        duration_ms=int(value.get("duration_ms") or 0),
        output=str(value.get("output") or ""),
        session_id=str(value.get("session_id") or ""),
        step_id=str(value.get("step_id") or ""),
        via=str(value.get("via") or ""),
    )


class PhaseIntent(NamedTuple):
    """A move under way. `branch` goes from the commit `old` to `new`.

    `after` is the status to record. `token` marks the `index.lock` that the move takes, so that a
    lock left by a move that was cut off is known as its own.
    """

    after: FlowStatus
    ends: FlowStatus | None  # the pass that the move ends, when it begins a new one
    branch: str
    old: str
    new: str
    token: str


class PhaseStore:
    """The phases of one task."""

    def __init__(self, task_root: Path) -> None:
        self._root = task_root
        self._current = task_root / CURRENT
        self._intent = task_root / "phase-intent.json"

    def load(self) -> FlowStatus | None:
        """Return the present pass, None if there is none; raises DamagedFile, NewerVersion."""
        return self._read(self._current)

    def bring_in(self, status: FlowStatus) -> None:
        """Store the phases of a task that another program took through them so far."""
        write_document(self._current, document_of(status))

    def earlier(self) -> list[FlowStatus]:
        """Return the earlier passes, oldest first; raises DamagedFile, NewerVersion."""
        names = document_names(self._root)
        found = [self._read(self._root / name) for name in names if name != CURRENT]
        return [each for each in found if each is not None]

    def earlier_ids(self) -> set[str]:
        """Return the ids of the earlier passes, also of those whose file is damaged."""
        return {
            name[len(PREFIX) : -len(SUFFIX)]
            for name in document_names(self._root)
            if name != CURRENT
        }

    def keep_damaged(self) -> Path:
        """Copy the present pass, which cannot be read, to a new name; return the copy's path."""
        return copy_aside(self._current, "damaged")

    def begin(self, intent: PhaseIntent) -> None:
        """Store the intent. When this returns, it would survive a power cut."""
        write_document(
            self._intent,
            {
                "version": STATUS_VERSION,
                **intent._asdict(),
                "after": document_of(intent.after),
                "ends": None if intent.ends is None else document_of(intent.ends),
            },
        )

    def has_intent(self) -> bool:
        """Return whether there is an intent; it costs one system call."""
        return os.path.lexists(self._intent)

    def cut_off(self) -> PhaseIntent | None:
        """Return the intent that was left by a move that was cut off; None if there is none.

        Raises DamagedFile, NewerVersion.
        """
        document = read_document_or_none(
            self._intent, what="phase intent", version=STATUS_VERSION, required=("after", "new")
        )
        if document is None:
            return None
        try:
            return _intent_from(document)
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(self._intent, repr(error), what="phase intent") from error

    def finish(self, intent: PhaseIntent) -> None:
        """Record a move whose commit was made, and remove the intent. It can be repeated."""
        self.record(intent)
        remove_file(self._intent)

    def record(self, intent: PhaseIntent) -> None:
        """Record a move whose commit was made, and keep the intent: the move is not complete.

        Call `finish` when it is.
        """
        if intent.ends is not None:
            name = f"{PREFIX}{checked_name(intent.ends.task_id)}{SUFFIX}"
            write_document(self._root / name, document_of(intent.ends))
        write_document(self._current, document_of(intent.after))

    def give_up(self) -> None:
        """Remove the intent of a move whose commit was not made."""
        remove_file(self._intent)

    def _read(self, path: Path) -> FlowStatus | None:
        try:
            document = read_document_or_none(path, what="phase status", version=STATUS_VERSION)
            return None if document is None else status_from(document)
        except DamagedFile as error:
            error.hint = _WAY_OUT
            raise
        except ValueError as error:
            damage = DamagedFile(path, str(error), what="phase status")
            damage.hint = _WAY_OUT
            raise damage from error


def _intent_from(document: Mapping[str, Any]) -> PhaseIntent:
    ends = document.get("ends")
    return PhaseIntent(
        after=status_from(document["after"]),
        ends=None if ends is None else status_from(ends),
        branch=str(document["branch"]),
        old=str(document["old"]),
        new=str(document["new"]),
        token=str(document["token"]),
    )
