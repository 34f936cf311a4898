"""The variables of the environment that the built-in agent reads, and whether they are set."""

import re
from collections.abc import Iterator, Mapping

from siding.agents.own.hooks import VARIABLE as TOLD
from siding.agents.own.providers import PROVIDERS
from siding.assistant.loop.effort import VARIABLE as EFFORT
from siding.assistant.starting import MODEL_VARIABLE
from siding.assistant.tools.search.choosing import VARIABLE as RIPGREP
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker.place import SOCKET_VARIABLE
from siding.ground.process.command import TOKEN_VARIABLE

_USER_INFO = re.compile(r"(?<=//)[^/@\s]*@")
_QUERY = re.compile(r"\?.*", re.DOTALL)
_CACHING = "DISABLE_PROMPT_CACHING"
_PLAIN = (
    (MODEL_VARIABLE, "the model, where none is named"),
    (EFFORT, "the effort, before the settings"),
    (_CACHING, "1: providers are not asked to keep prompts"),
    *(
        (f"{_CACHING}_{each}", f"the same for {each.title()}")
        for each in ("HAIKU", "SONNET", "OPUS")
    ),
    (RIPGREP, "0: the system's ripgrep comes first"),
    ("OPENAI_API_VERSION", "azure: the version of older resources"),
    ("ANTHROPIC_VERTEX_PROJECT_ID", "vertex: the project"),
    ("GOOGLE_CLOUD_PROJECT", "vertex: the project"),
    ("CLOUD_ML_REGION", "vertex: the region"),
    ("GOOGLE_CLOUD_LOCATION", "vertex: the region"),
    ("SSL_CERT_FILE", "certificates for what WebFetch fetches"),
    ("SIDING_HOME", "where Siding keeps everything"),
    ("XDG_CONFIG_HOME", "where your AGENTS.md is"),
    ("SIDING_WORKSPACE", "within a run: its workspace"),
    (SOCKET_VARIABLE, "within a run: its broker"),
)
_SECRET = (
    ("ANTHROPIC_VERTEX_ACCESS_TOKEN", "vertex: a token for a gateway"),
    (TOKEN_VARIABLE, "within a run: the step that it belongs to"),
    (TOLD, "within a run: what the agent was told"),
)


class AgentVariable(NamedTuple):
    """A variable. `value` is "" for one that is not set, and for a secret."""

    name: str
    about: str
    is_set: bool
    is_secret: bool
    value: str


def variables(env: Mapping[str, str]) -> list[AgentVariable]:
    """Return all variables that the agent reads."""
    return [_variable(*each, env) for each in _known()]


def shown_address(text: str) -> str:
    """Return an address without a password and without a query, which may hold a key."""
    return _QUERY.sub("?…", _USER_INFO.sub("…@", text))


def _known() -> Iterator[tuple[str, str, bool]]:
    yield from ((name, about, False) for name, about in _PLAIN[:2])
    keys: dict[str, list[str]] = {}
    urls: dict[str, list[str]] = {}
    for row in PROVIDERS.values():
        for name in row.variables:
            keys.setdefault(name, []).append(row.prefix)
        urls.setdefault(row.url, []).append(row.prefix)
    yield from ((name, f"{', '.join(whose)}: the key", True) for name, whose in keys.items())
    yield from ((name, f"{', '.join(whose)}: the address", False) for name, whose in urls.items())
    yield from ((name, about, False) for name, about in _PLAIN[2:])
    yield from ((name, about, True) for name, about in _SECRET)


def _variable(name: str, about: str, is_secret: bool, env: Mapping[str, str]) -> AgentVariable:
    value = env.get(name, "")
    shown = "" if is_secret else shown_address(value) if "//" in value else value
    return AgentVariable(name, about, bool(value), is_secret, shown)
