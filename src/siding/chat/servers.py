"""The servers of tools (MCP) that a conversation was begun with, for each agent that is in it.

They lie beside the story, in a file that only its owner can read: what they are started with may
be secret. The story has their names.
"""

import json
from collections.abc import Sequence

from siding.agents.talking.abilities import Abilities
from siding.agents.talking.port import Trouble, Troubled
from siding.agents.talking.servers import HTTP, McpServer, as_acp, servers_in
from siding.chat.requests import LONGEST
from siding.chat.store import Chat
from siding.ground.files.durable import replace_bytes
from siding.ground.files.regular import read_small

_FIELD = "servers"


def keep_servers(chat: Chat, servers: Sequence[McpServer]) -> bool:
    """Keep servers for the next start of an agent; tell whether that changes something."""
    if tuple(servers) == kept_servers(chat):
        return False
    record = {_FIELD: [as_acp(each) for each in servers]}
    replace_bytes(chat.servers, json.dumps(record).encode("utf-8", "surrogateescape"))
    return True


def kept_servers(chat: Chat) -> tuple[McpServer, ...]:
    """Return what is kept; () where nothing is, or it cannot be read."""
    data = read_small(chat.servers, LONGEST)
    try:
        return () if data is None else servers_in(json.loads(data)[_FIELD])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()


def taken_by(can: Abilities, servers: Sequence[McpServer]) -> tuple[McpServer, ...]:
    """Return those that an agent can be given."""
    return tuple(each for each in servers if _is_taken(can, each))


def not_taken(agent: str, can: Abilities, servers: Sequence[McpServer]) -> list[Troubled]:
    """Return what to say of those that an agent cannot be given."""
    left = [each.name for each in servers if not _is_taken(can, each)]
    if not left:
        return []
    which = ", ".join(left)
    said = (
        f"{agent} is not given these MCP servers, which it cannot reach so: {which}"
        if can.servers
        else f"{agent} cannot be given MCP servers ({which}); it has those of its own settings"
    )
    return [Troubled(Trouble.OTHER, said)]


def _is_taken(can: Abilities, server: McpServer) -> bool:
    return can.servers if not server.kind else can.web_servers and server.kind == HTTP
