"""A step: one recorded action in a task. The fields of a ``ledger.jsonl`` line.

The shape of ``run``, ``apply`` and ``rollback`` lines is the bar tool's; added are ``v``, ``prev``
(hash of the line before), ``snapshot`` and ``parent`` (the trees after and before), ``coverage``
and ``status``. `record` is the line as it stands, so nothing a newer version wrote is hidden.
"""

from collections.abc import Mapping
from enum import StrEnum
from shlex import join
from typing import Any, NamedTuple

STEP_VERSION = 1


class StepKind(StrEnum):
    """What a step did."""

    RUN = "run"
    APPLY = "apply"
    ROLLBACK = "rollback"
    CHECKPOINT = "checkpoint"


class StepStatus(StrEnum):
    """How a step ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    TIMEOUT = "timeout"
    BLOCKED = "blocked"


class Step(NamedTuple):
    """What every reader needs of a step; the rest is in `record`."""

    number: int
    kind: str  # a StepKind, or the word of a newer version
    status: str  # a StepStatus, or the word of a newer version
    started_at: str
    ended_at: str
    duration_ms: int
    exit_code: int | None
    cmd: tuple[str, ...]
    message: str
    snapshot: str | None  # commit in the project's own store: the workspace after the step
    parent: str | None  # the same, before the step
    files: int
    additions: int
    deletions: int
    modes: int  # paths whose permissions changed
    complete: bool  # everything in the workspace was captured
    record: Mapping[str, Any]

    @property
    def id(self) -> str:
        return f"{self.number:04d}"

    @property
    def kind_shown(self) -> str:
        """Return the kind as a person is told it.

        A merge that was brought into the workspace has the form of a rollback in the ledger: like
        one, it replaces what the workspace holds. It is none to whoever reads about it.
        """
        return "merge" if isinstance(self.record.get("merged"), dict) else self.kind

    @property
    def title(self) -> str:
        """Return one line that says what the step did."""
        if self.cmd:
            return join(self.cmd)  # quoted, so that it can be typed again
        return self.message or str(self.record.get("target") or self.record.get("mode") or "")


def step_from(record: Mapping[str, Any]) -> Step:
    """Return the step in a ledger line; raise ValueError when it is not one."""
    number, kind = number_of(record), str(record["kind"])
    exit_code = record.get("exit_code")
    stat = _mapping(record.get("diff_stat"))
    coverage = _mapping(record.get("coverage"))
    return Step(
        number=number,
        kind=kind,
        status=str(record.get("status") or _status_of_old_line(exit_code)),
        started_at=str(record.get("started_at") or ""),
        ended_at=str(record.get("ended_at") or ""),
        duration_ms=_whole(record.get("duration_ms")),
        exit_code=exit_code if isinstance(exit_code, int) else None,
        cmd=_words(record.get("cmd")),
        message=str(record.get("message") or record.get("commit_message") or ""),
        snapshot=_text_or_none(record.get("snapshot")),
        parent=_text_or_none(record.get("parent")),
        files=_whole(stat.get("files")),
        additions=_whole(stat.get("additions")),
        deletions=_whole(stat.get("deletions")),
        modes=_whole(record.get("mode_count")),
        complete=bool(coverage.get("complete", True)),
        record=record,
    )


def number_of(record: Mapping[str, Any]) -> int:
    """Return the step's number; raise ValueError when the ledger line is not a step."""
    try:
        number, _kind = int(record["step_id"]), record["kind"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"not a step: {error!r}") from None
    return number


def _status_of_old_line(exit_code: object) -> StepStatus:
    """Lines of the bar tool have no status; its timeouts are exit code -1."""
    if exit_code == -1:
        return StepStatus.TIMEOUT
    return StepStatus.COMPLETED if exit_code in (0, None) else StepStatus.FAILED


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _words(value: object) -> tuple[str, ...]:
    return tuple(str(word) for word in value) if isinstance(value, list) else ()


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
