"""Every agent Siding knows, by name: the only list of them.

`siding run` looks its command up here each time, so a row has only what any run may need. Whatever
else is known of an agent is in its folder, in one module for each facet (`facets`), which is loaded
when it is asked for. An agent of which no more than this is known has no folder.
"""

import os
from collections.abc import Sequence

from siding.ground.namedtuples import NamedTuple


class Agent(NamedTuple):
    """One agent."""

    name: str  # as a step's record and `--sandbox=NAME` have it
    programs: tuple[str, ...]  # the names of the programs that start it
    folder: str = ""  # beside this module; "" for none
    facets: tuple[str, ...] = ()  # the modules in its folder, each a facet (`facets`)
    title: str = ""  # what people call it, where `traps` are known
    obeys: tuple[str, ...] = ()  # what in a project steers it; a directory ends with "/"
    traps: str = ""  # patterns of files that it runs or goes by as it is started (`traps`)
    installed: tuple[str, ...] = ()  # where its programs are in a home, read-only for every run
    resumes: tuple[str, ...] = ()  # goes on with a conversation, whose id follows; () is not known
    # directories in a home in which its tools write for itself; {project} is a directory as it
    # names it there
    notes: tuple[str, ...] = ()
    # directories in a home with its settings, of an agent without `places`: a sandbox hides them
    keeps: tuple[str, ...] = ()
    models: tuple[str, ...] = ()  # how the names of models begin that are for it
    ports: tuple[int, ...] = ()  # of this machine at which its server obeys whoever asks
    acp: tuple[str, ...] = ()  # programs, and packages of them, by which it speaks ACP
    no_screen: tuple[str, ...] = ()  # words of its command line with which it draws no screen
    alone: tuple[str, ...] = ()  # words with which it does one thing and ends; () is not known
    # What it asks on its screen, once in each new directory, before it reports anything: whether
    # the person trusts what is there.
    trust: tuple[str, ...] = ()
    stays_root: bool = False  # believes files of root alone, so root is uid 0 in a sandbox as well


OWN = "siding-agent"  # the agent that comes with Siding
OUR_FORM = "claude"  # the agent in whose form Siding keeps conversations
ANY = "any"  # the name by which an agent reports that is not in the list

AGENTS = (
    Agent(
        name=OWN,
        programs=("siding-agent",),
        folder="own",
        facets=("places", "hooks", "headless", "talking"),
        no_screen=("-p", "--print"),
        resumes=("siding", "agent", "--resume"),
        # Its names of models begin with their provider.
        models=(
            *("anthropic:", "openai:", "openai-chat:", "google:", "gemini:", "bedrock:"),
            *("vertex:", "azure:", "local:", "ollama:", "scripted:"),
        ),
    ),
    Agent(
        name="claude",
        title="Claude Code",
        programs=("claude",),
        folder="claude",
        facets=(
            *("places", "hooks", "settings", "headless", "start_questions"),
            *("home", "lines", "interchange", "counting", "talking"),
        ),
        obeys=(".claude/", "CLAUDE.md"),
        traps=".claude/ CLAUDE{,.local}.md",
        installed=(".local/share/claude",),
        no_screen=("-p", "--print"),
        alone=("-p", "--print"),
        resumes=("claude", "--resume"),
        models=("claude", "opus", "sonnet", "haiku"),
        acp=("claude-code-acp", "claude-agent-acp"),
        trust=(
            "Is this a project you created or one you trust?",
            "Do you trust the files in this folder?",
        ),
        notes=(".claude/plans", ".claude/projects/{project}/memory"),
    ),
    Agent(
        name="codex",
        title="Codex",
        programs=("codex",),
        folder="codex",
        facets=(
            *("places", "hooks", "settings", "headless", "wire", "start_questions"),
            *("home", "lines", "interchange", "counting", "talking"),
        ),
        obeys=(".codex/",),
        traps=".codex/",
        no_screen=("exec", "e"),
        alone=("exec", "e", "review", "mcp"),
        resumes=("codex", "resume"),
        models=("gpt-", "codex-", "o3", "o4"),
        ports=(1455,),
        acp=("codex-acp",),
        trust=(
            "Trust this folder? Codex can read, edit",
            "Do you trust the contents of this directory?",
        ),
    ),
    Agent(
        name="gemini",
        title="Gemini CLI",
        programs=("gemini",),
        folder="gemini",
        facets=(
            *("places", "hooks", "settings", "headless", "talking", "wire", "start_questions"),
            *("home", "lines", "interchange", "counting"),
        ),
        obeys=(".gemini/", "GEMINI.md"),
        traps=".gemini/ GEMINI.md",
        no_screen=("-p", "--prompt"),
        alone=("-p", "--prompt"),
        resumes=("gemini", "--resume"),
        models=("gemini-",),
        trust=("Do you trust the files in this folder?", "Do you trust this folder?"),
        stays_root=True,
    ),
    Agent(
        name="qwen",
        title="Qwen Code",
        programs=("qwen",),
        folder="qwen",
        facets=("places", "talking"),
        obeys=(".qwen/",),
        traps=".qwen/ QWEN.md",
        alone=("-p", "--prompt"),
    ),
    Agent(
        name="aider",
        title="Aider",
        programs=("aider",),
        folder="aider",
        facets=("places", "hooks", "headless", "counting"),
        obeys=(".aider.conf.yml",),
        traps=".aider.conf.y{,a}ml .aider.model.settings.y{,a}ml",
        alone=("-m", "--message", "-f", "--message-file"),
    ),
    Agent(
        name="opencode",
        title="opencode",
        programs=("opencode",),
        folder="opencode",
        facets=("places", "hooks", "headless", "talking", "wire", "counting"),
        obeys=(".opencode/",),
        traps=".opencode/ opencode.json{,c}",
        installed=(".opencode/bin",),
        no_screen=("run",),
        alone=("run", "serve"),
        resumes=("opencode", "--session"),
        ports=(4096, 4097),
    ),
    Agent(
        name="crush",
        title="Crush",
        programs=("crush",),
        folder="crush",
        facets=("places",),
        obeys=(".crush/",),
        traps=".crush/ {,.}crush.json CRUSH.md",
        alone=("run",),
    ),
    Agent(
        name="goose",
        title="Goose",
        programs=("goose",),
        folder="goose",
        facets=("places",),
        obeys=(".goose/", ".goosehints"),
        traps=".goose/ .goosehints",
        alone=("run",),
    ),
    Agent(
        name="copilot",
        title="Copilot",
        programs=("copilot",),
        folder="copilot",
        facets=("places", "talking"),
        obeys=("COPILOT.md",),
        traps=".github/copilot-instructions.md .github/{agents,prompts}/",
        alone=("-p", "--prompt"),
    ),
    Agent(name="mini", programs=("mini", "mini-extra"), folder="mini", facets=("places",)),
    Agent(name="llm", programs=("llm",), folder="llm", facets=("places",)),
    Agent(
        name="pi",
        title="Pi",
        programs=("pi",),
        folder="pi",
        facets=("places",),
        obeys=(".pi/",),
        traps=".pi/",
        alone=("-p", "--print"),
    ),
    Agent(
        name="amp",
        title="Amp",
        programs=("amp",),
        traps=".amp/",
        keeps=(".config/amp", ".local/share/amp"),
        alone=("-x", "--execute"),
    ),
    Agent(name="auggie", programs=("auggie",), keeps=(".augment",), alone=("-p", "--print")),
    Agent(name="cline", programs=("cline",), keeps=(".cline",), alone=("-y", "--yolo", "--json")),
    Agent(
        name="cursor-agent",
        programs=("cursor-agent",),
        keeps=(".cursor", ".config/cursor"),
        alone=("-p", "--print"),
    ),
    Agent(
        name="droid",
        title="Factory",
        programs=("droid",),
        traps=".factory/",
        keeps=(".factory",),
        alone=("exec",),
    ),
    Agent(
        name="kimi",
        programs=("kimi",),
        obeys=(".kimi/",),
        keeps=(".kimi",),
        alone=("-p", "--print"),
    ),
    Agent(name="openhands", programs=("openhands",), keeps=(".openhands",), alone=("--headless",)),
)

BY_NAME: dict[str, Agent] = {}
BY_PROGRAM: dict[str, Agent] = {}
OBEYED: tuple[str, ...] = ()
PORTS: frozenset[int] = frozenset()
for _agent in AGENTS:  # four comprehensions would be four functions that every run loads
    BY_NAME[_agent.name] = _agent
    BY_PROGRAM |= dict.fromkeys(_agent.programs, _agent)
    OBEYED += _agent.obeys
    PORTS |= set(_agent.ports)


def agents_with(facet: str) -> tuple[str, ...]:
    """Return the names of the agents that have a facet, in the order of the table."""
    return tuple(agent.name for agent in AGENTS if facet in agent.facets)


def draws_no_screen(argv: Sequence[str]) -> bool:
    """Tell whether a command line starts an agent that prints lines, and draws no screen."""
    agent = BY_PROGRAM.get(argv[0].rpartition("/")[2])
    return agent is not None and bool(set(agent.no_screen) & set(argv[1:]))


def talks(argv: Sequence[str]) -> bool:
    """Tell whether a command is an agent that waits for what a person types.

    Of an agent whose words are not listed nobody knows, and it counts as one that does not.
    """
    agent = BY_PROGRAM.get(os.path.basename(argv[0]))
    if agent is None or not agent.alone:
        return False
    is_alone = False
    for word in argv[1:]:
        is_alone = is_alone or word.partition("=")[0] in agent.alone
    return not is_alone
