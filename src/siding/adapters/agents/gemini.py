"""What the Gemini CLI keeps in a home."""

from siding.process.sandbox.homes import AgentPlaces, below

PLACES = AgentPlaces(
    sessions=(".gemini/tmp",),
    writable=below(".gemini", "history", "oauth_creds.json", "google_accounts.json"),
    readable=below(
        ".gemini",
        "settings.json",
        "GEMINI.md",
        "commands",
        "extensions",
        "skills",
        "policies",
        ".env",
    ),
    copied=below(
        ".gemini", "state.json", "projects.json", "installation_id", "trustedFolders.json"
    ),
)
