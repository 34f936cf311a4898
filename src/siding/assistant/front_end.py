"""What front ends know of the built-in agent: what it tells, and who can be asked."""

from siding.assistant.loop.effort import effort_in_force
from siding.assistant.loop.events import (
    Answered,
    AnswerStarted,
    Compacted,
    Compacting,
    CompactingFailed,
    Continued,
    Denial,
    Ending,
    Event,
    FellBack,
    ModelUse,
    Retrying,
    Said,
    ToolDenied,
    ToolEnded,
    ToolStarted,
    Transition,
    TurnEnded,
    TurnStarted,
    Withdrawn,
)
from siding.assistant.loop.model import (
    Block,
    Effort,
    InputDelta,
    StopReason,
    TextDelta,
    Thinking,
    ThinkingDelta,
    Trouble,
    Usage,
)
from siding.assistant.loop.permissions.guard import (
    PermissionAsker,
    PermissionQuestion,
    PersonAllows,
    PersonDenies,
)
from siding.assistant.loop.permissions.rules import split_list
from siding.assistant.loop.permissions.updates import PermissionUpdate, Scope, as_said, update_from
from siding.assistant.tools.place import Asker, NobodyAnswers
from siding.assistant.tools.port import Call, Progress, Result, Use
from siding.ground.namedtuples import NamedTuple

__all__ = [
    "NOBODY",
    "AnswerStarted",
    "Answered",
    "Asker",
    "Block",
    "Call",
    "Compacted",
    "Compacting",
    "CompactingFailed",
    "Continued",
    "Denial",
    "Effort",
    "Ending",
    "Event",
    "FellBack",
    "InputDelta",
    "ModelUse",
    "NobodyAnswers",
    "People",
    "PermissionAsker",
    "PermissionQuestion",
    "PermissionUpdate",
    "PersonAllows",
    "PersonDenies",
    "Progress",
    "Result",
    "Retrying",
    "Said",
    "Scope",
    "StopReason",
    "TextDelta",
    "Thinking",
    "ThinkingDelta",
    "ToolDenied",
    "ToolEnded",
    "ToolStarted",
    "Transition",
    "Trouble",
    "TurnEnded",
    "TurnStarted",
    "Usage",
    "Use",
    "Withdrawn",
    "as_said",
    "effort_in_force",
    "split_list",
    "update_from",
]


class People(NamedTuple):
    """Who is asked whether a call may run, and who answers the tool AskUserQuestion; None: nobody.

    One person may be both.
    """

    permissions: PermissionAsker | None = None
    questions: Asker | None = None


NOBODY = People()


# -- What the built-in agent tells, for front ends -------------------------------------------------
