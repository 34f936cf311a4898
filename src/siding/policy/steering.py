"""Files of a project that agents and tools obey when they start.

A change of such a file is a change of what may happen next.
"""

import re
from functools import cache

from siding.policy.names import ordered

# Read by agents of any kind, by editors that have one, and by tools; what a known agent reads
# beside it is told by `KnownAgents.obeyed`. A text named in capitals has variants:
# AGENTS.override.md, CLAUDE.local.md.
_BY_ANYBODY = ordered("""
    AGENTS.md CONVENTIONS.md SKILL.md
    .cursorrules .windsurfrules .clinerules .mcp.json .envrc
    .siding/ .cursor/ .windsurf/ .continue/ .cline/ .roo/ .husky/ .githooks/ .devcontainer/
""")
_ON_GITHUB = r"\.github/(?:copilot-instructions\.md|agents/)"
# Such a file anywhere below a directory whose name starts with a dot.
_BY_NAME = (
    r"(?:policy|policies|permissions?|hooks?|settings|tasks|launch|mcp|allow(?:list)?)"
    r"(?:\.[\w-]+)*\.(?:json|jsonc|ya?ml|toml)$"
)


def steers(within: str, obeyed: tuple[str, ...]) -> bool:
    """Return whether a file of the workspace steers an agent or a tool.

    `obeyed` are the names that known agents go by.
    """
    return bool(_pattern(obeyed).search(within)) or _steers_by_name(within)


@cache
def _pattern(obeyed: tuple[str, ...]) -> re.Pattern[str]:
    """Compiled when it is first used: many a command touches no file."""
    names = (*_BY_ANYBODY, *obeyed)
    texts = [name.removesuffix(".md") for name in names if name.endswith(".md")]
    directories = [name.removesuffix("/") for name in names if name.endswith("/")]
    files = [name for name in names if not name.endswith((".md", "/"))]
    return re.compile(
        rf"(?:^|/)(?:(?:{_any_of(texts)})\.(?:md|local\.md|override\.md)$"
        rf"|(?:{_any_of(files)})$|(?:{_any_of(directories)})(?:/|$)|{_ON_GITHUB})"
    )


def _any_of(names: list[str]) -> str:
    return "|".join(map(re.escape, names))


def _steers_by_name(within: str) -> bool:
    *directories, name = within.split("/")
    if not re.match(_BY_NAME, name):
        return False
    for directory in reversed(directories):
        if re.fullmatch(r"\.[\w-]+", directory):
            return True
        if not re.fullmatch(r"[\w.-]+", directory):
            return False
    return False
