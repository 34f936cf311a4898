"""What Gemini CLI asks before it reports. Tried with 0.61.

Trust of a directory counts in those below it; that of the checkout does not count in its worktrees,
which lie elsewhere. Until a way to log in was chosen it asks for one, also with a key in the
environment.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agents.start_questions import Question, Start, json_of
from siding.ground.storage.fields import mapping, text

_OTHER_WORK = frozenset({"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook"})
_TELLS = frozenset({"-h", "--help", "-v", "--version", "--list-sessions", "--list-extensions"})
_SYSTEM = "/etc/gemini-cli/settings.json"


def asks(start: Start) -> tuple[Question, ...]:
    if (start.argv[1:2] and start.argv[1] in _OTHER_WORK) or _TELLS & set(start.words):
        return ()
    named = start.env.get("GEMINI_CLI_HOME")
    kept = (Path(named) if named else start.home) / ".gemini"
    system = _read(Path(start.env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH") or _SYSTEM))
    own = _read(kept / "settings.json")
    found = []
    if not _trust_is_known(start, kept, (system, own)):
        found.append(Question.TRUST)
    # Settings of a folder that is not trusted yet do not count.
    here = {} if found else _read(start.cwd / ".gemini" / "settings.json")
    chosen = [text(_security(each, "auth").get("selectedType")) for each in (system, here, own)]
    way = next((each for each in chosen if each), "")
    if not way or (way == "oauth-personal" and not _has_login(start.env, kept)):
        found.append(Question.LOGIN)
    return tuple(found)


def _read(path: Path) -> Mapping[str, Any]:
    return json_of(path, comments=True)


def _security(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return mapping(mapping(settings.get("security")).get(name))


def _has_login(env: Mapping[str, str], kept: Path) -> bool:
    names = ("oauth_creds.json", "gemini-credentials.json")
    return bool(env.get("GOOGLE_CLOUD_ACCESS_TOKEN")) or any(
        os.path.lexists(kept / name) for name in names
    )


def _trust_is_known(start: Start, kept: Path, settings: tuple[Mapping[str, Any], ...]) -> bool:
    """Tell whether it does not ask: the folder is trusted, or the person said that it is not."""
    if start.env.get("GEMINI_CLI_TRUST_WORKSPACE") in ("true", "false"):
        return True
    if start.env.get("GEMINI_RESTRICTED_MODE") == "true" or "--skip-trust" in start.words:
        return True
    said = (_security(each, "folderTrust").get("enabled") for each in settings)
    if next((each for each in said if each is not None), True) is False:
        return True
    named = start.env.get("GEMINI_CLI_TRUSTED_FOLDERS_PATH")
    for name, level in _read(Path(named) if named else kept / "trustedFolders.json").items():
        place = Path(name).parent if level == "TRUST_PARENT" else Path(name)
        if start.cwd.is_relative_to(os.path.realpath(place)):
            return True
    return False
