"""What a run is to do, what it does it with, and what counts of its record when it is resumed.

Scripts that it calls and that were edited since do not count.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.workflows.child.past import fingerprint
from siding.workflows.engine.ports import Agents, People, ScriptProcess, Sources, Workspaces
from siding.workflows.errors import BadResume, WorkflowNotFound
from siding.workflows.events import Emit
from siding.workflows.journal import Recorded
from siding.workflows.limits import MAX_AGENT_ID, Limits, Retrying
from siding.workflows.script import Script

EDITED = "edited"


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


# -- What a run is to do, and what it does it with -------------------------------------------------


class RunPlan(NamedTuple):
    """One run, or its resumption: then the journal has what it did before.

    `retries_script` lets a script whose process died run once more from its record. `keeps_dead`
    makes no agent again that gave no result. `answered` are the calls, path and name, that were
    seen to be answered: without them the journal is damaged, unless the run `accepts_losses`.
    """

    script: Script
    journal: Path
    args: Any = None
    name: str = ""
    limits: Limits = Limits()
    retrying: Retrying = Retrying()
    policy: Policy = Policy()
    retries_script: bool = True
    script_silence_s: float = 120.0
    keeps_dead: bool = False
    answered: tuple[tuple[str, str], ...] = ()
    accepts_losses: bool = False

    @property
    def shown_name(self) -> str:
        """The name that was given, else the script's own."""
        return self.name or (self.script.meta.name if self.script.meta else "workflow")

    @property
    def args_hash(self) -> str:
        """The hash of the arguments. Raises TypeError and ValueError for what JSON cannot hold."""
        return fingerprint("args", {"args": self.args})

    @property
    def script_hash(self) -> str:
        return sha256_hex(self.script.source.encode())

    @property
    def key(self) -> str:
        """What makes two attempts the same; see `AttemptLine.key`."""
        return f"{self.script_hash} {self.args_hash}"

    def is_same_script(self, recorded: Recorded) -> bool:
        """Tell whether the run did the same before, so that every call must be the same again."""
        if not recorded.attempts:
            return False
        return recorded.attempts[-1].key == self.key


class Ports(NamedTuple):
    """The world of a run. `now` is in seconds since 1970, `random` from 0 to 1."""

    agents: Agents
    people: People
    workspaces: Workspaces
    sources: Sources
    start_script: Callable[[], ScriptProcess]
    emit: Emit
    now: Callable[[], float]
    random: Callable[[], float]
    stamp: Callable[[], str]  # the time as records have it


def source_of(sources: Sources, asked: Mapping[str, Any]) -> str:
    """Return the source that a call of `workflow` asks for. Raises WorkflowNotFound."""
    return sources.named(asked["name"]) if "name" in asked else sources.at(asked["script_path"])


def without_edited(recorded: Recorded, sources: Sources) -> Recorded:
    """Return the record in which each call of a workflow that was edited is to be made again.

    What such a workflow called is compared call by call, as in an edited script. One that is no
    longer found is run as it was recorded.
    """
    answers, scripts = dict(recorded.answers), dict(recorded.scripts)
    for path, answer in recorded.answers.items():
        if answer.kind != "workflow" or answer.outcome != "ok":
            continue
        try:
            source = source_of(sources, answer.result["asked"])
        except (WorkflowNotFound, KeyError):
            continue
        if source == answer.result["output"]:
            continue
        answers[path] = answer._replace(result={"kind": EDITED})
        scripts.update(dict.fromkeys(_within(path, scripts), ""))
    return recorded._replace(answers=answers, scripts=scripts)


def _within(path: str, paths: Mapping[str, str]) -> list[str]:
    return [one for one in paths if one.startswith(f"{path}.w/")]
