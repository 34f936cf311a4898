"""How a run is resumed: what of its record counts."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.workflows.errors import BadResume
from siding.workflows.limits import MAX_AGENT_ID


class Scope(StrEnum):
    """Which agents are run again though their result is recorded."""

    CHECKPOINT = "checkpoint"  # those that failed
    ALL = "all"
    RANGE = "range"
    AGENTS = "agents"


class Policy(NamedTuple):
    """Which agents are run again: those that failed always are."""

    scope: Scope = Scope.CHECKPOINT
    first: int = 0
    last: int = -1
    agents: tuple[int, ...] = ()

    @property
    def is_selective(self) -> bool:
        """Whether single agents are chosen."""
        return self.scope in {Scope.RANGE, Scope.AGENTS}

    def selected(self) -> frozenset[int]:
        """Return the ids of the agents that are chosen."""
        if self.scope is Scope.RANGE:
            return frozenset(range(self.first, self.last + 1))
        return frozenset(self.agents)

    def as_message(self) -> dict[str, Any]:
        """Return it for the process of the script."""
        return {
            "scope": str(self.scope),
            "from": self.first,
            "to": self.last,
            "agents": list(self.agents),
        }


def policy_from(record: Mapping[str, Any]) -> Policy:
    """Read ``{"scope": …}`` with ``fromAgentId``, ``toAgentId``, ``agentIds``. Raises BadResume."""
    scope = record.get("scope", "checkpoint")
    keys = {"range": {"fromAgentId", "toAgentId"}, "agents": {"agentIds"}}.get(str(scope), set())
    if scope not in set(Scope):
        raise BadResume(f"no such scope: {scope!r}", hint=f"it is one of {', '.join(Scope)}")
    if set(record) - {"scope"} != keys:
        raise BadResume(
            f"a policy of scope {scope!r} has exactly: {sorted(keys) or 'nothing more'}"
        )
    if scope == "range":
        return agent_range(record["fromAgentId"], record["toAgentId"])
    if scope == "agents":
        return chosen_agents(record["agentIds"])
    return Policy(scope=Scope(scope))


def agent_range(first: Any, last: Any) -> Policy:
    """Return the policy that runs a range of agents again. Raises BadResume."""
    _refuse_ids([first, last])
    if first > last:
        raise BadResume(f"the range {first}-{last} is empty: its first id is behind its last")
    return Policy(scope=Scope.RANGE, first=first, last=last)


def chosen_agents(agents: Any) -> Policy:
    """Return the policy that runs some agents again. Raises BadResume."""
    if not isinstance(agents, list | tuple) or not agents:
        raise BadResume("the ids of the agents to run again are a list, and not an empty one")
    _refuse_ids(agents)
    if len(set(agents)) != len(agents):
        raise BadResume("the ids of the agents to run again must be unique")
    return Policy(scope=Scope.AGENTS, agents=tuple(agents))


def _refuse_ids(ids: Any) -> None:
    for one in ids:
        if not isinstance(one, int) or isinstance(one, bool) or not 0 <= one <= MAX_AGENT_ID:
            raise BadResume(f"{one!r} is no id of an agent: they are 0 to {MAX_AGENT_ID}")
