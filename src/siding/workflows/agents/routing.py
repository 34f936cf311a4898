"""Which agent a call goes to: by its `agent_type`, else by its model, else the one that is set."""

from collections.abc import Callable
from importlib.util import find_spec

from siding.agents.headless import command
from siding.agents.headless.command import HEADLESS as OF_COMMAND
from siding.agents.headless.command import WITH_EVENTS, AcpHeadless, behind_acp
from siding.agents.headless.port import HEADLESS, Headless
from siding.agents.table import AGENTS, BY_NAME, OWN
from siding.ground.namedtuples import NamedTuple
from siding.workflows.agents.settings import (
    ACP,
    COMMAND,
    SCRIPTED,
    AgentSettings,
    Prints,
    WorkflowAgents,
)
from siding.workflows.calls import AgentCall
from siding.workflows.engine.ports import AgentUnavailable

# The agents that can be given one prompt. Looked for first are those that go on with conversations;
# Siding's own, which is always there, is the last one.
KNOWN = tuple(sorted(HEADLESS.agents, key=lambda name: (name == OWN, not BY_NAME[name].resumes)))
# Which agent a model is for, by how its name begins.
OF_MODEL = {start: agent.name for agent in AGENTS for start in agent.models}

_WHERE = "`workflows.agents` in the settings; docs/workflow-agents.md"


class Route(NamedTuple):
    """The agent of a call, and how its command line begins."""

    settings: AgentSettings
    headless: Headless
    program: tuple[str, ...]

    @property
    def agent(self) -> str:
        """The agent behind a bridge: its own program is not the run's."""
        return behind_acp(self.program) if self.settings.agent == ACP else ""

    @property
    def reads(self) -> tuple[str, ...]:
        """What it has to read besides its workspace, also in a sandbox."""
        return (self.settings.answers,) if self.settings.answers else ()


class Routing:
    """The agents that there are.

    `installed` tells whether a program is there; `is_judged` whether a policy judges the commands
    that an agent asks for.
    """

    def __init__(
        self, known: WorkflowAgents, *, installed: Callable[[str], bool], is_judged: bool
    ) -> None:
        self.known = known
        self._installed = installed
        self._is_judged = is_judged

    @property
    def there(self) -> list[str]:
        """The names of all agents that a call can ask for."""
        own = self.known.agents
        return [*own, *(each for each in KNOWN if each not in own and self._is_installed(each))]

    def of(self, call: AgentCall) -> Route:
        """Return the agent of a call. Raises AgentUnavailable, which says what there is."""
        if call.agent_type:
            return self._named(call.agent_type)
        rules = [*self.known.of_model.items(), *OF_MODEL.items()]
        there = self.there
        for start, name in rules:
            # A rule for an agent that is not here does not count.
            if call.model.startswith(start) and name in there and call.model:
                return self._named(name)
        # The own agent is always installed: it is for who has no other one.
        others = [each for each in there if each != OWN or each in self.known.agents]
        default = self.known.default or next((each for each in KNOWN if each in others), "")
        if default or len(others) == 1:
            return self._named(default or others[0])
        if not others and there:
            return self._named(OWN)
        if others:
            raise AgentUnavailable(
                f"`workflows.agent` in the settings does not say which is for calls that name none:"
                f" {', '.join(others)} (docs/workflow-agents.md)"
            )
        raise AgentUnavailable(f"no agent is installed: {', '.join(KNOWN)}, or one of {_WHERE}")

    def _named(self, name: str) -> Route:
        settings = self.known.agents.get(name)
        if settings is None and name not in KNOWN:
            there = ", ".join(self.there) or "none"
            raise AgentUnavailable(f"there is no agent {name!r}; there is {there} ({_WHERE})")
        found = self._route(settings or AgentSettings(name=name, agent=name))
        if not self._installed(found.program[0]):
            program = found.program[0]
            raise AgentUnavailable(f"agent {name!r} cannot run: {program!r} is not installed")
        return found

    def _route(self, settings: AgentSettings) -> Route:
        headless, program = self._headless(settings), settings.command
        if settings.agent == SCRIPTED:
            program = command.scripted_command(settings.answers)
        elif settings.agent in KNOWN:
            program = program or BY_NAME[settings.agent].programs[:1]
        return Route(settings=settings, headless=headless, program=program)

    def _headless(self, settings: AgentSettings) -> Headless:
        kind = settings.agent
        known = HEADLESS.of(kind)
        if known is not None:
            return known
        if kind == SCRIPTED:
            return command.SCRIPTED
        if kind == COMMAND:
            return WITH_EVENTS if settings.prints is Prints.EVENTS else OF_COMMAND
        if kind != ACP:
            there = ", ".join((*KNOWN, ACP, SCRIPTED, COMMAND))
            raise AgentUnavailable(
                f"agent {settings.name!r} is set to be {kind!r}, which is none of {there}"
            )
        if find_spec("acp") is None:
            raise AgentUnavailable(
                f"agent {settings.name!r} speaks ACP, and the library for it is not installed:"
                " pip install 'siding[acp]'"
            )
        return AcpHeadless(is_judged=self._is_judged)

    def _is_installed(self, name: str) -> bool:
        return self._installed(BY_NAME[name].programs[0])
