"""Calls to decide on, in a workspace without a disk."""

import posixpath
from collections.abc import Mapping

from siding.assistant.loop.permissions.decision import decide
from siding.assistant.loop.permissions.facts import PermissionGround
from siding.assistant.loop.permissions.rules import (
    PermissionMode,
    PermissionRules,
    parse_allow,
    parse_rules,
)
from siding.assistant.tools.port import Use
from siding.shellguard.face import Effect, JudgingPlace, ToolUse

LINKS = {"/w/out": "/etc", "/w/into": "/w/src", "/h/link": "/w/src", "/data": "/h/data"}


def resolve(path: str, links: Mapping[str, str] = LINKS) -> str:
    """Return where a path leads, by a table of links."""
    normal = posixpath.normpath(path)
    for link, target in links.items():
        if normal == link or normal.startswith(link + "/"):
            return target + normal[len(link) :]
    return normal


PLACE = JudgingPlace(
    cwd="/w",
    workspace="/w",
    home="/h",
    agents=frozenset({"claude"}),
    obeyed=(".claude/", "CLAUDE.md"),
    resolve=resolve,
)
NO_RULES = PermissionRules()
GROUND = PermissionGround(PLACE, roots=("/extra",), readable=("/results",))


def bash(command: str) -> tuple[str, Use, bool]:
    """Return a call of Bash; whether it is safe is left to the decision."""
    return "Bash", Use(command, command=command), False


def file(tool: str, path: str) -> tuple[str, Use, bool]:
    """Return a call of a tool with one file, as the tools themselves say it."""
    effect = Effect.READS if tool in ("Read", "Grep") else Effect.WRITES
    whole = "/h" + path[1:] if path.startswith("~") else posixpath.join("/w", path)
    shown = posixpath.normpath(whole)
    shown = shown.removeprefix("/w/") if shown.startswith("/w/") else shown
    touches = ToolUse(tool, ((effect, resolve(whole)),))
    return tool, Use(shown, touches=touches), effect is Effect.READS


def fetch(url: str) -> tuple[str, Use, bool]:
    """Return a call of WebFetch."""
    return "WebFetch", Use(url, touches=ToolUse("WebFetch", ((Effect.FETCHES, url),))), True


def rules(*, allow: str = "", ask: str = "", deny: str = "") -> PermissionRules:
    """Return rules that are separated by ``; ``."""
    allowed, asked, denied = ([r for r in text.split("; ") if r] for text in (allow, ask, deny))
    return PermissionRules(parse_allow(allowed), parse_rules(asked), parse_rules(denied))


def outcome(
    call: tuple[str, Use, bool],
    given: PermissionRules = NO_RULES,
    mode: PermissionMode = PermissionMode.DEFAULT,
    ground: PermissionGround = GROUND,
) -> str:
    """Return what is decided on a call, in a word."""
    tool, use, is_safe = call
    return decide(tool, use, mode, given, ground, is_safe=is_safe).behaviour.value
