"""What Claude Code keeps in a home, and which hosts it needs."""

from siding.agents.places import AgentPlaces, below

PLACES = AgentPlaces(
    sessions=(".claude/projects",),
    writable=below(
        ".claude",
        "todos",
        "tasks",
        "plans",
        "sessions",
        "file-history",
        "shell-snapshots",
        "session-env",
        "paste-cache",
        "statsig",
        "debug",
        ".credentials.json",
        "history.jsonl",
    ),
    readable=below(
        ".claude",
        "settings.json",
        "settings.local.json",
        "CLAUDE.md",
        "agents",
        "commands",
        "skills",
        "plugins",
        "hooks",
        "rules",
        "output-styles",
        "keybindings.json",
        "local",
    ),
    copied=(".claude.json",),
)
HOSTS = ("api.anthropic.com", "platform.claude.com", "console.anthropic.com", "claude.ai")
