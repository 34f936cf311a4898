"""What the GitHub Copilot CLI keeps in a home, and which hosts it needs."""

from siding.agents.places import AgentPlaces, below

PLACES = AgentPlaces(
    sessions=(".copilot/session-state",),
    writable=below(".copilot", "history-session-state", "logs"),
    readable=below(".copilot", "mcp-config.json", "agents", "skills", "pkg"),
    copied=(".copilot/config.json",),
)
HOSTS = ("api.github.com", "*.githubcopilot.com")
