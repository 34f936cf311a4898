"""The settings of each agent that can be told to report for good."""

from collections.abc import Mapping

from siding.adapters.agents import claude
from siding.adapters.agents.integration.codex import Codex
from siding.adapters.agents.integration.json_hooks import JsonHooks
from siding.adapters.agents.integration.port import Hook, OwnSettings
from siding.adapters.agents.port import Moment

_CLAUDE = JsonHooks(
    "CLAUDE_CONFIG_DIR",
    ".claude",
    [
        Hook(event, seconds)
        for event, (moment, seconds) in claude.MOMENTS.items()
        if moment is not Moment.WAITS  # only a run is waited with
    ],
)

SETTINGS: Mapping[str, OwnSettings] = {"claude": _CLAUDE, "codex": Codex()}
