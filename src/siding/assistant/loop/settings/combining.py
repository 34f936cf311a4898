"""The settings in force: all layers added up, each value with where it is from.

A value of a higher level goes before one of a lower level. Rules of all levels count together, and
no level lifts what another one denies. A layer that nobody has trusted, the repository's, may
forbid more and nothing else: it adds rules that deny or ask, and narrows the mode and the limits.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from siding.assistant.loop.model import Effort
from siding.assistant.loop.permissions.modes import NARROWER, PermissionMode
from siding.assistant.loop.permissions.rules import PermissionRules
from siding.assistant.loop.settings.values import SaidSettings, SettingsLayer, SettingsLevel
from siding.ground.namedtuples import NamedTuple

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
