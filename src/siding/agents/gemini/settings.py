"""Gemini CLI: hooks in ``settings.json``, and how long it keeps conversations.

It loses conversations by itself: see `hooks.py`.
"""

from collections.abc import Mapping
from pathlib import Path

from siding.agents.gemini.hooks import KEEPS_ALL, MOMENTS, RETENTION
from siding.agents.json_hooks import JsonHooks, Setting, hooks_of
from siding.agents.settings import OwnSettings


def _place(env: Mapping[str, str], home: Path) -> Path:
    named = env.get("GEMINI_CLI_HOME")
    return (Path(named) if named else home) / ".gemini"


SETTINGS: OwnSettings = JsonHooks(
    _place,
    hooks_of(MOMENTS),
    unit=1000,
    setting=Setting("general", RETENTION, KEEPS_ALL),
    comments=True,
)
