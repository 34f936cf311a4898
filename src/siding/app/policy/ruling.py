"""What the policy says to one run, as values."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from siding.ids import TaskId
from siding.ledger.kinds import StepStatus

if TYPE_CHECKING:  # whoever shows a step needs neither
    from siding.ledger.draft import Draft
    from siding.ledger.reports import PolicyEvent

POLICY_EXIT = 5


class PolicyAnswer(StrEnum):
    """What became of a question."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"  # yes, and for this command in this task from now on
    REMEMBERED = "remembered"  # somebody said always
    FLAG = "flag"  # `--allow`
    NOBODY = "nobody"  # there was nobody to ask


class PolicyQuestion(NamedTuple):
    """One thing a person is asked about."""

    command: str  # the simple command it is about
    via: tuple[str, ...]
    rule: str
    reason: str
    matched: str


Asker = Callable[[tuple[PolicyQuestion, ...]], PolicyAnswer]


class Ruling(NamedTuple):
    """What the policy says to one run."""

    runs: bool = True
    events: "tuple[PolicyEvent, ...]" = ()
    reason: str = ""  # why it does not run
    hint: str = ""
    withheld: int = 0  # what of the project's policy does not count, for want of trust

    def on(self, draft: "Draft") -> "Draft":
        """Return the draft of a step with what the policy said to it."""
        draft = draft._replace(policy_events=self.events)
        if self.runs:
            return draft
        return draft._replace(
            status=StepStatus.BLOCKED.value, exit_code=POLICY_EXIT, reason=self.reason
        )


class RunToJudge(NamedTuple):
    """A command, and where it would run."""

    argv: tuple[str, ...]
    cwd: Path
    workspace: Path
    env: Mapping[str, str]  # the whole environment
    added: Mapping[str, str]  # what of it `-e` sets
    task_id: TaskId
