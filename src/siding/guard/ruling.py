"""The values that pass between a run and the policy: the request, the questions, the ruling."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.kinds import StepStatus

if TYPE_CHECKING:  # not imported at run time: commands that show steps use this module, too
    from siding.record.ledger.draft import Draft
    from siding.record.ledger.reports import PolicyEvent

POLICY_EXIT = 5


class PolicyAnswer(StrEnum):
    """How a question of the policy was answered."""

    YES = "yes"
    NO = "no"
    ALWAYS = "always"  # yes, and for this command in this task from now on
    REMEMBERED = "remembered"  # it was answered with "always" earlier
    FLAG = "flag"  # it was answered by `--allow`
    NOBODY = "nobody"  # nobody could be asked, which counts as no


class PolicyQuestion(NamedTuple):
    """One question to a person: a part of the command that matches a rule."""

    command: str  # the simple command that matched
    via: tuple[str, ...]  # the commands that contain it, such as "sh -c"
    rule: str
    reason: str
    matched: str


Asker = Callable[[tuple[PolicyQuestion, ...]], PolicyAnswer]


class Ruling(NamedTuple):
    """Whether one run may start, and why not."""

    runs: bool = True
    events: "tuple[PolicyEvent, ...]" = ()
    reason: str = ""  # why it does not run
    hint: str = ""
    withheld: int = 0  # the number of parts of the project's policy that nobody has trusted yet
    by_traps: bool = False  # it is no rule: files of the workspace were not seen by a person

    def on(self, draft: "Draft") -> "Draft":
        """Return the draft of a step with this ruling; a run that may not start is blocked."""
        draft = draft._replace(policy_events=self.events)
        if self.runs:
            return draft
        return draft._replace(
            status=StepStatus.BLOCKED.value, exit_code=POLICY_EXIT, reason=self.reason
        )


class RunToJudge(NamedTuple):
    """A command, and the place where it would run."""

    argv: tuple[str, ...]
    cwd: Path
    workspace: Path
    env: Mapping[str, str]  # the whole environment
    added: Mapping[str, str]  # the variables of it that `-e` sets
    task_id: TaskId
