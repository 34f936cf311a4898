"""Point a program at another base URL than its own: by variables, and for some agents by flags.

`Point` turns the base URL that a program would have used into the one that it is to use. A variable
that the person has set says where the program would have gone, else its vendor's URL does.
"""

from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from siding.agents.facets import Facet
from siding.ground.namedtuples import NamedTuple

Point = Callable[[str], str]
Read = Callable[[str], str]  # returns a text file; raises OSError and ValueError


class BaseUrl(NamedTuple):
    """Variables that mean the same; those that are set are replaced, or else all of them."""

    variables: tuple[str, ...]
    usual: str
    with_usual: Mapping[str, str] = {}  # is set as well where the usual one is replaced


class Pointed(NamedTuple):
    """How a program is started that sends its requests elsewhere. `env` is added to its own."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    notes: tuple[str, ...] = ()  # what of it cannot be pointed, a sentence each


Pointing = Callable[[tuple[str, ...], Mapping[str, str], Point, Read], Pointed]
# Of agents that take their base URLs from elsewhere than from these variables as well.
POINTED: Facet[Pointing] = Facet("wire", "pointed")
BASE_URLS = (
    BaseUrl(
        variables=("ANTHROPIC_BASE_URL",),
        usual="https://api.anthropic.com",
        # Claude Code leaves some things out at another base URL; behind this one is the usual one.
        with_usual={"_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL": "1"},
    ),
    BaseUrl(
        variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        usual="https://api.openai.com/v1",
    ),
    BaseUrl(
        variables=("GOOGLE_GEMINI_BASE_URL",),
        usual="https://generativelanguage.googleapis.com",
    ),
)
# Whoever signs its requests signs the name of the server with them, so no proxy can stand in.
_SIGNED = {
    "CLAUDE_CODE_USE_BEDROCK": "Amazon Bedrock",
    "CLAUDE_CODE_USE_VERTEX": "Google Vertex",
    "CLAUDE_CODE_USE_FOUNDRY": "Azure Foundry",
    "GOOGLE_GENAI_USE_VERTEXAI": "Google Vertex",
}


def pointed(
    agent: str, argv: tuple[str, ...], env: Mapping[str, str], point: Point, read: Read
) -> Pointed:
    """Return how a program is started so that its requests go where `point` says.

    `agent` is the name of the agent that the program is, "" for any other.
    """
    more: dict[str, str] = {}
    for each in BASE_URLS:
        given = [name for name in each.variables if is_base_url(env.get(name, ""))]
        for name in given:
            more[name] = point(env[name])
        if not given and not any(env.get(name) for name in each.variables):
            more |= {**dict.fromkeys(each.variables, point(each.usual)), **each.with_usual}
    notes = tuple(
        f"requests to {vendor} cannot be metered ({name} is set)"
        for name, vendor in _SIGNED.items()
        if env.get(name) not in (None, "", "0", "false")
    )
    found = Pointed(argv, more, notes)
    more_of = POINTED.of(agent)
    if more_of is None:
        return found
    by_flags = more_of(argv, env, point, read)
    return Pointed(by_flags.argv, {**more, **by_flags.env}, (*notes, *by_flags.notes))


def hosts_set(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the hosts that the person's own variables send requests to, as ``HOST:PORT``."""
    given = (env.get(name, "") for each in BASE_URLS for name in each.variables)
    found = []
    for url in filter(is_base_url, given):
        parts = urlsplit(url)
        found.append(f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}")
    return tuple(found)


def is_base_url(text: str) -> bool:
    """Tell whether a text is a URL that a proxy can stand in for."""
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
