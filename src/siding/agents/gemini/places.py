"""What the Gemini CLI keeps in a home, and which hosts it needs."""

from siding.agents.places import AgentPlaces, below

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
HOSTS = (
    "generativelanguage.googleapis.com",
    "cloudcode-pa.googleapis.com",
    "oauth2.googleapis.com",
)
