"""What the messages of model servers mean, as agents hand them on."""

import re

from siding.agents.headless.port import Fault

_TOO_LONG = re.compile(
    r"prompt (is )?too long|context[_ ]length|context window|input (is )?too long|too many tokens"
    r"|request too large|maximum context",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"authenticat|unauthori[sz]ed|invalid (api|x-api)[- ]key|not logged in|/login|log ?in again"
    r"|api key (is )?(missing|invalid|not valid)|no api key|no key of a provider"
    r"|permission_error|oauth",
    re.IGNORECASE,
)
_NO_SESSION = re.compile(
    r"no conversation found|no rollout found|session not found|error resuming session"
    r"|no previous sessions|there is no session '|none can be gone on with",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(?:status|code|error)\"?[ :]*(?:code[ :]*)?([45]\d\d)\b|\b([45]\d\d) [A-Z][a-z]+"
)
_FOR_A_WHILE = frozenset({408, 409, 425, 429})


def fault_of(message: str, status: int | None = None) -> Fault:
    """Return what kind of failure a message is about; `status` is that of HTTP, if it is known."""
    if _NO_SESSION.search(message):
        return Fault.NO_SESSION
    status = status or _status_in(message)
    if status == 413 or _TOO_LONG.search(message):
        return Fault.TOO_LONG
    if status in (401, 403) or (status is None and _LOGIN.search(message)):
        return Fault.LOGIN
    if status is None:
        return Fault.OTHER
    return Fault.REFUSED if 400 <= status < 500 and status not in _FOR_A_WHILE else Fault.SERVER


def _status_in(message: str) -> int | None:
    found = _STATUS.search(message)
    return int(found[1] or found[2]) if found else None
