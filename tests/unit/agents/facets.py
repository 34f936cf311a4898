"""All facets, as they are declared beside their ports."""

from typing import Any

from siding.agents import again, hooks, places, settings, wire
from siding.agents.facets import Facet
from siding.agents.headless import port as headless
from siding.agents.transcripts import counting as counting
from siding.agents.transcripts import homes, interchange, summaries

PORTS = (
    again,
    counting,
    headless,
    homes,
    hooks,
    interchange,
    places,
    wire,
    settings,
    summaries,
)
FACETS: tuple[Facet[Any], ...] = tuple(
    each for port in PORTS for each in vars(port).values() if isinstance(each, Facet)
)
