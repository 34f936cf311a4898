"""Point the Codex CLI at another base URL: it takes none from its environment, but from `-c`.

Its provider is the one that `-c` or its settings name. A provider's URL that stands on the command
line is replaced where it stands; for one of the settings a flag is added. For its own provider,
`openai`, the URL depends on how the person is logged in. Tried with 0.169.0.
"""

import json
import posixpath
import tomllib
from collections.abc import Mapping
from typing import Any

from siding.agents.wire import Point, Pointed, Read, is_base_url
from siding.ground.storage.fields import mapping, text

_OWN = "openai"
_API, _ACCOUNT = "https://api.openai.com/v1", "https://chatgpt.com/backend-api/codex"
_FLAGS = ("-c", "--config")


def pointed(argv: tuple[str, ...], env: Mapping[str, str], point: Point, read: Read) -> Pointed:
    """Return the command line whose requests go where `point` says."""
    home = env.get("CODEX_HOME") or posixpath.join(env.get("HOME", ""), ".codex")
    words = list(argv)
    given: dict[str, Any] = {}
    for at in _settings_at(argv):
        given |= _flattened(_parsed(words[at].removeprefix("--config=")))
    settings = _of_file(read, posixpath.join(home, "config.toml"))
    profile = text(given.get("profile") or settings.get("profile"))
    settings = {**settings, **mapping(mapping(settings.get("profiles")).get(profile))}
    provider = text(given.get("model_provider") or settings.get("model_provider") or _OWN)
    key = "openai_base_url" if provider == _OWN else f"model_providers.{provider}.base_url"
    old = text(given.get(key))
    if is_base_url(old):
        for at in _settings_at(argv):
            words[at] = words[at].replace(json.dumps(old), json.dumps(point(old)))
        return Pointed(tuple(words), {})
    if provider == _OWN:
        old = text(settings.get(key)) or (_ACCOUNT if _has_account(read, home, env) else _API)
    else:
        known = mapping(mapping(settings.get("model_providers")).get(provider))
        old = text(known.get("base_url"))
    if not is_base_url(old):
        note = f"requests of Codex to {provider!r} are not metered: its base URL is not known"
        return Pointed(argv, {}, (note,))
    flag = ("-c", f"{key}={json.dumps(point(old))}")
    return Pointed((argv[0], *flag, *argv[1:]), {})


def _settings_at(argv: tuple[str, ...]) -> list[int]:
    """Return where in a command line the settings of `-c` stand."""
    found = []
    for at, word in enumerate(argv):
        if word == "--":
            break
        if word.startswith("--config="):
            found.append(at)
        elif word in _FLAGS and at + 1 < len(argv):
            found.append(at + 1)
    return found


def _parsed(setting: str) -> Mapping[str, Any]:
    """Return what a setting says. As Codex has it, what is no TOML is a text."""
    key, _equals, value = setting.partition("=")
    try:
        return tomllib.loads(f"{key}={value}")
    except tomllib.TOMLDecodeError:
        return {key.strip(): value}


def _flattened(document: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in document.items():
        if isinstance(value, dict):
            found |= _flattened(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = value
    return found


def _of_file(read: Read, path: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(read(path))
    except (OSError, ValueError):
        return {}


def _has_account(read: Read, home: str, env: Mapping[str, str]) -> bool:
    """Tell whether the person is logged in with an account rather than with a key."""
    if env.get("CODEX_API_KEY"):
        return False
    try:
        found = mapping(json.loads(read(posixpath.join(home, "auth.json"))))
    except (OSError, ValueError):
        return False
    return bool(found.get("tokens")) and not found.get("OPENAI_API_KEY")
