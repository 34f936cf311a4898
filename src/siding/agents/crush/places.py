"""What Crush keeps in a home, and which hosts it needs."""

from siding.agents.places import APIS, AgentPlaces

PLACES = AgentPlaces(
    sessions=(".local/share/crush",),
    private=(".config/crush",),
)
HOSTS = APIS
