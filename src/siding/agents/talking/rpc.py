"""JSON-RPC over lines, for every agent that speaks it; the side that answers editors uses it, too.

It does no input and no output, as a talker (`port`). Our requests have ids of ours, and each answer
comes back with the request it is for. A request of the agent gets a name that is never given twice,
as JSON-RPC lets an agent use an id again once it was answered.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from siding.agents.talking.lines import JsonLine, LineCutter, in_line
from siding.agents.talking.port import Unread
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text, whole

NO_METHOD = -32601  # the code of a request that is not known
NO_JSON, NO_MESSAGE = -32700, -32600  # of a line that cannot be read, or is no message


class RpcFault(NamedTuple):
    """Why a request of ours was refused."""

    code: int
    message: str
    data: Any = None


class RpcAnswer(NamedTuple):
    """What a request of ours has got."""

    method: str
    about: str  # as it was given to `Rpc.request`
    result: Any
    fault: RpcFault | None
    line: JsonLine
    number: int = 0  # the id of the request

    @property
    def fields(self) -> Mapping[str, Any]:
        """The result, if it is an object."""
        return mapping(self.result)


class RpcRequest(NamedTuple):
    """What the agent asks; it waits for `Rpc.answer` or `Rpc.refuse`."""

    ask: str
    method: str
    params: Mapping[str, Any]
    line: JsonLine


class RpcNotice(NamedTuple):
    """What the agent tells."""

    method: str
    params: Mapping[str, Any]
    line: JsonLine


RpcMessage = RpcAnswer | RpcRequest | RpcNotice | Unread
_Id = int | str


class Rpc:
    """One connection. `version` stands in each message; "" for agents that leave it out."""

    def __init__(self, version: str = "2.0") -> None:
        self._head = {"jsonrpc": version} if version else {}
        self._cutter = LineCutter()
        self._out: list[bytes] = []
        self._last = 0  # of our ids
        self._sent: dict[int, tuple[str, str]] = {}  # what is not answered: method and `about`
        self._asked = 0
        self._open: dict[str, _Id] = {}  # what the agent waits for, by our name for it

    def request(self, method: str, params: Mapping[str, Any], about: str = "") -> int:
        """Ask for something; return the id of the request. `about` comes back with the answer."""
        self._last += 1
        self._sent[self._last] = (method, about)
        self._say({"id": self._last, "method": method, "params": params})
        return self._last

    def forget(self, number: int) -> bool:
        """Forget a request of ours; tell whether it was open. Its answer is `Unread` then."""
        return self._sent.pop(number, None) is not None

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        self._say({"method": method} if params is None else {"method": method, "params": params})

    def answer(self, ask: str, result: Any) -> bool:
        """Answer a request of the agent; tell whether it still waited."""
        return self._close(ask, {"result": result})

    def refuse(self, ask: str, code: int, message: str, data: Any = None) -> bool:
        """Answer a request of the agent with an error; tell whether it still waited."""
        more = {} if data is None else {"data": data}
        return self._close(ask, {"error": {"code": code, "message": message, **more}})

    def complain(self, code: int, message: str) -> None:
        """Say that a line of the other side was no message: it has no id to answer to."""
        self._say({"id": None, "error": {"code": code, "message": message}})

    def withdrawn(self, given: object) -> str:
        """Forget a request that the agent has taken back by its id; return its name, or ""."""
        ask = self.name_of(given)
        self._open.pop(ask, None)
        return ask

    def name_of(self, given: object) -> str:
        """Return the name of an open request of the agent by its id, or ""."""
        for ask, its in self._open.items():
            if type(its) is type(given) and its == given:
                return ask
        return ""

    def to_send(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def receive(self, data: bytes) -> Iterator[RpcMessage]:
        """Yield the messages, each read when the one before was dealt with: the answer to what is
        asked for one of them may be in the same data.
        """
        for line in self._cutter.take(data):
            yield self._read(line) if isinstance(line, JsonLine) else line

    def _read(self, line: JsonLine) -> RpcMessage:
        said = line.said
        method, its = said.get("method"), said.get("id")
        if isinstance(method, str):
            params = mapping(said.get("params"))
            if its is None:
                return RpcNotice(method=method, params=params, line=line)
            if not _is_id(its):
                return line.unread()
            self._asked += 1
            ask = str(self._asked)
            self._open[ask] = its
            return RpcRequest(ask=ask, method=method, params=params, line=line)
        # An id is ours only as the number that it was: in Python True equals 1.
        if method is not None or type(its) is not int or its not in self._sent:
            return line.unread()
        sent = self._sent.pop(its)
        return RpcAnswer(
            method=sent[0],
            about=sent[1],
            result=said.get("result"),
            fault=_fault(said.get("error")),
            line=line,
            number=its,
        )

    def _close(self, ask: str, said: Mapping[str, Any]) -> bool:
        if ask not in self._open:
            return False
        self._say({"id": self._open.pop(ask), **said})
        return True

    def _say(self, message: Mapping[str, Any]) -> None:
        self._out.append(in_line({**self._head, **message}))


def _is_id(given: object) -> bool:
    return isinstance(given, int | str) and not isinstance(given, bool)


def _fault(error: object) -> RpcFault | None:
    if error is None:
        return None
    fields = mapping(error)
    return RpcFault(
        code=whole(fields.get("code")),
        message=text(fields.get("message")) or text(error),
        data=fields.get("data"),
    )
