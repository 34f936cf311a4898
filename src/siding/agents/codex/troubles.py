"""What Codex says when something is wrong."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from siding.agents.codex.headless import readable
from siding.agents.talking.port import Trouble, Troubled
from siding.agents.talking.rpc import RpcFault, RpcNotice
from siding.ground.storage.fields import mapping, text, whole

_KINDS = {
    "usageLimitExceeded": Trouble.LIMIT,
    "rateLimitExceeded": Trouble.LIMIT,
    "unauthorized": Trouble.LOGIN,
    "serverOverloaded": Trouble.SERVER,
    "internalServerError": Trouble.SERVER,
    "flexUnavailable": Trouble.SERVER,
}
_STATUSES = {401: Trouble.LOGIN, 403: Trouble.LOGIN, 429: Trouble.LIMIT}
_NO_SESSION = ("no rollout found", "invalid session id", "thread not found")
_FULL = 100  # percent of a limit


class Troubles:
    """Reads what is told of errors, limits and logins."""

    def __init__(self) -> None:
        self._until = ""  # when a limit that is reached goes
        self._reached = ""  # which is, as it was said last

    def read(self, notice: RpcNotice) -> Troubled | None:
        """Return what is wrong; None if nothing is, or this notice is of something else."""
        params = notice.params
        match notice.method:
            case "error":
                return self._of(mapping(params.get("error")))
            case "account/rateLimits/updated":
                return self._limits(mapping(params.get("rateLimits")))
            case "account/updated" if params.get("authMode") is None:
                return Troubled(Trouble.LOGIN, "Codex is not logged in any more")
            case "account/login/completed" if params.get("success") is False:
                return Troubled(Trouble.LOGIN, text(params.get("error")) or "the login has failed")
            case "configWarning":
                told = (text(params.get("summary")), text(params.get("details")))
                return Troubled(Trouble.OTHER, ": ".join(filter(None, told)))
            case "mcpServer/startupStatus/updated" if params.get("status") == "failed":
                why = text(params.get("error")) or "it does not start"
                return Troubled(Trouble.OTHER, f"MCP server {text(params.get('name'))}: {why}")
        return None

    def _of(self, error: Mapping[str, Any]) -> Troubled:
        kind = _kind(error.get("codexErrorInfo"))
        more = text(error.get("additionalDetails"))
        message = readable(text(error.get("message"))) + (f" ({more})" if more else "")
        return Troubled(kind, message, self._until if kind is Trouble.LIMIT else "")

    def _limits(self, limits: Mapping[str, Any]) -> Troubled | None:
        windows = (mapping(limits.get("primary")), mapping(limits.get("secondary")))
        full = [each for each in windows if whole(each.get("usedPercent")) >= _FULL]
        self._until = _moment(max((whole(each.get("resetsAt")) for each in full), default=0))
        reached = text(limits.get("rateLimitReachedType"))
        if reached == self._reached:
            return None
        self._reached = reached
        said = reached.replace("_", " ")
        return Troubled(Trouble.LIMIT, said, self._until) if reached else None


def not_opened(fault: RpcFault) -> Troubled:
    """Return why there is no thread."""
    if "already has an active writer" in fault.message:
        message = (
            "this conversation is open in another Codex, which alone may write it: "
            f"end that one first ({fault.message})"
        )
        return Troubled(Trouble.OTHER, message)
    if any(each in fault.message for each in _NO_SESSION):
        return Troubled(Trouble.NO_SESSION, fault.message)
    return Troubled(Trouble.OTHER, fault.message)


def reason_of(turn: Mapping[str, Any]) -> str:
    """Return why a turn has failed."""
    return readable(text(mapping(turn.get("error")).get("message")))


def _kind(info: object) -> Trouble:
    """`info` is a word, or an object of one with the status of HTTP."""
    if isinstance(info, str):
        return _KINDS.get(info, Trouble.OTHER)
    for inner in mapping(info).values():
        if "httpStatusCode" in mapping(inner):
            return _STATUSES.get(whole(inner["httpStatusCode"]), Trouble.SERVER)
    return Trouble.OTHER


def _moment(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else ""
    except (ValueError, OverflowError, OSError):
        return ""
