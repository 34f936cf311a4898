"""What opencode keeps in a home, and which hosts it needs."""

from siding.agents.places import APIS, AgentPlaces

PLACES = AgentPlaces(
    sessions=(".local/share/opencode",),
    writable=(".local/state/opencode",),
    private=(".config/opencode", ".opencode"),
)
HOSTS = (*APIS, "opencode.ai", "models.dev")
