"""The library's exceptions as ours, by kind. Pure."""

import re
from typing import Any

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from siding.agents.own.providers import Provider
from siding.assistant.loop.model import ModelError, Trouble

_KINDS: tuple[tuple[type[Exception], Trouble], ...] = (  # the first that fits
    (ModelContextWindowExceededError, Trouble.TOO_LONG),
    (ModelQuotaExceededError, Trouble.CREDIT),
    (ModelRateLimitError, Trouble.RATE),
    (ModelOverloadedError, Trouble.OVERLOADED),
    (ModelUnavailableError, Trouble.OVERLOADED),
    (ModelServerError, Trouble.SERVER),
    (ModelAuthenticationError, Trouble.LOGIN),
    (ModelRequestRejectedError, Trouble.REQUEST),
    (ModelConnectionError, Trouble.CONNECTION),
    (ContentFilterError, Trouble.REQUEST),
    (UserError, Trouble.REQUEST),
)
_STATUSES = {408: Trouble.SERVER, 409: Trouble.SERVER, 413: Trouble.TOO_LONG}
# Where the library knows no kind, or a server says it in other words.
_WORDS: tuple[tuple[re.Pattern[str], Trouble], ...] = (
    (
        re.compile(
            r"(?:prompt|input|request|context)[^.]{0,40} (?:is )?(?:too long|too large)"
            r"|maximum context length|context (?:length|window|size)[^.]{0,40}exceed"
            r"|exceed[^.]{0,60}context (?:length|window|size)|request_too_large"
            r"|input token count[^.]{0,80}exceeds|input length and `max_tokens` exceed",
            re.IGNORECASE,
        ),
        Trouble.TOO_LONG,
    ),
    (
        re.compile(
            r"credit balance|insufficient[_ ](?:quota|balance|credit)|billing[_ ]|spend limit"
            r"|exceeded your current quota, please check your plan",
            re.IGNORECASE,
        ),
        Trouble.CREDIT,
    ),
    (re.compile(r"overloaded|over capacity", re.IGNORECASE), Trouble.OVERLOADED),
)
_AGREES = {
    Trouble.TOO_LONG: {Trouble.REQUEST, Trouble.TOO_LONG, None},
    Trouble.CREDIT: {Trouble.REQUEST, Trouble.RATE, Trouble.CREDIT, Trouble.LOGIN, None},
    Trouble.OVERLOADED: {Trouble.SERVER, Trouble.RATE, Trouble.OVERLOADED, None},
}


def failure(error: Exception, row: Provider, *, has_begun: bool) -> ModelError:
    """Return what an exception of a request means."""
    # A server that cannot stream an answer (some local ones, with tools) ends it before it begins.
    has_begun = has_begun or isinstance(error, UnexpectedModelBehavior)
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    trouble = _trouble(error, status)
    body = getattr(error, "body", None)
    return ModelError(
        trouble,
        _message(error, body, status),
        status=status,
        after_s=getattr(error, "retry_after", None),
        has_begun=has_begun,
        hint=_hint(trouble, row),
    )


def _trouble(error: Exception, status: int | None) -> Trouble:
    found = _STATUSES.get(status or 0) or next(
        (trouble for kind, trouble in _KINDS if isinstance(error, kind)), None
    )
    if isinstance(error, ModelAPIError) and found is not Trouble.CONNECTION:
        said = f"{error.body or ''} {error}"
        for words, trouble in _WORDS:
            if found in _AGREES[trouble] and words.search(said):
                return trouble
    if found is not None:
        return found
    return Trouble.SERVER if (status or 0) >= 500 else Trouble.CONNECTION


def _message(error: Exception, body: object, status: int | None) -> str:
    said = _said(body) or getattr(error, "message", "") or str(error) or type(error).__name__
    shown = " ".join(str(said).split())[:500]
    return f"{shown} (status {status})" if status else shown


def _said(body: Any) -> str:
    """Return the sentence in a body: providers have it in ``error.message`` or ``message``."""
    while isinstance(body, list) and body:  # Gemini's, sometimes
        body = body[0]
    if not isinstance(body, dict):
        return ""
    inner = body.get("error")
    if isinstance(inner, dict) and isinstance(inner.get("message"), str):
        return str(inner["message"])
    return next((str(body[key]) for key in ("message", "error", "detail") if body.get(key)), "")


def _hint(trouble: Trouble, row: Provider) -> str:
    if trouble is Trouble.LOGIN and row.variables:
        return f"check the key in {' or '.join(row.variables)}"
    if trouble is Trouble.CREDIT:
        return f"add credit to the account at {row.prefix}, or ask another model"
    if trouble is Trouble.CONNECTION and row.prefix == "local":
        return f"is the server up? {row.url} says where it is; {row.default_url} if not set"
    return ""
