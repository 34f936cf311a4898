"""The providers of models: one row each; which variables hold what a model is reached with."""

import re
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum

from siding.ground.namedtuples import NamedTuple

OLLAMA = "http://127.0.0.1:11434/v1"


class Wire(StrEnum):
    """What requests look like, and so what can be asked for."""

    MESSAGES = "messages"  # Anthropic's
    RESPONSES = "responses"  # OpenAI's
    CHAT = "chat"  # OpenAI's older one, which most others speak
    GEMINI = "gemini"
    CONVERSE = "converse"  # Amazon's


class Provider(NamedTuple):
    """Whom a request goes to.

    `variables` of the environment may have a key, the first that is set counts; none: the library
    finds the credentials itself. `maker`: the module of `assistant.models.makers`, and what it is
    called there. `others`: the wire of models whose name does not have ``claude`` in it, where it
    differs.
    """

    prefix: str
    wire: Wire
    variables: tuple[str, ...]
    url: str  # variable of the base URL
    maker: tuple[str, str]
    extra: str = "agent"  # of the package
    needs_key: bool = True
    default_url: str = ""
    others: Wire | None = None
    usual: str = ""  # its model for an agent that is given none but a key

    def wire_of(self, name: str) -> Wire:
        """Return the wire of a model."""
        return self.wire if self.others is None or "claude" in name else self.others


_ROWS = (
    Provider(
        "anthropic",
        Wire.MESSAGES,
        ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        "ANTHROPIC_BASE_URL",
        ("anthropic", "direct"),
        usual="claude-sonnet-5-5",
    ),
    Provider(
        "openai",
        Wire.RESPONSES,
        ("OPENAI_API_KEY",),
        "OPENAI_BASE_URL",
        ("openai", "responses"),
        usual="gpt-5.6",
    ),
    Provider("openai-chat", Wire.CHAT, ("OPENAI_API_KEY",), "OPENAI_BASE_URL", ("openai", "chat")),
    Provider(
        "google",
        Wire.GEMINI,
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "GOOGLE_GEMINI_BASE_URL",
        ("google", "gemini"),
        usual="gemini-3.1-pro-preview",
    ),
    Provider(
        "bedrock",
        Wire.MESSAGES,
        (),
        "ANTHROPIC_BEDROCK_BASE_URL",
        ("bedrock", "bedrock"),
        extra="bedrock",
        others=Wire.CONVERSE,
    ),
    Provider(
        "vertex",
        Wire.MESSAGES,
        (),
        "ANTHROPIC_VERTEX_BASE_URL",
        ("vertex", "vertex"),
        extra="vertex",
        others=Wire.GEMINI,
    ),
    Provider(
        "azure",
        Wire.RESPONSES,
        ("AZURE_OPENAI_API_KEY",),
        "AZURE_OPENAI_ENDPOINT",
        ("openai", "azure"),
    ),
    Provider(
        "local",
        Wire.CHAT,
        ("SIDING_LOCAL_MODEL_KEY",),
        "SIDING_LOCAL_MODEL_URL",
        ("openai", "local"),
        needs_key=False,
        default_url=OLLAMA,
    ),
)
PROVIDERS: Mapping[str, Provider] = {row.prefix: row for row in _ROWS}


# -- Which variables hold what a model is reached with ---------------------------------------------

# The built-in agent alone needs them. Its commands, hooks and servers do not get them (`without`),
# unless the settings name one (`pass_env`). Keys of all providers are taken out, whichever is used.
# Credentials of a whole cloud (Amazon's, Google's) are also those of a person's own commands
# (`aws`, `terraform`). They are taken out only where the conversation's model is reached with them.

# Beside the keys of the table: what the providers' libraries read by themselves.
_KEYS = frozenset(
    """
    ANTHROPIC_VERTEX_ACCESS_TOKEN ANTHROPIC_CUSTOM_HEADERS ANTHROPIC_FOUNDRY_API_KEY
    OPENAI_ADMIN_KEY OPENAI_CUSTOM_HEADERS AZURE_OPENAI_AD_TOKEN
    GOOGLE_GENAI_API_KEY GOOGLE_GENAI_ACCESS_TOKEN GOOGLE_GENAI_DEFAULT_HEADERS
    AWS_BEARER_TOKEN_BEDROCK
    """.split()
).union(*(row.variables for row in PROVIDERS.values()))
_OF_CLOUDS: Mapping[str, frozenset[str]] = {
    "bedrock": frozenset(
        """
        AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_SECURITY_TOKEN
        AWS_CONTAINER_AUTHORIZATION_TOKEN AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE
        AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_CREDENTIALS_RELATIVE_URI
        AWS_WEB_IDENTITY_TOKEN_FILE
        """.split()
    ),
    "vertex": frozenset(
        """
        GOOGLE_APPLICATION_CREDENTIALS GOOGLE_OAUTH_ACCESS_TOKEN CLOUDSDK_AUTH_ACCESS_TOKEN
        """.split()
    ),
}
# A user, or a query or fragment, in which gateways take keys.
_WITH_A_CREDENTIAL = re.compile(r"//[^/?#\s]*@|[?#]")
_ADDRESSES = frozenset(row.url for row in PROVIDERS.values())
# All that may hold a credential, whichever model is used.
ALL = tuple(sorted(_KEYS.union(_ADDRESSES, *_OF_CLOUDS.values())))


def credentials(env: Mapping[str, str], models: Iterable[str] = ()) -> frozenset[str]:
    """Return the names of the variables that are set and hold what models are reached with.

    `models` are those of the conversation, as ``PROVIDER:NAME``.
    """
    clouds = {name.partition(":")[0] for name in models}
    names = _KEYS.union(*(_OF_CLOUDS.get(each, frozenset()) for each in clouds))
    found = {name for name in names if env.get(name)}
    found |= {name for name in _ADDRESSES if _WITH_A_CREDENTIAL.search(env.get(name, ""))}
    return frozenset(found)


def without(
    env: Mapping[str, str], models: Iterable[str], passed: Collection[str] = ()
) -> dict[str, str]:
    """Return an environment without what models are reached with, but for the names `passed`."""
    hidden = credentials(env, models).difference(passed)
    return {name: value for name, value in env.items() if name not in hidden}
