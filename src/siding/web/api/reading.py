"""Bodies of requests: JSON objects whose every field is checked before anybody acts on it."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from siding.errors import UsageError


async def read_object(request: Request) -> dict[str, Any]:
    """Return the body as a JSON object; raise UsageError when it is none."""
    raw = await request.body()
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise UsageError("the body is not JSON") from None
    if not isinstance(value, dict):
        raise UsageError("the body is not a JSON object")
    return value


class Fields:
    """The fields of a body. `done` complains of what nobody asked for: it would have no effect."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._rest = dict(body)

    def text(self, name: str, default: str | None = None, *, longest: int = 10_000) -> str:
        """Return a text; without a default it must be there."""
        value = self._take(name, default)
        if not isinstance(value, str) or len(value) > longest or "\0" in value:
            raise UsageError(f"{name} is a text of at most {longest} characters")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{name} is not valid Unicode") from None
        return value

    def flag(self, name: str) -> bool:
        """Return true or false, false when it is not there."""
        value = self._take(name, False)
        if not isinstance(value, bool):
            raise UsageError(f"{name} is true or false")
        return value

    def choice(self, name: str, *choices: str) -> str:
        """Return one of the words, the first when it is not there."""
        value = self._take(name, choices[0])
        if value not in choices:
            raise UsageError(f"{name} is one of {', '.join(choices)}")
        return str(value)

    def any(self, name: str) -> Any:
        """Return whatever is there; it must be there."""
        return self._take(name, None)

    def done(self) -> None:
        """Raise UsageError when something is left."""
        if self._rest:
            raise UsageError(f"nothing is known of {min(self._rest)!r}")

    def _take(self, name: str, default: Any) -> Any:
        value = self._rest.pop(name, default)
        if value is None:
            raise UsageError(f"{name} is missing")
        return value
