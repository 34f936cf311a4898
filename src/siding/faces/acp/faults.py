"""Errors of Siding as those of the protocol."""

from siding.agents.talking.rpc import Rpc
from siding.ground.errors import NotFound, SidingError, UsageError

INVALID = -32602  # a parameter is wrong
INTERNAL = -32603
AUTH_REQUIRED = -32000
NO_RESOURCE = -32002
CANCELLED = -32800


def refuse(rpc: Rpc, ask: str, error: SidingError) -> None:
    """Refuse a request for the reason that an error has. Clients show the message alone."""
    code = INTERNAL
    if isinstance(error, UsageError):
        code = INVALID
    elif isinstance(error, NotFound):
        code = NO_RESOURCE
    message = f"{error.message} ({error.hint})" if error.hint else error.message
    data = {"code": error.code, "hint": error.hint}
    rpc.refuse(ask, code, message, {name: each for name, each in data.items() if each})
