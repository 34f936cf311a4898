"""What Parrot keeps in a home, and which hosts it needs."""

from siding.agents.places import AgentPlaces, below

PLACES = AgentPlaces(
    sessions=(".parrot/sessions",),
    readable=below(".parrot", "settings.json", "PARROT.md"),
)
HOSTS = ("api.parrot.example",)
