"""What Siding's own agent keeps in a home, and which hosts it needs."""

from siding.agents.places import AgentPlaces

# Beside its own: instructions of the person, and the kinds of subagents that they have defined.
PLACES = AgentPlaces(readable=(".config/siding", ".claude/CLAUDE.md", ".claude/agents"))
HOSTS = ()
