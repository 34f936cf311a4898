"""What Goose keeps in a home."""

from siding.agents.sandbox_homes import AgentPlaces

PLACES = AgentPlaces(
    sessions=(".local/share/goose",),
    writable=(".local/state/goose",),
    private=(".config/goose",),
)
