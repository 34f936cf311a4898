"""Read fields of JSON objects from outside, with errors that name the wrong field by its path.

An error of ``InputObject("items[0].options[1]", {...})`` about its field `value` says
``items[0].options[1].value``, what the field should be, and what it is.
"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from siding.ground.errors import SidingError


class InvalidRequest(SidingError):
    """The request cannot be put to a person: a field is missing or wrong. Nothing was stored."""

    code = "invalid_decision"

    def __init__(self, path: str, problem: str, *, hint: str) -> None:
        super().__init__(f"{path} {problem}" if path else problem, hint=hint)
        self.path = path


class InvalidAnswer(InvalidRequest):
    """An answer does not fit the request. Nothing was stored."""

    code = "invalid_answer"


class InputObject:
    """One JSON object of a document, and the path to it."""

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
        """Return the path of a field of this object."""
        return f"{self.path}.{key}" if self.path else key

    def wrong(self, key: str, problem: str, hint: str) -> InvalidRequest:
        """Return (do not raise) the error for a field; with key "" for the object itself."""
        return self._error(self.at(key) if key else self.path, problem, hint=hint)

    def has(self, key: str) -> bool:
        return self._values.get(key) is not None

    def raw(self, key: str) -> Any:
        return self._values.get(key)

    def unknown(self, known: Sequence[str]) -> list[str]:
        """Return a sentence for each field that is not in `known`, with the name it may mean."""
        sentences = []
        for key in self._values:
            if key not in known:
                close = get_close_matches(str(key), known, n=1)
                meant = f"; did you mean {close[0]!r}?" if close else ""
                sentences.append(f"{self.at(str(key))[:200]} is not known and was left out{meant}")
        return sentences

    def text(self, key: str, *, what: str, longest: int) -> str:
        """Return the field, which must be a text that is not blank."""
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
        """Return the field, which must be a text; "" when it is missing."""
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
        """Return the field, which must be a whole number of at least `least`."""
        value = self._values.get(key)
        if value is None:
            raise self.wrong(key, "is missing", hint=f'add "{key}": {what}')
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(key, f"should be a whole number, and is {shown(value)}", hint=what)
        if value < least:
            raise self.wrong(key, f"should be {least} or more, and is {value}", hint=what)
        return value

    def texts(self, key: str, *, longest: int) -> tuple[str, ...]:
        """Return the field, which must be a list of texts; () when it is missing."""
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

    def objects(self, key: str, *, what: str) -> list["InputObject"]:
        """Return the objects in the field, which must be a list of at least one."""
        value = self._values.get(key)
        if value is None:
            raise self.wrong(key, "is missing", hint=f'add "{key}": {what}')
        if not isinstance(value, list):
            raise self.wrong(key, f"should be a list, and is {shown(value)}", hint=what)
        if not value:
            raise self.wrong(key, "is empty", hint=what)
        return [
            InputObject(f"{self.at(key)}[{index}]", each, error=self._error)
            for index, each in enumerate(value)
        ]

    def _within(self, key: str, value: str, longest: int) -> str:
        if len(value) > longest:
            raise self.wrong(key, f"has {len(value)} characters", hint=f"{longest} is the most")
        return value


def shown(value: object) -> str:
    """Return a wrong value in at most 60 characters, for a message."""
    names = {type(None): "null", bool: "true or false", dict: "an object", list: "a list"}
    if type(value) in names:
        return names[type(value)]
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
