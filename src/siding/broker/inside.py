"""The broker as a command inside a run sees it: `siding decide`, `phase`, `checkpoint` and others
speak to it instead of working in Siding's home, which a sandbox hides.
"""

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, assert_never

from siding.ground.errors import SidingError
from siding.ground.process.broker.client import VARIABLE, NoBroker, ask_line, connect
from siding.record.place.wiring import App, home_is_hidden

if TYPE_CHECKING:
    from siding.broker.messages import RefusalReply

_USAGE = frozenset({"usage", "bad_request"})


class Refused(SidingError):
    """The broker has refused a request, or what it was to do has failed."""

    def __init__(self, reply: "RefusalReply") -> None:
        super().__init__(reply.message, hint=reply.hint)
        self.code = reply.code or "refused"  # of the other side
        self.exit_code = 2 if self.code in _USAGE else 1
        self.output = reply.output


class Gone(SidingError):
    """The broker went away: the run has ended, or its host was killed."""

    code = "broker_gone"


class Inside:
    """The broker of the run that this command is part of."""

    def __init__(self, path: str) -> None:
        self._connection = connect(path)

    def ask(self, what: str, **fields: object) -> Mapping[str, Any]:
        """Put a request and return its result; wait for as long as it takes.

        Fields that are None are left out. Raises Refused, and Gone.
        """
        # Imported here: a command that finds no broker to ask needs none of it.
        from siding.broker.messages import (
            EventReply,
            RefusalReply,
            ResultReply,
            UnknownReply,
            reply_in,
        )

        said = {name: value for name, value in fields.items() if value is not None}
        try:
            line = ask_line(self._connection, json.dumps({"do": what, **said}).encode())
            reply = reply_in(line)
        except (NoBroker, OSError, ValueError):
            raise Gone(
                "the broker of this run went away before it answered",
                hint="what was asked may have been done; the run may have ended",
            ) from None
        match reply:
            case ResultReply():
                return reply.result
            case RefusalReply():
                raise Refused(reply)
            case EventReply():  # only of what nobody here asks for
                raise UnknownReply
            case _:
                assert_never(reply)


def named_broker(app: App) -> Inside:
    """Return the broker at the socket that the environment names, whatever else is in it.

    Raises OSError.
    """
    return Inside(app.env.get(VARIABLE, ""))


def broker_of(app: App) -> Inside | None:
    """Return the broker of the run that this command is part of; None if there is none to ask.

    A command that was sent elsewhere, to another project or directory, is about what is there.
    """
    path = app.env.get(VARIABLE, "")
    if not path or app.project or not (home_is_hidden(app) or _is_in_workspace(app)):
        return None
    try:
        return Inside(path)
    except OSError:
        return None  # the host of the run was killed


def broker_of_sandbox(app: App) -> Inside | None:
    """Return the broker if this command is in a sandbox that hides Siding's home, else None."""
    return broker_of(app) if home_is_hidden(app) else None


def _is_in_workspace(app: App) -> bool:
    workspace = app.env.get("SIDING_WORKSPACE", "")
    here, root = os.path.realpath(app.cwd), os.path.realpath(workspace)
    return bool(workspace) and (here == root or here.startswith(root + "/"))
