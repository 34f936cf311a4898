"""Point opencode at other base URLs: by its settings for one run, which it merges with all others.

Its own providers of the three vendors are pointed, and those that the person's settings give a URL.
Tried with 1.18.33.
"""

import json
import posixpath
from collections.abc import Mapping
from typing import Any

from siding.agents.settings import without_comments
from siding.agents.wire import Point, Pointed, Read, is_base_url
from siding.ground.storage.fields import mapping, text

_CONTENT = "OPENCODE_CONFIG_CONTENT"
_FILES = ("opencode.json", "opencode.jsonc", "config.json")
# Its own providers: the usual URL, and the variables with which it takes one for usable.
_USUAL = {
    "anthropic": ("https://api.anthropic.com/v1", ("ANTHROPIC_API_KEY",)),
    "openai": ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
    "google": (
        "https://generativelanguage.googleapis.com/v1beta",
        ("GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ),
}


def pointed(argv: tuple[str, ...], env: Mapping[str, str], point: Point, read: Read) -> Pointed:
    """Return how opencode is started so that its requests go where `point` says."""
    try:
        content = _object(env.get(_CONTENT, ""))
    except ValueError:
        return Pointed(argv, {}, (f"what {_CONTENT} holds cannot be read: nothing is metered",))
    known = _logged_in(env, read)
    urls = {
        name: url
        for name, (url, keys) in _USUAL.items()
        if name in known or any(env.get(key) for key in keys)
    }
    for settings in (*_files(env, read), content):
        for name, provider in mapping(settings.get("provider")).items():
            url = _expanded(text(mapping(mapping(provider).get("options")).get("baseURL")), env)
            if is_base_url(url):
                urls[name] = url
    providers = dict(mapping(content.get("provider")))
    for name, url in urls.items():
        old = mapping(providers.get(name))
        providers[name] = {**old, "options": {**mapping(old.get("options")), "baseURL": point(url)}}
    return Pointed(argv, {_CONTENT: json.dumps({**content, "provider": providers})})


def _files(env: Mapping[str, str], read: Read) -> list[Mapping[str, Any]]:
    """Return the settings that count, the nearest last."""
    home = env.get("XDG_CONFIG_HOME") or posixpath.join(env.get("HOME", ""), ".config")
    places = [posixpath.join(home, "opencode", name) for name in _FILES]
    places += [env["OPENCODE_CONFIG"]] if env.get("OPENCODE_CONFIG") else []
    places += [posixpath.join(env.get("SIDING_WORKSPACE", ""), name) for name in _FILES[:2]]
    found = []
    for path in places:
        try:
            found.append(_object(read(path)))
        except (OSError, ValueError):
            continue
    return found


def _logged_in(env: Mapping[str, str], read: Read) -> frozenset[str]:
    """Return the providers that opencode has a login of; only their names are looked at."""
    data = env.get("XDG_DATA_HOME") or posixpath.join(env.get("HOME", ""), ".local", "share")
    try:
        return frozenset(mapping(json.loads(read(posixpath.join(data, "opencode", "auth.json")))))
    except (OSError, ValueError):
        return frozenset()


def _object(text_of: str) -> Mapping[str, Any]:
    found = json.loads(without_comments(text_of) if text_of.strip() else "{}")
    if not isinstance(found, dict):
        raise ValueError("settings are an object")  # noqa: TRY004 - of what is in a text
    return found


def _expanded(url: str, env: Mapping[str, str]) -> str:
    """Return a URL with ``{env:NAME}`` replaced, as opencode does."""
    head, found, rest = url.partition("{env:")
    if not found:
        return url
    name, _, tail = rest.partition("}")
    return f"{head}{env.get(name, '')}{_expanded(tail, env)}"
