"""What can be asked of each agent in a conversation, in a person's words."""

import shutil
from collections.abc import Iterator, Mapping

from siding.agents.table import BY_NAME, OWN
from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.any_program import ANY_PROGRAM, talking_of
from siding.agents.talking.port import TALKING
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
    "effort_variable": "takes its effort from a variable first",
    "pictures": "takes pictures",
    "commands": "lists its own commands",
    "compacts": "is told to compact",
    "remembers": "goes on after its end with what was said",
    "takes_news": "is told what was taken back",
    "goes_back": "goes back to before a prompt",
    "own_screen": "opens the same on its own screen",
    "servers": "is given MCP servers of an editor",
    "web_servers": "and those over http",
    "evidence": "its record proves a prompt",
}
_EVIDENCE = {Evidence.ID: "by its id", Evidence.TEXT: "by its text", Evidence.NONE: "no"}


# Words for an effort that agents have. Any other one is passed on: the agent says what holds then.
EFFORTS = ("low", "medium", "high", "xhigh", "max")


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
    talking = talking_of(agent)
    if talking is None:
        raise UsageError(
            f"{agent!r} cannot be held in a conversation",
            hint=f"these can: {', '.join(TALKING.agents)}",
        )
    return talking.abilities


def all_abilities() -> list[Can]:
    """Return the agents that can be held, and what each can; last what any program can."""
    agents = [Can(agent, abilities_of(agent)) for agent in TALKING.agents]
    return [*agents, Can("-- PROGRAM", ANY_PROGRAM.abilities)]


def installed_here(env: Mapping[str, str]) -> list[str]:
    """Return the agents that can be held and whose programs are on the path; ours always is."""
    path = env.get("PATH", "")
    return [
        agent
        for agent in TALKING.agents
        if agent == OWN or any(shutil.which(each, path=path) for each in BY_NAME[agent].programs)
    ]


def rows(agents: list[Can]) -> Iterator[tuple[str, ...]]:
    """Yield the table: an ability in words, and a cell for each agent."""
    for name, words in WORDS.items():
        yield (words, *(each.said(name) for each in agents))
