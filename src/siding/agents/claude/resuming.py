"""What a command line of Claude Code says of an older conversation."""

import re

from siding.agents.hooks import NEWEST
from siding.ground.namedtuples import NamedTuple

RESUME = ("--resume", "-r")
_CONTINUE = ("--continue", "-c")
FORK = "--fork-session"
_AT = "--resume-session-at"
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Given(NamedTuple):
    """What a command line says of an older conversation, and the words without that."""

    session: str | None
    rest: tuple[str, ...]


class WayBack(NamedTuple):
    """Where a conversation goes on: after a message, as it is ("") or as a new one (`is_anew`)."""

    after: str = ""
    is_anew: bool = False
    why_not: str = ""  # there is no way


def continues(argv: tuple[str, ...]) -> str | None:
    """Return the id of the conversation that a command line goes on with, or NEWEST."""
    if _AT in argv:
        return None  # the person says where to go on
    return given_in(argv[1:]).session


def given_in(words: tuple[str, ...]) -> Given:
    """Return what the words after the program say."""
    session: str | None = None
    kept: list[str] = []
    at = 0
    while at < len(words):
        word, after = words[at], words[at + 1] if at + 1 < len(words) else ""
        if word == "--":
            kept += words[at:]
            break
        name, is_joined, value = word.partition("=")
        if word in _CONTINUE:
            session = NEWEST
        elif name in RESUME and is_joined and _ID.fullmatch(value):
            session = value
        elif word in RESUME and _ID.fullmatch(after):
            session, at = after, at + 1
        else:
            kept.append(word)
        at += 1
    return Given(session, tuple(kept))
