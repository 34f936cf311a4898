"""What opencode keeps in a home, and which hosts it needs."""

from siding.agents.places import APIS, AgentPlaces

PLACES = AgentPlaces(
    sessions=(".local/share/opencode",),
    writable=(".local/state/opencode",),
    private=(".config/opencode", ".opencode"),  # 1.18 ends if it cannot write there
)
HOSTS = (*APIS, "opencode.ai", "models.dev")
