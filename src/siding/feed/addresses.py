"""The address of everything that a screen can show: the same in the terminal and in the browser.

``siding://PROJECT/TASK/TURN#HUNK``: the name of the project's directory in the home, a task's id,
the number of a step (a turn is one) or the id of a conversation, and the file of a hunk with its
place in it (``src/a.py:2``).
Each part may be left out from the end. What is of no task stands below a word that is no task:
``siding://PROJECT/~workflows/RUN`` and ``siding://PROJECT/~asks/DECISION``. Parts are quoted as in
any URL.
"""

from urllib.parse import quote, unquote

from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple

SCHEME = "siding://"
WORKFLOWS, ASKS = "~workflows", "~asks"


def is_chat_id(name: str) -> bool:
    """Tell whether a name is the id of a conversation: ``c2``."""
    return name[:1] == "c" and name[1:].isascii() and name[1:].isdigit()


class Address(NamedTuple):
    """What an address names. `place` is a task's id, or one of the two words."""

    project: str
    place: str = ""
    rest: str = ""  # the step, the conversation, the run of a workflow, or the decision
    hunk: str = ""

    def __str__(self) -> str:
        parts = [quote(each, safe="~") for each in (self.project, self.place, self.rest) if each]
        text = SCHEME + "/".join(parts)
        return f"{text}#{quote(self.hunk, safe='/:~')}" if self.hunk else text

    @property
    def page(self) -> str:
        """The path of its page on the project's dashboard."""
        rest = quote(self.rest, safe="")
        if self.place == WORKFLOWS:
            return f"/workflows/{rest}" if rest else "/workflows"
        if self.place == ASKS:
            return f"/decisions/{rest}" if rest else "/decisions"
        if not self.place:
            return "/"
        task = f"/tasks/{quote(self.place, safe='')}"
        page = f"{task}/steps/{rest}" if rest and not is_chat_id(rest) else task
        return f"{page}#{quote(self.hunk, safe='/:~')}" if self.hunk else page


def parsed(text: str) -> Address:
    """Return what an address names. Raises UsageError for any other text."""
    if not text.startswith(SCHEME):
        raise UsageError(
            f"{text!r} is no address", hint="one looks like siding://PROJECT/TASK/STEP#FILE:HUNK"
        )
    path, _mark, hunk = text.removeprefix(SCHEME).partition("#")
    parts = [unquote(each) for each in path.split("/")]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    if not 1 <= len(parts) <= 3 or not all(parts):
        raise UsageError(
            f"{text!r} is no address", hint="one looks like siding://PROJECT/TASK/STEP#FILE:HUNK"
        )
    project, place, rest = [*parts, "", ""][:3]
    return Address(project, place, rest, unquote(hunk))
