"""What a connection needs of the conversations on this machine. Every call returns at once or soon.

Each raises SidingError, which says why something is not done and what to do.
"""

from collections.abc import Sequence
from pathlib import PurePath
from typing import Protocol

from siding.chat.face import McpServer, OpenAsk, Reply
from siding.faces.acp.blocks import Said
from siding.ground.namedtuples import NamedTuple


class Opened(NamedTuple):
    """A conversation that a client has opened. Its story follows, line by line."""

    session: str  # how clients call it
    task: str
    chat: str
    agent: str
    workspace: str  # the directory in which its agent works
    root: str  # that of the checkout: the client's files


class Row(NamedTuple):
    """A conversation, as it is listed."""

    session: str
    root: str
    title: str
    updated: str  # ISO 8601


class Desk(Protocol):
    """The conversations of a home."""

    def begin(self, cwd: PurePath, servers: Sequence[McpServer]) -> Opened:
        """Begin a task and a conversation, and start its agent, which gets the servers."""
        ...

    def find(self, session: str, cwd: PurePath) -> Opened: ...

    def give_servers(self, session: str, servers: Sequence[McpServer]) -> bool:
        """Keep servers for the agent's next start; tell whether one is there that has others."""
        ...

    def leave(self, session: str) -> None:
        """Follow a conversation no more."""
        ...

    def rows(self, cwd: PurePath | None) -> Sequence[Row]:
        """Return the conversations of the project at `cwd`, newest first."""
        ...

    def hold(self, session: str) -> None:
        """Start a host, unless there is one."""
        ...

    def give(self, session: str, said: Said) -> str:
        """Queue a prompt, and start a host if there is none; return the id of the prompt."""
        ...

    def drop(self, session: str, prompt: str) -> None: ...

    def stop(self, session: str) -> None: ...

    def end(self, session: str) -> None: ...

    def set(self, session: str, kind: str, value: str) -> None:
        """Change the mode, the model or the effort."""
        ...

    def answer(self, session: str, ask: OpenAsk, reply: Reply) -> None:
        """Answer what the agent asks. Raises AlreadyClosed where somebody else was first."""
        ...

    def picture(self, session: str, name: str) -> bytes | None: ...
