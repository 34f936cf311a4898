"""What aider keeps in a home."""

from siding.process.sandbox.homes import AgentPlaces, below

PLACES = AgentPlaces(
    writable=(".aider/caches",),
    readable=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"),
    copied=below(".aider", "analytics.json", "installs.json"),
)
