"""What an agent's tool does to files and to the network, without a shell in between."""

from enum import StrEnum

from siding.namedtuples import NamedTuple


class Effect(StrEnum):
    """What is done to a file, or with an address."""

    READS = "reads"
    WRITES = "writes"  # makes or changes it
    DELETES = "deletes"
    FETCHES = "fetches"  # from an address of the network


class Touch(NamedTuple):
    """One file or address, and what a tool does to it."""

    effect: Effect
    what: str  # a path, taken literally, or a URL


class ToolUse(NamedTuple):
    """One call of a tool. `name` is what its agent calls the tool."""

    name: str
    touches: tuple[Touch, ...]

    @property
    def text(self) -> str:
        """What a person reads: the tool and what it is used on."""
        return " ".join((self.name, *dict.fromkeys(each.what for each in self.touches)))
