"""What of a home a run may have: programs, git's settings, and the places of one agent.

Only what is listed exists for the run; whatever else it writes into its home is gone afterwards.
Settings, hooks, plugins and instructions are never writable: they would make the agent's next run,
outside, do something.

`places` in an agent's folder has its ``PLACES``, and the ``HOSTS`` that it needs for its model and
to stay logged in: no telemetry, no updates. Which hosts package managers need is here (`GROUPS`):
names for a sandbox's list of hosts, which change when the programs do.
"""

from collections.abc import Iterable, Mapping

from siding.agents.facets import Facet
from siding.agents.table import AGENTS, BY_NAME
from siding.ground.namedtuples import NamedTuple

HOSTS: Facet[tuple[str, ...]] = Facet("places", "HOSTS")
# Where programs are kept below a home: read-only, in every profile. Never a directory that also
# holds credentials (~/.cargo, ~/.config).
TOOLS = (
    *"""
    .local/bin .local/lib .local/pipx .local/share/uv .local/share/pipx .local/share/pnpm
    .local/share/fnm .local/share/mise .nvm .volta .bun/bin .deno/bin .pyenv
    .rbenv .asdf .sdkman .rustup .cargo/bin .cargo/env go/bin .npm-global .nix-profile
    .juliaup .ghcup/bin .dotnet miniconda3 miniforge3 mambaforge anaconda3
    """.split(),
    *(name for agent in AGENTS for name in agent.installed),
)
# git's settings: who commits. Not ~/.config/git as a whole, which may hold credentials.
GIT_SETTINGS = (
    ".gitconfig",
    ".config/git/config",
    ".config/git/ignore",
    ".config/git/attributes",
)
# The hosts of the models that agents for several vendors can be told to use.
APIS = (
    "api.anthropic.com",
    "api.openai.com",
    "generativelanguage.googleapis.com",
    "openrouter.ai",
)
# Names that stand for what a package manager needs.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "pip": ("pypi.org", "files.pythonhosted.org"),
    "uv": ("pypi.org", "files.pythonhosted.org"),
    "npm": ("registry.npmjs.org",),
    "yarn": ("registry.yarnpkg.com", "registry.npmjs.org"),
    "cargo": ("index.crates.io", "static.crates.io", "crates.io"),
    "go": ("proxy.golang.org", "sum.golang.org"),
    "maven": ("repo.maven.apache.org", "repo1.maven.org"),
    "gem": ("rubygems.org", "index.rubygems.org"),
    "debian": ("deb.debian.org", "security.debian.org"),
    "ubuntu": ("*.archive.ubuntu.com", "archive.ubuntu.com", "security.ubuntu.com"),
    "github": ("github.com", "api.github.com", "codeload.github.com", "*.githubusercontent.com"),
}


class AgentPlaces(NamedTuple):
    """What one agent keeps in a home, by what a run may do with it: paths relative to the home.

    ``sessions`` are directories of conversations, writable, and made where they are missing: what
    is said in an agent's first run must not go with its private home. ``private`` are directories
    of settings that an agent also writes into, maybe when it starts: it has one of its own, with
    copies of the files that are there, and their directories to read. ``copied`` are files that an
    agent rewrites as a whole and that name programs to start: it gets a copy of its own.
    """

    sessions: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()


PLACES: Facet[AgentPlaces] = Facet("places", "PLACES")


def below(directory: str, *names: str) -> tuple[str, ...]:
    """Return the paths of files or directories that lie in one directory."""
    return tuple(f"{directory}/{name}" for name in names)


def notes_of(name: str | None, workspace: str) -> tuple[str, ...]:
    """Return the directories in a home in which the tools of an agent write for itself."""
    agent = BY_NAME.get(name or "")
    project = "".join(each if each.isascii() and each.isalnum() else "-" for each in workspace)
    return tuple(each.format(project=project) for each in agent.notes) if agent else ()


def expanded(entries: Iterable[str]) -> tuple[str, ...]:
    """Return the entries of a list with the names of groups replaced by what they stand for."""
    found = (each for entry in entries for each in GROUPS.get(entry.strip(), (entry,)))
    return tuple(dict.fromkeys(found))
