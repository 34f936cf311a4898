"""What aider keeps in a home, and which hosts it needs."""

from siding.agents.places import APIS, AgentPlaces, below

PLACES = AgentPlaces(
    writable=(".aider/caches",),
    readable=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"),
    copied=below(".aider", "analytics.json", "installs.json"),
)
HOSTS = APIS
