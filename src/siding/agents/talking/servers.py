"""Servers of tools (MCP) that an editor gives an agent, in the forms in which agents take them.

What they are started with may be secret: nothing of it goes into a story or onto a command line.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mappings, strings, text

FILE = "servers.json"  # in `Hold.directory`
HTTP = "http"
_PROGRAM = "stdio"


class McpServer(NamedTuple):
    """One server: a program to start, or an address to connect to."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    kind: str = ""  # "http", or one that nobody here speaks; "" for a program
    url: str = ""
    headers: Mapping[str, str] = {}


def servers_in(given: object) -> tuple[McpServer, ...]:
    """Return the servers of a list as the Agent Client Protocol has it. Raises ValueError."""
    found: dict[str, McpServer] = {}
    for each in mappings(given):
        server = McpServer(
            name=text(each.get("name")),
            command=text(each.get("command")),
            args=tuple(strings(each.get("args"))),
            env=_pairs(each.get("env")),
            kind=_kind(text(each.get("type"))),
            url=text(each.get("url")),
            headers=_pairs(each.get("headers")),
        )
        if not server.name or not (server.url if server.kind else server.command):
            raise ValueError(
                f"server {server.name!r} of `mcpServers` needs a `name`, and a `command` or a `url`"
            )
        found[server.name] = server
    return tuple(found.values())


def as_acp(server: McpServer) -> dict[str, Any]:
    """Return a server as that protocol has it."""
    if server.kind:
        about = {"type": server.kind, "name": server.name, "url": server.url}
        return {**about, "headers": _listed(server.headers)}
    about = {"name": server.name, "command": server.command}
    return {**about, "args": list(server.args), "env": _listed(server.env)}


def as_document(servers: Sequence[McpServer]) -> str:
    """Return servers as the file that ``--mcp-config`` of Claude Code names."""
    return json.dumps({"mcpServers": {each.name: _in_document(each) for each in servers}})


def as_codex(servers: Sequence[McpServer]) -> dict[str, Any]:
    """Return servers as Codex' settings have them. It knows names of letters, digits, - and _."""
    return {_plain(each.name): _in_settings(each) for each in servers}


def _in_document(server: McpServer) -> dict[str, Any]:
    if server.kind:
        return {"type": server.kind, "url": server.url, "headers": dict(server.headers)}
    return {"command": server.command, "args": list(server.args), "env": dict(server.env)}


def _in_settings(server: McpServer) -> dict[str, Any]:
    if server.kind:
        return {"url": server.url, "http_headers": dict(server.headers)}
    return {"command": server.command, "args": list(server.args), "env": dict(server.env)}


def _plain(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in name)


def _pairs(given: object) -> dict[str, str]:
    return {text(each.get("name")): text(each.get("value")) for each in mappings(given)}


def _listed(pairs: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in pairs.items()]


def _kind(said: str) -> str:
    return "" if said == _PROGRAM else said  # some clients name it
