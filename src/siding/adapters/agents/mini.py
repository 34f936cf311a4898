"""What mini-swe-agent keeps in a home."""

from siding.process.sandbox.homes import AgentPlaces

PLACES = AgentPlaces(
    private=(".config/mini-swe-agent",),
)
