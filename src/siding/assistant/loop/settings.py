"""The settings of the built-in agent: what one file says, and what all of them come to. Pure.

A file is a layer: each of its values is checked, with the place of a mistake. All layers are added
up, and it is remembered where each value is from. Which files there are, and which are trusted,
`assistant.settings` knows.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from siding.assistant.loop.effort import EffortMistake, effort_named
from siding.assistant.loop.model import Effort
from siding.assistant.loop.permissions.rules import (
    NARROWER,
    PermissionMode,
    PermissionRule,
    PermissionRules,
    mode_named,
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


# -- The settings in force: all layers added up, each value with where it is from ------------------
#
# A value of a higher level goes before one of a lower level. Rules of all levels count together,
# and no level lifts what another one denies. A layer that nobody has trusted, the repository's, may
# forbid more and nothing else: it adds rules that deny or ask, and narrows the mode and the limits.


_ORDER = tuple(SettingsLevel)
_FIRST_COUNTS = (
    "model",
    "fallback_model",
    "effort",
    "mode",
    "max_dollars",
    "max_turns",
    "max_tokens",
)
_LIMITS = ("max_dollars", "max_turns", "max_tokens")


class AgentValues(NamedTuple):
    """The settings in force. None is the default.

    `may_bypass`: no layer forbids the mode bypassPermissions. `origins` has, for each key that is
    set, the layer it is from (for ``env.NAME`` too). `withheld` is what a layer says that does not
    count because nobody has trusted it, a line for each.
    """

    model: str | None = None
    fallback_model: str | None = None
    effort: Effort | int | None = None
    mode: PermissionMode = PermissionMode.DEFAULT
    rules: PermissionRules = PermissionRules()
    directories: tuple[str, ...] = ()
    may_bypass: bool = True
    env: Mapping[str, str] = {}
    pass_env: tuple[str, ...] = ()
    max_dollars: float | None = None
    max_turns: int | None = None
    max_tokens: int | None = None
    stop_hooks: tuple[str, ...] = ()
    origins: Mapping[str, SettingsLayer] = {}
    withheld: tuple[str, ...] = ()


def combined_layers(layers: Iterable[SettingsLayer]) -> AgentValues:
    """Return what the layers come to. Of two of one level the later one goes before the other."""
    newest_first = list(layers)[::-1]
    ordered = sorted(newest_first, key=lambda layer: _ORDER.index(layer.level))
    trusted = [layer for layer in ordered if layer.is_trusted]
    found: dict[str, Any] = {}
    origins: dict[str, SettingsLayer] = {}
    for name in _FIRST_COUNTS:
        for layer in trusted:
            value = getattr(layer.said, name)
            if value is not None:
                found[name], origins[name] = value, layer
                break
    _add_up(ordered, trusted, found, origins)
    for layer in ordered:
        if not layer.is_trusted:
            _narrow(layer, found, origins)
    withheld = tuple(line for layer in ordered if not layer.is_trusted for line in widening(layer))
    return AgentValues(**found, origins=origins, withheld=withheld)


def _add_up(
    ordered: list[SettingsLayer],
    trusted: list[SettingsLayer],
    found: dict[str, Any],
    origins: dict[str, SettingsLayer],
) -> None:
    rules, directories, stop_hooks = PermissionRules(), dict[str, None](), dict[str, None]()
    pass_env: dict[str, None] = {}
    for layer in ordered:
        said = layer.said
        rules = rules.plus(said.rules if layer.is_trusted else said.rules._replace(allow=()))
        if said.bypass is False:
            found["may_bypass"] = False
            origins.setdefault("bypass", layer)
    env: dict[str, str] = {}
    for layer in trusted:
        for name, value in layer.said.env.items():
            if name not in env:
                env[name], origins[f"env.{name}"] = value, layer
        directories |= dict.fromkeys(layer.said.directories)
        stop_hooks |= dict.fromkeys(layer.said.stop_hooks)
        pass_env |= dict.fromkeys(layer.said.pass_env)
    found |= {"rules": rules, "env": env, "directories": tuple(directories)}
    found |= {"stop_hooks": tuple(stop_hooks), "pass_env": tuple(pass_env)}


def _narrow(layer: SettingsLayer, found: dict[str, Any], origins: dict[str, SettingsLayer]) -> None:
    mode = layer.said.mode
    before = found.get("mode", PermissionMode.DEFAULT)
    if mode is not None and NARROWER.index(mode) > NARROWER.index(before):
        found["mode"], origins["mode"] = mode, layer
    for name in _LIMITS:
        limit = getattr(layer.said, name)
        if limit is not None and (name not in found or limit < found[name]):
            found[name], origins[name] = limit, layer


def widening(layer: SettingsLayer) -> list[str]:
    """Return what a layer says that counts only if it is trusted, a line for each."""
    said = layer.said
    lines = [
        f"{name}: {getattr(said, name)}"
        for name in ("model", "fallback_model", "effort")
        if getattr(said, name) is not None
    ]
    if said.mode is not None:
        lines.append(f"permissions.mode: {said.mode}")
    lines += [f"permissions.allow: {rule.text}" for rule in said.rules.allow]
    lines += [f"permissions.directories: {each}" for each in said.directories]
    lines += [f"env: {name}={value}" for name, value in said.env.items()]
    lines += [f"pass_env: {each}" for each in said.pass_env]
    lines += [f"stop_hooks: {each}" for each in said.stop_hooks]
    limits = [name for name in _LIMITS if getattr(said, name) is not None]
    return lines + [f"{name}: {getattr(said, name)} (where it is more)" for name in limits]


def as_document(said: SaidSettings) -> dict[str, Any]:
    """Return what a layer says as `said_in` reads it: to hand it to a process of its own."""
    permissions = {
        "mode": None if said.mode is None else said.mode.value,
        "allow": [rule.text for rule in said.rules.allow],
        "ask": [rule.text for rule in said.rules.ask],
        "deny": [rule.text for rule in said.rules.deny],
        "directories": list(said.directories),
        "bypass": said.bypass,
    }
    document = {
        "model": said.model,
        "fallback_model": said.fallback_model,
        "effort": said.effort.value if isinstance(said.effort, Effort) else said.effort,
        "permissions": {k: v for k, v in permissions.items() if v not in (None, [])},
        "env": dict(said.env),
        "pass_env": list(said.pass_env),
        "max_dollars": said.max_dollars,
        "max_turns": said.max_turns,
        "max_tokens": said.max_tokens,
        "stop_hooks": list(said.stop_hooks),
    }
    return {key: value for key, value in document.items() if value not in (None, {}, [])}
