"""Parrot: hooks in ``settings.json``."""

from collections.abc import Mapping
from pathlib import Path

from siding.agents.json_hooks import JsonHooks
from siding.agents.settings import Hook, OwnSettings


def _place(env: Mapping[str, str], home: Path) -> Path:
    return Path(env["PARROT_HOME"]) if env.get("PARROT_HOME") else home / ".parrot"


SETTINGS: OwnSettings = JsonHooks(_place, [Hook("Begin", 30), Hook("End", 300)])
