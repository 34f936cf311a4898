"""What of a command may stand in a record as it is."""

from collections.abc import Mapping

MASK = "***"
SECRET_WORDS = (
    "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "PRIVATE",
    "API_KEY", "APIKEY", "ACCESS_KEY", "AUTH", "COOKIE", "SESSION_KEY", "DSN",
)  # fmt: skip


def masked_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Return `env` with the values of variables that sound secret replaced by ``***``."""
    return {name: MASK if sounds_secret(name) else printable(env[name]) for name in env}


def printable(text: str) -> str:
    """Return `text` as valid UTF-8: bytes that are none are spelled ``\\xNN``."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def sounds_secret(name: str) -> bool:
    """Return whether a variable of this name usually holds a secret."""
    upper = name.upper()
    return any(word in upper for word in SECRET_WORDS) or upper.endswith(("_KEY", "KEY", "_PAT"))
