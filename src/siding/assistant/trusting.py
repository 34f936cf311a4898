"""What the repository's settings of the built-in agent permit, and a person's trust in them.

A repository may be somebody else's: what it permits counts once a person has seen exactly that
(`siding trust`). What it forbids counts at once.
"""

import json

from siding.assistant.loop.settings.combining import as_document, widening
from siding.assistant.loop.settings.values import SettingsLayer
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.trust import AGENTS, add, trust_json, trusted_agents


class AskedOfAgent(NamedTuple):
    """What a repository's settings permit, a line for each."""

    layer: SettingsLayer
    lines: tuple[str, ...]
    trusted: bool


def asked_of_agent(project: Project, layer: SettingsLayer | None) -> AskedOfAgent | None:
    """Return what the repository's settings permit; None if that is nothing."""
    lines = [] if layer is None else widening(layer)
    if layer is None or not lines:
        return None
    trusted = _digest(layer) in trusted_agents(trust_json(project))
    return AskedOfAgent(layer, tuple(lines), trusted)


def trusted_layer(project: Project, layer: SettingsLayer | None) -> SettingsLayer | None:
    """Return the repository's layer, trusted if a person has trusted exactly this."""
    asked = asked_of_agent(project, layer)
    return layer if asked is None else asked.layer._replace(is_trusted=asked.trusted)


def trust_agent(project: Project, asked: AskedOfAgent) -> None:
    """Let the repository's settings count exactly as they were found."""
    add(project, AGENTS, _digest(asked.layer), {"asks": list(asked.lines)})


def _digest(layer: SettingsLayer) -> str:
    return sha256_hex(json.dumps(as_document(layer.said), sort_keys=True).encode())
