"""The agents that can be given one prompt, by name; those that are looked for first come first."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from siding.agents.siding_agent import NAME as OWN

if TYPE_CHECKING:
    from siding.agents.headless.port import Headless

# agent -> the module beside this one
_MODULES = {
    **{name: name for name in ("claude", "codex", "gemini", "opencode", "aider")},
    OWN: "siding_agent",
}

KNOWN = tuple(_MODULES)

_PROVIDERS = """
    anthropic openai openai-chat google gemini bedrock vertex azure local ollama scripted
""".split()

# Which agent a model is for, by how its name begins.
OF_MODEL: Mapping[str, str] = {
    "claude": "claude",
    "opus": "claude",
    "sonnet": "claude",
    "haiku": "claude",
    "gpt-": "codex",
    "codex-": "codex",
    "o3": "codex",
    "o4": "codex",
    "gemini-": "gemini",
    # Names of models as Siding's own agent has them: with their provider.
    **dict.fromkeys((f"{each}:" for each in _PROVIDERS), OWN),
}


def headless_of(name: str) -> "Headless":
    """Return the adapter of a known agent. Raises KeyError."""
    module = import_module(f"{__package__}.{_MODULES[name]}")
    headless: Headless = module.HEADLESS
    return headless
