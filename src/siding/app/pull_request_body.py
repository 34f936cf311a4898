"""The text of a pull request, made from the ledger: what was asked for and what was done.

It leaves the machine, so everything that looks like a secret is masked. Pure.
"""

import re
from collections.abc import Sequence

from siding.app.masking import MASK, SECRET_WORDS, printable
from siding.git.commits import RawCommit
from siding.ledger.step import Step, StepKind
from siding.tasks.task import Task

_ROWS = 40
_WIDTH = 100
_WORDS = "|".join(re.escape(word).replace("_", "[_-]?") for word in SECRET_WORDS)
_NAMED = re.compile(rf"(?i)((?:{_WORDS})[A-Z0-9_-]*(?:\s*[=:]\s*|\s+))(\"[^\"]*\"|'[^']*'|\S+)")
_TOKENS = re.compile(
    r"\b(?:sk-|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abprs]-|AKIA|ya29\.|eyJ)[A-Za-z0-9_.\-]{8,}"
)
_URL = re.compile(r"(\w+://[^\s/:@]+:)[^\s/@]+@")


def body_of(task: Task, steps: Sequence[Step], commits: Sequence[RawCommit]) -> str:
    """Return the body, in Markdown."""
    parts = []
    if task.description.strip():
        parts.append(masked(task.description.strip()))
    if commits:
        parts.append("\n".join(f"- {_inline(commit.subject)}" for commit in commits))
    rows = [step for step in steps if step.kind in (StepKind.RUN, StepKind.CHECKPOINT)]
    if rows:
        table = ["| step | what | result | changed |", "| --- | --- | --- | --- |"]
        table += [_row(step) for step in rows[:_ROWS]]
        if len(rows) > _ROWS:
            table.append(f"| | and {len(rows) - _ROWS} more steps | | |")
        parts.append("\n".join(table))
    parts.append(f"Siding-Task: {task.id}")
    return "\n\n".join(parts) + "\n"


def masked(text: str) -> str:
    """Return `text` without what looks like a secret."""
    hidden = _URL.sub(rf"\1{MASK}@", text)
    hidden = _TOKENS.sub(MASK, hidden)
    return _NAMED.sub(rf"\1{MASK}", hidden)


def _row(step: Step) -> str:
    how = step.status if step.exit_code in (None, 0) else f"exit {step.exit_code}"
    changed = f"{step.files} files +{step.additions} -{step.deletions}" if step.files else ""
    return f"| {step.id} | {_code(step.title)} | {how} | {changed} |"


def _code(text: str) -> str:
    """Return text as code in a table cell: nothing in it is markup or a mention."""
    line = " ".join(masked(printable(text)).split())
    line = line if len(line) <= _WIDTH else line[: _WIDTH - 1] + "…"
    return f"`{line.replace('`', chr(39)).replace('|', chr(92) + '|')}`" if line else ""


def _inline(text: str) -> str:
    """Return text that cannot mention anybody or close a table: markup is left to the author."""
    return masked(printable(text)).replace("@", "@\u200b").replace("|", "\\|")
