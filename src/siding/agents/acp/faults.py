"""What the errors of agents that speak ACP mean."""

import json
from typing import Any

from siding.agents.headless.output import fault_of
from siding.agents.headless.port import Fault
from siding.agents.talking.port import Trouble
from siding.agents.talking.rpc import RpcFault
from siding.ground.storage.fields import mapping, text

LOGIN_FIRST = -32000  # the protocol's own codes
NOT_THERE = -32002

_TROUBLES = {
    Fault.LOGIN: Trouble.LOGIN,
    Fault.SERVER: Trouble.SERVER,
    Fault.NO_SESSION: Trouble.NO_SESSION,
    Fault.LIMIT: Trouble.LIMIT,
}
_LIMITS = (
    "rate limit",
    "rate-limit",
    "ratelimit",
    "quota",
    "resource_exhausted",
    "too many requests",
)


def message_of(fault: RpcFault) -> str:
    """Return what an error says to a person: some agents have it in its data, or in an object."""
    data = mapping(fault.data)
    for given in (data.get("details"), data.get("message"), fault.data, fault.message):
        if isinstance(given, str) and given:
            return _within(given)
    return f"error {fault.code}"


def trouble_of(fault: RpcFault) -> Trouble:
    """Return what kind of trouble an error is. A code may be the status of HTTP."""
    message = message_of(fault)
    status = fault.code if 400 <= fault.code < 600 else None
    if fault.code == LOGIN_FIRST:
        return Trouble.LOGIN
    if fault.code == NOT_THERE:
        return Trouble.NO_SESSION
    if status == 429 or any(each in message.casefold() for each in _LIMITS):
        return Trouble.LIMIT
    return _TROUBLES.get(fault_of(message, status), Trouble.OTHER)


def _within(message: str) -> str:
    """Return the message in an answer of a model's server that was handed on as it is."""
    if not message.startswith("{"):
        return message
    try:
        said: Any = json.loads(message)
    except (ValueError, RecursionError):
        return message
    inner = mapping(said).get("error", said)
    return text(mapping(inner).get("message")) or message
