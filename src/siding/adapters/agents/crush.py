"""What Crush keeps in a home."""

from siding.process.sandbox.homes import AgentPlaces

PLACES = AgentPlaces(
    sessions=(".local/share/crush",),
    private=(".config/crush",),
)
