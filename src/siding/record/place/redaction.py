"""Remove secrets from texts, commands, variables and records before they are stored.

The rules know formats of tokens, names that suggest a secret, and the values of environment
variables with such names. `redaction` in the settings adds rules, allows values, or switches it
off.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.secretmask.face import Redactor, Stream

# Fields with hashes, which look like tokens and are none.
_OURS = frozenset({"sha256", "snapshot", "parent", "commit"})


class Redaction:
    """The redaction of a project. The rules are imported and compiled on first use."""

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
        """The compiled rules; raises UsageError for an invalid rule in the settings."""
        if self._redactor is None:
            from siding.secretmask.face import Redactor, known_values

            self._redactor = Redactor(
                known=known_values(self._env), patterns=_patterns(self._extra), allowed=self._allow
            )
        return self._redactor

    def knowing(self, more: Mapping[str, str]) -> "Redaction":
        """Return a redaction that also removes the secret values among these variables."""
        if not more:
            return self
        return Redaction(
            {**self._env, **more}, enabled=self.enabled, extra=self._extra, allow=self._allow
        )

    @property
    def filter(self) -> "Callable[[], Stream] | None":
        """A factory for filters of output streams; None if redaction is switched off."""
        return self.redactor.stream if self.enabled else None

    def text(self, text: str) -> str:
        """Return the text as valid UTF-8 without secrets."""
        spelled = printable(text)
        return self.redactor.mask_text(spelled) if self.enabled else spelled

    def words(self, argv: tuple[str, ...] | list[str]) -> list[str]:
        """Return the words of a command as valid UTF-8 without secrets."""
        spelled = [printable(word) for word in argv]
        return self.redactor.mask_words(spelled) if self.enabled else spelled

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return variables without secrets.

        A variable whose name suggests a secret loses its whole value, even if redaction is switched
        off.
        """
        from siding.secretmask.face import masked_variables

        mask = self.redactor.mask_text if self.enabled else None
        return masked_variables(mask, {name: printable(env[name]) for name in env})

    def names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names of files without secrets; nearly always there are none in any."""
        known = tuple(names)
        if not self.enabled or self.redactor.is_clean("\n".join(known)):
            return known
        return tuple(map(self.redactor.mask_text, known))

    def record(self, value: Any) -> Any:
        """Return a JSON value with all texts in it redacted, except keys."""
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
    """Return `text` as valid UTF-8; bytes that are not UTF-8 become ``\\xNN``."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _patterns(extra: Mapping[str, str]) -> list[Any]:
    if not extra:
        return []
    from siding.secretmask.face import pattern

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
