"""What the Codex CLI keeps in a home, and which hosts it needs."""

from siding.agents.places import AgentPlaces, below

PLACES = AgentPlaces(
    sessions=(".codex/sessions",),
    writable=below(".codex", "archived_sessions", "log", "auth.json", "history.jsonl"),
    readable=below(
        ".codex",
        "config.toml",
        "AGENTS.md",
        "prompts",
        "skills",
        "rules",
        "plugins",
        "packages",
    ),
    copied=below(".codex", "version.json", "models_cache.json", "installation_id"),
)
HOSTS = ("api.openai.com", "chatgpt.com", "auth.openai.com")
