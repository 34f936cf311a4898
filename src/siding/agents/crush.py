"""What Crush keeps in a home."""

from siding.agents.sandbox_homes import AgentPlaces

PLACES = AgentPlaces(
    sessions=(".local/share/crush",),
    private=(".config/crush",),
)
