"""What the Codex CLI keeps in a home."""

from siding.process.sandbox.homes import AgentPlaces, below

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
