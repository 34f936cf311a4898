"""Read the bodies of requests: JSON objects, of which every field is checked."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from siding.ground.errors import UsageError


async def read_object(request: Request) -> dict[str, Any]:
    """Return the body as a JSON object; raise UsageError for any other body."""
    return object_in(await request.body())


def object_in(raw: bytes) -> dict[str, Any]:
    """Return bytes as a JSON object; raise UsageError for anything else."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        raise UsageError("the body is not JSON") from None
    if not isinstance(value, dict):
        raise UsageError("the body is not a JSON object")
    return value


class Fields:
    """The fields of a body. Read each one, then call `done`, which refuses unknown fields.

    A misspelled field would otherwise be ignored. All methods raise UsageError.
    """

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._rest = dict(body)

    def text(self, name: str, default: str | None = None, *, longest: int = 10_000) -> str:
        """Return a text; without a default the field is required."""
        value = self._take(name, default)
        if not isinstance(value, str) or len(value) > longest or "\0" in value:
            raise UsageError(f"{name} must be a text of at most {longest} characters")
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{name} is not valid Unicode") from None
        return value

    def flag(self, name: str) -> bool:
        """Return true or false; false when the field is not given."""
        value = self._take(name, False)
        if not isinstance(value, bool):
            raise UsageError(f"{name} must be true or false")
        return value

    def number(self, name: str, *, most: int = 1 << 31) -> int | None:
        """Return a whole number from 0 to `most`; None when the field is not given."""
        if name not in self._rest:
            return None
        value = self._take(name, None)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise UsageError(f"{name} must be a whole number from 0 to {most}")
        return value

    def choice(self, name: str, *choices: str) -> str:
        """Return one of `choices`; the first one when the field is not given."""
        value = self._take(name, choices[0])
        if value not in choices:
            raise UsageError(f"{name} must be one of {', '.join(choices)}")
        return str(value)

    def any(self, name: str) -> Any:
        """Return the value of a required field, of any type."""
        return self._take(name, None)

    def done(self) -> None:
        """Raise UsageError when the body has a field that was not read."""
        if self._rest:
            raise UsageError(f"there is no field {min(self._rest)!r}")

    def _take(self, name: str, default: Any) -> Any:
        value = self._rest.pop(name, default)
        if value is None:
            raise UsageError(f"{name} is missing")
        return value
