"""The providers: one row each."""

from collections.abc import Mapping
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
    finds the credentials itself. `maker`: the module of `making` and what it is called there.
    `others`: the wire of models whose name does not have ``claude`` in it, where it differs.
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
    ),
    Provider(
        "openai", Wire.RESPONSES, ("OPENAI_API_KEY",), "OPENAI_BASE_URL", ("openai", "responses")
    ),
    Provider("openai-chat", Wire.CHAT, ("OPENAI_API_KEY",), "OPENAI_BASE_URL", ("openai", "chat")),
    Provider(
        "google",
        Wire.GEMINI,
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "GOOGLE_GEMINI_BASE_URL",
        ("google", "gemini"),
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
