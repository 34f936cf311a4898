"""What Claude Code asks before it reports. Tried with 2.1.329.

Trust of the checkout counts in its worktrees, and trust of a directory in those below it, up to the
root of the worktree. Without a login it starts all the same, and says so at the first prompt.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.agents.start_questions import Question, Start, json_of
from siding.ground.storage.fields import mapping, text, words

_OTHER_WORK = frozenset(
    "agents auth config doctor install mcp plugin plugins setup-token update upgrade".split()
)
_TELLS = frozenset({"-h", "--help", "-v", "--version"})
_WITHOUT_ASKING = "--dangerously-skip-permissions"
_KEY_SHOWN = 20  # characters of a key by which it is remembered
# Each of them is a login, or one of another vendor's.
_LOGINS = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"),
    *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"),
)


def asks(start: Start) -> tuple[Question, ...]:
    if start.argv[1:2] and start.argv[1] in _OTHER_WORK | _TELLS:
        return ()
    kept, config = _directory(start), _config(start)
    settings = json_of(kept / "settings.json")
    env = {**start.env, **mapping(settings.get("env"))}
    found = []
    if config.get("hasCompletedOnboarding") is not True:
        found.append(Question.FIRST_START)
    if _asks_about_key(start.env, config):
        found.append(Question.KEY)
    if not _is_trusted(start, config):
        found.append(Question.TRUST)
    if _WITHOUT_ASKING in start.words and not (
        config.get("bypassPermissionsModeAccepted") is True
        or settings.get("skipDangerousModePermissionPrompt") is True
    ):
        found.append(Question.NO_ASKING)
    if Question.FIRST_START not in found and not _is_logged_in(kept, config, settings, env):
        found.append(Question.LOGIN)
    return tuple(found)


def _directory(start: Start) -> Path:
    named = start.env.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else start.home / ".claude"


def _config(start: Start) -> Mapping[str, Any]:
    older = _directory(start) / ".config.json"
    if older.is_file():
        return json_of(older)
    named = start.env.get("CLAUDE_CONFIG_DIR")
    return json_of((Path(named) if named else start.home) / ".claude.json")


def _asks_about_key(env: Mapping[str, str], config: Mapping[str, Any]) -> bool:
    key = env.get("ANTHROPIC_API_KEY", "").strip()
    answered = mapping(config.get("customApiKeyResponses"))
    known = {*words(answered.get("approved")), *words(answered.get("rejected"))}
    return bool(key) and key[-_KEY_SHOWN:] not in known


def _is_trusted(start: Start, config: Mapping[str, Any]) -> bool:
    if start.env.get("CLAUDE_CODE_SANDBOXED"):
        return True
    ends = start.worktree
    above = [start.cwd, *start.cwd.parents]
    if ends is not None:
        above = [each for each in above if each.is_relative_to(ends)]
    projects = mapping(config.get("projects"))
    places = [*above, *([start.checkout] if start.checkout is not None else [])]
    return any(
        mapping(projects.get(str(each))).get("hasTrustDialogAccepted") is True for each in places
    )


def _is_logged_in(
    kept: Path, config: Mapping[str, Any], settings: Mapping[str, Any], env: Mapping[str, Any]
) -> bool:
    """Tell whether there is a login; on macOS it may be in the keychain, which nobody can look at
    without a question."""
    if sys.platform == "darwin" or any(env.get(name) for name in _LOGINS):
        return True
    if text(settings.get("apiKeyHelper")) or text(config.get("primaryApiKey")):
        return True
    return bool(config.get("oauthAccount")) or os.path.lexists(kept / ".credentials.json")
