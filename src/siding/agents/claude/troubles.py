"""Why Claude Code does not go on, as it says so."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from siding.agents.headless.output import fault_of
from siding.agents.headless.port import Fault
from siding.agents.talking.port import Trouble, Troubled
from siding.ground.storage.fields import mapping, strings, text, whole

_BY_ERROR = {
    "rate_limit": Trouble.LIMIT,
    "billing_error": Trouble.LIMIT,
    "authentication_failed": Trouble.LOGIN,
    "oauth_org_not_allowed": Trouble.LOGIN,
    "server_error": Trouble.SERVER,
    "overloaded": Trouble.SERVER,
}
_BY_FAULT = {
    Fault.LOGIN: Trouble.LOGIN,
    Fault.NO_SESSION: Trouble.NO_SESSION,
    Fault.LIMIT: Trouble.LIMIT,
    Fault.SERVER: Trouble.SERVER,
}


def trouble_of_answer(said: Mapping[str, Any], blocks: Sequence[Mapping[str, Any]]) -> Troubled:
    """Return what an answer, or a result, that is an error says."""
    words = "".join(text(each.get("text")) for each in blocks)
    words = words or "; ".join(strings(said.get("errors"))) or text(said.get("result"))
    status = said.get("api_error_status")
    return Troubled(
        trouble=_trouble(text(said.get("error")), words, whole(status) or None),
        message=words or text(said.get("error")) or "it gives no reason",
    )


def trouble_of_retry(said: Mapping[str, Any]) -> Troubled:
    """Return why a request is made once more."""
    why, attempt = text(said.get("error")), whole(said.get("attempt"))
    status = whole(said.get("error_status"))
    words = " ".join(each for each in (why, str(status or "")) if each)
    return Troubled(
        trouble=_trouble(why, words, status or None),
        message=f"{words}; it tries again ({attempt} of {whole(said.get('max_retries'))})",
    )


def trouble_of_limit(said: Mapping[str, Any]) -> list[Troubled]:
    """Return that a limit of the person's plan is reached, and until when."""
    info = mapping(said.get("rate_limit_info"))
    if info.get("status") != "rejected":
        return []
    kind = text(info.get("rateLimitType")).replace("_", " ")
    until = ""
    with suppress(OverflowError, OSError, ValueError):
        seconds = whole(info.get("resetsAt"))
        until = datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else ""
    message = f"a limit is reached: {kind}" if kind else "a limit is reached"
    return [Troubled(trouble=Trouble.LIMIT, message=message, until=until)]


def _trouble(error: str, words: str, status: int | None) -> Trouble:
    if error in _BY_ERROR:
        return _BY_ERROR[error]
    if status == 429:
        return Trouble.LIMIT
    return _BY_FAULT.get(fault_of(words, status), Trouble.OTHER)
