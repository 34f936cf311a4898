"""Every agent Siding knows, by name: the only list of them.

`siding run` looks its command up here each time, so a row has only what any run may need. What an
agent keeps in a home is in a module of its own, which is loaded when a sandbox asks for it: to load
all of them takes 4.5 ms. An agent whose places are not known has a row and no module.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.agents.port import Adapter
    from siding.agents.sandbox_homes import AgentPlaces


class Agent(NamedTuple):
    """One agent."""

    name: str  # as a step's record and `--sandbox=NAME` have it
    programs: tuple[str, ...]  # the names of the programs that start it
    obeys: tuple[str, ...] = ()  # what in a project steers it; a directory ends with "/"
    module: str = ""  # the module beside this one with its places; "": none is known
    reports: bool = False  # the module has an adapter (`port`): the agent can report
    resumes: tuple[str, ...] = ()  # goes on with a conversation, whose id follows; () is not known
    # directories in a home in which its tools write for itself; {project} is a directory as it
    # names it there
    notes: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()  # of this machine at which its server obeys whoever asks
    acp: tuple[str, ...] = ()  # programs, and packages of them, by which it speaks ACP
    no_screen: tuple[str, ...] = ()  # words of its command line with which it draws no screen
    stays_root: bool = False  # believes files of root alone, so root is uid 0 in a sandbox as well


AGENTS = (
    Agent(
        name="siding-agent",
        programs=("siding-agent",),
        module="siding_agent",
        reports=True,
        no_screen=("-p", "--print"),
        resumes=("siding", "agent", "--resume"),
    ),
    Agent(
        name="claude",
        programs=("claude",),
        obeys=(".claude/", "CLAUDE.md"),
        module="claude",
        reports=True,
        no_screen=("-p", "--print"),
        resumes=("claude", "--resume"),
        acp=("claude-code-acp", "claude-agent-acp"),
        notes=(".claude/plans", ".claude/projects/{project}/memory"),
    ),
    Agent(
        name="codex",
        programs=("codex",),
        obeys=(".codex/",),
        module="codex",
        reports=True,
        no_screen=("exec", "e"),
        resumes=("codex", "resume"),
        ports=(1455,),
        acp=("codex-acp",),
    ),
    Agent(
        name="gemini",
        programs=("gemini",),
        obeys=(".gemini/", "GEMINI.md"),
        module="gemini",
        reports=True,
        no_screen=("-p", "--prompt"),
        resumes=("gemini", "--resume"),
        stays_root=True,
    ),
    Agent(name="qwen", programs=("qwen",), obeys=(".qwen/",), module="qwen"),
    Agent(
        name="aider",
        programs=("aider",),
        obeys=(".aider.conf.yml",),
        module="aider",
        reports=True,
    ),
    Agent(
        name="opencode",
        programs=("opencode",),
        obeys=(".opencode/",),
        module="opencode",
        reports=True,
        no_screen=("run",),
        resumes=("opencode", "--session"),
        ports=(4096, 4097),
    ),
    Agent(name="crush", programs=("crush",), obeys=(".crush/",), module="crush"),
    Agent(name="goose", programs=("goose",), obeys=(".goose/", ".goosehints"), module="goose"),
    Agent(name="copilot", programs=("copilot",), obeys=("COPILOT.md",), module="copilot"),
    Agent(name="mini", programs=("mini", "mini-extra"), module="mini"),
    Agent(name="llm", programs=("llm",), module="llm"),
    Agent(name="amp", programs=("amp",)),
    Agent(name="auggie", programs=("auggie",)),
    Agent(name="cursor-agent", programs=("cursor-agent",)),
    Agent(name="droid", programs=("droid",)),
    Agent(name="kimi", programs=("kimi",), obeys=(".kimi/",)),
    Agent(name="openhands", programs=("openhands",)),
)

ANY = "any"  # the name by which an agent reports that is not in the list

BY_NAME: Mapping[str, Agent] = {agent.name: agent for agent in AGENTS}
BY_PROGRAM: Mapping[str, Agent] = {program: agent for agent in AGENTS for program in agent.programs}
BY_ACP: Mapping[str, Agent] = {
    **BY_PROGRAM,
    **{program: agent for agent in AGENTS for program in agent.acp},
}
OBEYED = tuple(name for agent in AGENTS for name in agent.obeys)
PORTS = frozenset(port for agent in AGENTS for port in agent.ports)


def draws_no_screen(argv: Sequence[str]) -> bool:
    """Tell whether a command line starts an agent that prints lines, and draws no screen."""
    agent = BY_PROGRAM.get(argv[0].rpartition("/")[2])
    return agent is not None and bool(set(agent.no_screen) & set(argv[1:]))


def notes_of(name: str | None, workspace: str) -> tuple[str, ...]:
    """Return the directories in a home in which the tools of an agent write for itself."""
    agent = BY_NAME.get(name or "")
    project = "".join(each if each.isascii() and each.isalnum() else "-" for each in workspace)
    return tuple(each.format(project=project) for each in agent.notes) if agent else ()


def behind_acp(command: Sequence[str]) -> str:
    """Return the name of the agent that a command line starts to speak ACP; "" if none is known.

    It may be started by a launcher: `npx -y @zed-industries/claude-code-acp@0.4`.
    """
    for word in command:
        agent = BY_ACP.get(word.rpartition("/")[2].partition("@")[0])
        if agent is not None:
            return agent.name
    return ""


def places_of(agent: Agent) -> "AgentPlaces | None":
    """Return what an agent keeps in a home, None when that is not known."""
    if not agent.module:
        return None
    places: AgentPlaces = import_module(f"{__package__}.{agent.module}").PLACES
    return places


def adapter_of(name: str) -> "Adapter | None":
    """Return the adapter of the agent with this name, None if it cannot report or is not known."""
    agent = BY_NAME.get(name)
    module = "plain_words" if name == ANY else agent.module if agent and agent.reports else ""
    if not module:
        return None
    adapter: Adapter = import_module(f"{__package__}.{module}").ADAPTER
    return adapter
