"""Values from outside, each with its place in the document, so that a mistake can be named.

``Place("items[0].options[1]", {...})`` says of a wrong field ``items[0].options[1].value``, what it
should be and what it is.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from siding.errors import SidingError


class InvalidRequest(SidingError):
    """What was asked cannot be put to a person as it stands. Nothing was stored."""

    code = "invalid_decision"

    def __init__(self, path: str, problem: str, *, hint: str) -> None:
        super().__init__(f"{path} {problem}" if path else problem, hint=hint)
        self.path = path


class InvalidAnswer(InvalidRequest):
    """An answer does not fit what was asked. Nothing was stored."""

    code = "invalid_answer"


class Place:
    """One object of the document, and where it is."""

    def __init__(
        self, path: str, value: object, *, error: type[InvalidRequest] = InvalidRequest
    ) -> None:
        self.path = path
        self._error = error
        if not isinstance(value, dict):
            raise error(
                path or "the document",
                f"should be an object, and is {shown(value)}",
                hint='write it as {"name": value, …}',
            )
        self._values: Mapping[str, Any] = value

    def at(self, key: str) -> str:
        """Return the path of a field."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, problem: str, hint: str) -> InvalidRequest:
        """Return the error for a field."""
        return self._error(self.at(key) if key else self.path, problem, hint=hint)

    def has(self, key: str) -> bool:
        return self._values.get(key) is not None

    def raw(self, key: str) -> Any:
        return self._values.get(key)

    def unknown(self, known: Sequence[str]) -> list[str]:
        """Return a sentence for each field that means nothing here, with what may be meant."""
        said = []
        for key in self._values:
            if key not in known:
                close = get_close_matches(str(key), known, n=1)
                meant = f"; did you mean {close[0]!r}?" if close else ""
                said.append(f"{self.at(str(key))[:200]} is not known and was left out{meant}")
        return said

    def text(self, key: str, *, what: str, longest: int) -> str:
        """Return a text that is not blank."""
        value = self._values.get(key)
        if value is None:
            raise self.wrong(key, "is missing", hint=f'add "{key}": {what}')
        if not isinstance(value, str):
            raise self.wrong(
                key,
                f"should be a text, and is {shown(value)}",
                hint=f'write "{key}" in quotes: {what}',
            )
        if not value.strip():
            raise self.wrong(key, "is blank", hint=f'fill in "{key}": {what}')
        return self._within(key, value, longest)

    def text_or_empty(self, key: str, *, longest: int) -> str:
        """Return a text, "" when there is none."""
        value = self._values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.wrong(
                key,
                f"should be a text, and is {shown(value)}",
                hint="write it in quotes, or leave it out",
            )
        return self._within(key, value, longest)

    def whole(self, key: str, *, least: int, what: str) -> int:
        """Return a whole number of at least `least`."""
        value = self._values.get(key)
        if value is None:
            raise self.wrong(key, "is missing", hint=f'add "{key}": {what}')
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(key, f"should be a whole number, and is {shown(value)}", hint=what)
        if value < least:
            raise self.wrong(key, f"should be {least} or more, and is {value}", hint=what)
        return value

    def texts(self, key: str, *, longest: int) -> tuple[str, ...]:
        """Return a list of texts, () when there is none."""
        value = self._values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise self.wrong(
                key,
                f"should be a list of texts, and is {shown(value)}",
                hint='write ["one", "another"]',
            )
        for index, each in enumerate(value):
            if not isinstance(each, str):
                raise self.wrong(
                    f"{key}[{index}]",
                    f"should be a text, and is {shown(each)}",
                    hint="write it in quotes",
                )
            self._within(f"{key}[{index}]", each, longest)
        return tuple(value)

    def objects(self, key: str, *, what: str) -> list["Place"]:
        """Return the objects of a list that has at least one."""
        value = self._values.get(key)
        if value is None:
            raise self.wrong(key, "is missing", hint=f'add "{key}": {what}')
        if not isinstance(value, list):
            raise self.wrong(key, f"should be a list, and is {shown(value)}", hint=what)
        if not value:
            raise self.wrong(key, "is empty", hint=what)
        return [
            Place(f"{self.at(key)}[{index}]", each, error=self._error)
            for index, each in enumerate(value)
        ]

    def _within(self, key: str, value: str, longest: int) -> str:
        if len(value) > longest:
            raise self.wrong(key, f"has {len(value)} characters", hint=f"{longest} is the most")
        return value


def shown(value: object) -> str:
    """Return what a wrong value is, short enough for a message."""
    names = {type(None): "null", bool: "true or false", dict: "an object", list: "a list"}
    if type(value) in names:
        return names[type(value)]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
