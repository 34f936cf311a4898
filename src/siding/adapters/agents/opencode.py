"""What opencode keeps in a home."""

from siding.process.sandbox.homes import AgentPlaces

PLACES = AgentPlaces(
    sessions=(".local/share/opencode",),
    writable=(".local/state/opencode",),
    private=(".config/opencode", ".opencode"),
)
