"""The servers of MCP that a conversation was given, and what became of them."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from siding.assistant.tools.servers import HttpLink, ProcessLink, Server, ServerTool
from siding.assistant.tools.servers import Link as Link
from siding.assistant.tools.servers import Message as Message
from siding.assistant.tools.servers import ServerError as ServerError
from siding.assistant.web_client import WebClient
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text

if TYPE_CHECKING:
    from siding.assistant.agent import Agent

_CONNECT_S = 30.0
OF_THE_CLIENT = "sdk"  # the kind of a server that lives in the program that drives the agent
_OF_A_PROCESS = "stdio"
_BY_HTTP = "http"
_OTHER_NAMES = {"streamable-http": _BY_HTTP, "streamableHttp": _BY_HTTP}
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


class ServerSettings(NamedTuple):
    """A server, as `--mcp-config` has it. `kind` may be one that nobody here speaks to.

    In all texts but the name ``${NAME}`` stands for a variable, ``${NAME:-TEXT}`` for TEXT if there
    is none.
    """

    name: str
    kind: str
    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    url: str = ""
    headers: Mapping[str, str] = {}


def settings_in(document: object) -> tuple[ServerSettings, ...]:
    """Return the servers of a document ``{"mcpServers": {NAME: {...}}}``. Raises UsageError."""
    servers = mapping(document).get("mcpServers")
    if not isinstance(servers, dict):
        raise UsageError(
            "--mcp-config has no object `mcpServers`",
            hint='{"mcpServers": {"docs": {"command": "docs-server", "args": []}}}',
        )
    return tuple(_settings(str(name), mapping(given)) for name, given in servers.items())


def _settings(name: str, given: Mapping[str, Any]) -> ServerSettings:
    usual = _OF_A_PROCESS if "command" in given else _BY_HTTP if "url" in given else ""
    kind = _OTHER_NAMES.get(said := text(given.get("type")), said) or usual
    if kind == _BY_HTTP:
        return _by_http(name, given)
    if kind != _OF_A_PROCESS:
        return ServerSettings(name, kind)
    command, words, env = text(given.get("command")), given.get("args") or [], given.get("env")
    if not command or not isinstance(words, list):
        raise UsageError(f"server {name!r} of --mcp-config needs a `command`, and `args` as a list")
    return ServerSettings(name, kind, (command, *map(str, words)), _texts(env))


def _by_http(name: str, given: Mapping[str, Any]) -> ServerSettings:
    url = text(given.get("url"))
    if not url:
        raise UsageError(f"server {name!r} of --mcp-config needs a `url`")
    return ServerSettings(name, _BY_HTTP, url=url, headers=_texts(given.get("headers")))


def _texts(given: object) -> dict[str, str]:
    return {str(key): str(value) for key, value in mapping(given).items()}


def _filled(said: str, env: Mapping[str, str]) -> str:
    """Return a text with variables in the place of their names. Raises ServerError."""

    def value(found: re.Match[str]) -> str:
        known = env.get(found[1]) or found[2]
        if known is None:
            raise ServerError(f"there is no variable {found[1]!r}")
        return known

    return _VARIABLE.sub(value, said)


class Servers:
    """Connects the servers once; one that fails costs its own tools alone.

    `env` has what ``${NAME}`` stands for. The process of a server starts with the environment of
    the agent's commands, in which no keys of models are, and the variables of its own settings.
    `of_client` returns the link to a server that lives in the program which drives the agent.
    """

    def __init__(
        self,
        agent: "Agent",
        settings: Sequence[ServerSettings],
        env: Mapping[str, str],
        *,
        of_client: Callable[[str], Link] | None = None,
        tell: Callable[[str], None],
    ) -> None:
        self._agent = agent
        self._settings = settings
        self._env = env
        self._http = WebClient(env)
        self._of_client = of_client
        self._tell = tell
        self._links: list[Link] = []
        self._states: dict[str, str] = {each.name: "pending" for each in settings}
        self._once: asyncio.Task[None] | None = None

    @property
    def states(self) -> tuple[Mapping[str, str], ...]:
        """What became of each, in the words of Claude Code: pending, connected, failed."""
        return tuple({"name": name, "status": state} for name, state in self._states.items())

    async def connect(self) -> None:
        """Have the agent use the tools of the servers."""
        if self._once is None:
            self._once = asyncio.create_task(self._connect_all())
        await asyncio.shield(self._once)

    async def aclose(self) -> None:
        """End the servers that were started."""
        if self._once is not None and not self._once.done():
            self._once.cancel()
            await asyncio.wait({self._once})
        await asyncio.gather(*(each.close() for each in self._links))

    async def _connect_all(self) -> None:
        found = await asyncio.gather(*map(self._connected, self._settings))
        self._agent.use_tools({name: tool for each in found for name, tool in each.items()})

    async def _connected(self, settings: ServerSettings) -> Mapping[str, ServerTool]:
        try:
            tools = await asyncio.wait_for(self._tools(settings), _CONNECT_S)
        except (ServerError, TimeoutError) as error:
            why = str(error) or f"no answer in {_CONNECT_S:.0f} s"
            self._states[settings.name] = "failed"
            self._tell(f"the server {settings.name!r} is not there: {why}")
            return {}
        self._states[settings.name] = "connected"
        return tools

    async def _tools(self, settings: ServerSettings) -> Mapping[str, ServerTool]:
        link = await self._link(settings)
        self._links.append(link)
        return await Server(settings.name, link).tools()

    def _filled(self, said: str) -> str:
        return _filled(said, self._env)

    def _all_filled(self, said: Mapping[str, str]) -> dict[str, str]:
        return {name: self._filled(value) for name, value in said.items()}

    async def _link(self, settings: ServerSettings) -> Link:
        if settings.kind == OF_THE_CLIENT and self._of_client is not None:
            return self._of_client(settings.name)
        if settings.kind == _OF_A_PROCESS:
            argv = [self._filled(each) for each in settings.argv]
            env = {**self._agent.env, **self._all_filled(settings.env)}
            return await ProcessLink.started(argv, env=env, cwd=str(self._agent.workspace))
        if settings.kind == _BY_HTTP:
            url = self._filled(settings.url)
            if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
                raise ServerError(f"{url!r} is no address of a server, http://… or https://…")
            return HttpLink(url, self._all_filled(settings.headers), self._http)
        raise ServerError(f"siding agent does not speak to servers of type {settings.kind!r}")
