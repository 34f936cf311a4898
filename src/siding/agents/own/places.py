"""What Siding's own agent keeps in a home, and which hosts it needs."""

from siding.agents.places import AgentPlaces

# It reads what was written for Claude Code as well: instructions, and kinds of subagents.
OF_PERSON = ".claude/CLAUDE.md"
PRIVATE = "CLAUDE.local.md"  # git ignores it
INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md", OF_PERSON, PRIVATE)  # in each directory
SUBAGENTS = ".claude/agents"

PLACES = AgentPlaces(readable=(".config/siding", OF_PERSON, SUBAGENTS))
HOSTS = ()
