"""What a handler is given: the project as it is now, the address, the fields of a body."""

import json
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from siding.asking.devices.device import Device
from siding.faces.web.site import Site
from siding.ground.errors import NotFound, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.recording.steps import Step, log, running_step
from siding.record.recording.steps import step as find_step


class Ask(NamedTuple):
    """One request of a browser or a program."""

    site: Site
    project: Project
    words: Mapping[str, str]  # parameters of the path
    query: Mapping[str, str]
    device: Device | None = None  # the paired device that has signed the request

    @property
    def task_id(self) -> TaskId:
        """The id of the task in the path; raises NotFound when there is no such task."""
        return self.site.task_id(self.project, self.words["task"])

    def number(self, name: str, default: int, *, most: int = 1 << 53) -> int:
        """Return a number of the query, from 0 to `most`; raise UsageError for anything else."""
        text = self.query.get(name, "")
        if not text:
            return default
        if not text.isascii() or not text.isdigit() or int(text) > most:
            raise UsageError(f"{name} must be a number from 0 to {most}")
        return int(text)

    def choice(self, name: str, *choices: str) -> str:
        """Return a word of the query; the first of `choices` when it is not given."""
        word = self.query.get(name, choices[0])
        if word not in choices:
            raise UsageError(f"{name} must be one of {', '.join(choices)}")
        return word


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


def newest(ask: Ask, *, before: int, limit: int) -> list[Step]:
    """Return at most `limit` steps before the number `before` (0: all steps), newest first."""
    _task, last = log(ask.project, ask.task_id, limit=1)
    if not last:
        return []
    skip = max(0, last[0].number - before + 1) if before else 0
    _task, found = log(ask.project, ask.task_id, limit=skip + limit)
    kept = [each for each in found if not before or each.number < before]
    return kept[-limit:][::-1] if limit else []


def one_step(ask: Ask) -> Step:
    """Return the step that the path names by its number or its run. Raises NotFound."""
    name = ask.words["step"]
    if len(name) > 10 or not name.removeprefix("r").isdigit():
        raise NotFound(f"there is no step {name!r}")
    running = running_step(ask.project, ask.task_id, name)
    return running[1] if running else find_step(ask.project, ask.task_id, name)[1]
