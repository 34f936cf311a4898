"""One client and its sessions: the bytes of the client in, ours out.

It does no input and no output: what it needs of the conversations on this machine is a `Desk`. A
line that is no message is answered with an error, and the next one is read as ever.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from siding import __version__
from siding.agents.talking.rpc import (
    NO_JSON,
    NO_MESSAGE,
    NO_METHOD,
    Rpc,
    RpcAnswer,
    RpcNotice,
    RpcRequest,
)
from siding.chat.face import Abilities, McpServer, servers_in
from siding.faces.acp.faults import CANCELLED, INTERNAL, INVALID, refuse
from siding.faces.acp.options import KINDS
from siding.faces.acp.ports import Desk, Opened
from siding.faces.acp.session import Session
from siding.faces.acp.updates import ClientCan
from siding.ground.errors import NotFound, SidingError, UsageError

VERSION = 1
_LATER = "The agent gets the MCP servers of this client when it is begun again."
_IN_A_PAGE = 100  # conversations in a list
Params = Mapping[str, Any]


class Connection:
    """A client. `abilities` are those of the agent of new sessions."""

    def __init__(self, desk: Desk, abilities: Abilities) -> None:
        self.sessions: dict[str, Session] = {}
        self._desk, self._abilities = desk, abilities
        self._rpc = Rpc()
        self._can: ClientCan | None = None  # the client has said so
        self._methods: Mapping[str, Callable[[str, Params], None]] = {
            "session/new": self._new,
            "session/load": lambda ask, params: self._load(ask, params, tells=True),
            "session/resume": lambda ask, params: self._load(ask, params, tells=False),
            "session/list": self._list,
            "session/prompt": self._prompt,
            "session/set_mode": self._set_mode,
            "session/set_config_option": self._set_option,
            "session/close": self._close,
        }

    def to_send(self) -> bytes:
        return self._rpc.to_send()

    def receive(self, data: bytes) -> None:
        """Take the next bytes of the client."""
        for message in self._rpc.receive(data):
            match message:
                case RpcRequest():
                    self._requested(message)
                case RpcNotice():
                    self._noticed(message)
                case RpcAnswer():
                    session = self.sessions.get(message.about)
                    if session is not None:
                        session.answered(message.number, message)
                case unread:
                    self._complain(unread.line)

    # -- What the edge tells -----------------------------------------------------------------------

    def told(self, session: str, line: Params) -> None:
        """Take the next line of the story of a session."""
        self.sessions[session].told(line)

    def caught_up(self, session: str) -> None:
        """Take note that all lines that are there were told."""
        self.sessions[session].caught_up()

    def tick(self, session: str, *, has_host: bool, now_s: float) -> None:
        """See to a session, again and again while somebody waits for it."""
        self.sessions[session].tick(has_host=has_host, now_s=now_s)

    def late(self, session: str) -> None:
        """Give up a session whose agent is not ready after a time."""
        self.sessions[session].give_up("it is not ready for a prompt after a minute")

    # -- What the client wants ---------------------------------------------------------------------

    def _requested(self, request: RpcRequest) -> None:
        method = self._methods.get(request.method)
        if request.method == "initialize":
            self._initialize(request.ask, request.params)
        elif request.method == "authenticate":
            self._rpc.refuse(request.ask, INVALID, "there is nothing to authenticate with")
        elif method is None:
            self._rpc.refuse(request.ask, NO_METHOD, f"there is no method {request.method!r}")
        elif self._can is None:
            self._rpc.refuse(request.ask, NO_MESSAGE, "`initialize` comes first")
        else:
            try:
                method(request.ask, request.params)
            except SidingError as error:
                refuse(self._rpc, request.ask, error)
            except OSError as error:
                self._rpc.refuse(request.ask, INTERNAL, str(error))

    def _noticed(self, notice: RpcNotice) -> None:
        session = self.sessions.get(str(notice.params.get("sessionId")))
        if notice.method == "session/cancel" and session is not None:
            session.cancel()
        elif notice.method == "$/cancel_request":
            ask = self._rpc.name_of(notice.params.get("requestId"))
            if ask and not any(each.cancel_request(ask) for each in self.sessions.values()):
                self._rpc.refuse(ask, CANCELLED, "cancelled")

    def _initialize(self, ask: str, params: Params) -> None:
        if not isinstance(params.get("protocolVersion"), int):
            self._rpc.refuse(ask, INVALID, "`protocolVersion` is no number")
            return
        capabilities = params.get("clientCapabilities")
        self._can = ClientCan(capabilities if isinstance(capabilities, Mapping) else {})
        can = {
            "loadSession": True,
            "promptCapabilities": {
                "image": self._abilities.pictures,
                "audio": False,
                "embeddedContext": True,
            },
            "mcpCapabilities": {"http": self._abilities.web_servers, "sse": False},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
        }
        self._rpc.answer(
            ask,
            {
                "protocolVersion": VERSION,
                "agentCapabilities": can,
                "agentInfo": {"name": "siding", "title": "Siding", "version": __version__},
                "authMethods": [],
            },
        )

    def _new(self, ask: str, params: Params) -> None:
        opened = self._desk.begin(_cwd(params), _servers(params))
        self._open(ask, opened, is_new=True)

    def _load(self, ask: str, params: Params, *, tells: bool) -> None:
        named = str(params.get("sessionId"))
        cwd, servers = _cwd(params), _servers(params)
        before = self.sessions.get(named)
        opened = self._desk.find(named, cwd)
        session = self._open(ask, opened, is_new=False)
        if before is not None:
            session.take_over(before)
        if not tells:
            session.tells_nothing()
        # Without any it keeps those that it was begun with: another client may know of none.
        if servers and self._desk.give_servers(opened.session, servers):
            session.remark_once_open(_LATER)

    def _open(self, ask: str, opened: Opened, *, is_new: bool) -> Session:
        assert self._can is not None
        session = Session(opened, self._rpc, self._desk, self._can, opening=ask, is_new=is_new)
        self.sessions[opened.session] = session
        return session

    def _list(self, ask: str, params: Params) -> None:
        cursor = str(params.get("cursor") or "0")
        if not cursor.isdecimal():
            raise UsageError(f"{cursor!r} is no cursor of a list")
        cwd = _cwd(params) if params.get("cwd") else None
        rows = self._desk.rows(cwd)
        start = int(cursor)
        result: dict[str, Any] = {
            "sessions": [
                {
                    "sessionId": each.session,
                    "cwd": each.root,
                    "title": each.title or None,
                    "updatedAt": each.updated,
                }
                for each in rows[start : start + _IN_A_PAGE]
            ]
        }
        if len(rows) > start + _IN_A_PAGE:
            result["nextCursor"] = str(start + _IN_A_PAGE)
        self._rpc.answer(ask, result)

    def _prompt(self, ask: str, params: Params) -> None:
        self._session(params).prompt(ask, params.get("prompt"))

    def _set_mode(self, ask: str, params: Params) -> None:
        self._session(params).set_mode(ask, str(params.get("modeId")))

    def _set_option(self, ask: str, params: Params) -> None:
        kind, value = str(params.get("configId")), str(params.get("value"))
        if kind not in KINDS:
            raise UsageError(f"there is no option {kind!r}; there are {', '.join(KINDS)}")
        self._session(params).set_option(ask, kind, value)

    def _close(self, ask: str, params: Params) -> None:
        session = self._session(params)
        session.close()
        del self.sessions[session.opened.session]
        self._desk.leave(session.opened.session)
        self._rpc.answer(ask, {})

    def _session(self, params: Params) -> Session:
        named = str(params.get("sessionId"))
        found = self.sessions.get(named)
        if found is None:
            raise NotFound(
                f"session {named!r} is not open here", hint="`session/load` opens it again"
            )
        return found

    def _complain(self, line: str) -> None:
        """Answer a line that is no message; one that answers a request of before is none of ours"""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            self._rpc.complain(NO_JSON, "a line is no JSON, or too long")
            return
        if not isinstance(said, dict) or not said.keys() & {"result", "error"}:
            self._rpc.complain(NO_MESSAGE, "a line is no message of JSON-RPC 2.0")


def _cwd(params: Params) -> PurePosixPath:
    cwd = params.get("cwd")
    if not isinstance(cwd, str) or not PurePosixPath(cwd).is_absolute():
        raise UsageError(f"`cwd` is {cwd!r}, and has to be an absolute path")
    return PurePosixPath(cwd)


def _servers(params: Params) -> tuple[McpServer, ...]:
    try:
        return servers_in(params.get("mcpServers"))
    except ValueError as error:
        raise UsageError(str(error)) from None
