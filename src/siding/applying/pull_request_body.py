"""Make the text of a pull request from the ledger. Pure.

The text leaves the machine, so everything that looks like a secret is masked.
"""

from collections.abc import Callable, Collection, Sequence
from typing import assert_never

from siding.applying.git.commits import RawCommit
from siding.ground.errors import counted
from siding.record.ledger.step import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
)
from siding.record.place.redaction import printable
from siding.record.tasks.task import Task

_ROWS = 40
_WIDTH = 100


def body_of(
    task: Task,
    steps: Sequence[Step],
    commits: Sequence[RawCommit],
    *,
    hide: Callable[[str], str],
    gone_back: Collection[int] = (),
    trailers: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the body in Markdown. `hide` masks the secrets in a text.

    Steps in `gone_back` are shown by number only: their commands may quote the message of a commit
    that is not published.
    """
    parts = []
    if task.description.strip():
        parts.append(hide(task.description.strip()))
    if commits:
        parts.append(
            "\n".join(f"- {_inline(hide(printable(commit.subject)))}" for commit in commits)
        )
    rows = [step for step in steps if _is_shown(step)]
    if rows:
        table = ["| step | what | result | changed |", "| --- | --- | --- | --- |"]
        table += [
            f"| {step.id} | gone back from | | |" if step.number in gone_back else _row(step, hide)
            for step in rows[:_ROWS]
        ]
        if len(rows) > _ROWS:
            table.append(f"| | and {counted(len(rows) - _ROWS, 'more step')} | | |")
        parts.append("\n".join(table))
    parts += [f"{key}: {value}" for key, value in trailers]
    return "\n\n".join(parts) + "\n" if parts else ""


def _is_shown(step: Step) -> bool:
    """Tell whether a reader of the pull request sees the step: it made some of the change."""
    match step:
        case RunStep() | TurnStep() | CheckpointStep() | PhaseStep():
            return True
        case ApplyStep() | ApplyUndoStep() | ApplyRedoStep() | MergeStep():
            return False
        case RollbackStep() | UndoStep() | RedoStep() | ForeignStep():
            return False
        case _:
            assert_never(step)


def _row(step: Step, hide: Callable[[str], str]) -> str:
    how = step.status if step.exit_code in (None, 0) else f"exit {step.exit_code}"
    files = counted(step.files, "file")
    changed = f"{files} +{step.additions} -{step.deletions}" if step.files else ""
    return f"| {step.id} | {_code(hide(printable(step.title)))} | {how} | {changed} |"


def _code(text: str) -> str:
    """Return text as inline code for a table cell, so that it makes no markup and no mention."""
    line = " ".join(text.split())
    line = line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
    return f"`{line.replace('`', chr(39)).replace('|', chr(92) + '|')}`" if line else ""


def _inline(text: str) -> str:
    """Return text that mentions nobody and ends no table cell. Other markup in it still works."""
    return text.replace("@", "@\u200b").replace("|", "\\|")
