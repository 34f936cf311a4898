"""Names of models: ``provider:name``, or the name alone where its family says whose it is. Pure."""

from siding.assistant.loop.model import ModelError, Trouble
from siding.ground.namedtuples import NamedTuple

# family -> provider, by how a name begins
_FAMILIES = (
    ("claude", "anthropic"),
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("codex-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "google"),
)
_ALIASES = {"gemini": "google", "openai-responses": "openai", "ollama": "local"}


class Named(NamedTuple):
    """A model of a provider."""

    provider: str
    name: str


def named(model: str, providers: frozenset[str]) -> Named:
    """Return whose model a name means. Raises ModelError if nobody's.

    A name may have colons of its own (``local:qwen3:8b``).
    """
    provider, colon, name = model.partition(":")
    provider = _ALIASES.get(provider, provider)
    if colon and provider in providers:
        if name:
            return Named(provider, name)
        raise ModelError(Trouble.SETUP, f"{model!r} names no model", hint=f"write {provider}:NAME")
    for beginning, owner in _FAMILIES:
        if model.startswith(beginning):
            return Named(owner, model)
    raise ModelError(
        Trouble.SETUP,
        f"it is not known whose model {model!r} is",
        hint=f"write PROVIDER:NAME; providers are {', '.join(sorted(providers))}",
    )
