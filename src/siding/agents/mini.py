"""What mini-swe-agent keeps in a home."""

from siding.agents.sandbox_homes import AgentPlaces

PLACES = AgentPlaces(
    private=(".config/mini-swe-agent",),
)
