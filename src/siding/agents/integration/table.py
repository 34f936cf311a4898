"""The settings of each agent that can be told to report for good."""

from collections.abc import Mapping
from pathlib import Path

from siding.agents import claude, gemini
from siding.agents.integration.codex import Codex
from siding.agents.integration.json_hooks import JsonHooks, Setting
from siding.agents.integration.port import Hook, OwnSettings
from siding.agents.port import Moment

Moments = Mapping[str, tuple[Moment, int]]


def _hooks(moments: Moments) -> list[Hook]:
    """Return the hooks that tell of turns; whom an agent waits for matters in a run alone."""
    return [
        Hook(event, seconds)
        for event, (moment, seconds) in moments.items()
        if moment is not Moment.WAITS
    ]


def _named(env: Mapping[str, str], variable: str) -> Path | None:
    return Path(env[variable]) if env.get(variable) else None


SETTINGS: Mapping[str, OwnSettings] = {
    "claude": JsonHooks(
        lambda env, home: _named(env, "CLAUDE_CONFIG_DIR") or home / ".claude",
        _hooks(claude.MOMENTS),
    ),
    "codex": Codex(),
    "gemini": JsonHooks(
        lambda env, home: (_named(env, "GEMINI_CLI_HOME") or home) / ".gemini",
        _hooks(gemini.MOMENTS),
        unit=1000,
        # It loses conversations by itself: see `gemini.py`.
        setting=Setting("general", gemini.RETENTION, gemini.KEEPS_ALL),
    ),
}
