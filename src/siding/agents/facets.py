"""A facet of an agent: something that may be known of it, in a module of its folder.

Each facet is declared beside its port, which says what its value has to be:

    places, with HOSTS      what of a home a run in a sandbox may have, and which hosts it needs
    hooks                   how it reports its turns, and its tools before they run
    settings                a person's own settings, in which it is told to report for good
    headless, with again    how it is given one prompt, and what its output says; how it is given a
                            prompt once more (`headless.port`)
    wire                    how its requests are sent elsewhere (`agents.wire`)
    home                    where it keeps its conversations (`transcripts.homes`)
    lines                   what their lines say (`transcripts.summaries`)
    talking                 how it is held over its own protocol (`agents.talking.port`)
    interchange             how they are taken over and given out (`transcripts.interchange`)
    start_questions         what it asks before it can report (`agents.start_questions`)
    counting                what they have used (`transcripts.counting`)

A module is loaded when its facet is asked for, and no sooner: to load all of them takes more time
than most commands do. `tests/unit/agents/test_facets.py` holds each agent of the table to the
ports.
"""

from importlib import import_module
from typing import Generic, TypeVar

from siding.agents.table import BY_NAME, agents_with

T = TypeVar("T")


class Facet(Generic[T]):
    """One facet: the value of a name, in a module of a name, in the folder of each agent."""

    def __init__(self, module: str, value: str) -> None:
        self.module = module
        self.value = value

    def of(self, agent: str) -> T | None:
        """Return what is known of the agent of this name; None if it is not known."""
        row = BY_NAME.get(agent)
        if row is None or self.module not in row.facets:
            return None
        found: T = getattr(import_module(f"{__package__}.{row.folder}.{self.module}"), self.value)
        return found

    @property
    def agents(self) -> tuple[str, ...]:
        """The names of the agents that have this facet, in the order of the table."""
        return agents_with(self.module)
