"""What Pi keeps in a home, and which hosts it needs."""

from siding.agents.places import APIS, AgentPlaces

# Its settings and keys may name commands to run, and lie among files that it rewrites.
PLACES = AgentPlaces(
    sessions=(".pi/agent/sessions",),
    private=(".pi/agent",),
)
HOSTS = (*APIS, "platform.claude.com", "auth.openai.com", "chatgpt.com", "pi.dev")
