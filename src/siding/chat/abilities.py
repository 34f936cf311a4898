"""What can be asked of each agent in a conversation, in a person's words."""

from collections.abc import Iterator

from siding.agents.talking.port import TALKING, Abilities, Evidence
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple

# The fields of `Abilities`, in the order in which they are shown.
WORDS = {
    "steers": "takes a prompt into its turn",
    "stops": "is told to stop (else by a signal)",
    "asks": "asks before it uses a tool",
    "always": "is allowed something for good",
    "gives_reason": "hears why it may not",
    "questions": "puts questions of its own",
    "models": "changes its model",
    "modes": "changes its mode",
    "efforts": "changes its effort",
    "effort_variable": "has a variable that goes before",
    "pictures": "takes pictures",
    "commands": "lists its own commands",
    "compacts": "is told to compact",
    "goes_back": "goes back to before a prompt",
    "own_screen": "opens the same on its own screen",
    "evidence": "its record proves a prompt",
}
_EVIDENCE = {Evidence.ID: "by its id", Evidence.TEXT: "by its text", Evidence.NONE: "no"}


class Can(NamedTuple):
    """One agent and what it can."""

    agent: str
    abilities: Abilities

    def said(self, name: str) -> str:
        value = getattr(self.abilities, name)
        if isinstance(value, Evidence):
            return _EVIDENCE[value]
        return "yes" if value else "no"

    def as_record(self) -> dict[str, object]:
        fields = self.abilities._asdict()
        return {"agent": self.agent, **fields, "evidence": self.abilities.evidence.value}


def abilities_of(agent: str) -> Abilities:
    """Return what an agent can. Raises UsageError."""
    talking = TALKING.of(agent)
    if talking is None:
        raise UsageError(
            f"{agent!r} cannot be held in a conversation",
            hint=f"these can: {', '.join(TALKING.agents)}",
        )
    return talking.abilities


def all_abilities() -> list[Can]:
    """Return the agents that can be held, and what each can."""
    return [Can(agent, abilities_of(agent)) for agent in TALKING.agents]


def rows(agents: list[Can]) -> Iterator[tuple[str, ...]]:
    """Yield the table: an ability in words, and a cell for each agent."""
    for name, words in WORDS.items():
        yield (words, *(each.said(name) for each in agents))
