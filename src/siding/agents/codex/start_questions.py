"""What Codex asks before it reports. Tried with 0.169.

Trust of the checkout counts in its worktrees; that of a directory above does not. A key in the
environment is no login, but for a provider that is named in its settings.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agents.start_questions import CannotTell, Question, Start, json_of, toml_of
from siding.ground.storage.fields import mapping, text

# Of these it starts no conversation on a screen.
_OTHER_WORK = frozenset(
    """
    review login logout mcp mcp-server app-server completion sandbox debug apply a cloud features
    help proto responses-api-proxy
    """.split()
)
_TELLS = frozenset({"-h", "--help", "-V", "--version"})


def asks(start: Start) -> tuple[Question, ...]:
    if (start.argv[1:2] and start.argv[1] in _OTHER_WORK) or _TELLS & set(start.words):
        return ()
    kept = kept_in(start)
    config = _config(start)
    found = []
    if not (_has_own_provider(config) or _is_logged_in(kept, config)):
        found.append(Question.LOGIN)
    if trust_said(start) != "trusted":  # it asks also where it was told not to trust
        found.append(Question.TRUST)
    return tuple(found)


def kept_in(start: Start) -> Path:
    """Return where Codex keeps its files."""
    named = start.env.get("CODEX_HOME")
    return Path(named) if named else start.home / ".codex"


def _config(start: Start) -> Mapping[str, Any]:
    return _with_options(toml_of(kept_in(start) / "config.toml"), start)


def _with_options(config: Mapping[str, Any], start: Start) -> Mapping[str, Any]:
    """Return the settings with those of `-c NAME=VALUE`, of tables whole or entry by entry."""
    found: dict[str, Any] = dict(config)
    for each in (*start.value_of("-c"), *start.value_of("--config")):
        name, _, value = each.partition("=")
        try:
            said = tomllib.loads(f"{name} = {value}")
        except ValueError:
            said = {name: value} if "." not in name else {}
        for key, new in said.items():
            old = found.get(key)
            found[key] = {**old, **new} if isinstance(old, dict) and isinstance(new, dict) else new
    return found


def _has_own_provider(config: Mapping[str, Any]) -> bool:
    """Tell whether requests go to a provider that wants no login of Codex's."""
    named = text(config.get("model_provider"))
    own = mapping(mapping(config.get("model_providers")).get(named))
    return bool(named) and named != "openai" and own.get("requires_openai_auth") is not True


def _is_logged_in(kept: Path, config: Mapping[str, Any]) -> bool:
    auth = json_of(kept / "auth.json")
    if not auth and text(config.get("cli_auth_credentials_store")) in ("keyring", "auto"):
        raise CannotTell("the keyring of the system may have it")
    return bool(text(auth.get("OPENAI_API_KEY")) or auth.get("tokens"))


def trust_said(start: Start) -> str:
    """Return what the person has said of where it works: "" if nothing. Raises CannotTell."""
    projects = mapping(_config(start).get("projects"))
    places = (start.cwd, start.worktree, start.checkout)
    levels = [mapping(projects.get(str(each))).get("trust_level") for each in places if each]
    return next((text(each) for each in levels if each), "")


def said_of_projects(start: Start) -> Mapping[str, str]:
    """Return what the command line itself says of projects: their levels of trust, by path."""
    projects = mapping(_with_options({}, start).get("projects"))
    levels = {path: text(mapping(each).get("trust_level")) for path, each in projects.items()}
    return {path: level for path, level in levels.items() if level}
