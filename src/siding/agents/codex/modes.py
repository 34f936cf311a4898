"""The modes of a Codex thread: when it asks, and what its sandbox lets it write.

But for `plan` they are pairs of settings that Codex has apart, named as on its own screen. It has
no word there for `untrusted` any more, which asks before each command that does more than look.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.talking.port import Meaning
from siding.ground.storage.fields import mapping, text

PLAN = "plan"
# How it asks, and the sandbox by its two names: for `thread/start`, and in the settings.
_PAIRS = {
    "untrusted": ("untrusted", "workspace-write", "workspaceWrite"),
    "read-only": ("on-request", "read-only", "readOnly"),
    "auto": ("on-request", "workspace-write", "workspaceWrite"),
    "full-access": ("never", "danger-full-access", "dangerFullAccess"),
}
MODES = (*_PAIRS, PLAN)
# `auto` also runs commands without asking, in Codex' own sandbox.
MEANS = {"untrusted": Meaning.ASK, "read-only": Meaning.ASK, PLAN: Meaning.PLAN}


def at_start(mode: str) -> Mapping[str, Any]:
    """Return what `thread/start` is given for a mode; `plan` is set later."""
    if mode not in _PAIRS:
        return {}
    asks, sandbox, _name = _PAIRS[mode]
    return {"approvalPolicy": asks, "sandbox": sandbox}


def settings_of(mode: str, model: str, effort: str) -> dict[str, Any]:
    """Return the settings of a mode. One that is not known is sent, and Codex refuses it."""
    kind = PLAN if mode == PLAN else "default"
    # What is left out here would be forgotten.
    inner = {"model": model, "reasoning_effort": effort or None, "developer_instructions": None}
    found: dict[str, Any] = {"collaborationMode": {"mode": kind, "settings": inner}}
    if mode == PLAN:
        return found
    asks, _sandbox, name = _PAIRS.get(mode, (mode, "", mode))
    return {**found, "approvalPolicy": asks, "sandboxPolicy": {"type": name}}


def mode_of(settings: Mapping[str, Any]) -> str:
    """Return the mode that settings are; "" if they are another pair."""
    if mapping(settings.get("collaborationMode")).get("mode") == PLAN:
        return PLAN
    policy = mapping(settings.get("sandboxPolicy") or settings.get("sandbox"))
    pair = (settings.get("approvalPolicy"), text(policy.get("type")))
    return next((mode for mode, (a, _, name) in _PAIRS.items() if (a, name) == pair), "")
