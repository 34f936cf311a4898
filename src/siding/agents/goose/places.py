"""What Goose keeps in a home, and which hosts it needs."""

from siding.agents.places import APIS, AgentPlaces

PLACES = AgentPlaces(
    sessions=(".local/share/goose",),
    writable=(".local/state/goose",),
    private=(".config/goose",),
)
HOSTS = APIS
