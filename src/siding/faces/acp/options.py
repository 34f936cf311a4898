"""What a client can choose of a session, as the protocol's options: mode, model and effort."""

from collections.abc import Mapping
from typing import Any

from siding.chat.choosable import Choice, Choosable
from siding.chat.talk import Talk

KINDS = ("mode", "model", "effort")
_ABOUT = {
    "mode": ("Mode", "mode"),
    "model": ("Model", "model"),
    "effort": ("Effort", "thought_level"),
}


def options_of(choosable: Choosable, talk: Talk, chosen: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the options of which a list is known, and what holds."""
    found = []
    for kind in KINDS:
        values, holds = choosable.values(kind, talk, chosen), getattr(talk, kind)
        if not (values and holds):
            continue
        now = choosable.now(kind, talk, chosen)
        listed = values if now else [Choice(holds), *values]
        name, category = _ABOUT[kind]
        about = {"id": kind, "name": name, "category": category, "type": "select"}
        choices = [{"value": each.value, "name": each.name or each.value} for each in listed]
        current = now.value if now else holds
        found.append({**about, "currentValue": current, "options": choices})
    return found
