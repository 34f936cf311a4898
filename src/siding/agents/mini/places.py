"""What mini-swe-agent keeps in a home, and which hosts it needs."""

from siding.agents.places import APIS, AgentPlaces

PLACES = AgentPlaces(
    private=(".config/mini-swe-agent",),
)
HOSTS = APIS
