"""Claude Code: hooks in ``settings.json``."""

from collections.abc import Mapping
from pathlib import Path

from siding.agents.claude.hooks import MOMENTS
from siding.agents.json_hooks import JsonHooks, hooks_of
from siding.agents.settings import OwnSettings


def _place(env: Mapping[str, str], home: Path) -> Path:
    return Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home / ".claude"


SETTINGS: OwnSettings = JsonHooks(_place, hooks_of(MOMENTS))
