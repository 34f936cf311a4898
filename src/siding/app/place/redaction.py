"""Secrets stay out of what is recorded: the redactor a project uses, and what it is used on.

It knows the formats of tokens, names that announce a secret, and the values of the environment's
secret-looking variables. `redaction` in the settings adds rules, allows values, or switches it off.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from siding.errors import UsageError

if TYPE_CHECKING:
    from siding.redaction.redactor import Redactor
    from siding.redaction.stream import Stream

_OURS = frozenset({"sha256", "snapshot", "parent", "commit"})  # what git and we computed


class Redaction:
    """What a project redacts. Cheap to make; the rules are loaded when first needed."""

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        enabled: bool = True,
        extra: Mapping[str, str] | None = None,
        allow: tuple[str, ...] = (),
    ) -> None:
        self.enabled = enabled
        self._env = env
        self._extra = extra or {}
        self._allow = allow
        self._redactor: Redactor | None = None

    @property
    def redactor(self) -> "Redactor":
        """The rules. Raises UsageError when one of the project's own is not acceptable."""
        if self._redactor is None:
            from siding.redaction.redactor import Redactor, known_values

            self._redactor = Redactor(
                known=known_values(self._env), patterns=_patterns(self._extra), allowed=self._allow
            )
        return self._redactor

    def knowing(self, more: Mapping[str, str]) -> "Redaction":
        """Return the same redaction, which also knows the values of these variables."""
        if not more:
            return self
        return Redaction(
            {**self._env, **more}, enabled=self.enabled, extra=self._extra, allow=self._allow
        )

    @property
    def filter(self) -> "Callable[[], Stream] | None":
        """What makes a filter for a stream on its way to the disk; None when it goes as it is."""
        return self.redactor.stream if self.enabled else None

    def text(self, text: str) -> str:
        """Return text for a record: valid UTF-8, without secrets."""
        spelled = printable(text)
        return self.redactor.mask_text(spelled) if self.enabled else spelled

    def words(self, argv: tuple[str, ...] | list[str]) -> list[str]:
        """Return the words of a command for a record."""
        if not self.enabled:
            return [printable(word) for word in argv]
        from siding.redaction.commands import masked_words

        return masked_words(self.redactor, [printable(word) for word in argv])

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return variables for a record; one whose name sounds secret keeps nothing of its value.

        That holds with redaction switched off as well.
        """
        from siding.redaction.commands import masked_variables

        redactor = self.redactor if self.enabled else None
        return masked_variables(redactor, {name: printable(env[name]) for name in env})

    def record(self, value: Any) -> Any:
        """Return a JSON value with every text in it redacted; keys stay."""
        if not self.enabled:
            return value
        if isinstance(value, str):
            return self.redactor.mask_text(value)
        if isinstance(value, Mapping):
            return {key: value[key] if key in _OURS else self.record(value[key]) for key in value}
        if isinstance(value, list | tuple):
            return [self.record(each) for each in value]
        return value


def printable(text: str) -> str:
    """Return `text` as valid UTF-8: bytes that are none are spelled ``\\xNN``."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _patterns(extra: Mapping[str, str]) -> list[Any]:
    if not extra:
        return []
    from siding.redaction.patterns import pattern

    found = []
    for kind, text in extra.items():
        try:
            found.append(pattern(kind, text))
        except ValueError as error:
            raise UsageError(
                f"redaction.extra.{kind} in the settings cannot be used: {error}",
                hint="`docs/redaction.md` says what a pattern may be",
            ) from None
    return found
