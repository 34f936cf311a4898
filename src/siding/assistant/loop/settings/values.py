"""What one layer of settings says: its values, each checked, with the place of a mistake."""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from siding.assistant.loop.effort import EffortMistake, effort_named
from siding.assistant.loop.model import Effort
from siding.assistant.loop.permissions.modes import PermissionMode, mode_named
from siding.assistant.loop.permissions.rules import (
    PermissionRule,
    PermissionRules,
    parse_allow,
    parse_rules,
)
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
KEYS = (
    "model",
    "fallback_model",
    "effort",
    "permissions",
    "env",
    "pass_env",
    "max_dollars",
    "max_turns",
    "max_tokens",
    "stop_hooks",
)
PERMISSION_KEYS = ("mode", "allow", "ask", "deny", "directories", "bypass")


class SettingsLevel(StrEnum):
    """Where a layer is from, in the order in which layers go before each other."""

    MANAGED = "managed"  # of the machine; nothing goes before it
    FLAGS = "flags"  # of the command line
    LOCAL = "local"  # the person's, for this project
    PROJECT = "project"  # of the repository
    USER = "user"  # the person's, for all projects


class SettingsMistake(UsageError):
    """A layer of settings is wrong; the message names it and the key."""

    code = "bad_settings"


class SaidSettings(NamedTuple):
    """What a layer says. None: nothing. `bypass` False forbids the mode bypassPermissions."""

    model: str | None = None
    fallback_model: str | None = None
    effort: Effort | int | None = None
    mode: PermissionMode | None = None
    rules: PermissionRules = PermissionRules()
    directories: tuple[str, ...] = ()
    bypass: bool | None = None
    env: Mapping[str, str] = {}
    pass_env: tuple[str, ...] = ()  # keys of models that commands get as well
    max_dollars: float | None = None
    max_turns: int | None = None
    max_tokens: int | None = None
    stop_hooks: tuple[str, ...] = ()


class SettingsLayer(NamedTuple):
    """One layer. `source` is a path or a flag. `is_trusted`: it may permit more, too."""

    level: SettingsLevel
    source: str
    said: SaidSettings
    is_trusted: bool = True


def said_in(document: object, source: str, prefix: str = "") -> SaidSettings:
    """Return what a document says. Raises SettingsMistake.

    `prefix` is where in its file the document stands, as in ``agent.``.
    """
    reader = _Reader(source, prefix, document, KEYS)
    permissions = reader.below("permissions", PERMISSION_KEYS)
    return SaidSettings(
        model=reader.text("model"),
        fallback_model=reader.text("fallback_model"),
        effort=reader.effort(),
        mode=permissions.mode(),
        rules=PermissionRules(
            allow=permissions.rules("allow", parse_allow),
            ask=permissions.rules("ask", parse_rules),
            deny=permissions.rules("deny", parse_rules),
        ),
        directories=permissions.paths("directories"),
        bypass=permissions.flag("bypass"),
        env=reader.variables("env"),
        pass_env=reader.names("pass_env"),
        max_dollars=reader.dollars("max_dollars"),
        max_turns=reader.count("max_turns"),
        max_tokens=reader.count("max_tokens"),
        stop_hooks=reader.commands("stop_hooks"),
    )


class _Reader:
    def __init__(self, source: str, prefix: str, values: object, keys: Sequence[str]) -> None:
        self._source, self._prefix = source, prefix
        if values is None:
            values = {}
        if not isinstance(values, dict):
            raise self._wrong("", "names, each with a value", values)
        self._values: Mapping[Any, Any] = values
        for key in values:
            if key not in keys:
                raise SettingsMistake(
                    f"{prefix}{key} in {source!r} is no setting",
                    hint=f"there are {', '.join(f'{prefix}{each}' for each in keys)}",
                )

    def below(self, key: str, keys: Sequence[str]) -> "_Reader":
        return _Reader(self._source, f"{self._prefix}{key}.", self._values.get(key), keys)

    def text(self, key: str) -> str | None:
        value = self._values.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            raise self._wrong(key, "a text", value)
        return value

    def effort(self) -> Effort | int | None:
        value = self._values.get("effort")
        if value is None:
            return None
        try:
            return effort_named(str(value) if type(value) in (str, int) else "")
        except EffortMistake as error:
            raise SettingsMistake(
                f"{self._prefix}effort in {self._source!r}: {error.message}", hint=error.hint
            ) from None

    def mode(self) -> PermissionMode | None:
        value = self.text("mode")
        return None if value is None else self._read("mode", mode_named, value)

    def rules(
        self, key: str, parse: Callable[[Sequence[str], str], tuple[PermissionRule, ...]]
    ) -> tuple[PermissionRule, ...]:
        texts = self._texts(key, "a list of rules such as Bash(git commit:*)")
        found: tuple[PermissionRule, ...] = self._read(
            key, lambda each: parse(each, self._source), texts
        )
        return found

    def paths(self, key: str) -> tuple[str, ...]:
        found = self._texts(key, "a list of directories")
        for each in found:
            if not each.startswith(("/", "~/")) or ".." in each.split("/") or "\0" in each:
                raise self._wrong(key, "absolute paths, or ones that begin with ~/", each)
        return found

    def commands(self, key: str) -> tuple[str, ...]:
        found = self._texts(key, "a list of commands")
        for each in found:
            if not each.strip() or "\0" in each:
                raise self._wrong(key, "a list of commands", each)
        return found

    def flag(self, key: str) -> bool | None:
        value = self._values.get(key)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return value

    def variables(self, key: str) -> Mapping[str, str]:
        value = self._values.get(key) or {}
        if not isinstance(value, dict):
            raise self._wrong(key, "names of variables, each with a text", value)
        for name, text in value.items():
            if not isinstance(name, str) or not _VARIABLE.match(name):
                raise self._wrong(key, "names of variables, each with a text", name)
            if not isinstance(text, str) or "\0" in text:
                raise self._wrong(f"{key}.{name}", "a text", text)
        return dict(value)

    def names(self, key: str) -> tuple[str, ...]:
        found = self._texts(key, "a list of names of variables")
        for each in found:
            if not _VARIABLE.match(each):
                raise self._wrong(key, "a list of names of variables", each)
        return found

    def dollars(self, key: str) -> float | None:
        value = self._values.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            raise self._wrong(key, "a number of dollars, more than 0", value)
        return float(value)

    def count(self, key: str) -> int | None:
        value = self._values.get(key)
        if value is not None and (type(value) is not int or value < 1):
            raise self._wrong(key, "a number from 1", value)
        return value

    def _texts(self, key: str, wanted: str) -> tuple[str, ...]:
        value = self._values.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self._wrong(key, wanted, value)
        return tuple(value)

    def _read(self, key: str, read: Callable[[Any], Any], value: Any) -> Any:
        try:
            return read(value)
        except UsageError as error:
            place = f"{self._prefix}{key} in {self._source!r}"
            raise SettingsMistake(f"{place}: {error.message}", hint=error.hint) from None

    def _wrong(self, key: str, wanted: str, found: object) -> SettingsMistake:
        place = f"{self._prefix}{key}".rstrip(".") or "the settings"
        return SettingsMistake(f"{place} in {self._source!r} should be {wanted}, and is {found!r}")
