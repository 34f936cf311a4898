"""All facets, as they are declared beside their ports."""

from typing import Any

from siding.agents import hooks, places, settings, start_questions, wire
from siding.agents.facets import Facet
from siding.agents.headless import port as headless
from siding.agents.talking import port as talking
from siding.agents.transcripts import counting, homes, interchange, summaries

PORTS = (
    counting,
    headless,
    homes,
    hooks,
    interchange,
    places,
    settings,
    start_questions,
    summaries,
    talking,
    wire,
)
FACETS: tuple[Facet[Any], ...] = tuple(
    each for port in PORTS for each in vars(port).values() if isinstance(each, Facet)
)
