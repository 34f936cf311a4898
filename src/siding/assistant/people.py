"""Who can be asked in a conversation, for front ends: they put the questions to a person."""

from siding.assistant.loop.permissions.guard import (
    PermissionAsker,
    PermissionQuestion,
    PersonAllows,
    PersonDenies,
)
from siding.assistant.loop.permissions.updates import PermissionUpdate, Scope, as_said, update_from
from siding.assistant.tools.place import Asker, NobodyAnswers
from siding.ground.namedtuples import NamedTuple

__all__ = [
    "NOBODY",
    "Asker",
    "NobodyAnswers",
    "People",
    "PermissionAsker",
    "PermissionQuestion",
    "PermissionUpdate",
    "PersonAllows",
    "PersonDenies",
    "Scope",
    "as_said",
    "update_from",
]


class People(NamedTuple):
    """Who is asked whether a call may run, and who answers the tool AskUserQuestion; None: nobody.

    One person may be both.
    """

    permissions: PermissionAsker | None = None
    questions: Asker | None = None


NOBODY = People()
