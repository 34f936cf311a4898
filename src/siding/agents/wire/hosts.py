"""Which hosts agents and package managers need, for a sandbox's list (`sandbox.wire.hosts`).

A table and no code: these names change when the programs do.
"""

from collections.abc import Iterable, Mapping

_API_ANTHROPIC, _API_OPENAI = "api.anthropic.com", "api.openai.com"
_API_GEMINI = "generativelanguage.googleapis.com"
_APIS = (_API_ANTHROPIC, _API_OPENAI, _API_GEMINI, "openrouter.ai")

# What an agent needs for its model and to stay logged in; no telemetry, no updates.
OF_AGENTS: Mapping[str, tuple[str, ...]] = {
    "claude": (_API_ANTHROPIC, "platform.claude.com", "console.anthropic.com", "claude.ai"),
    "codex": (_API_OPENAI, "chatgpt.com", "auth.openai.com"),
    "gemini": (_API_GEMINI, "cloudcode-pa.googleapis.com", "oauth2.googleapis.com"),
    "qwen": ("dashscope.aliyuncs.com", "chat.qwen.ai", "portal.qwen.ai"),
    "aider": _APIS,
    "opencode": (*_APIS, "opencode.ai", "models.dev"),
    "crush": _APIS,
    "goose": _APIS,
    "copilot": ("api.github.com", "*.githubcopilot.com"),
    "mini": _APIS,
    "llm": _APIS,
}

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


def expanded(entries: Iterable[str]) -> tuple[str, ...]:
    """Return the entries of a list with the names of groups replaced by what they stand for."""
    found = (each for entry in entries for each in GROUPS.get(entry.strip(), (entry,)))
    return tuple(dict.fromkeys(found))


def needed_by(agent: str) -> tuple[str, ...]:
    """Return the entries that an agent needs; none for one that is not known."""
    return OF_AGENTS.get(agent, ())
