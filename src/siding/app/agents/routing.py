"""Which agent a call goes to: by its `agent_type`, else by its model, else the one that is set."""

from collections.abc import Callable

from siding.adapters.agents.headless.command import HEADLESS as OF_COMMAND
from siding.adapters.agents.headless.command import WITH_EVENTS
from siding.adapters.agents.headless.known import KNOWN, OF_MODEL, headless_of
from siding.adapters.agents.headless.port import Headless
from siding.adapters.agents.table import BY_NAME
from siding.app.agents.settings import (
    ACP,
    COMMAND,
    SCRIPTED,
    AgentSettings,
    Prints,
    WorkflowAgents,
)
from siding.namedtuples import NamedTuple
from siding.workflows.calls import AgentCall
from siding.workflows.engine.ports import AgentUnavailable

IsInstalled = Callable[[str], bool]  # by the name of a program


class Route(NamedTuple):
    """The agent of a call, and how its command line begins."""

    settings: AgentSettings
    headless: Headless
    program: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.settings.name


def route(known: WorkflowAgents, call: AgentCall, installed: IsInstalled) -> Route:
    """Return the agent of a call. Raises AgentUnavailable, which says what there is."""
    if call.agent_type:
        return _named(known, call.agent_type, installed)
    for name in _of_model(known, call.model):
        if _is_there(known, name, installed):
            return _named(known, name, installed)
    if known.default:
        return _named(known, known.default, installed)
    for name in KNOWN:
        if installed(_program_of(name)):
            return _named(known, name, installed)
    raise AgentUnavailable(
        f"no agent is installed: Siding looks for {', '.join(KNOWN)}, and for those of"
        " `workflows.agents` in the settings (docs/workflow-agents.md)"
    )


def _of_model(known: WorkflowAgents, model: str) -> list[str]:
    """Return the agents for a model, those that the person has set first."""
    rules = [*known.of_model.items(), *OF_MODEL.items()]
    return [name for start, name in rules if model and model.startswith(start)]


def _is_there(known: WorkflowAgents, name: str, installed: IsInstalled) -> bool:
    return name in known.agents or (name in KNOWN and installed(_program_of(name)))


def _named(known: WorkflowAgents, name: str, installed: IsInstalled) -> Route:
    settings = known.agents.get(name)
    if settings is None and name not in KNOWN:
        there = [*known.agents, *(each for each in KNOWN if installed(_program_of(each)))]
        raise AgentUnavailable(
            f"there is no agent {name!r}; there is {', '.join(there) or 'none'}"
            " (`workflows.agents` in the settings)"
        )
    if settings is None:
        settings = AgentSettings(name=name, agent=name)
    found = _route(settings)
    if not installed(found.program[0]):
        raise AgentUnavailable(f"agent {name!r} cannot run: {found.program[0]!r} is not installed")
    return found


def _route(settings: AgentSettings) -> Route:
    match settings.agent:
        case kind if kind in (ACP, SCRIPTED):
            raise AgentUnavailable(f"{kind} agents are not there yet")
        case kind if kind == COMMAND:
            headless = WITH_EVENTS if settings.prints is Prints.EVENTS else OF_COMMAND
            return Route(settings=settings, headless=headless, program=settings.command)
        case kind if kind in KNOWN:
            program = settings.command or (_program_of(kind),)
            return Route(settings=settings, headless=headless_of(kind), program=program)
        case kind:
            there = ", ".join((*KNOWN, ACP, SCRIPTED, COMMAND))
            raise AgentUnavailable(
                f"agent {settings.name!r} is set to be {kind!r}, which is not known: {there} are"
            )


def _program_of(name: str) -> str:
    return BY_NAME[name].programs[0]
